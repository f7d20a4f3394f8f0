//! Tests that draw with the real render node: some seconds for each picture. `make check` leaves them out.

mod buckets;
mod pipeline;
mod several_cards;
mod traces;
mod vehicle_shapes;
