//! Tests of encoded images. JPG and AVIF files are decoded with crates that only the tests use.

use super::*;
use sha2::{Digest, Sha256};

const CLEAR: [u8; 4] = [0, 0, 0, 0];
const RED: [u8; 4] = [200, 16, 24, 255];

fn picture(width: u32, height: u32, pixel: impl Fn(u32, u32) -> [u8; 4]) -> Pixmap {
    let rgba = (0..height).flat_map(|y| (0..width).map(move |x| (x, y))).flat_map(|(x, y)| pixel(x, y)).collect();
    Pixmap::from_rgba(width, height, rgba).unwrap()
}

/// A shaded disc with a soft edge on a transparent background: smooth shading, saturated colour,
/// partial alpha and a sharp line.
fn disc(side: u32) -> Pixmap {
    let centre = f64::from(side) / 2.0;
    picture(side, side, |x, y| {
        let (dx, dy) = (f64::from(x) + 0.5 - centre, f64::from(y) + 0.5 - centre);
        let alpha = ((centre * 0.8 - dx.hypot(dy)).clamp(0.0, 1.0) * 255.0).round() as u8;
        let light = (180.0 - dy / centre * 70.0) as u8;
        let shade = if (x / 16) % 4 == 0 { light / 3 } else { light };
        if alpha == 0 { CLEAR } else { [light, shade / 4, shade / 2, alpha] }
    })
}

/// Returns the RGBA pixels of a delivered file; those of a JPG are opaque.
fn decoded(bytes: &[u8]) -> Pixmap {
    let probe = probe(bytes).unwrap();
    let rgba = match probe.format {
        Format::Png => return decode_master(bytes, 4096).unwrap(),
        Format::Webp => {
            let image = ::webp::Decoder::new(bytes).decode().unwrap();
            let step = if image.is_alpha() { 4 } else { 3 };
            image.chunks_exact(step).flat_map(|p| [p[0], p[1], p[2], p.get(3).copied().unwrap_or(255)]).collect()
        }
        Format::Jpg => image::load_from_memory(bytes).unwrap().into_rgba8().into_raw(),
        Format::Avif => avif_pixels(bytes),
    };
    Pixmap::from_rgba(probe.width, probe.height, rgba).unwrap()
}

/// Decodes an AVIF file of this encoder: sRGB in full range, halved chroma, alpha as item 2
/// unless the image is opaque.
fn avif_pixels(bytes: &[u8]) -> Vec<u8> {
    let [luma, blue, red] = <[_; 3]>::try_from(av1_planes(isobmff::item(bytes, 1).unwrap())).unwrap();
    let alpha = isobmff::item(bytes, 2).map(|item| av1_planes(item).remove(0).1);
    let (width, luma) = luma;
    let pixel = |at: usize| {
        let halved = at / width / 2 * blue.0 + at % width / 2;
        let [y, b, r] = [luma[at], blue.1[halved], red.1[halved]].map(f64::from);
        let (b, r) = (b - 128.0, r - 128.0);
        let [r, g, b] = [y + 1.402 * r, y - 0.344_136 * b - 0.714_136 * r, y + 1.772 * b].map(|c| c.round() as u8);
        [r, g, b, alpha.as_ref().map_or(255, |alpha| alpha[at])]
    };
    (0..luma.len()).flat_map(pixel).collect()
}

/// Returns the width and the bytes of each plane of an AV1 key frame.
fn av1_planes(frame: &[u8]) -> Vec<(usize, Vec<u8>)> {
    use re_rav1d::dav1d::{Decoder, PixelLayout, PlanarImageComponent::*, Settings};
    let mut settings = Settings::new();
    settings.set_n_threads(1);
    settings.set_max_frame_delay(1);
    let mut decoder = Decoder::with_settings(&settings).unwrap();
    decoder.send_data(frame.to_vec().into_boxed_slice(), None, None, None).unwrap();
    let picture = decoder.get_picture().unwrap();
    let (width, height) = (picture.width() as usize, picture.height() as usize);
    let plane = |component, width: usize, height: usize| {
        let (rows, stride) = (picture.plane(component), picture.stride(component) as usize);
        (width, rows.chunks(stride).take(height).flat_map(|row| row[..width].to_vec()).collect())
    };
    let halved = |component| plane(component, width.div_ceil(2), height.div_ceil(2));
    match picture.pixel_layout() {
        PixelLayout::I400 => vec![plane(Y, width, height)],
        PixelLayout::I420 => vec![plane(Y, width, height), halved(U), halved(V)],
        other => panic!("{other:?}"),
    }
}

