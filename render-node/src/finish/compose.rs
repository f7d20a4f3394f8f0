//! Composes a paint from light layers, on the device or on the CPU; both give the same image within
//! one 8-bit level.

use super::paint::{PaintOptics, is_matt, luminance, paint};
use super::soft::Lacquers;
use crate::gpu::{Gpu, GpuError, read_buffer};
use crate::studio::Layers;
use bytemuck::{Pod, Zeroable};
use cyclorama_core::Paint;
use cyclorama_core::encoding::{PictureError, Pixmap};
use rayon::prelude::*;
use std::mem::size_of;
use std::ops::Range;
use wgpu::util::DeviceExt;

#[derive(Debug, thiserror::Error)]
pub enum ComposeError {
    #[error(transparent)]
    Gpu(#[from] GpuError),
    #[error(transparent)]
    Picture(#[from] PictureError),
    #[error("the layers' plane `{plane}` has {found} pixels instead of {expected}")]
    Size { plane: &'static str, found: usize, expected: usize },
}

/// Number of pixels that a workgroup of the shader takes.
const GROUP: u32 = 64;

/// Number of pixels that a core writes at once.
const BAND_PX: usize = 1 << 12;

const WGSL: &str =
    concat!(include_str!("../../../shaders/pixel.wgsl"), include_str!("../../../shaders/finish/compose.wgsl"));

/// One pixel of the layers as the shader reads it.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
struct Pixel {
    rest: [f32; 3],
    coverage: f32,
    diffuse: [f32; 3],
    paint: f32,
    gloss: [f32; 3],
    shadow: f32,
}

/// Composes paints from light layers on a device.
#[derive(Debug)]
pub struct Compositor {
    gpu: Gpu,
    pipeline: wgpu::ComputePipeline,
}

impl Compositor {
    pub fn new(gpu: &Gpu) -> Result<Compositor, ComposeError> {
        let pipeline = gpu.guarded("building the compose pipeline", || {
            let module = gpu.device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some("compose"),
                source: wgpu::ShaderSource::Wgsl(WGSL.into()),
            });
            Ok(gpu.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some("compose"),
                layout: None,
                module: &module,
                entry_point: Some("main"),
                compilation_options: Default::default(),
                cache: None,
            }))
        })?;
        Ok(Compositor { gpu: gpu.clone(), pipeline })
    }

    /// Returns one image per paint, in the order given. The layers are uploaded once, and once more
    /// for all matt paints.
    pub fn compose(&self, lacquers: &Lacquers<'_>, paints: &[Paint]) -> Result<Vec<Pixmap>, ComposeError> {
        let layers = lacquers.layers();
        let pixels = pixels_of(layers)?;
        let pictures: Vec<Vec<u8>> = self.gpu.guarded("composing a picture", || {
            let upload = |is_soft: bool| {
                let first = paints.iter().find(|paint| is_matt(**paint) == is_soft);
                first.map(|paint| self.upload(lacquers.of(*paint), pixels)).transpose()
            };
            let (sharp, soft) = (upload(false)?, upload(true)?);
            let output = self.gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("picture"),
                size: pixels as u64 * 4,
                usage: wgpu::BufferUsages::STORAGE | self.gpu.readable(),
                mapped_at_creation: false,
            });
            paints
                .iter()
                .map(|wanted| {
                    let input = if is_matt(*wanted) { &soft } else { &sharp };
                    if let Some(input) = input {
                        self.dispatch(&paint(*wanted), input, &output, pixels as u32);
                    }
                    read_buffer(&self.gpu, &output, "reading a picture", <[u8]>::to_vec)
                })
                .collect()
        })?;
        let side = layers.side_px;
        let picture = |rgba| Ok(Pixmap::from_rgba(side, side, rgba)?.with_scale(layers.scale_um_per_px));
        pictures.into_iter().map(picture).collect()
    }

    /// Uploads the layers pixel by pixel, written by every core to the memory that the device
    /// reads.
    fn upload(&self, layers: &Layers, pixels: usize) -> Result<wgpu::Buffer, GpuError> {
        let buffer = self.gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("layers"),
            size: (pixels * size_of::<Pixel>()) as u64,
            usage: wgpu::BufferUsages::STORAGE | self.gpu.fillable(),
            mapped_at_creation: true,
        });
        let during = "uploading the layers";
        let mut mapped = buffer
            .get_mapped_range_mut(..)
            .map_err(|error| GpuError::Rejected { during, detail: error.to_string() })?;
        let (out, _) = mapped.slice(..).into_chunks::<{ size_of::<Pixel>() }>();
        let (bands, rest) = out.into_chunks::<BAND_PX>();
        let written = |places: Range<usize>| places.map(|i| bytemuck::cast(pixel_at(layers, i)));
        rest.write_iter(written(pixels - pixels % BAND_PX..pixels));
        let bands: Vec<_> = bands.into_iter().collect();
        bands.into_par_iter().enumerate().for_each(|(band, out)| {
            let first = band * BAND_PX;
            wgpu::WriteOnly::<[_]>::from(out).write_iter(written(first..first + BAND_PX));
        });
        drop(mapped);
        buffer.unmap();
        Ok(buffer)
    }

    fn dispatch(&self, paint: &PaintOptics, input: &wgpu::Buffer, output: &wgpu::Buffer, pixels: u32) {
        let device = &self.gpu.device;
        let uniform = device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: Some("paint"),
            contents: bytemuck::bytes_of(paint),
            usage: wgpu::BufferUsages::UNIFORM,
        });
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("compose"),
            layout: &self.pipeline.get_bind_group_layout(0),
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: uniform.as_entire_binding() },
                wgpu::BindGroupEntry { binding: 1, resource: input.as_entire_binding() },
                wgpu::BindGroupEntry { binding: 2, resource: output.as_entire_binding() },
            ],
        });
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("compose") });
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(&self.pipeline);
            pass.set_bind_group(0, &group, &[]);
            let groups = pixels.div_ceil(GROUP);
            let rows = groups.div_ceil(32_768).max(1);
            pass.dispatch_workgroups(groups.div_ceil(rows), rows, 1);
        }
        self.gpu.queue.submit([encoder.finish()]);
    }
}

