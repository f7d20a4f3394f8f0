//! Faces of makes: grille, lamps, intakes, tail lamps and wheels that are drawn once, in units that
//! every body has, and put on any sheet. `library` decides which face a vehicle gets; `regions`
//! decides what a region does.
//!
//! The `[[region]]` entries of a face are drawn in front view: y = 1 at half the sheet's width, z =
//! 0 at the sheet's first front anchor (underside of the bumper) and z = 1 at its second (hood
//! edge). The `[[tail]]` entries are drawn in rear view likewise, between the rear anchors
//! (underside of the bumper, belt). Radii, bands and depths are in metres. A region's `within` is
//! drawn in side view: x in metres from the nose, or for a tail region from the tail (so below
//! zero), and z between the anchors.

use glam::Vec2;
use serde::Deserialize;

use super::parts::wheel::spec::Wheel;
use super::sheet::tables::{SheetError, Tables, merged_table};
use super::sheet::{Curve, Drawing, DrawnIn, Region, Sheet, SkinRelief};

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaceSheet {
    /// Description of the drawing, in words.
    pub about: String,
    #[serde(default)]
    pub region: Vec<Region>,
    /// Reliefs that replace the sheet's own, if there are any.
    #[serde(default)]
    pub relief: Vec<SkinRelief>,
    /// Regions of the rear. Each replaces the sheet's own region of its name, or is added.
    #[serde(default)]
    pub tail: Vec<Region>,
    #[serde(default)]
    pub wheel: Option<Wheel>,
}

impl FaceSheet {
    /// Reads the face called `name`. Faces inherit in the same way as sheets.
    pub fn read(name: &str, tables: &Tables) -> Result<Self, SheetError> {
        let fail = |problem: String| SheetError { sheet: name.to_owned(), problem };
        let table = merged_table(name, tables, 0)?;
        let face: FaceSheet = toml::Value::Table(table).try_into().map_err(|e: toml::de::Error| fail(e.to_string()))?;
        let fronts = face.region.iter().map(|region| (region, DrawnIn::Front, "front"));
        for (region, view, seen_from) in fronts.chain(face.tail.iter().map(|region| (region, DrawnIn::Rear, "rear"))) {
            if region.at.view != view {
                return Err(fail(format!("region `{}`: is to be drawn in {seen_from} view", region.name)));
            }
            if region.at.curve.len() < 3 {
                return Err(fail(format!("region `{}`: a closed curve needs at least three points", region.name)));
            }
            if region.within.as_ref().is_some_and(|within| within.view != DrawnIn::Side) {
                return Err(fail(format!("region `{}`: `within` is to be drawn in side view", region.name)));
            }
        }
        Ok(face)
    }

    /// Puts the face on the sheet.
    pub fn put_on(&self, sheet: &mut Sheet) {
        let (half_width, length) = (sheet.size.width * 0.5, sheet.size.length);
        let fit = |curve: &mut Curve, [low, high]: [f32; 2]| {
            for point in curve {
                point.at = Vec2::new(point.at.x * half_width, low + point.at.y * (high - low));
            }
        };
        let fit_limit = |within: &mut Option<Drawing>, [low, high]: [f32; 2], end: f32| {
            for point in within.iter_mut().flat_map(|drawing| &mut drawing.curve) {
                point.at = Vec2::new(end + point.at.x, low + point.at.y * (high - low));
            }
        };
        let anchors = sheet.front.anchors;
        if !self.region.is_empty() {
            sheet.front.region = self.region.clone();
            for region in &mut sheet.front.region {
                fit(&mut region.at.curve, anchors);
                fit_limit(&mut region.within, anchors, 0.0);
            }
        }
        if !self.relief.is_empty() {
            sheet.front.relief = self.relief.clone();
            sheet.front.relief.iter_mut().for_each(|relief| fit(&mut relief.at.curve, anchors));
        }
        for region in &self.tail {
            let mut region = region.clone();
            fit(&mut region.at.curve, sheet.rear.anchors);
            fit_limit(&mut region.within, sheet.rear.anchors, length);
            match sheet.rear.region.iter_mut().find(|own| own.name == region.name) {
                Some(own) => *own = region,
                None => sheet.rear.region.push(region),
            }
        }
        if let Some(wheel) = &self.wheel {
            sheet.fittings.wheel = *wheel;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::library::Library;

    #[test]
    fn every_face_reads_and_keeps_its_place_between_the_anchors() {
        let library = Library::embedded().unwrap();
        for name in library.face_names() {
            let face = library.face(name).unwrap();
            let mut sheet = library.sheet("suv").unwrap();
            face.put_on(&mut sheet);
            let [low, high] = sheet.front.anchors;
            for point in sheet.front.region.iter().flat_map(|r| &r.at.curve) {
                let (y, z) = (point.at.x, point.at.y);
                assert!(y.abs() < sheet.size.width * 0.7, "{name}: y = {y}");
                assert!(z > low - 0.5 * (high - low) && z < high + 0.3 * (high - low), "{name}: z = {z}");
            }
        }
    }
}
