//! Tests that render with the real render node, which takes some seconds for each image. `make
//! check` leaves them out.

mod buckets;
mod pipeline;
mod several_cards;
mod traces;
mod vehicle_shapes;
