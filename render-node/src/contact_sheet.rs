//! Contact sheets: many pictures in rows and columns on one, to judge with the eye.

use crate::renderer::{Order, RenderError, Renderer};
use crate::vehicle::typical::typical;
use cyclorama_core::encoding::{self, EncodingError, Picture, PictureError};
use cyclorama_core::{BodyClass, Colour, View};

#[derive(Debug, thiserror::Error)]
pub enum ContactSheetError {
    #[error("the {view} view of the {body} cannot be rendered")]
    Render {
        body: BodyClass,
        view: View,
        #[source]
        source: RenderError,
    },
    #[error(transparent)]
    Encoding(#[from] EncodingError),
    #[error(transparent)]
    Picture(#[from] PictureError),
}

/// What is on a sheet: a row per body class with every view, each body in the next colour; below, the first body's first
/// view in every colour.
#[derive(Debug, Clone)]
pub struct Plan {
    pub bodies: Vec<BodyClass>,
    pub views: Vec<View>,
    pub colours: Vec<Colour>,
    pub cell_px: u32,
    /// Grey of the page, sRGB.
    pub page: u8,
}

/// Bodies that differ most, and that have a template.
pub const BODIES: [BodyClass; 10] = [
    BodyClass::Sedan,
    BodyClass::Hatchback,
    BodyClass::Wagon,
    BodyClass::Coupe,
    BodyClass::Convertible,
    BodyClass::Suv,
    BodyClass::OffRoader,
    BodyClass::Pickup,
    BodyClass::Minivan,
    BodyClass::Van,
];

/// Renders everything on the plan; `progress` hears of every picture made, out of how many.
pub fn make(
    renderer: &mut Renderer,
    plan: &Plan,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Picture, ContactSheetError> {
    let columns = plan.views.len().max(1) as u32;
    let colour_rows = (plan.colours.len() as u32).div_ceil(columns);
    let mut sheet = Sheet::new(columns, plan.bodies.len() as u32 + colour_rows, plan.cell_px, Some(plan.page));
    let total = plan.bodies.len() * plan.views.len();
    let pipeline = renderer.pipelines().first().map(|pipeline| pipeline.id.clone()).unwrap_or_default();
    for (row, body) in plan.bodies.iter().enumerate() {
        for (column, view) in plan.views.iter().enumerate() {
            let own = plan.colours.get(row % plan.colours.len().max(1)).copied().unwrap_or_default();
            let all = row == 0 && column == 0;
            let colours = if all { [&[own], plan.colours.as_slice()].concat() } else { vec![own] };
            let order = Order { vehicle: typical(*body), view: *view, colours, pipeline: pipeline.clone(), seed: 0 };
            let render = renderer.render(&order, &mut |_, _| true).map_err(|source| ContactSheetError::Render {
                body: *body,
                view: *view,
                source,
            })?;
            for (index, (_, picture)) in render.pictures.iter().enumerate() {
                let (x, y) = match index.checked_sub(1) {
                    None => (column as u32, row as u32),
                    Some(colour) => (colour as u32 % columns, plan.bodies.len() as u32 + colour as u32 / columns),
                };
                sheet.put(x, y, picture)?;
            }
            progress(row * plan.views.len() + column + 1, total);
        }
    }
    sheet.finish()
}

/// Square pictures in rows and columns.
pub struct Sheet {
    columns: u32,
    rows: u32,
    cell_px: u32,
    page: Option<u8>,
    rgba: Vec<u8>,
}

impl Sheet {
    /// `page`: grey to lay the pictures on; without one the sheet stays transparent.
    pub fn new(columns: u32, rows: u32, cell_px: u32, page: Option<u8>) -> Sheet {
        let blank = page.map_or([0; 4], |grey| [grey, grey, grey, 255]);
        Sheet { columns, rows, cell_px, page, rgba: blank.repeat((columns * rows * cell_px * cell_px) as usize) }
    }

    /// Scales the picture to a cell. A cell outside the sheet is left out.
    pub fn put(&mut self, column: u32, row: u32, picture: &Picture) -> Result<(), ContactSheetError> {
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

    pub fn finish(self) -> Result<Picture, ContactSheetError> {
        Ok(Picture::from_rgba(self.columns * self.cell_px, self.rows * self.cell_px, self.rgba)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_land_in_their_cells_on_the_page() {
        let half = Picture::from_rgba(1, 1, vec![255, 0, 0, 128]).expect("one pixel");
        let mut sheet = Sheet::new(2, 1, 1, Some(100));
        sheet.put(1, 0, &half).expect("inside");
        sheet.put(2, 0, &half).expect("outside is ignored");
        assert_eq!(sheet.finish().expect("two pixels").rgba(), [100, 100, 100, 255, 178, 50, 50, 255]);
    }
}
