//! Converts between light layers and the images that a text-to-image model works on: its input
//! image of the vehicle, and the change of light in its output image.
//!
//! The input is the base shading in a plain grey paint on a light backdrop. The output is read as a
//! change of light, pixel by pixel: on paint it scales diffuse light and gloss by one factor, so
//! that any colour can be composed from them; elsewhere it is added. The change is relative to the
//! VAE's version of the unchanged input, so that edges which the VAE loses are not taken for light.
//! Coverage and ground shadow stay those of the geometry.

use super::settings::Control;
use crate::diffusion::light_space;
use crate::diffusion::residual::{Neighbours, RESIDUAL_CHANNELS};
use crate::finish::compose::srgb_from_linear;
use crate::finish::paint::{linear, luminance};
use crate::studio::Layers;
use crate::studio::conditioning::{Channel, Conditioning};
use crate::studio::layers::mean_of_blocks;

/// Albedo of the diffuse grey under the clear coat.
const PAINT_ALBEDO: f32 = 0.5;
/// Linear light of the studio's backdrop.
const BACKDROP: f32 = 0.8;
/// Range of the factor by which the model may darken or brighten paint. Beyond it, the model has
/// painted something else.
const PAINT_FACTOR: std::ops::RangeInclusive<f32> = 0.25..=4.0;
/// Least linear light for which a factor is meaningful.
const LIGHT_MIN: f32 = 1.0 / 1024.0;

/// Grey of the farthest surface in a depth image. The nearest surface is white and the backdrop
/// black (as monocular depth estimators have it, on whose images ControlNets are trained).
const DEPTH_FARTHEST: f32 = 0.2;
/// Colour of the backdrop in a normal image: it faces the camera.
const NORMAL_BACKDROP: [f32; 3] = [0.5, 0.5, 1.0];
/// Colours of a segmentation image, sRGB bytes; the backdrop is black. Paint has the colour that
/// cars have in ADE20K's palette.
const SEGMENTS: [(Channel, [u8; 3]); 10] = [
    (Channel::MaskPaint, [0, 102, 200]),
    (Channel::MaskGlass, [110, 220, 240]),
    (Channel::MaskLampClear, [255, 245, 180]),
    (Channel::MaskLampRed, [220, 20, 40]),
    (Channel::MaskBlackTrim, [60, 60, 60]),
    (Channel::MaskBrightTrim, [190, 190, 200]),
    (Channel::MaskTyre, [120, 60, 140]),
    (Channel::MaskRim, [240, 140, 20]),
    (Channel::MaskInterior, [140, 100, 60]),
    (Channel::MaskUnderbody, [0, 110, 70]),
];

/// The layers at the model's size: means of blocks of pixels.
pub struct ModelInput {
    side: usize,
    diffuse: Vec<[f32; 3]>,
    gloss: Vec<[f32; 3]>,
    rest: Vec<[f32; 3]>,
    coverage: Vec<f32>,
    paint: Vec<f32>,
    shadow: Vec<f32>,
}

impl ModelInput {
    /// Reduces the layers to `side` x `side` pixels. `side` must divide the layers' side.
    pub fn of(layers: &Layers, side: usize) -> Self {
        let fine = layers.side_px as usize;
        let one = |values: &[f32]| mean_of_blocks(fine, side, |i| values[i]);
        let three = |values: &[[f32; 3]]| {
            let planes: [Vec<f32>; 3] = std::array::from_fn(|c| mean_of_blocks(fine, side, |i| values[i][c]));
            (0..side * side).map(|i| std::array::from_fn(|c| planes[c][i])).collect()
        };
        Self {
            side,
            diffuse: three(&layers.diffuse),
            gloss: three(&layers.gloss),
            rest: three(&layers.rest),
            coverage: one(&layers.coverage),
            paint: one(&layers.paint),
            shadow: one(&layers.shadow),
        }
    }

    /// Returns the model's input: red, green and blue planes, sRGB, 0 to 1.
    pub fn picture(&self) -> Vec<f32> {
        let light = |i: usize, c: usize| {
            let backdrop = BACKDROP * (1.0 - self.coverage[i]) * (1.0 - self.shadow[i]);
            self.painted(i, c) + self.rest[i][c] + backdrop
        };
        (0..3).flat_map(|c| (0..self.side * self.side).map(move |i| (i, c))).map(|(i, c)| srgb(light(i, c))).collect()
    }

    /// Returns the change of light from `unchanged`, the VAE's version of [`ModelInput::picture`],
    /// to `made`, the model's output: the planes of a residual in encoded light, in units of 1.
    pub fn residual(&self, made: &[f32], unchanged: &[f32]) -> Vec<f32> {
        let count = self.side * self.side;
        let mut planes = vec![0.0; RESIDUAL_CHANNELS * count];
        for i in 0..count {
            let change: [f32; 3] =
                std::array::from_fn(|c| linear(made[c * count + i]) - linear(unchanged[c * count + i]));
            let painted = luminance(std::array::from_fn(|c| self.painted(i, c)));
            let factor = if painted > LIGHT_MIN {
                let wanted = (painted + self.paint[i] * luminance(change)) / painted;
                wanted.clamp(*PAINT_FACTOR.start(), *PAINT_FACTOR.end())
            } else {
                1.0
            };
            let other = (self.coverage[i] - self.paint[i]).max(0.0);
            for (c, change) in change.into_iter().enumerate() {
                let mut set = |plane: usize, before: f32, after: f32| {
                    planes[plane * count + i] = light_space::encode(after) - light_space::encode(before);
                };
                set(c, self.diffuse[i][c], self.diffuse[i][c] * factor);
                set(3 + c, self.gloss[i][c], self.gloss[i][c] * factor);
                set(6 + c, self.rest[i][c], self.rest[i][c] + other * change);
            }
        }
        planes
    }

