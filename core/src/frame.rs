//! Framing: computes, for a square master and the requested [`Framing`], which part of the master
//! an image shows, and how large.
//!
//! The steps are, in this order: scale, trim, padding, fit. The module is pure arithmetic: it takes
//! a [`MasterBounds`], which holds what was read from the master, and returns a [`Plan`], which
//! `encoding::framed` carries out, laying the background under it. Nothing is ever enlarged.

use crate::MASTER_SIDE_PX;
use crate::paint::hex_of_srgb;
use crate::{Dimensions, View};
use std::fmt;

crate::named_enum! {
    /// How an image is fitted into the box of the parameters `w` and `h`.
    #[derive(Default)]
    pub enum Fit {
        /// The image is as large as the box allows, and keeps its aspect ratio.
        #[default]
        Inside = "inside",
        /// The image has exactly the size of the box. The vehicle is whole, and the seen part is
        /// centred.
        Contain = "contain",
        /// The image has exactly the size of the box and fills it: empty space is cut off first,
        /// and the vehicle only if necessary.
        Cover = "cover",
    }
}

crate::named_enum! {
    /// How large the vehicle is in the image. The master is the same for every scale.
    #[derive(Default)]
    pub enum Scale {
        /// Each vehicle is as large as in its master, which it fills.
        #[default]
        Fill = "fill",
        /// A pixel of a 1024 px image shows [`TRUE_SCALE_UM_PER_PX`] of every vehicle that is not
        /// too long for that.
        True = "true",
    }
}

/// Micrometres of the vehicle that a pixel of a 1024 px image shows with [`Scale::True`].
pub const TRUE_SCALE_UM_PER_PX: u32 = 6_500;

/// Maximum of [`Framing::padding_percent`].
pub const PADDING_PERCENT_MAX: u8 = 50;

/// Smallest alpha, of 255, at which a pixel counts as seen.
pub const SEEN_ALPHA_MIN: u8 = 8;

/// The framing that a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Framing {
    pub fit: Fit,
    /// Width and height of the box in pixels, 1 to 1024 each. `None` leaves a side open.
    pub width: Option<u32>,
    pub height: Option<u32>,
    /// If true, the image is cut to the visible pixels of the master ([`SEEN_ALPHA_MIN`]), which
    /// are the vehicle and its shadow, before it is fitted.
    pub trim: bool,
    /// Space on each side of the trimmed part, as a percentage of its longer side.
    pub padding_percent: u8,
    /// Background in sRGB. `None` is transparent, or white in a format without transparency.
    pub background: Option<[u8; 3]>,
    pub scale: Scale,
}

/// A rectangle of the master, in pixels. `left` and `top` are inclusive, `right` and `bottom`
/// exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VisibleBounds {
    pub left: u32,
    pub top: u32,
    pub right: u32,
    pub bottom: u32,
}

/// Properties of a master that [`plan`] needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MasterBounds {
    /// Side of the square master, in pixels.
    pub side_px: u32,
    /// Bounds of all pixels with an alpha of at least [`SEEN_ALPHA_MIN`], or the whole
    /// master if it has none.
    pub seen: VisibleBounds,
    /// Micrometres of the vehicle that a pixel of the master shows.
    pub scale_um_per_px: u32,
}

/// An image to be drawn from a master. Its pixel in column `x` shows the master from `left + x *
/// step` on, and rows likewise from `top` on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// Size of the image, in pixels.
    pub width: u32,
    pub height: u32,
    /// Position of the image's top left corner in pixels of the master. It may
    /// lie outside the master.
    pub left: f64,
    pub top: f64,
    /// Pixels of the master for each pixel of the image, at least 1.
    pub step: f64,
}

impl Framing {
    /// Returns the framing of a plain square, the only one in the first version of the API.
    pub fn square(side_px: u32) -> Self {
        Framing { width: Some(side_px), ..Framing::default() }
    }

    /// Returns the side of the square image in pixels, at most [`MASTER_SIDE_PX`], if the request
    /// sets nothing but a box. Returns `None` for every other framing.
    pub fn square_side_px(&self) -> Option<u32> {
        let Framing { fit: Fit::Inside, trim: false, background: None, scale: Scale::Fill, width, height, .. } = self
        else {
            return None;
        };
        Some(width.unwrap_or(MASTER_SIDE_PX).min(height.unwrap_or(MASTER_SIDE_PX)).min(MASTER_SIDE_PX))
    }

    /// True if the size of the image is known without reading the master.
    pub fn has_known_size(&self) -> bool {
        self.fit != Fit::Inside || !self.trim
    }

    /// Returns width and height in pixels if they are the same for every master. Otherwise returns
    /// the size of the box, which is the largest that the image can have.
    pub fn size_px(&self) -> (u32, u32) {
        let [width, height] = [self.width, self.height].map(|side| side.unwrap_or(MASTER_SIDE_PX).min(MASTER_SIDE_PX));
        match (self.fit, self.trim) {
            (Fit::Inside, false) => (width.min(height), width.min(height)),
            _ => (width, height),
        }
    }
}