fn near(a: [u8; 4], b: [u8; 4], tolerance: u8) -> bool {
    a.iter().zip(b).all(|(a, b)| a.abs_diff(b) <= tolerance)
}

#[test]
fn every_format_has_the_size_it_was_asked_for() {
    let master = disc(128);
    for format in Format::ALL.iter().copied() {
        for (width, height) in [(1, 1), (1, 128), (7, 7), (31, 90), (64, 64), (127, 127), (128, 128)] {
            let bytes = derive(&master, width, height, format).unwrap();
            assert_eq!(probe(&bytes), Ok(Probe { format, width, height }));
            let back = decoded(&bytes);
            assert_eq!((back.width(), back.height()), (width, height), "{format}");
        }
    }
}

#[test]
fn a_red_square_has_its_red_pixels() {
    let square = picture(100, 100, |x, y| if (25..75).contains(&x) && (25..75).contains(&y) { RED } else { CLEAR });
    // `blend` is how far from the edge, in pixels, a format may blend. The chroma of JPG and AVIF
    // is halved, and a JPG decoder smooths it.
    for (format, tolerance, blend) in
        [(Format::Png, 0, 0), (Format::Webp, 12, 1), (Format::Jpg, 12, 3), (Format::Avif, 12, 3)]
    {
        let back = decoded(&encode(&square, format).unwrap());
        let red = back.pixels().filter(|p| near(*p, RED, tolerance)).count();
        let ground = if format.keeps_transparency() { 0 } else { 255 };
        let clear = back.pixels().filter(|p| p[3] == ground && (ground == 0 || near(*p, [255; 4], tolerance))).count();
        let (inner, outer) = (50_usize - 2 * blend, 50 + 2 * blend);
        assert!(red >= inner * inner && clear >= 100 * 100 - outer * outer, "{format}: {red} red, {clear} clear");
    }
}

#[test]
fn alpha_is_exact_in_png_and_webp_and_nearly_so_in_avif() {
    let disc = disc(200);
    let alpha = |p: &Pixmap| p.pixels().map(|p| p[3]).collect::<Vec<_>>();
    assert!(alpha(&disc).iter().any(|a| !matches!(a, 0 | 255)), "the picture has soft edges");
    for format in [Format::Png, Format::Webp] {
        assert_eq!(alpha(&decoded(&encode(&disc, format).unwrap())), alpha(&disc), "{format}");
    }
    let back = alpha(&decoded(&encode(&disc, Format::Avif).unwrap()));
    let off = back.iter().zip(alpha(&disc)).map(|(a, b)| a.abs_diff(b)).max();
    assert!(off <= Some(4), "AVIF is off by {off:?} of 255");
}

#[test]
fn a_known_alpha_plane_changes_no_byte() {
    let planes = AlphaPlanes::default();
    let colours = |shift: u8| {
        let disc = disc(160);
        let shifted = disc.pixels().flat_map(|[r, g, b, a]| [r.wrapping_add(shift), b, g, a]).collect();
        Pixmap::from_rgba(160, 160, shifted).unwrap()
    };
    for format in Format::ALL.iter().copied() {
        // Other alphas come in between. An opaque image has no alpha plane at all.
        for picture in [colours(0), colours(40), disc(96), picture(160, 160, |_, _| RED), colours(80), disc(96)] {
            assert!(encode_beside(&picture, format, &planes).unwrap() == encode(&picture, format).unwrap(), "{format}");
        }
    }
}

#[test]
fn png_keeps_every_pixel() {
    let disc = disc(97);
    assert_eq!(decoded(&encode(&disc, Format::Png).unwrap()), disc);
}

#[test]
fn an_opaque_picture_stays_opaque() {
    let solid = picture(40, 30, |_, _| RED);
    for format in Format::ALL.iter().copied() {
        let back = decoded(&derive(&solid, 20, 15, format).unwrap());
        let off = back.pixels().find(|p| !near(*p, RED, 6) || p[3] != 255);
        assert_eq!(off, None, "{format}");
    }
}

#[test]
fn jpg_lies_on_white() {
    let half = picture(2, 1, |x, _| if x == 0 { CLEAR } else { [0, 0, 0, 128] });
    assert_eq!(half.flattened_on_white(), [255, 255, 255, 127, 127, 127]);
    let back = decoded(&encode(&disc(128), Format::Jpg).unwrap());
    assert!(near(back.pixels().next().unwrap(), [255; 4], 1));
}