    fn painted(&self, i: usize, c: usize) -> f32 {
        self.diffuse[i][c] * PAINT_ALBEDO + self.gloss[i][c]
    }
}

/// Returns the control image of a G-buffer: red, green and blue planes, 0 to 1.
pub fn control(conditioning: &Conditioning, control: Control, side: usize) -> Vec<f32> {
    let plane = |channel: Channel| resized(conditioning.plane(channel), conditioning.side_px as usize, side);
    let coverage = plane(Channel::Coverage);
    match control {
        Control::Depth => depth(&plane(Channel::Depth), &coverage).repeat(3),
        Control::Normal => {
            let axis = |(channel, backdrop): (Channel, f32)| {
                let axis = plane(channel);
                let colour = move |(axis, coverage): (f32, &f32)| {
                    (0.5 * (axis + coverage) + backdrop * (1.0 - coverage)).clamp(0.0, 1.0)
                };
                axis.into_iter().zip(&coverage).map(colour).collect::<Vec<f32>>()
            };
            let axes = [Channel::NormalX, Channel::NormalY, Channel::NormalZ];
            axes.into_iter().zip(NORMAL_BACKDROP).flat_map(axis).collect()
        }
        Control::Segmentation => {
            let masks: Vec<Vec<f32>> = SEGMENTS.iter().map(|(channel, _)| plane(*channel)).collect();
            // The label that covers most of the pixel: a blend of two colours would be a third
            // label.
            let label = |i: usize| {
                let largest = (0..masks.len()).max_by(|a, b| masks[*a][i].total_cmp(&masks[*b][i]));
                largest.filter(|largest| masks[*largest][i] > 1.0 - coverage[i]).map_or([0; 3], |at| SEGMENTS[at].1)
            };
            let labels: Vec<[u8; 3]> = (0..side * side).map(label).collect();
            (0..3).flat_map(|c| labels.iter().map(move |label| f32::from(label[c]) / 255.0)).collect()
        }
    }
}

/// Returns a depth image. Both planes are premultiplied by coverage, as all planes of the
/// conditioning are.
fn depth(distance: &[f32], coverage: &[f32]) -> Vec<f32> {
    let covered = || distance.iter().zip(coverage).filter(|(_, c)| **c > 0.5).map(|(d, c)| d / c);
    let (near, far) = covered().fold((f32::INFINITY, f32::NEG_INFINITY), |(a, b), d| (a.min(d), b.max(d)));
    let range = (far - near).max(1e-3);
    let grey = |(distance, coverage): (&f32, &f32)| {
        if *coverage <= 0.0 {
            return 0.0;
        }
        let ratio = ((distance / coverage - near) / range).clamp(0.0, 1.0);
        coverage * (1.0 - (1.0 - DEPTH_FARTHEST) * ratio)
    };
    distance.iter().zip(coverage).map(grey).collect()
}

/// Resizes a square plane. One of the two sides must divide the other.
fn resized(plane: &[f32], from: usize, to: usize) -> Vec<f32> {
    if to <= from {
        return mean_of_blocks(from, to, |i| plane[i]);
    }
    let at = |y: usize, x: usize| {
        let (down, across) = (Neighbours::of(y, to, from), Neighbours::of(x, to, from));
        let row = |row: usize| {
            plane[row * from + across.low] * (1.0 - across.ratio) + plane[row * from + across.high] * across.ratio
        };
        row(down.low) * (1.0 - down.ratio) + row(down.high) * down.ratio
    };
    (0..to * to).map(|i| at(i / to, i % to)).collect()
}