/// Composes one paint on the CPU: the twin of `compose.wgsl`.
pub fn compose_on_cpu(lacquers: &Lacquers<'_>, wanted: impl Into<Paint>) -> Result<Pixmap, ComposeError> {
    let pixels = pixels_of(lacquers.layers())?;
    let wanted = wanted.into();
    let layers = lacquers.of(wanted);
    let paint = paint(wanted);
    let mut rgba = vec![0; pixels * 4];
    rgba.par_chunks_exact_mut(4).enumerate().for_each(|(i, out)| out.copy_from_slice(&composed_at(layers, i, &paint)));
    Ok(Pixmap::from_rgba(layers.side_px, layers.side_px, rgba)?.with_scale(layers.scale_um_per_px))
}

/// Returns one pixel of that image, straight-alpha sRGB. `layers` are those of the paint
/// (`Lacquers::of`).
pub fn composed_at(layers: &Layers, i: usize, paint: &PaintOptics) -> [u8; 4] {
    composed(&pixel_at(layers, i), paint)
}

/// Returns the alpha of a pixel: the vehicle covers `coverage` of it, and the shadow on the ground
/// darkens the rest.
pub fn alpha_of(coverage: f32, shadow: f32) -> f32 {
    let coverage = coverage.clamp(0.0, 1.0);
    coverage + (1.0 - coverage) * shadow.clamp(0.0, 1.0)
}

/// Returns a paint's swatch as images show it, sRGB: in white light that exposure brings to 1, with
/// `mirrored` as mirrored light (linear).
pub fn swatch_in_light(paint: &PaintOptics, mirrored: f32) -> [u8; 3] {
    let light = [1.0 / EXPOSURE; 3];
    let swatch = Pixel { rest: [0.0; 3], coverage: 1.0, diffuse: light, paint: 1.0, gloss: [mirrored; 3], shadow: 0.0 };
    let [r, g, b, _] = composed(&swatch, paint);
    [r, g, b]
}

pub(crate) const EXPOSURE: f32 = 1.4;
pub(crate) const KNEE: f32 = 0.55;
pub(crate) const FLAKE_PIVOT: f32 = 0.7;

fn toned(x: f32) -> f32 {
    let over = (x - KNEE).max(0.0) / (1.0 - KNEE);
    x.min(KNEE) + (1.0 - KNEE) * (1.0 - (-over).exp())
}

