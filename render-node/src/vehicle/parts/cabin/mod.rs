//! The interior as seen through tinted glass, or directly when the car is open. Vehicle
//! space, whole car, left-hand drive.
//!
//! Everything is derived from the [`CabinSpace`] that the body leaves:
//! nothing rises above its roof line.

mod dash;
mod seat;
pub mod space;

use glam::Vec3;

use super::solid::Solid;
use crate::vehicle::mesh::{Material, VehicleMesh};
use space::{CabinSpace, Rear};

/// Returns the whole interior, at most 15,000 triangles.
pub fn cabin(space: &CabinSpace) -> VehicleMesh {
    let mut mesh = VehicleMesh::default();
    dash::add_floor(&mut mesh, space);
    dash::add_dash(&mut mesh, space);
    dash::add_inner_mirror(&mut mesh, space);
    dash::add_visors(&mut mesh, space);
    for (number, row) in space.rows().iter().enumerate() {
        seat::add_row(&mut mesh, space, row, number);
    }
    if space.rear == Rear::Bulkhead {
        let x = space.rows()[0].hip_x + 0.48;
        let top = space.ceiling(x).min(space.z_belt + 0.9);
        let half = Vec3::new(0.02, space.half_width(space.z_belt) - 0.02, (top - space.z_floor) / 2.0);
        let wall = Solid::rounded_box(half, 0.02).moved(Vec3::new(x, 0.0, space.z_floor + half.z));
        // The wall narrows with the body towards the roof.
        let wall = wall.bent(|p| Vec3::new(p.x, p.y * space.half_width(p.z) / space.half_width_belt, p.z));
        mesh.add(Material::Interior, &wall.surface(60.0));
    }
    mesh
}

#[cfg(test)]
mod tests {
    use super::space::{HEAD_CLEARANCE, Tail};
    use super::*;
    use crate::vehicle::parts::checks::assert_sound;

    fn saloon() -> CabinSpace {
        CabinSpace {
            x_cowl: 1.25,
            z_cowl: 0.98,
            x_rear: 3.75,
            z_floor: 0.25,
            z_belt: 0.95,
            z_door: 0.95,
            half_width_belt: 0.78,
            half_width_roof: 0.56,
            half_width_cowl: 0.78,
            roof: vec![[1.25, 0.98], [1.95, 1.36], [2.5, 1.42], [3.1, 1.38], [3.75, 1.02]],
            rear: Rear::Bench,
            tail: None,
            x_front_doors: 2.62,
            open: false,
            upright: false,
        }
    }

    #[test]
    fn nothing_pierces_roof_or_sides() {
        let low = CabinSpace {
            roof: vec![[1.25, 0.90], [1.95, 1.18], [2.5, 1.24], [3.1, 1.18], [3.75, 0.92]],
            z_belt: 0.86,
            z_door: 0.86,
            z_cowl: 0.90,
            z_floor: 0.20,
            rear: Rear::PlusTwo,
            ..saloon()
        };
        let tall = CabinSpace {
            upright: true,
            rear: Rear::TwoBenches,
            x_rear: 4.4,
            roof: vec![[1.25, 1.1], [1.9, 1.75], [4.4, 1.78]],
            z_belt: 1.12,
            z_door: 1.12,
            ..saloon()
        };
        let cab = CabinSpace {
            upright: true,
            rear: Rear::Bulkhead,
            x_rear: 3.0,
            roof: vec![[1.25, 1.1], [1.9, 1.85], [4.4, 1.9]],
            z_belt: 1.2,
            z_door: 1.2,
            ..saloon()
        };
        for (name, space) in [("saloon", saloon()), ("low coupe", low), ("people carrier", tall), ("cab", cab)] {
            let mesh = cabin(&space);
            assert_sound(&mesh, name);
            assert!(mesh.triangle_count() < 15_000, "{name}: {}", mesh.triangle_count());
            for (material, surface) in &mesh.surfaces {
                for p in &surface.positions {
                    assert!(p[2] < space.ceiling(p[0]) + HEAD_CLEARANCE, "{name}: {material:?} {p:?} pierces the roof");
                    assert!(p[1].abs() < space.half_width(p[2]) + 0.001, "{name}: {material:?} {p:?} pierces the side");
                    assert!(p[0] < space.x_rear + 0.05, "{name}: {material:?} {p:?} behind the cabin");
                }
            }
        }
    }

    #[test]
    fn the_tail_is_filled_below_the_belt_so_that_nobody_sees_lamps_from_inside() {
        let space = CabinSpace { tail: Some(Tail { x: 4.45, half_width: [0.74, 0.60], top: 0.93 }), ..saloon() };
        let mesh = cabin(&space);
        assert_sound(&mesh, "tail");
        let behind: Vec<_> =
            mesh.surfaces[&Material::Interior].positions.iter().filter(|p| p[0] > space.x_rear + 0.1).collect();
        assert!(behind.iter().any(|p| p[0] > 4.44) && behind.iter().all(|p| p[2] < space.z_belt && p[1].abs() < 0.79));
    }

    #[test]
    fn seats_and_wheel_are_seen_above_the_belt() {
        let space = saloon();
        let mesh = cabin(&space);
        let top = |material| mesh.surfaces[&material].positions.iter().map(|p| p[2]).fold(0.0, f32::max);
        assert!(top(Material::Seat) > space.z_belt + 0.28, "{}", top(Material::Seat));
        let rim = mesh.surfaces[&Material::MattBlack].positions.iter().filter(|p| p[1] < -0.15);
        let rim = rim.map(|p| p[2]).fold(0.0, f32::max);
        assert!(rim > space.z_belt + 0.08, "{rim}");
    }

    #[test]
    fn an_open_car_has_seats_above_its_belt_and_the_wheel_on_the_left() {
        let space = CabinSpace { open: true, roof: Vec::new(), rear: Rear::None, x_rear: 2.9, ..saloon() };
        let mesh = cabin(&space);
        assert_sound(&mesh, "open");
        let top = mesh.surfaces[&Material::Seat].positions.iter().map(|p| p[2]).fold(0.0, f32::max);
        assert!(top > space.z_belt + 0.08 && top < space.z_belt + 0.35, "{top}");
        let chrome = &mesh.surfaces[&Material::Satin].positions;
        assert!(chrome.iter().any(|p| p[1] < -0.2));
    }

    #[test]
    fn the_same_space_gives_the_same_cabin() {
        let [a, b] = [cabin(&saloon()), cabin(&saloon())];
        for (material, surface) in &a.surfaces {
            assert_eq!(surface.positions, b.surfaces[material].positions);
            assert_eq!(surface.indices, b.surfaces[material].indices);
        }
    }
}
