//! Measures how a body's painted surfaces would reflect: figures that tell sheet metal drawn by a
//! stylist from planes with ribs and fillets. `docs/surfaces.md` defines each figure and says which
//! values good bodies have.
//!
//! No graphics device is needed: the body is seen from the side, from above and from the front in
//! parallel projection (`sight`), cut into panels with the mirrored angle and the curvature of each
//! point (`panel`), and measured along lines (`lines`).

pub mod bounds;
mod lettering;
mod lines;
mod panel;
pub mod picture;
mod sight;

use crate::vehicle::{EdgeStray, VehicleMesh};
use panel::{PaintPanel, Point, panels};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sight::{Sight, Standpoint};
use std::collections::BTreeMap;
use std::ops::Range;

/// Side of a pixel. Half of it costs four times as much, and changes percentages by about a point
/// and waves mostly by less than a tenth.
const PITCH_M: f32 = 0.004;
/// An aspect with less paint than this is not measured.
const LEAST_AREA_M2: f64 = 0.1;
/// Waves are not counted if the sections are shorter in total than this.
const LEAST_SECTIONS_M: f32 = 2.0;
/// Range of the bonnet, as ratios of the length.
const BONNET: Range<f32> = 0.06..0.28;

/// The direction from which a body is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aspect {
    Side,
    Above,
    Front,
    /// From above, only where an engine in front has its bonnet.
    Bonnet,
    /// Not the surfaces but the edges between materials, wherever they are.
    Edges,
}

impl Aspect {
    pub const ALL: [Aspect; 5] = [Aspect::Side, Aspect::Above, Aspect::Front, Aspect::Bonnet, Aspect::Edges];

    pub const fn name(self) -> &'static str {
        match self {
            Aspect::Side => "side",
            Aspect::Above => "above",
            Aspect::Front => "front",
            Aspect::Bonnet => "bonnet",
            Aspect::Edges => "edges",
        }
    }
}

/// A figure that is measured for each aspect. Percentages refer to the area of the aspect's panels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    AreaM2,
    /// How often a section across the strips turns from bulging to hollow or back, per metre.
    WavesPerM,
    /// Percentage where the section does not change along the strip.
    ExtrudedPercent,
    /// Change of the mirrored angle along the strip, at the median point.
    ChangeAlongDegreesPerM,
    /// Percentage where the surface bends at a radius of 50 to 150 mm.
    FilletPercent,
    /// Percentage where the mirrored angle hardly changes in any direction.
    DeadPercent,
    /// Percentage where the surface is hollow in one direction and bulges in the other.
    SaddlePercent,
    /// Tremor of the lines of one angle, median.
    WobbleDegrees,
    /// Distance of an edge from the curve by which it was drawn: 95 % of the edges' length is
    /// nearer than this.
    StrayMm,
    /// Same as `StrayMm`, at the worst position.
    WorstStrayMm,
}

impl Figure {
    pub const ALL: [Figure; 10] = [
        Figure::AreaM2,
        Figure::WavesPerM,
        Figure::ExtrudedPercent,
        Figure::ChangeAlongDegreesPerM,
        Figure::FilletPercent,
        Figure::DeadPercent,
        Figure::SaddlePercent,
        Figure::WobbleDegrees,
        Figure::StrayMm,
        Figure::WorstStrayMm,
    ];

    /// Returns the name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Figure::AreaM2 => "area",
            Figure::WavesPerM => "waves",
            Figure::ExtrudedPercent => "extruded",
            Figure::ChangeAlongDegreesPerM => "change",
            Figure::FilletPercent => "fillet",
            Figure::DeadPercent => "dead",
            Figure::SaddlePercent => "saddle",
            Figure::WobbleDegrees => "wobble",
            Figure::StrayMm => "stray",
            Figure::WorstStrayMm => "worst",
        }
    }

    pub const fn unit(self) -> &'static str {
        match self {
            Figure::AreaM2 => "m2",
            Figure::WavesPerM => "/m",
            Figure::ChangeAlongDegreesPerM => "deg/m",
            Figure::WobbleDegrees => "deg",
            Figure::StrayMm | Figure::WorstStrayMm => "mm",
            Figure::ExtrudedPercent | Figure::FilletPercent | Figure::DeadPercent | Figure::SaddlePercent => "%",
        }
    }

    /// Returns true if a larger value is better: for the change of the section and for saddles,
    /// which lie between a haunch and a waist.
    pub const fn more_is_better(self) -> bool {
        matches!(self, Figure::ChangeAlongDegreesPerM | Figure::SaddlePercent)
    }

    /// Returns the value with its significant digits.
    pub fn shown(self, value: f32) -> String {
        match self {
            Figure::WobbleDegrees | Figure::StrayMm => format!("{value:.2}"),
            Figure::AreaM2 | Figure::WavesPerM | Figure::WorstStrayMm => format!("{value:.1}"),
            _ => format!("{value:.0}"),
        }
    }
}

