//! The features that a body which nobody drew takes over from its model's drawing with another
//! body. An estate has the front of its hatchback, and a coupe that of its saloon: face,
//! bonnet, wheels, the lines of the flank, and the position of the windscreen. Roof and tail
//! come from the template.

use cyclorama_core::vehicle::{BodyClass, Vehicle};
use glam::Vec2;

use super::face::FaceSheet;
use super::morph::MonotoneCurve;
use super::sheet::facts::Facts;
use super::sheet::{Curve, DrawnIn, Region, RegionKind, Sheet};

/// Tail lamps that reach higher than this ratio of the way from the bumper to the belt climb the
/// pillars of their own tail.
const LAMP_TOP_MAX: f32 = 1.04;
/// Belt points up to this ratio of the wheelbase lie below the front doors, which
/// bodies of one model share.
const FRONT_DOOR_END: f32 = 0.45;

/// Puts the front of `relative` on a template for another body of the same model.
pub fn take_over(sheet: &mut Sheet, relative: &Sheet) {
    let face = face_of(relative, sheet);
    if !face.tail.is_empty() {
        sheet.rear.region.retain(|region| !matches!(region.kind, RegionKind::Lamp(_)));
    }
    face.put_on(sheet);
    let x = lengthwise(relative, sheet);
    sheet.body.ridge = relative.body.ridge.clone();
    for place in sheet.body.ridge.iter_mut().flat_map(|ridge| &mut ridge.x) {
        *place = x.at(*place);
    }
    sheet.crease = relative.crease.clone();
    for point in sheet.crease.iter_mut().flat_map(|crease| &mut crease.line) {
        point.at.x = x.at(point.at.x);
    }
    sheet.body.bow_front = relative.body.bow_front;
    sheet.body.bow_reach = relative.body.bow_reach;
    let overhang = relative.size.front_overhang - sheet.size.front_overhang;
    if overhang.abs() < 0.2 {
        sheet.size.front_overhang = relative.size.front_overhang;
    }
    sheet.wheels.tyre_diameter = relative.wheels.tyre_diameter * sheet.size.length / relative.size.length;
}

/// Returns the relative's face in units that every body has. It includes the tail lamps if the
/// other tail has room for them.
fn face_of(relative: &Sheet, sheet: &Sheet) -> FaceSheet {
    let half_width = relative.size.width * 0.5;
    let fit = |curve: &mut Curve, [low, high]: [f32; 2], end: Option<f32>| {
        for point in curve {
            let across = end.map_or(point.at.x / half_width, |end| point.at.x - end);
            point.at = Vec2::new(across, (point.at.y - low) / (high - low));
        }
    };
    let fitted = |region: &Region, anchors: [f32; 2], end: f32| {
        let mut region = region.clone();
        fit(&mut region.at.curve, anchors, None);
        if let Some(within) = &mut region.within {
            fit(&mut within.curve, anchors, Some(end));
        }
        region
    };
    let is_drawn_in = |region: &&Region, view: DrawnIn| {
        region.at.view == view && region.within.as_ref().is_none_or(|within| within.view == DrawnIn::Side)
    };
    let front = relative.front.region.iter().filter(|region| is_drawn_in(region, DrawnIn::Front));
    let mut relief = relative.front.relief.clone();
    relief.retain(|one| one.at.view == DrawnIn::Front);
    relief.iter_mut().for_each(|one| fit(&mut one.at.curve, relative.front.anchors, None));
    let rear = relative.rear.region.iter().filter(|region| is_drawn_in(region, DrawnIn::Rear));
    let longer = sheet.size.length - relative.size.length;
    let tail: Vec<Region> = rear
        .filter(|region| matches!(region.kind, RegionKind::Lamp(_)))
        .map(|region| fitted(region, relative.rear.anchors, relative.size.length))
        .map(|mut region| {
            region.at.range.iter_mut().flatten().for_each(|x| *x += longer);
            region
        })
        .collect();
    let has_room = tail.iter().flat_map(|region| &region.at.curve).all(|point| point.at.y < LAMP_TOP_MAX);
    FaceSheet {
        about: relative.about.clone(),
        region: front.map(|region| fitted(region, relative.front.anchors, 0.0)).collect(),
        relief,
        tail: if has_room { tail } else { Vec::new() },
        wheel: Some(relative.fittings.wheel),
    }
}

/// Returns the map from x of the relative to x of the sheet, through nose, axles and tail.
fn lengthwise(relative: &Sheet, sheet: &Sheet) -> MonotoneCurve {
    let knots = |sheet: &Sheet| {
        let front = sheet.size.front_overhang;
        [0.0, front, front + sheet.size.wheelbase, sheet.size.length]
    };
    MonotoneCurve::new(knots(relative).into_iter().zip(knots(sheet)).collect())
}

