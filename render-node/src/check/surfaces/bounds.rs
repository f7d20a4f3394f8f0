//! The bounds of the figures for each kind of body, read from `bounds.toml`.

use super::{Aspect, Figure, Surfaces};
use cyclorama_core::BodyClass;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Bodies that share the same bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BoundsKind {
    Saloon,
    Hatchback,
    Estate,
    Suv,
    SportsCar,
    Pickup,
    Van,
    Truck,
}

impl BoundsKind {
    /// Returns the kind of a body class, or `None` for one without a body of sheet metal to
    /// measure.
    pub fn of(body: BodyClass) -> Option<BoundsKind> {
        match body {
            BodyClass::Sedan | BodyClass::Fastback => Some(BoundsKind::Saloon),
            BodyClass::Hatchback => Some(BoundsKind::Hatchback),
            BodyClass::Wagon => Some(BoundsKind::Estate),
            BodyClass::Suv | BodyClass::OffRoader => Some(BoundsKind::Suv),
            BodyClass::Coupe | BodyClass::Convertible => Some(BoundsKind::SportsCar),
            BodyClass::Pickup => Some(BoundsKind::Pickup),
            BodyClass::Van | BodyClass::Minivan => Some(BoundsKind::Van),
            BodyClass::Truck | BodyClass::Bus => Some(BoundsKind::Truck),
            BodyClass::Motorcycle
            | BodyClass::Scooter
            | BodyClass::Trailer
            | BodyClass::Rickshaw
            | BodyClass::Other => None,
        }
    }

    pub const fn name(self) -> &'static str {
        match self {
            BoundsKind::Saloon => "saloon",
            BoundsKind::Hatchback => "hatchback",
            BoundsKind::Estate => "estate",
            BoundsKind::Suv => "suv",
            BoundsKind::SportsCar => "sports-car",
            BoundsKind::Pickup => "pickup",
            BoundsKind::Van => "van",
            BoundsKind::Truck => "truck",
        }
    }
}

/// The maximum of each figure, or the minimum if more is better.
#[derive(Debug, Clone, Deserialize)]
pub struct Bounds(BTreeMap<BoundsKind, BTreeMap<Aspect, BTreeMap<Figure, f32>>>);

impl Bounds {
    pub fn built_in() -> Result<Bounds, toml::de::Error> {
        toml::from_str(include_str!("bounds.toml"))
    }

    /// Returns a bound, or `None` if any value is allowed.
    pub fn of(&self, kind: BoundsKind, aspect: Aspect, figure: Figure) -> Option<f32> {
        self.0.get(&kind)?.get(&aspect)?.get(&figure).copied()
    }

    /// Returns the figures of a body that are beyond its kind's bounds. A figure that could not be
    /// measured is within them.
    pub fn broken(&self, kind: BoundsKind, surfaces: &Surfaces) -> Vec<(Aspect, Figure)> {
        let bounded = self.0.get(&kind).into_iter().flatten();
        let bounded =
            bounded.flat_map(|(aspect, figures)| figures.iter().map(|(figure, bound)| (*aspect, *figure, *bound)));
        let broken = bounded.filter(|(aspect, figure, bound)| {
            surfaces.get(*aspect, *figure).is_some_and(|value| !is_within(*figure, value, *bound))
        });
        broken.map(|(aspect, figure, _)| (aspect, figure)).collect()
    }
}

fn is_within(figure: Figure, value: f32, bound: f32) -> bool {
    if figure.more_is_better() { value >= bound } else { value <= bound }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_bounds_and_what_is_beyond_them_is_told() {
        let bounds = Bounds::built_in().unwrap();
        for body in BodyClass::ALL {
            if let Some(kind) = BoundsKind::of(*body) {
                assert!(bounds.of(kind, Aspect::Side, Figure::ExtrudedPercent).is_some(), "{kind:?}");
                assert!(bounds.of(kind, Aspect::Side, Figure::AreaM2).is_none(), "{kind:?}");
            }
        }
        let with = |extruded: f32, saddle: f32| {
            let side = [(Figure::ExtrudedPercent, extruded), (Figure::SaddlePercent, saddle)];
            Surfaces(BTreeMap::from([(Aspect::Side, BTreeMap::from(side))]))
        };
        let saddle = bounds.of(BoundsKind::Saloon, Aspect::Side, Figure::SaddlePercent).unwrap();
        assert_eq!(bounds.broken(BoundsKind::Saloon, &with(0.0, 100.0)), []);
        assert_eq!(
            bounds.broken(BoundsKind::Saloon, &with(99.0, saddle - 0.1)),
            [(Aspect::Side, Figure::ExtrudedPercent), (Aspect::Side, Figure::SaddlePercent)]
        );
    }
}
