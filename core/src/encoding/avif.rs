//! AVIF encoder: lossy colour with halved chroma, and alpha as a second image that is nearly exact.

use super::isobmff::{Frame, Still};
use super::{AlphaPlanes, EncodingError, Pixmap, provenance};
use crate::Format;
use rav1e::color::{ColorDescription, ColorPrimaries, MatrixCoefficients, TransferCharacteristics};
use rav1e::config::SpeedSettings;
use rav1e::prelude::{
    BlockSize, ChromaSampling, Config, Context, EncoderConfig, EncoderStatus, PartitionRange, PixelRange,
    SceneDetectionSpeed, SegmentationLevel, Tune,
};
use sha2::{Digest, Sha256};

// The settings were chosen from renders of eight vehicles in six colours and views, on a core
// shared with others (2026-11-28). The columns are CPU milliseconds for colour and for alpha,
// kilobytes of the file and of its alpha, and SSIM of luma and of red, green and blue where the
// image is covered, laid on grey:
//
//                        side     ms         kB          luma    RGB
//   our WebP              256      9       9.6   4.2   0.9864  0.9632
//                         512     32      23.0  10.3   0.9866  0.9691
//                        1024    121      48.5  19.0   0.9881  0.9760
//   these settings        256    77  43    8.7   3.1   0.9857  0.9652   a tenth smaller than WebP
//                         512   263 118   18.3   6.5   0.9860  0.9712   a fifth smaller
//                        1024   886 363   38.3  12.8   0.9876  0.9780   a fifth smaller
//
// Alpha is wrong by at most 5 of 255, and by 0.04 in the mean. Other settings at 1024 px, for two
// or four vehicles, each compared with its own baseline:
//
//   presets 6, 8, 9, 10 (quantizer 80)    2540+731, 1391+400, 934+326, 549+201 ms;
//                                         46.0, 45.6, 59.5, 80.1 kB
//   tuned for the eye instead of PSNR     half as slow again, a fiftieth fewer bytes
//   blocks of 8 to 64 instead of 32 px    a quarter slower, no smaller
//   no CDEF in the colour                 a fifth quicker, SSIM of luma lower by 0.0007
//   alpha without 4x4 blocks              a tenth quicker, a third more bytes of alpha
//   alpha's quantizer 1, 8, 16, 30        wrong by at most 2, 3, 8, 21 of 255
//
// An entirely transparent image of 1024 px takes 381 and 145 ms: rav1e tries every block of the
// empty background in every size, and no setting prevents that. rav1e is written in Rust and needs
// nothing beyond Rust to build. With its assembler (feature `avif-assembler`, which needs nasm on
// x86-64) the same bytes take half as long: 430 and 186 ms instead of 921 and 356 (one vehicle).
//
// libaom (libavif 1.4.2 in Pillow; two vehicles, for which WebP has 56.1 kB at 0.9860 and 0.9705)
// is quicker and smaller. At quality 60 it takes 174 and 69 ms for 34.0 kB with SSIM 0.9863 and
// 0.9730 at speed 7, and 400 and 98 ms for 32.0 kB with 0.9883 and 0.9758 at speed 6. These
// settings with quantizer 115 take 791 and 344 ms for 41.0 kB with 0.9855 and 0.9736. libaom is not
// used, because building it needs CMake, Perl and nasm on every machine, and its Rust crates are
// bindings that leave the unsafe code to us. This project has no unsafe code.
// Why: `docs/decisions/frames-and-formats.md` (The AVIF encoder and its settings).
const SPEED: u8 = 8;
const COLOUR_QUANTIZER: usize = 112;
const ALPHA_QUANTIZER: usize = 12;

/// BT.709 primaries, the transfer function of sRGB and the matrix of BT.601 (ISO/IEC 23091-2),
/// which are customary for AVIF files of sRGB images.
const CICP: [u16; 3] = [1, 13, 6];

/// The OBU that separates the frames of a video; an AVIF item has none (AV1 Image
/// File Format, section 2.1).
const TEMPORAL_DELIMITER: &[u8] = &[0x12, 0x00];

/// Encodes `picture` as an AVIF file. The bytes are the same with and without `planes`, and do not
/// depend on the content of `planes`.
pub(super) fn encode(picture: &Pixmap, planes: Option<&AlphaPlanes>) -> Result<Vec<u8>, EncodingError> {
    let (width, height) = (picture.width(), picture.height());
    let failed = |detail: String| EncodingError::Encode { format: Format::Avif, width, height, detail };
    let colour = frame(picture, &colour_planes(picture)).map_err(failed)?;
    let opaque = picture.pixels().all(|pixel| pixel[3] == 255);
    let alpha = if opaque { None } else { Some(alpha(picture, planes).map_err(failed)?) };
    let xmp = provenance::xmp_packet();
    Still { width, height, cicp: CICP, colour: &colour, alpha: alpha.as_ref(), xmp: xmp.as_bytes() }
        .file()
        .ok_or_else(|| failed("the file would be longer than its offsets reach".to_owned()))
}