/// Writes the name of the framing, which is unique and contains only characters that an
/// object's key may contain: `800x450-contain-trim-pad10-ffffff-true`. The name of a
/// plain square is its side.
impl fmt::Display for Framing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (width, height) = self.size_px();
        match self.has_known_size() && width == height {
            true => write!(f, "{width}")?,
            false => write!(f, "{width}x{height}")?,
        }
        if self.fit != Fit::Inside {
            write!(f, "-{}", self.fit)?;
        }
        if self.trim {
            f.write_str("-trim")?;
        }
        if self.padding_percent > 0 {
            write!(f, "-pad{}", self.padding_percent)?;
        }
        if let Some(background) = self.background {
            write!(f, "-{}", hex_of_srgb(background))?;
        }
        f.write_str(if self.scale == Scale::True { "-true" } else { "" })
    }
}

/// One axis of the framed rectangle, in pixels of the master.
#[derive(Debug, Clone, Copy)]
struct Span {
    low: f64,
    high: f64,
}

impl Span {
    fn length(self) -> f64 {
        self.high - self.low
    }

    fn middle(self) -> f64 {
        (self.low + self.high) * 0.5
    }

    fn grown(self, by: f64) -> Self {
        Span { low: self.low - by, high: self.high + by }
    }
}

/// Computes how `frame` shows the master that `sight` describes.
pub fn plan(frame: &Framing, sight: &MasterBounds) -> Plan {
    let drawn = match frame.scale {
        Scale::Fill => 1.0,
        Scale::True => (f64::from(sight.scale_um_per_px) / f64::from(TRUE_SCALE_UM_PER_PX)).min(1.0),
    };
    let VisibleBounds { left, top, right, bottom } = sight.seen;
    let seen = [(left, right), (top, bottom)].map(|(low, high)| Span { low: f64::from(low), high: f64::from(high) });
    let content = match frame.trim {
        true => {
            let longer = seen[0].length().max(seen[1].length());
            seen.map(|span| span.grown(longer * f64::from(frame.padding_percent) / 100.0))
        }
        false => {
            let (middle, half) = (f64::from(sight.side_px) * 0.5, f64::from(sight.side_px) * 0.5 / drawn);
            [Span { low: middle, high: middle }.grown(half); 2]
        }
    };
    // For each axis, the factor on the content's size at this scale that fills the box. It is
    // capped at 1, because nothing is enlarged.
    let most = f64::from(MASTER_SIDE_PX);
    let room = [frame.width, frame.height].map(|side| side.map_or(most, f64::from));
    let ratios = [0, 1].map(|axis| room[axis] / (content[axis].length() * drawn));
    let ratio = match frame.fit {
        Fit::Inside | Fit::Contain => ratios[0].min(ratios[1]),
        Fit::Cover => ratios[0].max(ratios[1]),
    };
    let step = 1.0 / (drawn * ratio.min(1.0));
    let sides = match frame.fit {
        Fit::Inside => [0, 1].map(|axis| (content[axis].length() / step).round().clamp(1.0, room[axis])),
        Fit::Contain | Fit::Cover => room,
    };
    let corner = [0, 1].map(|axis| {
        let shown = sides[axis] * step;
        let Span { low, high } = content[axis];
        let middle = match frame.fit {
            Fit::Inside => content[axis].middle(),
            Fit::Cover if shown < high - low => seen[axis].middle().clamp(low + shown * 0.5, high - shown * 0.5),
            Fit::Contain | Fit::Cover => seen[axis].middle(),
        };
        let corner = middle - shown * 0.5;
        // Pixels that are copied without scaling must not fall between two pixels.
        if step == 1.0 { corner.round() } else { corner }
    });
    Plan { width: sides[0] as u32, height: sides[1] as u32, left: corner[0], top: corner[1], step }
}

impl Plan {
    /// Returns how many millimetres of the vehicle a pixel of the image shows.
    pub fn scale_mm_per_px(&self, sight: &MasterBounds) -> f64 {
        f64::from(sight.scale_um_per_px) * self.step / 1_000.0
    }
}

/// Estimates how many micrometres of a vehicle a pixel of its 1024 px master shows, from the
/// vehicle's dimensions alone. It is for masters of earlier versions, which do not record their
/// scale. The estimate is within a few per cent of the camera's scale, because bodies are rounder
/// than the boxes that they fit in.
pub fn estimated_scale_um_per_px(dimensions: &Dimensions, view: View) -> u32 {
    let (across, along) = f64::from(view.yaw_degrees()).to_radians().sin_cos();
    let Dimensions { length_mm, width_mm, height_mm, .. } = *dimensions;
    // The width includes mirrors. In a three-quarter view the corners of the box are not filled.
    let seen_width = f64::from(width_mm) * 1.12 * along.abs() + f64::from(length_mm) * across.abs();
    let is_oblique = across.abs().min(along.abs()) > 0.1;
    let width_mm = seen_width * if is_oblique { 0.93 } else { 1.0 };
    let height_mm = f64::from(height_mm) * 1.05;
    let mm_per_px = (width_mm / FILLED_WIDTH).max(height_mm / FILLED_HEIGHT) / f64::from(MASTER_SIDE_PX);
    (mm_per_px * 1_000.0).round().max(1.0) as u32
}

/// Ratios of a master's width and height that a vehicle fills at most.
const FILLED_WIDTH: f64 = 0.915;
const FILLED_HEIGHT: f64 = 0.86;
