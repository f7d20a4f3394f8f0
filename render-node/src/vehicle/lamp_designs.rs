//! Designs of the inside of a make's lamps, for all sheets and faces that leave the
//! inside at the default.

use std::sync::LazyLock;

use cyclorama_core::vehicle::{BodyClass, Vehicle};
use serde::Deserialize;

use super::applies_to::is_for;
use super::mesh::Material;
use super::parts::lamp::{MainLight, RunningLight, TailFill, TailMotif};
use super::sheet::Lamp;

const TABLE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/sheets/tables/lamp_designs.toml"));

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    head: Vec<HeadDesign>,
    tail: Vec<TailDesign>,
    /// Rings around round lamps.
    #[serde(default)]
    ring: Vec<Ring>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ring {
    makes: Vec<String>,
    #[serde(default)]
    years: Option<[u16; 2]>,
    #[serde(default)]
    bodies: Vec<BodyClass>,
    material: Material,
}

macro_rules! design {
    ($name:ident { $($field:ident : $kind:ty),* $(,)? }) => {
        #[derive(Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        struct $name {
            /// Name for people who read the table.
            #[allow(dead_code)]
            name: String,
            #[serde(default)]
            makes: Vec<String>,
            #[serde(default)]
            years: Option<[u16; 2]>,
            #[serde(default)]
            bodies: Vec<BodyClass>,
            $(#[serde(default)] $field: Option<$kind>,)*
        }

        impl $name {
            fn fits(&self, vehicle: &Vehicle) -> bool {
                is_for(vehicle, &self.makes, self.years, &self.bodies)
            }
        }
    };
}

design!(HeadDesign {
    main: MainLight,
    count: u32,
    from: f32,
    to: f32,
    size: f32,
    running: RunningLight,
    stroke: f32,
    indicator: bool,
    fins: u32,
    bezel: Material,
    ledge: Material,
    ring: Material,
});

design!(TailDesign { motif: TailMotif, count: u32, stroke: f32, clear: bool, fill: TailFill, reflex: f32 });

static DESIGNS: LazyLock<Table> = LazyLock::new(|| toml::from_str(TABLE).unwrap_or_default());

/// Replaces a value if there is another one.
fn put<T: Copy>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

/// Gives a head or tail lamp the design of its make. Round and square lamps keep the lights that
/// were drawn in them, because only wide lamps have room for a row.
pub fn complete(lamp: &mut Lamp, name: &str, is_wide: bool, vehicle: &Vehicle) {
    if let Some(head) = &mut lamp.head
        && name.starts_with("head lamp")
        && let Some(design) = DESIGNS.head.iter().find(|design| design.fits(vehicle))
    {
        let is_plain = matches!(head.main, MainLight::Bowl | MainLight::Projectors)
            && head.running == RunningLight::None
            && head.count < 3;
        if is_plain {
            if let Some(main) = design.main.filter(|_| is_wide) {
                head.main = main;
                put(&mut head.count, design.count);
                put(&mut head.from, design.from);
                put(&mut head.to, design.to);
                put(&mut head.size, design.size);
            }
            put(&mut head.running, design.running.filter(|_| is_wide));
            put(&mut head.stroke, design.stroke);
            head.indicator |= design.indicator.unwrap_or(false);
            put(&mut head.fins, design.fins);
        }
        head.bezel = head.bezel.or(design.bezel);
        head.ledge = head.ledge.or(design.ledge);
        head.ring = head.ring.or(ring_of(vehicle).or(design.ring));
    }
    if let Some(tail) = &mut lamp.tail
        && let Some(design) = DESIGNS.tail.iter().find(|design| design.fits(vehicle))
    {
        if tail.is_usual() {
            put(&mut tail.motif, design.motif);
            put(&mut tail.count, design.count);
            put(&mut tail.stroke, design.stroke);
            put(&mut tail.clear, design.clear);
        }
        put(&mut tail.fill, design.fill);
        put(&mut tail.reflex, design.reflex);
    }
}

/// Returns the material of the ring around a round lamp.
fn ring_of(vehicle: &Vehicle) -> Option<Material> {
    let fits = |ring: &&Ring| is_for(vehicle, &ring.makes, ring.years, &ring.bodies);
    DESIGNS.ring.iter().find(fits).map(|ring| ring.material)
}

#[cfg(test)]
mod tests {
    use super::super::typical::typical;
    use super::*;

    #[test]
    fn there_are_forty_designs_of_each_end_and_the_last_fits_everything() {
        let table: Table = toml::from_str(TABLE).unwrap();
        assert!(table.head.len() >= 40 && table.tail.len() >= 40);
        let vehicle = Vehicle { make: "nobody".to_owned(), year: 1900, ..typical(BodyClass::Other) };
        assert!(table.head.last().is_some_and(|design| design.fits(&vehicle)));
        assert!(table.tail.last().is_some_and(|design| design.fits(&vehicle)));
        let slugs = table.head.iter().flat_map(|d| &d.makes).chain(table.tail.iter().flat_map(|d| &d.makes));
        for slug in slugs {
            assert!(slug.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'), "{slug}");
        }
    }
}
