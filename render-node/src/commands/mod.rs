//! What the program can be asked to do, a file for each command.

pub mod bench;
pub mod compare_picture;
pub mod contact_sheet;
pub mod doctor;
pub mod model_add;
mod name_argument;
mod progress;
pub mod render;
pub mod run;
mod surface_command;
pub mod vehicle_commands;
