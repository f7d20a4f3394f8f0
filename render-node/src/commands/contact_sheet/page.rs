//! Contact sheets: many vehicles in rows and columns on one image, to judge with the eye. Vehicles
//! are shown in the pipeline's own light, in the base shading without a model, under zebra stripes,
//! as the input of a text-to-image model, or as quick sketches without a graphics device.

use crate::check::raster::draw;
use crate::config::LocalConfig;
use crate::diffusion::stable_diffusion;
use crate::diffusion::stable_diffusion::settings::Control;
use crate::engine::order::RenderRequest;
use crate::engine::render_error::RenderError;
use crate::engine::renderer::Renderer;
use crate::engine::start_error::StartError;
use crate::finish::{ComposeError, Compositor, Lacquers};
use crate::gpu::{Gpu, GpuError};
use crate::studio::camera::NothingToSee;
use crate::studio::rig::{Rig, RigError};
use crate::studio::{Camera, ShootSettings, Studio, StudioError};
use crate::vehicle::close_up::CloseUpPart;
use crate::vehicle::{self, Library, LibraryError, VehicleError};
use cyclorama_core::encoding::{self, EncodingError, PictureError, Pixmap};
use cyclorama_core::traces::Trace;
use cyclorama_core::wire::Unparsed;
use cyclorama_core::{Paint, Vehicle, View};
use serde_json::{Value, json};
use std::sync::Arc;