/// Converts linear light, 0 to 1, to sRGB (IEC 61966-2-1).
pub fn srgb_from_linear(x: f32) -> f32 {
    if x <= 0.0031308 { 12.92 * x } else { 1.055 * x.powf(1.0 / 2.4) - 0.055 }
}

fn composed(pixel: &Pixel, paint: &PaintOptics) -> [u8; 4] {
    let coverage = pixel.coverage.clamp(0.0, 1.0);
    let ratio = pixel.paint.max(1e-4);
    let brightness = luminance(pixel.diffuse) / ratio;
    let turned = (brightness / FLAKE_PIVOT).clamp(0.2, 1.7);
    let shaped = 1.0 + (turned - 1.0) * paint.flake * 0.9;
    let alpha = alpha_of(pixel.coverage, pixel.shadow * paint.shadow);
    let channel = |c: usize| {
        let flakes = paint.flake_tint[c] * (paint.flake * 0.8);
        let light =
            pixel.diffuse[c] * paint.albedo[c] * shaped + pixel.gloss[c] * (paint.gloss + flakes) + pixel.rest[c];
        let own = light * (EXPOSURE / coverage.max(1e-4));
        byte(srgb_from_linear(toned(own)) * (coverage / alpha.max(1e-4)))
    };
    [channel(0), channel(1), channel(2), byte(alpha)]
}

fn byte(x: f32) -> u8 {
    (x.clamp(0.0, 1.0) * 255.0 + 0.5) as u8
}

/// Returns the number of pixels, or an error unless every plane has that many.
fn pixels_of(layers: &Layers) -> Result<usize, ComposeError> {
    let expected = layers.side_px as usize * layers.side_px as usize;
    let sizes = [
        ("diffuse", layers.diffuse.len()),
        ("gloss", layers.gloss.len()),
        ("rest", layers.rest.len()),
        ("coverage", layers.coverage.len()),
        ("paint", layers.paint.len()),
        ("shadow", layers.shadow.len()),
    ];
    if let Some((plane, found)) = sizes.into_iter().find(|(_, found)| *found != expected) {
        return Err(ComposeError::Size { plane, found, expected });
    }
    Ok(expected)
}