#[test]
fn clear_pixels_lend_no_colour_to_their_neighbours() {
    // The transparent pixels are green inside: a resize that forgets to
    // premultiply paints a green rim.
    let rim = picture(96, 96, |x, _| if x % 3 == 0 { [0, 255, 0, 0] } else { [200, 0, 0, 255] });
    for side in [1, 17, 32, 50, 95] {
        let small = resize(&rim, side, side).unwrap();
        for pixel in small.pixels().filter(|p| p[3] > 0) {
            // Where coverage is small, eight bits keep little of the colour's
            // brightness, but its hue stays.
            let rounding = 255_u8.div_ceil(pixel[3]);
            assert!(pixel[1] == 0 && pixel[0].abs_diff(200) <= rounding.max(2), "{side}: {pixel:?}");
        }
    }
}

#[test]
fn nothing_is_enlarged() {
    let small = disc(16);
    for (width, height) in [(0, 16), (16, 0), (17, 16), (16, 17), (4096, 4096)] {
        assert!(
            matches!(derive(&small, width, height, Format::Png), Err(EncodingError::Resize { .. })),
            "{width}x{height}"
        );
    }
}

#[test]
fn every_format_is_marked_as_made_by_a_model() {
    let find = |bytes: &[u8], what: &[u8]| bytes.windows(what.len()).position(|w| w == what);
    for (format, holder) in [
        (Format::Png, b"iTXtXML:com.adobe.xmp\0".as_slice()),
        (Format::Webp, b"XMP ".as_slice()),
        (Format::Jpg, b"http://ns.adobe.com/xap/1.0/\0".as_slice()),
        (Format::Avif, b"mime\0application/rdf+xml\0".as_slice()),
    ] {
        let bytes = encode(&disc(64), format).unwrap();
        let holder = find(&bytes, holder).unwrap_or_else(|| panic!("{format} has a place for XMP"));
        assert!(find(&bytes, DIGITAL_SOURCE_TYPE.as_bytes()).is_some_and(|at| at > holder), "{format}");
    }
    let webp = encode(&disc(64), Format::Webp).unwrap();
    assert_eq!((&webp[12..16], webp[20]), (b"VP8X".as_slice(), 0x14), "extended layout with alpha and XMP");
}

#[test]
fn a_cut_or_foreign_file_is_no_picture() {
    for format in Format::ALL.iter().copied() {
        let bytes = encode(&disc(48), format).unwrap();
        for kept in 0..bytes.len() {
            assert!(probe(&bytes[..kept]).is_err(), "{format} cut to {kept} bytes");
        }
    }
    let heic = b"\0\0\0\x18ftypheic\0\0\0\0mif1heic";
    for foreign in [b"".as_slice(), heic, b"GIF89a", b"<svg/>", b"\x89PNG", b"RIFF\0\0\0\0WAVE", &[0xff, 0xd8]] {
        assert_eq!(probe(foreign), Err(ProbeError::Unknown));
    }
    assert!(decode_master(b"not a picture", 1024).is_err());
}

#[test]
fn probe_survives_any_damage() {
    // Every byte of each header region is set to a few values. `probe` may return a result or an
    // error, but must never panic.
    for format in Format::ALL.iter().copied() {
        let whole = encode(&disc(16), format).unwrap();
        for at in 0..whole.len().min(1200) {
            for value in [0, 1, 0x7f, 0xd9, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] = value;
                let _ = probe(&bytes);
            }
        }
    }
}

#[test]
fn an_avif_says_what_lies_in_it_and_what_its_colours_mean() {
    let bytes = encode(&disc(64), Format::Avif).unwrap();
    assert_eq!(isobmff::item(&bytes, 3), Some(xmp_packet().as_bytes()));
    let has = |what: &[u8]| bytes.windows(what.len()).any(|window| window == what);
    // The colours are full-range sRGB. Alpha refers to the colour item, and so does the mark.
    assert!(has(b"colrnclx\0\x01\0\x0d\0\x06\x80"));
    assert!(has(b"auxl\0\x02\0\x01\0\x01") && has(b"cdsc\0\x03\0\x01\0\x01"));
    for item in [1, 2] {
        let data = isobmff::item(&bytes, item).unwrap();
        assert!(!data.starts_with(&[0x12, 0]), "item {item} has no temporal delimiter");
    }
    let opaque = encode(&picture(20, 20, |_, _| RED), Format::Avif).unwrap();
    assert_eq!((isobmff::item(&opaque, 2), isobmff::item(&opaque, 3).is_some()), (None, true));
}

