//! The objects that a job's node has to upload: their names, media types and sizes. A rule without
//! I/O.

use crate::objects::OBJECT_BYTES_MAX;
use cyclorama_core::wire::{JobKind, ObjectName};
use cyclorama_core::{Format, MASTER_SIDE_PX, Paint, SizePreset};

/// Maximum size of an image, in bytes. A 1024 px RGBA image is 4 MiB before compression, and no
/// encoder makes it twice as large.
const PICTURE_BYTES_MAX: u64 = 8 << 20;

/// An object that a node has to upload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequiredObject {
    pub name: ObjectName,
    pub media_type: &'static str,
    /// Side of the image in pixels; 0 for layers.
    pub side_px: u32,
}

impl RequiredObject {
    /// Returns the maximum size of the object, in bytes.
    pub fn bytes_max(&self) -> u64 {
        if self.name == ObjectName::Layers { OBJECT_BYTES_MAX } else { PICTURE_BYTES_MAX }
    }
}

/// Returns every object that the node of a job has to upload.
pub fn owed(kind: JobKind, colours: &[Paint]) -> Vec<RequiredObject> {
    let mut owed = Vec::new();
    if kind == JobKind::Render {
        owed.push(RequiredObject { name: ObjectName::Layers, media_type: "application/octet-stream", side_px: 0 });
    }
    for colour in colours {
        let name = ObjectName::Master(*colour);
        owed.push(RequiredObject { name, media_type: Format::Png.media_type(), side_px: MASTER_SIDE_PX });
        if !colour.is_preset() {
            // Sizes of an image in such a paint are made when a request wants them, as most images
            // in such paints are requested once.
            continue;
        }
        for size in SizePreset::ALL {
            for format in &Format::UPLOADED {
                let name = ObjectName::Preset { side_px: size.side_px(), paint: *colour, format: *format };
                owed.push(RequiredObject { name, media_type: format.media_type(), side_px: size.side_px() });
            }
        }
    }
    owed
}

#[cfg(test)]
mod tests {
    use super::*;
    use cyclorama_core::Colour;

    #[test]
    fn a_paint_that_no_preset_names_owes_its_master_alone() {
        let paint: Paint = "#1f4e8c-matt-no-shadow".parse().expect("a paint");
        let names: Vec<String> = owed(JobKind::Paint, &[paint]).into_iter().map(|owed| owed.name.to_string()).collect();
        assert_eq!(names, ["master.1f4e8c-matt-no-shadow.png"]);
    }

    #[test]
    fn a_render_owes_layers_and_a_paint_job_does_not() {
        let colours = [Colour::Red, Colour::Blue].map(Paint::from);
        for (kind, objects) in [(JobKind::Render, 1 + 2 * 13), (JobKind::Paint, 2 * 13)] {
            let owed = owed(kind, &colours);
            assert_eq!(owed.len(), objects);
            let mut names: Vec<String> = owed.iter().map(|owed| owed.name.to_string()).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), objects);
        }
        let owed = owed(JobKind::Render, &[Colour::Red.into()]);
        let jpg = owed.iter().find(|owed| owed.name.to_string() == "768.red.jpg").expect("a preset");
        assert_eq!((jpg.media_type, jpg.side_px), ("image/jpeg", 768));
    }
}