fn srgb(light: f32) -> f32 {
    srgb_from_linear(light.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diffusion::residual;
    use crate::studio::conditioning::CHANNELS;

    const SIDE: usize = 16;

    /// Layers with paint in the left half, glass in the right half, and floor under a shadow in the
    /// lowest quarter.
    fn layers() -> Layers {
        let count = 4 * SIDE * SIDE;
        let covered = |i: usize| if i / (2 * SIDE) < SIDE + SIDE / 2 { 1.0 } else { 0.0 };
        let paint: Vec<f32> = (0..count).map(|i| if i % (2 * SIDE) < SIDE { covered(i) } else { 0.0 }).collect();
        Layers {
            side_px: 2 * SIDE as u32,
            diffuse: paint.iter().map(|p| [0.5 * p; 3]).collect(),
            gloss: paint.iter().map(|p| [0.1 * p; 3]).collect(),
            rest: (0..count).map(|i| [0.2 * (covered(i) - paint[i]); 3]).collect(),
            coverage: (0..count).map(covered).collect(),
            paint,
            shadow: vec![0.5; count],
            scale_um_per_px: None,
        }
    }

    #[test]
    fn what_the_model_is_shown() {
        let shown = ModelInput::of(&layers(), SIDE).picture();
        for (place, light) in [(0, 0.5 * 0.5 + 0.1), (SIDE - 1, 0.2), (SIDE * SIDE - 1, 0.8 * 0.5)] {
            for plane in shown.chunks_exact(SIDE * SIDE) {
                assert!((linear(plane[place]) - light).abs() < 1e-5, "{place}: {}", plane[place]);
            }
        }
    }

    #[test]
    fn a_picture_as_it_was_changes_nothing_and_a_brighter_one_is_brighter_in_every_paint() {
        let base = layers();
        let shown = ModelInput::of(&base, SIDE);
        let before = shown.picture();
        let residual_of = |made: &[f32]| shown.residual(made, &before);
        assert!(residual_of(&before).iter().all(|v| *v == 0.0));

        // A quarter more light everywhere.
        let brighter: Vec<f32> = before.iter().map(|v| srgb(linear(*v) * 1.25)).collect();
        let mut lit = base.clone();
        residual::add(&mut lit, &residual_of(&brighter), SIDE, &[1.0; RESIDUAL_CHANNELS]);
        let (painted, glass, floor) = (5 * 2 * SIDE + 4, 5 * 2 * SIDE + 2 * SIDE - 4, 4 * SIDE * SIDE - 1);
        for c in 0..3 {
            assert!((lit.diffuse[painted][c] - 0.625).abs() < 1e-3, "{:?}", lit.diffuse[painted]);
            assert!((lit.gloss[painted][c] - 0.125).abs() < 1e-3, "{:?}", lit.gloss[painted]);
            assert!((lit.rest[glass][c] - 0.25).abs() < 1e-3, "{:?}", lit.rest[glass]);
        }
        assert_eq!((lit.coverage, lit.shadow, lit.rest[floor]), (base.coverage, base.shadow, [0.0; 3]));
    }

    #[test]
    fn paint_stays_within_bounds_whatever_the_picture_shows() {
        let base = layers();
        let shown = ModelInput::of(&base, SIDE);
        for (made, factor) in [(0.0, 0.25), (1.0, 1.0 / 0.35)] {
            let mut lit = base.clone();
            let residual = shown.residual(&vec![made; 3 * SIDE * SIDE], &shown.picture());
            residual::add(&mut lit, &residual, SIDE, &[1.0; RESIDUAL_CHANNELS]);
            assert!((lit.diffuse[0][0] - 0.5 * factor).abs() < 0.01, "{made}: {:?}", lit.diffuse[0]);
            assert!(lit.rest.iter().flatten().all(|v| (0.0..=light_space::LIGHT_MAX).contains(v)));
        }
    }

    /// Conditioning whose upper half is covered: near paint above far glass.
    fn conditioning() -> Conditioning {
        let mut planes = vec![0.0; CHANNELS * SIDE * SIDE];
        let mut set =
            |channel: Channel, place: usize, value: f32| planes[channel as usize * SIDE * SIDE + place] = value;
        for place in 0..SIDE * SIDE / 2 {
            let near = place < SIDE * SIDE / 4;
            set(Channel::Coverage, place, 1.0);
            set(Channel::Depth, place, if near { -0.5 } else { 0.5 });
            set(Channel::NormalX, place, if near { 1.0 } else { 0.0 });
            set(Channel::NormalZ, place, if near { 0.0 } else { 1.0 });
            set(if near { Channel::MaskPaint } else { Channel::MaskGlass }, place, 1.0);
        }
        Conditioning { side_px: SIDE as u32, planes }
    }

    #[test]
    fn control_pictures_follow_the_conventions_of_controlnets() {
        let conditioning = conditioning();
        let blue = [0.0, 102.0 / 255.0, 200.0 / 255.0];
        let glass = [110.0 / 255.0, 220.0 / 255.0, 240.0 / 255.0];
        for (kind, near, far, backdrop) in [
            (Control::Depth, [1.0; 3], [DEPTH_FARTHEST; 3], [0.0; 3]),
            (Control::Normal, [1.0, 0.5, 0.5], [0.5, 0.5, 1.0], NORMAL_BACKDROP),
            (Control::Segmentation, blue, glass, [0.0; 3]),
        ] {
            // Smaller than the G-buffer, of the same size, and larger.
            for side in [SIDE / 2, SIDE, 2 * SIDE] {
                let picture = control(&conditioning, kind, side);
                let pixel = |row: usize| -> [f32; 3] { std::array::from_fn(|c| picture[(c * side + row) * side + 2]) };
                for (row, expected) in [(0, near), (side * 3 / 8, far), (side - 1, backdrop)] {
                    let found = pixel(row);
                    let close = found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-5);
                    assert!(close, "{kind} at {side} px, row {row}: {found:?}, not {expected:?}");
                }
            }
        }
    }
}