/// Figures of one aspect; a figure that cannot be measured is absent.
pub type AspectFigures = BTreeMap<Figure, f32>;

/// Figures of a body; an aspect with hardly any paint is absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Surfaces(pub BTreeMap<Aspect, AspectFigures>);

impl Surfaces {
    pub fn get(&self, aspect: Aspect, figure: Figure) -> Option<f32> {
        self.0.get(&aspect)?.get(&figure).copied()
    }
}

/// Measures a body's surfaces from every side, and its edges by the deviations that the build
/// recorded.
pub fn measure(mesh: &VehicleMesh, strays: &[EdgeStray]) -> Surfaces {
    let mut surfaces = measure_at(mesh, PITCH_M);
    surfaces.0.extend(edges(strays).map(|figures| (Aspect::Edges, figures)));
    surfaces
}

fn measure_at(mesh: &VehicleMesh, pitch_m: f32) -> Surfaces {
    let seen = [Standpoint::Side, Standpoint::Above, Standpoint::Front].into_par_iter().flat_map_iter(|standpoint| {
        let sight = Sight::of(mesh, standpoint, pitch_m);
        let all = panels(&sight, 0..sight.columns);
        match standpoint {
            Standpoint::Side => vec![(Aspect::Side, all)],
            Standpoint::Above => vec![(Aspect::Above, all), (Aspect::Bonnet, panels(&sight, bonnet(&sight)))],
            Standpoint::Front => vec![(Aspect::Front, all)],
        }
    });
    let figures = seen.filter_map(|(aspect, panels)| Some((aspect, figures(&panels)?)));
    Surfaces(figures.collect())
}

/// Returns the columns of the bonnet, seen from above.
fn bonnet(sight: &Sight) -> Range<usize> {
    let (first, last) = sight.covered_columns().unwrap_or_default();
    let at = |ratio: f32| first + ((last - first) as f32 * ratio).round() as usize;
    at(BONNET.start)..at(BONNET.end)
}

/// Returns the figures of some panels, or `None` if there is hardly anything to measure.
fn figures(panels: &[PaintPanel]) -> Option<AspectFigures> {
    let points = || panels.iter().flat_map(|panel| &panel.points).flatten();
    // Summed in double precision, because a body has half a million points.
    let area_of = |counts: fn(&Point) -> bool| -> f64 {
        points().filter(|point| counts(point)).fold(0.0, |area, point| area + f64::from(point.area_m2))
    };
    let area_m2 = area_of(|_| true);
    if area_m2 < LEAST_AREA_M2 {
        return None;
    }
    let percent = |counts: fn(&Point) -> bool| Some((100.0 * area_of(counts) / area_m2) as f32);
    let (waves, length_m) = panels
        .iter()
        .map(lines::waves)
        .fold((0, 0.0), |(waves, length), (more, longer)| (waves + more, length + longer));
    let changes = points().map(|point| (point.change_along, point.area_m2)).collect();
    let tremors = panels.iter().flat_map(lines::tremors).map(|tremor| (tremor, 1.0)).collect();
    let measured = [
        (Figure::AreaM2, Some(area_m2 as f32)),
        (Figure::WavesPerM, (length_m >= LEAST_SECTIONS_M).then(|| waves as f32 / length_m)),
        (Figure::ExtrudedPercent, percent(Point::is_extruded)),
        (Figure::ChangeAlongDegreesPerM, below(changes, 0.5)),
        (Figure::FilletPercent, percent(Point::is_fillet)),
        (Figure::DeadPercent, percent(Point::is_dead)),
        (Figure::SaddlePercent, percent(Point::is_saddle)),
        (Figure::WobbleDegrees, below(tremors, 0.5)),
    ];
    Some(measured.into_iter().filter_map(|(figure, value)| Some((figure, value?))).collect())
}

/// Returns the figures of edges, or `None` without edges.
fn edges(strays: &[EdgeStray]) -> Option<AspectFigures> {
    let millimetres = || strays.iter().map(|piece| (piece.stray_m * 1000.0, piece.length_m)).collect();
    let (stray, worst) = (below(millimetres(), 0.95)?, below(millimetres(), 1.0)?);
    Some(BTreeMap::from([(Figure::StrayMm, stray), (Figure::WorstStrayMm, worst)]))
}

/// Returns the weighted quantile: the smallest of the (value, weight) pairs' values at or below
/// which `share` of the weight lies.
fn below(mut weighted: Vec<(f32, f32)>, ratio: f64) -> Option<f32> {
    weighted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let wanted = ratio * weighted.iter().map(|(_, weight)| f64::from(*weight)).sum::<f64>();
    let mut passed = 0.0;
    let middle = weighted.iter().find(|(_, weight)| {
        passed += f64::from(*weight);
        passed >= wanted
    });
    middle.or(weighted.last()).map(|(value, _)| *value)
}

#[cfg(test)]
mod tests;
