//! `format=auto`: the best format that a client accepts (RFC 9110, section 12.5.1).
//!
//! AVIF and WebP are sent only to clients that name them: a client that accepts `image/*` or `*/*`
//! does not say which formats it can show. AVIF takes long to make, so it is sent only when it
//! exists; when such clients request an image for the second time, it is made in the background.
//!
//!
//! Why: `docs/decisions/frames-and-formats.md` (Wildcards in `Accept` never mean AVIF or WebP).

use super::{AskedFormat, DeliveryError, Images, Order};
use cyclorama_core::Format;
use std::borrow::Cow;

impl Images {
    /// Returns the order in the format for a client whose `Accept` is `accept`, which is empty if
    /// the client sent none.
    pub async fn negotiated<'o>(&self, order: Cow<'o, Order>, accept: &str) -> Result<Cow<'o, Order>, DeliveryError> {
        if order.asked_format != AskedFormat::Auto {
            return Ok(order);
        }
        let needs_alpha = order.frame.background.is_none();
        let mut formats = welcome(accept, needs_alpha).into_iter();
        let in_format = |format| Order { format, ..Order::clone(&order) };
        let first = formats.next().unwrap_or(order.asked_format.usual());
        if first != Format::Avif {
            return Ok(Cow::Owned(in_format(first)));
        }
        let avif = in_format(Format::Avif);
        let next = in_format(formats.next().unwrap_or(order.asked_format.usual()));
        match self.rendered(&order).await? {
            Some(picture) if self.has_or_will_have(&avif, &picture).await? => Ok(Cow::Owned(avif)),
            Some(_) | None => Ok(Cow::Owned(next)),
        }
    }
}

/// Returns the formats that an `Accept` allows, the best first. Formats of equal quality are in the
/// order of the service's preference.
fn welcome(accept: &str, needs_alpha: bool) -> Vec<Format> {
    let ranges: Vec<(String, f32)> = accept.split(',').filter_map(range).collect();
    let quality = |name: &str| ranges.iter().find(|(range, _)| range == name).map(|(_, quality)| *quality);
    let served = match needs_alpha {
        true => [Format::Avif, Format::Webp, Format::Png, Format::Jpg],
        false => [Format::Avif, Format::Webp, Format::Jpg, Format::Png],
    };
    let of_format = |format: Format| {
        let named = quality(format.media_type());
        let by_wildcard = match format {
            Format::Png | Format::Jpg => quality("image/*").or_else(|| quality("*/*")),
            Format::Webp | Format::Avif => None,
        };
        // An image with transparency is not put on a background colour unless no other format is
        // accepted.
        let rank = if needs_alpha && format == Format::Jpg { 0.001 } else { 1.0 };
        named.or(by_wildcard).filter(|quality| *quality > 0.0).map(|quality| (format, quality * rank))
    };
    let mut formats: Vec<(Format, f32)> = served.into_iter().filter_map(of_format).collect();
    formats.sort_by(|a, b| b.1.total_cmp(&a.1));
    formats.into_iter().map(|(format, _)| format).collect()
}

/// Parses a media range and its quality; returns `None` for text that is no media range.
fn range(text: &str) -> Option<(String, f32)> {
    let mut parts = text.split(';').map(str::trim);
    let name = parts.next().filter(|name| name.contains('/'))?.to_ascii_lowercase();
    let quality = parts.find_map(|part| part.to_ascii_lowercase().strip_prefix("q=").map(str::parse::<f32>));
    match quality {
        None => Some((name, 1.0)),
        Some(Ok(quality)) if (0.0..=1.0).contains(&quality) => Some((name, quality)),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_gets_the_best_it_names() {
        let [avif, webp, png, jpg] = [Format::Avif, Format::Webp, Format::Png, Format::Jpg];
        for (accept, with_alpha, flat) in [
            ("", None, None),
            ("*/*", Some(png), Some(jpg)),
            ("image/*", Some(png), Some(jpg)),
            ("image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8", Some(avif), Some(avif)),
            ("image/webp,*/*;q=0.8", Some(webp), Some(webp)),
            ("image/webp;q=0.9, image/avif;q=0.5", Some(webp), Some(webp)),
            ("IMAGE/AVIF", Some(avif), Some(avif)),
            ("image/avif;q=0, image/webp;q=0.001", Some(webp), Some(webp)),
            ("image/png;q=0.9,image/jpeg", Some(png), Some(jpg)),
            ("image/jpeg", Some(jpg), Some(jpg)),
            ("image/png,image/svg+xml,image/*;q=0.8,video/*;q=0.8,*/*;q=0.5", Some(png), Some(png)),
            ("image/gif", None, None),
            ("text/html, nonsense, image/webp;q=two", None, None),
        ] {
            assert_eq!(welcome(accept, true).first().copied(), with_alpha, "{accept}");
            assert_eq!(welcome(accept, false).first().copied(), flat, "{accept}");
        }
    }
}
