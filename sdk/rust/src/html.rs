//! HTML of an image in a page: attributes of an `<img>` element from signed URLs of one image in
//! several widths.

use crate::types::{DeliveryUrl, Fit, VehicleParams, View};

const SOURCE_SIDE_PX: i64 = 1024;

/// Returns a text alternative for people who cannot see the image. The names are made from the
/// slugs; a color in hex digits is left out.
pub fn alt_text(vehicle: &VehicleParams) -> String {
    let view = match &vehicle.view {
        View::Front => "front view",
        View::Front34 => "front three-quarter view",
        View::Side => "side view",
        View::SideRight => "right side view",
        View::Rear => "rear view",
        View::Rear34 => "rear three-quarter view",
        View::Other(name) => name,
    };
    let (make, model) = (words(&vehicle.make), words(&vehicle.model));
    let color = match vehicle.color.as_str() {
        hex if is_hex(hex) => String::new(),
        name => format!("{} ", capital(name)),
    };
    format!("{color}{} {make} {model}, {view}", vehicle.year)
}

/// Returns the attributes of an `<img>` element. `urls` are one image in different widths, as
/// `create_image_urls` returns them. `sizes` is `100vw` if it is `None`, and `alt` is [`alt_text`].
/// Returns `None` if there is no URL.
pub fn car_image_attributes(
    urls: &[DeliveryUrl],
    sizes: Option<&str>,
    alt: Option<&str>,
) -> Option<Vec<(&'static str, String)>> {
    let mut by_width: Vec<((i64, Option<i64>), &str)> =
        urls.iter().map(|url| (size_px(&url.vehicle), url.url.as_str())).collect();
    by_width.sort_unstable();
    let ((widest, height), source) = *by_width.last()?;
    let set: Vec<String> = by_width.iter().map(|((width, _), address)| format!("{address} {width}w")).collect();
    let mut attributes = vec![
        ("src", source.to_owned()),
        ("srcset", set.join(", ")),
        ("sizes", sizes.unwrap_or("100vw").to_owned()),
        ("alt", alt.map_or_else(|| alt_text(&urls[0].vehicle), str::to_owned)),
        // The page keeps this space free before the image is loaded.
        ("width", widest.to_string()),
    ];
    // The shape of an image that is trimmed and fitted into a box is not known, and a wrong height
    // would distort it.
    attributes.extend(height.map(|height| ("height", height.to_string())));
    Some(attributes)
}

/// Returns the `<img>` element. See [`car_image_attributes`].
pub fn car_image_html(urls: &[DeliveryUrl], sizes: Option<&str>, alt: Option<&str>) -> Option<String> {
    let attributes = car_image_attributes(urls, sizes, alt)?;
    let written: Vec<String> =
        attributes.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
    Some(format!("<img {} loading=\"lazy\" decoding=\"async\">", written.join(" ")))
}

/// Width, and height where it is known. Images are square unless their framing says otherwise, and
/// are never enlarged.
fn size_px(vehicle: &VehicleParams) -> (i64, Option<i64>) {
    let [width, height] = [vehicle.width, vehicle.height].map(|side| side.unwrap_or(SOURCE_SIDE_PX));
    match (&vehicle.fit, vehicle.trim) {
        (Some(Fit::Contain | Fit::Cover), _) => (width, Some(height)),
        (_, Some(true)) => (width, None),
        _ => (width.min(height), Some(width.min(height))),
    }
}

fn is_hex(color: &str) -> bool {
    color.len() == 6 && color.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
}

fn words(slug: &str) -> String {
    slug.split('-').map(capital).collect::<Vec<_>>().join(" ")
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#x27;"),
            other => escaped.push(other),
        }
    }
    escaped
}
