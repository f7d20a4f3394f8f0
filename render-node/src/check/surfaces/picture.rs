//! Draws a body, seen from three sides on one page, in colours for the kind of each of its points,
//! with its figures.

use super::lettering::{ADVANCE, HEIGHT, dots};
use super::panel::{Point, panels};
use super::sight::{Sight, Standpoint};
use super::{Aspect, Figure, PITCH_M, Surfaces};
use crate::vehicle::VehicleMesh;
use cyclorama_core::encoding::{PictureError, Pixmap};

type Colour = [f32; 3];

const PAGE: Colour = [245.0; 3];
const INK: Colour = [40.0; 3];
const NOT_PAINT: Colour = [120.0, 122.0, 128.0];
const NOT_MEASURED: Colour = [206.0, 206.0, 210.0];
const MARGIN: usize = 28;
/// Page pixels per dot of a letter.
const TITLE_DOT: usize = 3;
const TEXT_DOT: usize = 2;
const LINE_PX: usize = 22;
/// Points that mirror alternate bands of this many degrees are shaded in turn, which shows how
/// reflections would run.
const BAND_DEGREES: f32 = 10.0;
const BAND_SHADE: f32 = 0.88;

/// A kind of point. A point belongs to the first kind whose condition holds.
struct PointKind {
    words: &'static str,
    colour: Colour,
    holds: fn(&Point) -> bool,
}

const KINDS: [PointKind; 5] = [
    PointKind { words: "dead: mirrors one spot", colour: [214.0, 50.0, 48.0], holds: Point::is_dead },
    PointKind { words: "fillet: radius 50 to 150 mm", colour: [250.0, 145.0, 30.0], holds: Point::is_fillet },
    PointKind { words: "extruded: same along the car", colour: [245.0, 215.0, 70.0], holds: Point::is_extruded },
    PointKind { words: "saddle: hollow and bulging", colour: [70.0, 130.0, 225.0], holds: Point::is_saddle },
    PointKind { words: "bulging, and changes all ways", colour: [95.0, 180.0, 105.0], holds: |_| true },
];

/// Draws the page. `title` is the vehicle's name, `surfaces` the figures of the same mesh.
pub fn picture(mesh: &VehicleMesh, title: &str, surfaces: &Surfaces) -> Result<Pixmap, PictureError> {
    let [side, above, front] =
        [Standpoint::Side, Standpoint::Above, Standpoint::Front].map(|standpoint| Sight::of(mesh, standpoint, PITCH_M));
    let lines = [Aspect::Side, Aspect::Above, Aspect::Bonnet, Aspect::Edges].map(|aspect| {
        let figures = told(surfaces, aspect);
        if figures.is_empty() { String::new() } else { format!("{}: {}", aspect.name(), figures.join(", ")) }
    });
    let widest = lines.iter().map(|line| line.len() * ADVANCE * TEXT_DOT).max().unwrap_or(0);
    let left_px = widest.max(side.columns).max(above.columns);
    let legend_px = KINDS.iter().map(|kind| LINE_PX * 2 + kind.words.len() * ADVANCE * TEXT_DOT).max().unwrap_or(0);
    let right = MARGIN * 2 + left_px;
    let views_top = MARGIN * 2 + HEIGHT * TITLE_DOT;
    let upper_px = side.rows.max(front.rows);
    let above_top = views_top + upper_px + 2 * LINE_PX;
    let front_lines: Vec<String> = std::iter::once("front".to_owned()).chain(told(surfaces, Aspect::Front)).collect();
    let legend_top = above_top + (front_lines.len() + 1) * LINE_PX;
    let bottom = (above_top + above.rows + 4 * LINE_PX).max(legend_top + (KINDS.len() + 3) * LINE_PX);
    let mut page = Page::new(right + front.columns.max(legend_px) + MARGIN, bottom + MARGIN);

    page.write(MARGIN, MARGIN, TITLE_DOT, title);
    page.draw(MARGIN, views_top + upper_px - side.rows, &side);
    page.draw(right, views_top + upper_px - front.rows, &front);
    page.draw(MARGIN, above_top, &above);
    let [side_line, below_above @ ..] = &lines;
    page.write(MARGIN, views_top + upper_px + LINE_PX / 2, TEXT_DOT, side_line);
    for (index, line) in below_above.iter().enumerate() {
        page.write(MARGIN, above_top + above.rows + LINE_PX / 2 + index * LINE_PX, TEXT_DOT, line);
    }
    for (index, line) in front_lines.iter().enumerate() {
        page.write(right, views_top + upper_px + LINE_PX / 2 + index * LINE_PX, TEXT_DOT, line);
    }
    let others = [("other paint: edges, steep, small", NOT_MEASURED), ("other materials", NOT_PAINT)];
    let legend = KINDS.iter().map(|kind| (kind.words, kind.colour)).chain(others);
    for (index, (words, colour)) in legend.enumerate() {
        let top = legend_top + index * LINE_PX;
        page.fill(right, top, LINE_PX * 3 / 2, LINE_PX - 6, colour);
        page.write(right + LINE_PX * 2, top + 1, TEXT_DOT, words);
    }
    page.finish()
}