/// Encodes alpha as a frame of its own, or returns the known one from `planes`. This is a third of
/// the time of an encode, and the result is the same for all paints of a vehicle and view.
fn alpha(picture: &Pixmap, planes: Option<&AlphaPlanes>) -> Result<Frame, String> {
    let plane: Vec<u8> = picture.pixels().map(|pixel| pixel[3]).collect();
    let Some(planes) = planes else { return frame(picture, &[plane]) };
    let key = Sha256::new()
        .chain_update(b"avif")
        .chain_update(picture.width().to_be_bytes())
        .chain_update(picture.height().to_be_bytes())
        .chain_update(&plane)
        .finalize()
        .into();
    // A remembered plane is one buffer: the length of the configuration, the
    // configuration, and the data.
    if let Some(known) = planes.get(&key)
        && let Some((&length, rest)) = known.split_first()
        && let Some((configuration, data)) = rest.split_at_checked(usize::from(length))
    {
        return Ok(Frame { configuration: configuration.to_vec(), data: data.to_vec() });
    }
    let made = frame(picture, &[plane])?;
    if let Ok(length) = u8::try_from(made.configuration.len()) {
        planes.remember(key, &[&[length], made.configuration.as_slice(), &made.data].concat());
    }
    Ok(made)
}

/// Encodes one key frame: luma and halved chroma, or luma alone if there is one plane.
fn frame(picture: &Pixmap, planes: &[Vec<u8>]) -> Result<Frame, String> {
    let width = picture.width() as usize;
    let config = Config::new().with_encoder_config(settings(picture, planes.len() == 1)).with_threads(1);
    let mut context: Context<u8> = config.new_context().map_err(|e| e.to_string())?;
    let mut frame = context.new_frame();
    for (number, (to, from)) in frame.planes.iter_mut().zip(planes).enumerate() {
        to.copy_from_raw_u8(from, if number == 0 { width } else { width.div_ceil(2) }, 1);
    }
    context.send_frame(frame).map_err(|e| e.to_string())?;
    context.flush();
    let mut data = Vec::new();
    loop {
        match context.receive_packet() {
            Ok(packet) => data.extend_from_slice(packet.data.strip_prefix(TEMPORAL_DELIMITER).unwrap_or(&packet.data)),
            Err(EncoderStatus::Encoded) => {}
            Err(EncoderStatus::LimitReached) => break,
            Err(status) => return Err(status.to_string()),
        }
    }
    Ok(Frame { configuration: context.container_sequence_header(), data })
}

/// Settings of the encoder for a still image. `alone` means that luma is the
/// only plane, as in alpha.
fn settings(picture: &Pixmap, alone: bool) -> EncoderConfig {
    let mut speed = SpeedSettings::from_preset(SPEED);
    // The next three settings matter only for video.
    speed.scene_detection_mode = SceneDetectionSpeed::None;
    speed.rdo_lookahead_frames = 1;
    speed.segmentation = SegmentationLevel::Disabled;
    // Alpha consists of soft and sharp edges alone, for which 4x4 blocks are best. Filters that
    // smooth the edges of blocks do not help it.
    speed.partition.partition_range = if alone {
        PartitionRange::new(BlockSize::BLOCK_4X4, BlockSize::BLOCK_32X32)
    } else {
        PartitionRange::new(BlockSize::BLOCK_8X8, BlockSize::BLOCK_16X16)
    };
    speed.cdef = !alone;
    let quantizer = if alone { ALPHA_QUANTIZER } else { COLOUR_QUANTIZER };
    EncoderConfig {
        width: picture.width() as usize,
        height: picture.height() as usize,
        bit_depth: 8,
        chroma_sampling: if alone { ChromaSampling::Cs400 } else { ChromaSampling::Cs420 },
        pixel_range: PixelRange::Full,
        // Alpha has no colour.
        color_description: (!alone).then_some(ColorDescription {
            color_primaries: ColorPrimaries::BT709,
            transfer_characteristics: TransferCharacteristics::SRGB,
            matrix_coefficients: MatrixCoefficients::BT601,
        }),
        still_picture: true,
        min_key_frame_interval: 0,
        max_key_frame_interval: 0,
        quantizer,
        min_quantizer: quantizer as u8,
        tune: Tune::Psnr,
        // More tiles would let more threads work, but would change the bytes.
        tiles: 1,
        speed_settings: speed,
        ..EncoderConfig::default()
    }
}

