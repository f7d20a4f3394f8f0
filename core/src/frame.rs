//! From a square master to the picture that a page has room for: which part of it is shown, how large, on what ground.
//!
//! The order is: scale, trim, padding, fit, background. Pure arithmetic: what is read from the master is a [`Sight`], what comes out a
//! [`Plan`] that `encoding::framed` carries out. Nothing is ever enlarged.

use crate::MASTER_SIDE_PX;
use crate::paint::hex_of_srgb;
use crate::{Dimensions, View};
use std::fmt;

crate::named_enum! {
    /// How a picture relates to the box of `w` and `h`.
    #[derive(Default)]
    pub enum Fit {
        /// As large as fits into the box; the picture keeps its proportions.
        #[default]
        Inside = "inside",
        /// Exactly the box, with the vehicle whole and what is seen in the middle.
        Contain = "contain",
        /// Exactly the box, filled: empty space is cut off first, the vehicle only if it must.
        Cover = "cover",
    }
}

crate::named_enum! {
    /// How large the vehicle is drawn in the 1024 px source.
    #[derive(Default)]
    pub enum Scale {
        /// Each vehicle fills the frame.
        #[default]
        Fill = "fill",
        /// A pixel of the source is [`TRUE_SCALE_UM_PER_PX`] for every vehicle that is not too long for it.
        True = "true",
    }
}

/// Micrometres of the vehicle that a pixel of the 1024 px source shows with [`Scale::True`].
pub const TRUE_SCALE_UM_PER_PX: u32 = 6_500;

/// Most of [`Frame::padding_percent`].
pub const PADDING_PERCENT_MAX: u8 = 50;

/// A pixel counts as seen from this alpha on, of 255.
pub const SEEN_ALPHA_MIN: u8 = 8;

/// What was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Frame {
    pub fit: Fit,
    /// The box, in pixels, 1 to 1024 each.
    pub width: Option<u32>,
    pub height: Option<u32>,
    /// Whether the picture is cut to what is seen, the vehicle and its shadow, before it is fitted.
    pub trim: bool,
    /// Space on each side of what `trim` cut out, in per cent of its longer side.
    pub padding_percent: u8,
    /// sRGB. `None`: transparent, or white in a format without transparency.
    pub background: Option<[u8; 3]>,
    pub scale: Scale,
}

/// A rectangle of the master in pixels, `left` and `top` inside it, `right` and `bottom` outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    pub left: u32,
    pub top: u32,
    pub right: u32,
    pub bottom: u32,
}

/// What a plan has to know of a master.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sight {
    /// Side of the square master, in pixels.
    pub side_px: u32,
    /// Bounds of all pixels with an alpha of at least [`SEEN_ALPHA_MIN`]; the whole master where there are none.
    pub seen: Seen,
    /// Micrometres of the vehicle that a pixel of the master shows.
    pub scale_um_per_px: u32,
}

/// A picture to be drawn: the pixel at column `x` shows the master from `left + x * step` on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// Size of the picture, in pixels.
    pub width: u32,
    pub height: u32,
    /// Where the picture's left upper corner lies in the master, in its pixels; may be outside.
    pub left: f64,
    pub top: f64,
    /// Pixels of the master for a pixel of the picture: at least 1.
    pub step: f64,
}

impl Frame {
    /// The square that fits into a box, as the contract's first version has it.
    pub fn square(side_px: u32) -> Self {
        Frame { width: Some(side_px), ..Frame::default() }
    }

    /// The side of the square picture, where nothing but a box was asked for: never above [`MASTER_SIDE_PX`].
    pub fn square_side_px(&self) -> Option<u32> {
        let Frame { fit: Fit::Inside, trim: false, background: None, scale: Scale::Fill, width, height, .. } = self
        else {
            return None;
        };
        Some(width.unwrap_or(MASTER_SIDE_PX).min(height.unwrap_or(MASTER_SIDE_PX)).min(MASTER_SIDE_PX))
    }

    /// Whether the picture's size can be told without looking at the master.
    pub fn has_known_size(&self) -> bool {
        self.fit != Fit::Inside || !self.trim
    }

    /// Width and height where they are the same for every master: else those of the box, the largest the picture can become.
    pub fn size_px(&self) -> (u32, u32) {
        let [width, height] = [self.width, self.height].map(|side| side.unwrap_or(MASTER_SIDE_PX).min(MASTER_SIDE_PX));
        match (self.fit, self.trim) {
            (Fit::Inside, false) => (width.min(height), width.min(height)),
            _ => (width, height),
        }
    }
}

/// One name for one recipe, of the characters of an object's key: `800x450-contain-trim-pad10-ffffff-true`. A plain square is its side.
impl fmt::Display for Frame {
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

/// One direction of what is framed, in pixels of the master.
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

/// How a frame shows a master.
pub fn plan(frame: &Frame, sight: &Sight) -> Plan {
    let drawn = match frame.scale {
        Scale::Fill => 1.0,
        Scale::True => (f64::from(sight.scale_um_per_px) / f64::from(TRUE_SCALE_UM_PER_PX)).min(1.0),
    };
    let Seen { left, top, right, bottom } = sight.seen;
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
    // Shares of the source, where one is as large as the source is.
    let most = f64::from(MASTER_SIDE_PX);
    let room = [frame.width, frame.height].map(|side| side.map_or(most, f64::from));
    let shares = [0, 1].map(|axis| room[axis] / (content[axis].length() * drawn));
    let share = match frame.fit {
        Fit::Inside | Fit::Contain => shares[0].min(shares[1]),
        Fit::Cover => shares[0].max(shares[1]),
    };
    let step = 1.0 / (drawn * share.min(1.0));
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
        // Pixels that are shown as they are must not fall between two.
        if step == 1.0 { corner.round() } else { corner }
    });
    Plan { width: sides[0] as u32, height: sides[1] as u32, left: corner[0], top: corner[1], step }
}

impl Plan {
    /// Millimetres of the vehicle that a pixel of the picture shows.
    pub fn scale_mm_per_px(&self, sight: &Sight) -> f64 {
        f64::from(sight.scale_um_per_px) * self.step / 1_000.0
    }
}

/// How much of a vehicle a pixel of its 1024 px master shows, in micrometres, from its dimensions alone: for masters that do not know
/// it, which earlier versions made. Within a few per cent of what the camera says, as bodies are rounder than the boxes they fit in.
pub fn estimated_scale_um_per_px(dimensions: &Dimensions, view: View) -> u32 {
    let (across, along) = f64::from(view.yaw_degrees()).to_radians().sin_cos();
    let Dimensions { length_mm, width_mm, height_mm, .. } = *dimensions;
    // With mirrors, and as the corners of a box are not filled in a three-quarter view.
    let seen_width = f64::from(width_mm) * 1.12 * along.abs() + f64::from(length_mm) * across.abs();
    let is_oblique = across.abs().min(along.abs()) > 0.1;
    let width_mm = seen_width * if is_oblique { 0.93 } else { 1.0 };
    let height_mm = f64::from(height_mm) * 1.05;
    let mm_per_px = (width_mm / FILLED_WIDTH).max(height_mm / FILLED_HEIGHT) / f64::from(MASTER_SIDE_PX);
    (mm_per_px * 1_000.0).round().max(1.0) as u32
}

/// Shares of a master's width and height that a vehicle fills at most.
const FILLED_WIDTH: f64 = 0.915;
const FILLED_HEIGHT: f64 = 0.86;
