//! Decoded pixels in memory.

/// An image in 8-bit sRGB with straight (not premultiplied) alpha: four bytes per pixel, row by
/// row from the top left. Width and height are at least 1, and the buffer has exactly the
/// length that they imply.
#[derive(Clone, PartialEq, Eq)]
pub struct Pixmap {
    width: u32,
    height: u32,
    rgba: Vec<u8>,
    scale_um_per_px: Option<u32>,
}

/// The error of a width, a height and a buffer that do not belong together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{bytes} bytes are not a {width}x{height} RGBA picture")]
pub struct PictureError {
    width: u32,
    height: u32,
    bytes: usize,
}

impl Pixmap {
    /// Takes 8-bit sRGB pixels with straight alpha, without a scale. Fails if a side is 0, or if
    /// the length of `rgba` is not four times `width` times `height`.
    pub fn from_rgba(width: u32, height: u32, rgba: Vec<u8>) -> Result<Self, PictureError> {
        if width == 0 || height == 0 || rgba.len() as u64 != u64::from(width) * u64::from(height) * 4 {
            return Err(PictureError { width, height, bytes: rgba.len() });
        }
        Ok(Self { width, height, rgba, scale_um_per_px: None })
    }

    pub fn width(&self) -> u32 {
        self.width
    }

    pub fn height(&self) -> u32 {
        self.height
    }

    pub fn rgba(&self) -> &[u8] {
        &self.rgba
    }

    /// Returns how many micrometres of the vehicle a pixel shows, in the plane through the
    /// vehicle's middle, if that is known.
    pub fn scale_um_per_px(&self) -> Option<u32> {
        self.scale_um_per_px
    }

    /// Sets or removes the [`Pixmap::scale_um_per_px`].
    pub fn with_scale(self, scale_um_per_px: Option<u32>) -> Self {
        Self { scale_um_per_px, ..self }
    }

    /// Returns the bytes of row `y`, counted from the top.
    pub(super) fn row(&self, y: usize) -> &[u8] {
        let length = self.width as usize * 4;
        &self.rgba[y * length..][..length]
    }

    /// The pixels as RGBA, row by row from the top left.
    pub fn pixels(&self) -> impl Iterator<Item = [u8; 4]> + '_ {
        self.rgba.chunks_exact(4).map(|p| [p[0], p[1], p[2], p[3]])
    }

    /// Returns the RGB bytes of the image laid on white. The blending is done in sRGB
    /// values, as a browser does with the transparent formats on a white page, so that all
    /// formats look the same there.
    pub fn flattened_on_white(&self) -> Vec<u8> {
        let mut rgb = vec![255; self.rgba.len() / 4 * 3];
        for (flat, pixel) in rgb.chunks_exact_mut(3).zip(self.pixels()) {
            if pixel[3] > 0 {
                flat.copy_from_slice(&blended(pixel, [255; 3]));
            }
        }
        rgb
    }

    /// Returns the image laid on an sRGB colour, blended in the same way and opaque.
    pub fn laid_on(&self, background: [u8; 3]) -> Result<Pixmap, PictureError> {
        let opaque = |pixel| {
            let [r, g, b] = blended(pixel, background);
            [r, g, b, 255]
        };
        Pixmap::from_rgba(self.width, self.height, self.pixels().flat_map(opaque).collect())
    }
}

fn blended(pixel: [u8; 4], background: [u8; 3]) -> [u8; 3] {
    let alpha = u32::from(pixel[3]);
    std::array::from_fn(|c| {
        ((u32::from(pixel[c]) * alpha + u32::from(background[c]) * (255 - alpha) + 127) / 255) as u8
    })
}

impl std::fmt::Debug for Pixmap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Picture({}x{})", self.width, self.height)
    }
}
