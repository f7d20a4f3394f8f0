//! Front ends that carry a make: grille, lamps and intakes drawn once, in units every front has, and put on any sheet.
//! Which face a vehicle gets is `template`'s; what a region does is `regions`'.
//!
//! A face is drawn in front view: y = 1 at half the sheet's width, z = 0 at the sheet's first front anchor (underside of
//! the bumper) and 1 at its second (hood edge). Radii, bands and depths stay metres.

use glam::Vec2;
use serde::Deserialize;

use super::sheet::{DrawnIn, Region, Relief, Sheet, SheetError, merged_table};

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaceSheet {
    /// What is drawn, in words.
    pub about: String,
    #[serde(default)]
    pub region: Vec<Region>,
    /// Replace the sheet's own, if there are any.
    #[serde(default)]
    pub relief: Vec<Relief>,
}

impl FaceSheet {
    /// Reads the face called `name`; inheritance is that of sheets.
    pub fn read(name: &str, text_of: &dyn Fn(&str) -> Option<&'static str>) -> Result<Self, SheetError> {
        let fail = |problem: String| SheetError { sheet: name.to_owned(), problem };
        let table = merged_table(name, text_of, 0)?;
        let face: FaceSheet = toml::Value::Table(table).try_into().map_err(|e: toml::de::Error| fail(e.to_string()))?;
        for region in &face.region {
            if region.at.view != DrawnIn::Front {
                return Err(fail(format!("region `{}`: a face is drawn in front view", region.name)));
            }
            if region.at.curve.len() < 3 {
                return Err(fail(format!("region `{}`: a closed curve needs at least three points", region.name)));
            }
        }
        Ok(face)
    }

    /// Puts the face on the sheet's front.
    pub fn put_on(&self, sheet: &mut Sheet) {
        let [low, high] = sheet.front.anchors;
        let unit = Vec2::new(sheet.size.width * 0.5, high - low);
        let fitted = |curve: &mut super::sheet::Curve| {
            for point in curve {
                point.at = Vec2::new(point.at.x * unit.x, low + point.at.y * unit.y);
            }
        };
        sheet.front.region = self.region.clone();
        sheet.front.region.iter_mut().for_each(|region| fitted(&mut region.at.curve));
        if !self.relief.is_empty() {
            sheet.front.relief = self.relief.clone();
            sheet.front.relief.iter_mut().for_each(|relief| fitted(&mut relief.at.curve));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::template;
    use super::*;

    #[test]
    fn every_face_reads_and_keeps_its_place_between_the_anchors() {
        for name in template::face_names() {
            let face = FaceSheet::read(name, &template::face_text_of).unwrap();
            let mut sheet = Sheet::read("suv", &template::text_of).unwrap();
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
