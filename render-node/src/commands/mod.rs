//! The commands of the program, one file each.

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