/// Replaces the medians of the class by those positions measured on the relative that its other
/// bodies share. Coupes and convertibles have a windscreen of their own.
pub fn take_over_places(sheet: &mut Sheet, facts: &Facts, vehicle: &Vehicle) {
    let wheelbase = vehicle.dimensions.wheelbase_mm.max(1) as f32;
    let ratio = |mm: u32| mm as f32 / wheelbase;
    let mut places = sheet
        .proportions
        .take()
        .unwrap_or_else(|| Facts { roof: Some(ratio(vehicle.dimensions.height_mm)), ..Facts::default() });
    if let Some(front) = facts.front_overhang {
        places.front_overhang = Some(front);
        places.rear_overhang = Some((ratio(vehicle.dimensions.length_mm) - 1.0 - front).max(0.1));
    }
    places.bonnet_edge = facts.bonnet_edge.or(places.bonnet_edge);
    places.cowl = facts.cowl.or(places.cowl);
    places.tyre = facts.tyre.or(places.tyre);
    if !facts.bonnet.is_empty() {
        places.bonnet = facts.bonnet.clone();
    }
    if !matches!(vehicle.body, BodyClass::Coupe | BodyClass::Convertible) {
        places.header = facts.header.or(places.header);
        places.glass_front = facts.glass_front.or(places.glass_front);
        let front = facts.belt.iter().filter(|point| point[0] <= FRONT_DOOR_END);
        let front: Vec<[f32; 2]> = front.copied().collect();
        if !front.is_empty() {
            places.belt.retain(|point| point[0] > FRONT_DOOR_END);
            places.belt.splice(0..0, front);
        }
        places.b_pillar = facts.b_pillar.or(places.b_pillar);
    }
    sheet.proportions = Some(places);
}

#[cfg(test)]
mod tests {
    use super::super::library::Library;
    use super::super::typical::typical;
    use super::*;

    fn dressed(library: &Library, make: &str, model: &str, year: u16, body: BodyClass) -> Sheet {
        let vehicle = Vehicle { make: make.to_owned(), model: model.to_owned(), year, ..typical(body) };
        library.dressed(&vehicle).unwrap().unwrap()
    }

    /// Returns the points of a region in front view, in units of half the width and of the
    /// height between the anchors.
    fn places(sheet: &Sheet, name: &str) -> Vec<Vec2> {
        let [low, high] = sheet.front.anchors;
        let region = sheet.front.region.iter().find(|region| region.name == name).unwrap();
        let unit = Vec2::new(sheet.size.width * 0.5, high - low);
        region.at.curve.iter().map(|point| (point.at - Vec2::Y * low) / unit).collect()
    }

    #[test]
    fn an_estate_that_nobody_drew_has_the_front_of_its_hatchback_and_the_tail_of_its_class() {
        let library = Library::embedded().unwrap();
        let [hatchback, estate] =
            [BodyClass::Hatchback, BodyClass::Wagon].map(|body| dressed(&library, "volkswagen", "golf", 2015, body));
        let template = library.sheet("wagon").unwrap();
        assert_eq!(estate.about, template.about);
        assert_eq!(estate.greenhouse.profile, template.greenhouse.profile);
        for (one, other) in places(&hatchback, "head lamp").iter().zip(places(&estate, "head lamp")) {
            assert!(one.distance(other) < 1e-3, "{one} {other}");
        }
        let (measured, taken) = (hatchback.facts.unwrap(), estate.proportions.unwrap());
        assert_eq!((taken.cowl, taken.front_overhang), (measured.cowl, measured.front_overhang));
        assert_ne!(taken.glass_rear, measured.glass_rear);
    }

    #[test]
    fn tail_lamps_that_climb_the_pillars_of_a_hatchback_stay_there() {
        let library = Library::embedded().unwrap();
        let template = library.sheet("wagon").unwrap();
        let mut hatchback = library.sheet("volkswagen-golf-7").unwrap();
        let lamp = |sheet: &Sheet| sheet.rear.region.iter().find(|region| region.name == "tail lamp").cloned().unwrap();
        let mut low = template.clone();
        take_over(&mut low, &hatchback);
        assert_ne!(lamp(&low).at.curve, lamp(&template).at.curve);
        for region in hatchback.rear.region.iter_mut().filter(|region| region.name == "tail lamp") {
            region.at.curve.iter_mut().for_each(|point| point.at.y += 0.4);
        }
        let mut high = template.clone();
        take_over(&mut high, &hatchback);
        assert_eq!(lamp(&high).at.curve, lamp(&template).at.curve);
    }
}