#[test]
fn an_avif_whose_items_reach_beyond_its_end_is_damaged() {
    let whole = encode(&disc(48), Format::Avif).unwrap();
    let damaged = Err(ProbeError::Damaged(Format::Avif));
    // The last box has length 0, which means that its data last until the end of the file,
    // and then the file is cut.
    let mdat = whole.windows(4).position(|kind| kind == b"mdat").unwrap() - 4;
    let mut endless = whole.clone();
    endless[mdat..mdat + 4].fill(0);
    assert_eq!(probe(&endless), probe(&whole));
    for kept in mdat + 8..endless.len() {
        assert_eq!(probe(&endless[..kept]), damaged, "cut to {kept} bytes");
    }
    // Lengths and offsets have their largest values, and boxes are longer than any memory.
    let iloc = whole.windows(4).position(|kind| kind == b"iloc").unwrap();
    for at in iloc + 8..iloc + 54 {
        let mut bytes = whole.clone();
        bytes[at..at + 4].fill(0xff);
        assert_eq!(probe(&bytes), damaged, "at {at}");
    }
    // Lengths have no bytes.
    let mut short = whole.clone();
    short[iloc + 8] = 0x40;
    assert_eq!(probe(&short), damaged);
    let mut long = whole.clone();
    long[mdat..mdat + 4].copy_from_slice(&[0, 0, 0, 1]);
    long[mdat + 8..mdat + 16].fill(0xff);
    assert_eq!(probe(&long), damaged);
}

#[test]
fn probe_survives_random_bytes() {
    let mut state = 1_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    let starts = Format::ALL.iter().map(|format| encode(&disc(16), *format).unwrap()).collect::<Vec<_>>();
    for turn in 0..20_000 {
        let mut bytes = starts[turn % starts.len()].clone();
        // Changes either random bytes of a real file, or all bytes after its first sixteen.
        let changed = if turn % 3 == 0 { 16..bytes.len() } else { 0..random() % 12 };
        for at in changed {
            let at = if turn % 3 == 0 { at } else { random() % bytes.len().min(700) };
            bytes[at] = random() as u8;
        }
        let _ = probe(&bytes);
    }
}

#[test]
fn a_master_larger_than_allowed_is_refused_by_its_header() {
    let bytes = encode(&disc(64), Format::Png).unwrap();
    assert!(decode_master(&bytes, 64).is_ok());
    assert!(matches!(decode_master(&bytes, 63), Err(EncodingError::NotRgba { .. })));
}

/// ETags promise these bytes. When an encoder or a setting changes them, change
/// [`ENCODE_RECIPE`] and then this table.
#[test]
fn bytes_are_the_same_everywhere() {
    let (master, large) = (disc(160), disc(264));
    let digests: Vec<String> = Format::ALL
        .iter()
        .flat_map(|format| [(*format, &master, 160), (*format, &master, 75)])
        // JPG has other settings above 256 px.
        .chain([(Format::Jpg, &large, 264)])
        .map(|(format, master, side)| {
            format!("{format} {side} {}", hex::encode(Sha256::digest(derive(master, side, side, format).unwrap())))
        })
        .collect();
    assert_eq!(
        (ENCODE_RECIPE, digests.join("\n").as_str()),
        (
            "2",
            "png 160 9a6101ac68be979504fb809105877a4e92d0addccdb9b130ada65068f6852354\n\
             png 75 c74e3f7fc18e37c8c072e82444c750a761ae5806f6bd80c421ca87823f228dd4\n\
             webp 160 13f32d982ef91727c79b58bbeae5b9a4db2c61e4ca62467c75408aac7b42e796\n\
             webp 75 b81a732b885087f295981552e8b18b2f59aebd2fc29104d801c9693209351279\n\
             jpg 160 660141e717faabf01eff8441666185d2b53bc2656e7daa7195e2588a5df52194\n\
             jpg 75 f473b5202309046acd0fef2b0b7e8370e3f0d74c2a2a3211d68bc150d378606a\n\
             avif 160 38a927f7e33b004a4a0d6429174ae32b791a27bad1ded4105717afebf2b9a137\n\
             avif 75 3f047134c1c8be54dd0db9e0c3b59dc020122cfc1c06580a3742007ea56ddb3b\n\
             jpg 264 1ba0274e76db45e8e9f30dc9fe0b69df066b77a6d84603d9bc291df5a228bb82"
        )
    );
}