fn pixel_at(layers: &Layers, i: usize) -> Pixel {
    Pixel {
        rest: layers.rest[i],
        coverage: layers.coverage[i],
        diffuse: layers.diffuse[i],
        paint: layers.paint[i],
        gloss: layers.gloss[i],
        shadow: layers.shadow[i],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::AdapterChoice;
    use cyclorama_core::Colour;
    use std::mem::offset_of;

    fn module() -> naga::Module {
        naga::front::wgsl::parse_str(WGSL).expect("compose.wgsl parses")
    }

    #[test]
    fn the_shader_is_valid_and_its_structs_match() {
        let module = module();
        let mut validator =
            naga::valid::Validator::new(naga::valid::ValidationFlags::all(), naga::valid::Capabilities::empty());
        validator.validate(&module).expect("compose.wgsl is valid");
        assert_eq!(module.entry_points[0].workgroup_size, [GROUP, 1, 1]);
        for (name, size, offsets) in [
            (
                "Pixel",
                size_of::<Pixel>(),
                vec![
                    offset_of!(Pixel, rest),
                    offset_of!(Pixel, coverage),
                    offset_of!(Pixel, diffuse),
                    offset_of!(Pixel, paint),
                    offset_of!(Pixel, gloss),
                    offset_of!(Pixel, shadow),
                ],
            ),
            (
                "PaintOptics",
                size_of::<PaintOptics>(),
                vec![
                    offset_of!(PaintOptics, albedo),
                    offset_of!(PaintOptics, gloss),
                    offset_of!(PaintOptics, flake_tint),
                    offset_of!(PaintOptics, flake),
                    offset_of!(PaintOptics, shadow),
                    offset_of!(PaintOptics, unused),
                    offset_of!(PaintOptics, unused) + 4,
                    offset_of!(PaintOptics, unused) + 8,
                ],
            ),
        ] {
            let (_, ty) =
                module.types.iter().find(|(_, ty)| ty.name.as_deref() == Some(name)).expect("struct is there");
            let naga::TypeInner::Struct { members, span } = &ty.inner else { panic!("{name} is not a struct") };
            assert_eq!(*span as usize, size, "size of {name}");
            assert_eq!(members.iter().map(|m| m.offset as usize).collect::<Vec<_>>(), offsets, "members of {name}");
        }
    }

    /// Layers with every mix of light, coverage and shadow that an image can hold.
    fn samples() -> Layers {
        let side_px = 64;
        let size = (side_px * side_px) as usize;
        let at = |i: usize, step: usize| ((i * step) % 97) as f32 / 96.0;
        let mut layers = Layers {
            side_px,
            diffuse: vec![[0.0; 3]; size],
            gloss: vec![[0.0; 3]; size],
            rest: vec![[0.0; 3]; size],
            coverage: vec![0.0; size],
            paint: vec![0.0; size],
            shadow: vec![0.0; size],
            scale_um_per_px: None,
        };
        for i in 0..size {
            let coverage = if i % 3 == 0 { 1.0 } else { at(i, 31) };
            let paint = coverage * at(i, 7);
            layers.coverage[i] = coverage;
            layers.paint[i] = paint;
            layers.diffuse[i] = [0.0, 1.0, 2.0].map(|c| paint * (at(i, 13) * 1.5 + c * 0.05));
            layers.gloss[i] = [paint * at(i, 17) * at(i, 5) * 3.0; 3];
            layers.rest[i] = [(coverage - paint) * at(i, 11); 3];
            layers.shadow[i] = at(i, 3);
        }
        layers
    }

    #[test]
    fn device_and_cpu_agree_within_one_level() {
        let gpu = Gpu::open(&AdapterChoice::Best).expect("a Vulkan device");
        let layers = samples();
        let lacquers = Lacquers::over(&layers);
        let mut paints: Vec<Paint> = Colour::ALL.iter().map(|colour| (*colour).into()).collect();
        paints.extend(
            ["#1f4e8c-matt", "#ff8000-pearl-no-shadow", "red-no-shadow"]
                .map(|text| text.parse::<Paint>().expect("a paint")),
        );
        let pictures = Compositor::new(&gpu).expect("pipeline").compose(&lacquers, &paints).expect("pictures");
        for (colour, picture) in paints.iter().zip(&pictures) {
            let twin = compose_on_cpu(&lacquers, *colour).expect("whole layers");
            let worst = picture.rgba().iter().zip(twin.rgba()).map(|(a, b)| a.abs_diff(*b)).max();
            assert!(worst <= Some(1), "{colour}: {worst:?} levels apart");
        }
    }

    #[test]
    fn alpha_is_coverage_over_shadow() {
        let layers = Layers {
            side_px: 2,
            diffuse: vec![[0.0; 3]; 4],
            gloss: vec![[0.0; 3]; 4],
            rest: vec![[0.25; 3], [0.0; 3], [0.125; 3], [0.0; 3]],
            coverage: vec![1.0, 0.0, 0.5, 0.0],
            paint: vec![0.0; 4],
            shadow: vec![1.0, 0.5, 0.0, 0.0],
            scale_um_per_px: Some(4_900),
        };
        let picture = compose_on_cpu(&Lacquers::over(&layers), Colour::Red).expect("whole layers");
        // 0.25 linear, exposed by 1.4, is 160 in sRGB. A half-covered pixel has the same colour at
        // half alpha: no dark or light rim.
        assert_eq!(picture.rgba(), [160, 160, 160, 255, 0, 0, 0, 128, 160, 160, 160, 128, 0, 0, 0, 0]);
        assert_eq!(picture.scale_um_per_px(), Some(4_900));
        let without = compose_on_cpu(&Lacquers::over(&layers), Paint { shadow: false, ..Colour::Red.into() })
            .expect("whole layers");
        assert_eq!(without.rgba(), [160, 160, 160, 255, 0, 0, 0, 0, 160, 160, 160, 128, 0, 0, 0, 0]);
    }

    #[test]
    fn a_missing_pixel_is_an_error() {
        let mut layers = samples();
        layers.gloss.pop();
        let error = compose_on_cpu(&Lacquers::over(&layers), Colour::Red).expect_err("short plane").to_string();
        assert_eq!(error, "the layers' plane `gloss` has 4095 pixels instead of 4096");
    }
}