/// Returns the figures of an aspect in words.
fn told(surfaces: &Surfaces, aspect: Aspect) -> Vec<String> {
    let figures = Figure::ALL.into_iter().filter(|figure| *figure != Figure::AreaM2);
    let told = figures.filter_map(|figure| {
        let value = surfaces.get(aspect, figure)?;
        Some(format!("{} {} {}", figure.name(), figure.shown(value), figure.unit()))
    });
    told.collect()
}

struct Page {
    width: usize,
    height: usize,
    rgba: Vec<u8>,
}

impl Page {
    fn new(width: usize, height: usize) -> Page {
        let mut page = Page { width, height, rgba: vec![255; width * height * 4] };
        page.fill(0, 0, width, height, PAGE);
        page
    }

    fn put(&mut self, x: usize, y: usize, colour: Colour) {
        if x < self.width && y < self.height {
            let start = (y * self.width + x) * 4;
            self.rgba[start..start + 3].copy_from_slice(&colour.map(|channel| channel.round() as u8));
        }
    }

    fn fill(&mut self, left: usize, top: usize, width: usize, height: usize, colour: Colour) {
        for y in top..top + height {
            for x in left..left + width {
                self.put(x, y, colour);
            }
        }
    }

    fn write(&mut self, left: usize, top: usize, dot_px: usize, text: &str) {
        for (x, y) in dots(text) {
            self.fill(left + x * dot_px, top + y * dot_px, dot_px, dot_px, INK);
        }
    }

    /// Draws a sight with its upper left corner at (`left`, `top`).
    fn draw(&mut self, left: usize, top: usize, sight: &Sight) {
        let mut points: Vec<Option<Point>> = vec![None; sight.pixels.len()];
        for panel in panels(sight, 0..sight.columns) {
            for (at, point) in panel.points.iter().enumerate().filter(|(_, point)| point.is_some()) {
                let (x, y) = (panel.left + at % panel.columns, panel.bottom + at / panel.columns);
                points[y * sight.columns + x] = *point;
            }
        }
        for (at, pixel) in sight.pixels.iter().enumerate() {
            let Some(pixel) = pixel else { continue };
            let colour = match points[at] {
                Some(point) => {
                    let is_shaded = (point.angle / BAND_DEGREES).floor().rem_euclid(2.0) == 0.0;
                    let kind = KINDS.iter().find(|kind| (kind.holds)(&point));
                    let shade = if is_shaded { BAND_SHADE } else { 1.0 };
                    kind.map_or(NOT_MEASURED, |kind| kind.colour.map(|channel| channel * shade))
                }
                None if sight.is_paint(at) => NOT_MEASURED,
                None => NOT_PAINT,
            };
            let light = 0.6 + 0.4 * pixel.normal.z;
            let row = sight.rows - 1 - at / sight.columns;
            self.put(left + at % sight.columns, top + row, colour.map(|channel| channel * light));
        }
    }

    fn finish(self) -> Result<Pixmap, PictureError> {
        Pixmap::from_rgba(self.width as u32, self.height as u32, self.rgba)
    }
}