/// Converts the image to luma and two chroma planes at half the width and height,
/// in integer arithmetic.
fn colour_planes(picture: &Pixmap) -> [Vec<u8>; 3] {
    let (width, height) = (picture.width() as usize, picture.height() as usize);
    let rgba = filled(picture);
    let luma = rgba.iter().map(|[r, g, b, _]| {
        let weighted = 19595 * u32::from(*r) + 38470 * u32::from(*g) + 7471 * u32::from(*b);
        ((weighted + 32768) >> 16) as u8
    });
    let luma = luma.collect();
    let mut chroma = [Vec::new(), Vec::new()];
    for y in (0..height).step_by(2) {
        for x in (0..width).step_by(2) {
            let (right, below) = ((x + 1).min(width - 1), (y + 1).min(height - 1));
            let four = [(x, y), (right, y), (x, below), (right, below)].map(|(x, y)| rgba[y * width + x]);
            // Chroma is the mean weighted by alpha, so that only covered pixels count. Where all
            // four pixels are clear, the colours that fill them count equally.
            let clear = four.iter().all(|pixel| pixel[3] == 0);
            let mut sums = [0_i64; 4];
            for pixel in four {
                let weight = if clear { 1 } else { i64::from(pixel[3]) };
                sums[3] += weight;
                (0..3).for_each(|c| sums[c] += weight * i64::from(pixel[c]));
            }
            let [r, g, b, weights] = sums;
            for (plane, weighted) in
                chroma.iter_mut().zip([-11058 * r - 21710 * g + 32768 * b, 32768 * r - 27439 * g - 5329 * b])
            {
                let middle = (weights << 23) + (weights << 15);
                plane.push(((weighted + middle) / (weights << 16)).clamp(0, 255) as u8);
            }
        }
    }
    let [blue, red] = chroma;
    [luma, blue, red]
}

/// Returns the image with colours in its clear pixels that cost next to nothing to encode: those of
/// the covered pixels nearby, smoother with growing distance. The colours come from a pyramid of
/// halved images, in which each pixel is the mean of the coloured ones below it; holes are filled
/// on the way down from the coarsest level.
fn filled(picture: &Pixmap) -> Vec<[u8; 4]> {
    let own: Vec<[u8; 4]> = picture.pixels().collect();
    let marked = own.iter().map(|[r, g, b, a]| if *a == 0 { [0; 4] } else { [*r, *g, *b, 255] }).collect();
    let mut levels = vec![Level { width: picture.width() as usize, height: picture.height() as usize, pixels: marked }];
    while let Some(last) = levels.last()
        && last.width.max(last.height) > 1
        && last.pixels.iter().any(|pixel| pixel[3] == 0)
    {
        levels.push(last.halved());
    }
    let mut coarser: Option<Level> = None;
    while let Some(mut level) = levels.pop() {
        if let Some(coarser) = &coarser {
            level.fill_from(coarser);
        }
        coarser = Some(level);
    }
    let filled = coarser.map(|level| level.pixels).unwrap_or_default();
    filled.iter().zip(own).map(|([r, g, b, _], [.., a])| [*r, *g, *b, a]).collect()
}

/// One level of the pyramid. The fourth number of a pixel is 0 if the pixel has no
/// colour yet, otherwise 255.
struct Level {
    width: usize,
    height: usize,
    pixels: Vec<[u8; 4]>,
}

impl Level {
    fn halved(&self) -> Level {
        let (width, height) = (self.width.div_ceil(2), self.height.div_ceil(2));
        let mut pixels = Vec::with_capacity(width * height);
        for y in (0..self.height).step_by(2) {
            for x in (0..self.width).step_by(2) {
                let mut sums = [0_u32; 3];
                let mut coloured = 0;
                for y in y..(y + 2).min(self.height) {
                    for pixel in &self.pixels[y * self.width + x..y * self.width + (x + 2).min(self.width)] {
                        let has = u32::from(pixel[3] / 255);
                        coloured += has;
                        (0..3).for_each(|c| sums[c] += has * u32::from(pixel[c]));
                    }
                }
                let [r, g, b] = sums.map(|sum| (sum + coloured / 2).checked_div(coloured).unwrap_or(0) as u8);
                pixels.push([r, g, b, if coloured > 0 { 255 } else { 0 }]);
            }
        }
        Level { width, height, pixels }
    }

    /// Fills holes with the colours of the four coarser pixels around them. In each direction the
    /// nearer pixel counts three times as much as the farther one.
    fn fill_from(&mut self, coarser: &Level) {
        let beside = |at: usize, end: usize| {
            if at.is_multiple_of(2) { (at / 2).saturating_sub(1) } else { (at / 2 + 1).min(end - 1) }
        };
        for y in 0..self.height {
            let (near, far) = (y / 2 * coarser.width, beside(y, coarser.height) * coarser.width);
            for x in 0..self.width {
                let pixel = &mut self.pixels[y * self.width + x];
                if pixel[3] == 0 {
                    let other = beside(x, coarser.width);
                    let four = [near + x / 2, near + other, far + x / 2, far + other].map(|at| coarser.pixels[at]);
                    let mix = |c: usize| {
                        let [a, b, d, e] = four.map(|pixel| u32::from(pixel[c]));
                        ((9 * a + 3 * b + 3 * d + e + 8) / 16) as u8
                    };
                    *pixel = [mix(0), mix(1), mix(2), 255];
                }
            }
        }
    }
}