#[derive(Debug, thiserror::Error)]
pub enum ContactSheetError {
    #[error(transparent)]
    Start(#[from] StartError),
    #[error(transparent)]
    Sheets(#[from] LibraryError),
    #[error(transparent)]
    Gpu(#[from] GpuError),
    #[error(transparent)]
    Rig(#[from] RigError),
    #[error("{0}")]
    Vehicle(#[from] VehicleError),
    #[error(transparent)]
    Nothing(#[from] NothingToSee),
    #[error(transparent)]
    Studio(#[from] StudioError),
    #[error(transparent)]
    Compose(#[from] ComposeError),
    #[error(transparent)]
    Render(#[from] RenderError),
    #[error(transparent)]
    Encoding(#[from] EncodingError),
    #[error(transparent)]
    Picture(#[from] PictureError),
    #[error("close-ups of parts need the look `light`, `quick` or `zebra`")]
    NoCloseUps,
}

/// The way in which the vehicles are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum PageLook {
    /// As delivered to clients: with the diffusion model.
    Model,
    /// Base shading only.
    Light,
    /// Base shading with a third of the samples, in a third of the time.
    Quick,
    /// Stripes along the mirror direction, which flow over good surfaces and kink at bad ones.
    Zebra,
    /// The input of a text-to-image model.
    Shown,
    /// The input of a ControlNet for depth.
    Depth,
    /// The input of a ControlNet for normals.
    Normal,
    /// The input of a ControlNet for segmentation.
    Segmentation,
    /// Plain colours, without a graphics device, in a fraction of a second.
    Sketch,
}

/// The content of a sheet: every vehicle's views side by side, its colours below each other.
#[derive(Debug, Clone)]
pub struct PagePlan {
    pub vehicles: Vec<Vehicle>,
    pub views: Vec<View>,
    /// Close-ups of these parts in place of whole views; only in the base shading.
    pub parts: Vec<CloseUpPart>,
    pub colours: Vec<Paint>,
    /// Shows each vehicle in the next colour, in place of every vehicle in all colours.
    pub one_colour_each: bool,
    /// Number of vehicles side by side.
    pub in_a_row: usize,
    pub cell_px: u32,
    /// Grey of the page, sRGB; `None` for a transparent sheet.
    pub page: Option<u8>,
}

/// Renders the images of a sheet in one of the looks.
pub enum SheetRenderer {
    Model {
        renderer: Box<Renderer>,
        receipts: Vec<Value>,
    },
    Light {
        studio: Box<Studio>,
        compositor: Box<Compositor>,
        library: Arc<Library>,
        settings: ShootSettings,
        receipts: Vec<Value>,
    },
    /// Shows the input of a ControlNet, or, if `control` is `None`, the image that the model starts
    /// from.
    Told {
        studio: Box<Studio>,
        library: Arc<Library>,
        control: Option<Control>,
    },
    Sketch {
        library: Arc<Library>,
        reference_diagonal_m: f32,
    },
}

impl SheetRenderer {
    pub fn open(look: PageLook, config: &LocalConfig) -> Result<SheetRenderer, ContactSheetError> {
        let library = || Library::open(config.sheets.as_deref());
        let light = |settings: ShootSettings| {
            let gpu = Gpu::open(&config.adapter)?;
            let (studio, compositor) = (Box::new(Studio::new(&gpu)?), Box::new(Compositor::new(&gpu)?));
            Ok(SheetRenderer::Light { studio, compositor, library: library()?, settings, receipts: Vec::new() })
        };
        let told = |control: Option<Control>| {
            let studio = Box::new(Studio::new(&Gpu::open(&config.adapter)?)?);
            Ok(SheetRenderer::Told { studio, library: library()?, control })
        };
        match look {
            PageLook::Model => {
                Ok(SheetRenderer::Model { renderer: Box::new(Renderer::start(config)?), receipts: Vec::new() })
            }
            PageLook::Light => light(ShootSettings::default()),
            PageLook::Quick => light(ShootSettings { passes: 1, ..ShootSettings::default() }),
            PageLook::Zebra => light(ShootSettings { zebra: true, passes: 1, ..ShootSettings::default() }),
            PageLook::Shown => told(None),
            PageLook::Depth => told(Some(Control::Depth)),
            PageLook::Normal => told(Some(Control::Normal)),
            PageLook::Segmentation => told(Some(Control::Segmentation)),
            PageLook::Sketch => {
                let reference_diagonal_m = Rig::built_in()?.reference_diagonal_m;
                Ok(SheetRenderer::Sketch { library: library()?, reference_diagonal_m })
            }
        }
    }

    /// Returns the receipt of each image of the pipeline, or how the rig lights its paint, with its
    /// vehicle and view. Other looks have none.
    pub fn receipts(&self) -> &[Value] {
        match self {
            SheetRenderer::Model { receipts, .. } | SheetRenderer::Light { receipts, .. } => receipts,
            _ => &[],
        }
    }

    /// Returns the vehicle from each side in each colour, views first.
    fn pictures(
        &mut self,
        vehicle: &Vehicle,
        views: &[View],
        colours: &[Paint],
    ) -> Result<Vec<Vec<Pixmap>>, ContactSheetError> {
        match self {
            SheetRenderer::Model { renderer, receipts } => {
                let pipeline = renderer.pipelines().first().map(|pipeline| pipeline.id.clone()).unwrap_or_default();
                let rendered = views.iter().map(|view| {
                    let (vehicle, colours, pipeline) = (vehicle.clone(), colours.to_vec(), pipeline.clone());
                    let order =
                        RenderRequest { vehicle, view: *view, colours, pipeline, seed: 0, trace: Trace::none() };
                    let render = renderer.render(&order, &mut |_, _| true)?;
                    let mut receipt = Unparsed::from(&render.receipt).into_document();
                    receipt["vehicle"] = order.vehicle.key().into();
                    receipt["view"] = order.view.to_string().into();
                    receipts.push(receipt);
                    Ok(render.pictures.into_iter().map(|(_, picture)| picture).collect())
                });
                rendered.collect()
            }
            SheetRenderer::Light { studio, compositor, library, settings, receipts } => {
                let mesh = vehicle::build(library, vehicle)?;
                let shoot = |view: &View| {
                    let shot = studio.shoot_with(&mesh, *view, *settings)?;
                    let paint_light = shot.layers.paint_light();
                    receipts.push(
                        json!({ "vehicle": vehicle.key(), "view": view.to_string(), "paint_light": paint_light }),
                    );
                    Ok(compositor.compose(&Lacquers::over(&shot.layers), colours)?)
                };
                views.iter().map(shoot).collect()
            }
            SheetRenderer::Told { studio, library, control } => {
                let mesh = vehicle::build(library, vehicle)?;
                let tell = |view: &View| {
                    let told = stable_diffusion::conditioning_picture(&studio.shoot(&mesh, *view)?, *control)?;
                    // The model's input has no colour of its own, so each colour gets the same
                    // image.
                    Ok(vec![told; colours.len()])
                };
                views.iter().map(tell).collect()
            }
            SheetRenderer::Sketch { library, reference_diagonal_m } => {
                let mesh = vehicle::build(library, vehicle)?;
                let sketch = |view: &View| {
                    let drawn = draw(&mesh, &Camera::fit(&mesh, *view, *reference_diagonal_m)?, SKETCH_SIDE_PX);
                    let coloured = colours.iter().map(|colour| Ok(drawn.sketch(colour.srgb(), SKETCH_SAMPLES)?));
                    coloured.collect()
                };
                views.iter().map(sketch).collect()
            }
        }
    }

    /// Returns close-ups of the vehicle's parts in each colour, parts first. A part that the
    /// vehicle lacks has no images.
    fn close_ups(
        &mut self,
        vehicle: &Vehicle,
        parts: &[CloseUpPart],
        colours: &[Paint],
    ) -> Result<Vec<Vec<Pixmap>>, ContactSheetError> {
        let SheetRenderer::Light { studio, compositor, library, settings, .. } = self else {
            return Err(ContactSheetError::NoCloseUps);
        };
        let mesh = vehicle::build(library, vehicle)?;
        let shoot = |part: &CloseUpPart| {
            let Some(close_up) = part.bounds(&mesh) else { return Ok(Vec::new()) };
            let settings = ShootSettings { close_up: Some(close_up), ..*settings };
            let shot = studio.shoot_with(&mesh, part.view(), settings)?;
            Ok(compositor.compose(&Lacquers::over(&shot.layers), colours)?)
        };
        parts.iter().map(shoot).collect()
    }
}

/// Side of a sketch in samples, and the number of samples along a side that become one pixel.
const SKETCH_SIDE_PX: usize = 1024;
const SKETCH_SAMPLES: usize = 2;

/// Makes everything on the plan. Calls `progress` after every vehicle with the number done and the
/// total.
pub fn make(
    darkroom: &mut SheetRenderer,
    plan: &PagePlan,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Pixmap, ContactSheetError> {
    let rows_each = if plan.one_colour_each { 1 } else { plan.colours.len() };
    let in_a_row = plan.in_a_row.max(1);
    let across = if plan.parts.is_empty() { plan.views.len() } else { plan.parts.len() };
    let columns = across * in_a_row;
    let rows = plan.vehicles.len().div_ceil(in_a_row) * rows_each;
    let mut sheet = ImageGrid::new(columns as u32, rows as u32, plan.cell_px, plan.page);
    for (index, vehicle) in plan.vehicles.iter().enumerate() {
        let one = index % plan.colours.len().max(1);
        let colours = if plan.one_colour_each { &plan.colours[one..=one] } else { &plan.colours };
        let (left, top) = (index % in_a_row * across, index / in_a_row * rows_each);
        let pictures = match plan.parts.as_slice() {
            [] => darkroom.pictures(vehicle, &plan.views, colours)?,
            parts => darkroom.close_ups(vehicle, parts, colours)?,
        };
        for (column, pictures) in pictures.iter().enumerate() {
            for (below, picture) in pictures.iter().enumerate() {
                sheet.put((left + column) as u32, (top + below) as u32, picture)?;
            }
        }
        progress(index + 1, plan.vehicles.len());
    }
    sheet.finish()
}

/// Square images in rows and columns.
pub struct ImageGrid {
    columns: u32,
    rows: u32,
    cell_px: u32,
    page: Option<u8>,
    rgba: Vec<u8>,
}

impl ImageGrid {
    /// Creates an empty sheet. `page` is the grey behind the images; without one the sheet stays
    /// transparent.
    pub fn new(columns: u32, rows: u32, cell_px: u32, page: Option<u8>) -> ImageGrid {
        let blank = page.map_or([0; 4], |grey| [grey, grey, grey, 255]);
        ImageGrid {
            columns,
            rows,
            cell_px,
            page,
            rgba: blank.repeat(columns as usize * rows as usize * (cell_px * cell_px) as usize),
        }
    }

    /// Scales an image to a cell. A cell outside the sheet is ignored.
    pub fn put(&mut self, column: u32, row: u32, picture: &Pixmap) -> Result<(), ContactSheetError> {
        if column >= self.columns || row >= self.rows {
            return Ok(());
        }
        let side = self.cell_px as usize;
        let width = self.columns as usize * side;
        for (index, [r, g, b, a]) in encoding::resize(picture, self.cell_px, self.cell_px)?.pixels().enumerate() {
            let x = column as usize * side + index % side;
            let y = row as usize * side + index / side;
            let over = |c: u8, grey: u8| {
                ((u32::from(c) * u32::from(a) + u32::from(grey) * (255 - u32::from(a)) + 127) / 255) as u8
            };
            let shown = self.page.map_or([r, g, b, a], |grey| [over(r, grey), over(g, grey), over(b, grey), 255]);
            self.rgba[(y * width + x) * 4..][..4].copy_from_slice(&shown);
        }
        Ok(())
    }

    pub fn finish(self) -> Result<Pixmap, ContactSheetError> {
        Ok(Pixmap::from_rgba(self.columns * self.cell_px, self.rows * self.cell_px, self.rgba)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_land_in_their_cells_on_the_page() {
        let half = Pixmap::from_rgba(1, 1, vec![255, 0, 0, 128]).expect("one pixel");
        let mut sheet = ImageGrid::new(2, 1, 1, Some(100));
        sheet.put(1, 0, &half).expect("inside");
        sheet.put(2, 0, &half).expect("outside is ignored");
        assert_eq!(sheet.finish().expect("two pixels").rgba(), [100, 100, 100, 255, 178, 50, 50, 255]);
    }
}
