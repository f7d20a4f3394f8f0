//! The boxes of an AVIF file (ISO/IEC 14496-12, ISO/IEC 23008-12, AV1 Image File Format 1.1): just
//! enough to write a still image with alpha and metadata, and to read back its size and the
//! positions of its items.

/// Ids of the items in a file.
const COLOUR: u16 = 1;
const ALPHA: u16 = 2;
const XMP: u16 = 3;

const ALPHA_URN: &[u8] = b"urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0";
const XMP_MEDIA_TYPE: &[u8] = b"application/rdf+xml\0";

/// Flag of a property that a decoder has to understand.
const ESSENTIAL: u8 = 0x80;

/// One AV1 key frame, with the `av1C` record that describes it.
pub(super) struct Frame {
    pub(super) configuration: Vec<u8>,
    pub(super) data: Vec<u8>,
}

/// The content of a file to be written.
pub(super) struct Still<'a> {
    pub(super) width: u32,
    pub(super) height: u32,
    /// Colour primaries, transfer characteristics and matrix coefficients (ISO/IEC
    /// 23091-2); the range is full.
    pub(super) cicp: [u16; 3],
    pub(super) colour: &'a Frame,
    /// A frame that has luma alone.
    pub(super) alpha: Option<&'a Frame>,
    pub(super) xmp: &'a [u8],
}

impl Still<'_> {
    /// Returns the bytes of the file, or `None` if it would be longer than
    /// offsets of 32 bits reach.
    pub(super) fn file(&self) -> Option<Vec<u8>> {
        // Alpha comes before colour, so that a viewer that shows a partly loaded file never shows
        // colour without its outline.
        let mut items: Vec<(u16, &[u8])> = self.alpha.iter().map(|alpha| (ALPHA, alpha.data.as_slice())).collect();
        items.push((COLOUR, &self.colour.data));
        items.push((XMP, self.xmp));
        u32::try_from(items.iter().map(|(_, data)| data.len()).sum::<usize>() + 4096).ok()?;

        let mut file = Vec::new();
        boxed(&mut file, b"ftyp", |out| out.extend_from_slice(b"avif\0\0\0\0avifmif1miafMA1B"));
        // The offsets depend on the length of the boxes before the data, and that length
        // does not depend on the offsets. So `meta` is built once to measure it, and once
        // with the right offsets.
        let before = file.len() + self.meta(&items, 0).len() + 8;
        let meta = self.meta(&items, before as u32);
        file.extend_from_slice(&meta);
        boxed(&mut file, b"mdat", |out| items.iter().for_each(|(_, data)| out.extend_from_slice(data)));
        Some(file)
    }

    fn meta(&self, items: &[(u16, &[u8])], data_begins: u32) -> Vec<u8> {
        let mut out = Vec::new();
        full_box(&mut out, b"meta", 0, |out| {
            full_box(out, b"hdlr", 0, |out| out.extend_from_slice(b"\0\0\0\0pict\0\0\0\0\0\0\0\0\0\0\0\0\0"));
            full_box(out, b"pitm", 0, |out| push_u16(out, COLOUR));
            full_box(out, b"iloc", 0, |out| push_locations(out, items, data_begins));
            full_box(out, b"iinf", 0, |out| {
                push_u16(out, items.len() as u16);
                let information = |out: &mut Vec<u8>, id: u16, kind: &[u8; 4], rest: &[u8]| {
                    full_box(out, b"infe", 2, |out| {
                        push_u16(out, id);
                        push_u16(out, 0);
                        out.extend_from_slice(kind);
                        out.push(0);
                        out.extend_from_slice(rest);
                    });
                };
                information(out, COLOUR, b"av01", b"");
                if self.alpha.is_some() {
                    information(out, ALPHA, b"av01", b"");
                }
                information(out, XMP, b"mime", XMP_MEDIA_TYPE);
            });
            full_box(out, b"iref", 0, |out| {
                if self.alpha.is_some() {
                    push_reference(out, b"auxl", ALPHA);
                }
                push_reference(out, b"cdsc", XMP);
            });
            boxed(out, b"iprp", |out| self.push_properties(out));
        });
        out
    }

    fn push_properties(&self, out: &mut Vec<u8>) {
        // `ipma` refers to these properties by their position, counted from 1.
        boxed(out, b"ipco", |out| {
            full_box(out, b"ispe", 0, |out| {
                out.extend_from_slice(&self.width.to_be_bytes());
                out.extend_from_slice(&self.height.to_be_bytes());
            });
            full_box(out, b"pixi", 0, |out| out.extend_from_slice(&[3, 8, 8, 8]));
            boxed(out, b"av1C", |out| out.extend_from_slice(&self.colour.configuration));
            boxed(out, b"colr", |out| {
                out.extend_from_slice(b"nclx");
                self.cicp.iter().for_each(|code| push_u16(out, *code));
                out.push(0x80);
            });
            if let Some(alpha) = self.alpha {
                full_box(out, b"pixi", 0, |out| out.extend_from_slice(&[1, 8]));
                boxed(out, b"av1C", |out| out.extend_from_slice(&alpha.configuration));
                full_box(out, b"auxC", 0, |out| out.extend_from_slice(ALPHA_URN));
            }
        });
        full_box(out, b"ipma", 0, |out| {
            let mut of_items = vec![(COLOUR, [1, 2, 3 | ESSENTIAL, 4])];
            of_items.extend(self.alpha.map(|_| (ALPHA, [1, 5, 6 | ESSENTIAL, 7])));
            out.extend_from_slice(&(of_items.len() as u32).to_be_bytes());
            for (id, properties) in of_items {
                push_u16(out, id);
                out.push(properties.len() as u8);
                out.extend_from_slice(&properties);
            }
        });
    }
}

fn push_locations(out: &mut Vec<u8>, items: &[(u16, &[u8])], data_begins: u32) {
    // Four bytes each for offset and length, and none for a base offset.
    out.extend_from_slice(&[0x44, 0x00]);
    push_u16(out, items.len() as u16);
    let mut offset = data_begins;
    for (id, data) in items {
        push_u16(out, *id);
        // The data are in this file, in one extent.
        push_u16(out, 0);
        push_u16(out, 1);
        out.extend_from_slice(&offset.to_be_bytes());
        out.extend_from_slice(&(data.len() as u32).to_be_bytes());
        offset += data.len() as u32;
    }
}

/// Adds a reference which says that the item `from` belongs to the colour item.
fn push_reference(out: &mut Vec<u8>, kind: &[u8; 4], from: u16) {
    boxed(out, kind, |out| {
        push_u16(out, from);
        push_u16(out, 1);
        push_u16(out, COLOUR);
    });
}

fn push_u16(out: &mut Vec<u8>, value: u16) {
    out.extend_from_slice(&value.to_be_bytes());
}

fn boxed(out: &mut Vec<u8>, kind: &[u8; 4], content: impl FnOnce(&mut Vec<u8>)) {
    let begins = out.len();
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(kind);
    content(out);
    let length = (out.len() - begins) as u32;
    out[begins..begins + 4].copy_from_slice(&length.to_be_bytes());
}

fn full_box(out: &mut Vec<u8>, kind: &[u8; 4], version: u8, content: impl FnOnce(&mut Vec<u8>)) {
    boxed(out, kind, |out| {
        out.extend_from_slice(&[version, 0, 0, 0]);
        content(out);
    });
}

/// True if `bytes` begin like an AVIF file, even if the file is cut off.
pub(super) fn is_avif(bytes: &[u8]) -> bool {
    let brands = || {
        let (kind, content, _) = next_box(bytes)?;
        (kind == b"ftyp").then_some(content)
    };
    // The first brand is the main one. A version follows, and then the compatible brands.
    brands().is_some_and(|brands| brands.chunks_exact(4).enumerate().any(|(i, brand)| i != 1 && brand == b"avif"))
}

/// Returns width and height of the main image in pixels. Returns `None` unless the file is whole:
/// its boxes must end where it ends, and the data of every item must lie inside it.
pub(super) fn size(file: &[u8]) -> Option<(u32, u32)> {
    let mut meta = None;
    let mut rest = file;
    while !rest.is_empty() {
        let (kind, content, after) = next_box(rest)?;
        if kind == b"meta" {
            meta = Some(content.get(4..)?);
        }
        rest = after;
    }
    let meta = meta?;
    let main = Reader(child(meta, b"pitm")?).main_item()?;
    let stored = child(meta, b"idat").map_or(0, <[u8]>::len);
    let items = Reader(child(meta, b"iloc")?).locations()?;
    let lies_inside = |extent: &Extent| {
        let whole = if extent.in_idat { stored } else { file.len() } as u64;
        extent.length > 0 && extent.offset.checked_add(extent.length).is_some_and(|end| end <= whole)
    };
    let all_inside = items.iter().all(|item| !item.extents.is_empty() && item.extents.iter().all(lies_inside));
    if !all_inside || !items.iter().any(|item| item.id == main) {
        return None;
    }
    let properties = child(meta, b"iprp")?;
    let described = Reader(child(properties, b"ipma")?).properties_of(main)?;
    let mut number = 0;
    let mut rest = child(properties, b"ipco")?;
    while !rest.is_empty() {
        let (kind, content, after) = next_box(rest)?;
        number += 1;
        if kind == b"ispe" && described.contains(&number) {
            let mut size = Reader(content.get(4..)?);
            return Some((size.number(4)? as u32, size.number(4)? as u32));
        }
        rest = after;
    }
    None
}

struct Item {
    id: u32,
    extents: Vec<Extent>,
}

struct Extent {
    /// True if `offset` counts from the beginning of the content of the `idat`
    /// box instead of the file.
    in_idat: bool,
    offset: u64,
    length: u64,
}

/// Returns kind and content of the first box, and the bytes after it. Returns `None` if
/// the box is incomplete.
fn next_box(bytes: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let (head, length) = match Reader(bytes).number(4)? {
        0 => (8, bytes.len()),
        1 => (16, usize::try_from(Reader(bytes.get(8..)?).number(8)?).ok()?),
        length => (8, length as usize),
    };
    Some((bytes.get(4..8)?, bytes.get(head..length)?, bytes.get(length..)?))
}

fn child<'a>(content: &'a [u8], kind: &[u8; 4]) -> Option<&'a [u8]> {
    let mut rest = content;
    while !rest.is_empty() {
        let (found, content, after) = next_box(rest)?;
        if found == kind {
            return Some(content);
        }
        rest = after;
    }
    None
}

/// Reads the numbers in a box's content one after the other.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    /// Reads a big-endian number of `length` bytes, at most eight. The result is 0 if `length` is
    /// 0, and `None` if there are too few bytes.
    fn number(&mut self, length: usize) -> Option<u64> {
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn version_and_flags(&mut self) -> Option<(u64, u64)> {
        Some((self.number(1)?, self.number(3)?))
    }

    /// Reads the id of the main item from a `pitm` box.
    fn main_item(mut self) -> Option<u32> {
        let (version, _) = self.version_and_flags()?;
        Some(self.number(if version == 0 { 2 } else { 4 })? as u32)
    }

    /// Reads the items from an `iloc` box (ISO/IEC 14496-12, section 8.11.3).
    fn locations(mut self) -> Option<Vec<Item>> {
        let (version, _) = self.version_and_flags()?;
        let sizes = self.number(2)? as usize;
        let [offset_size, length_size, base_size, index_size] =
            [sizes >> 12, sizes >> 8 & 15, sizes >> 4 & 15, sizes & 15];
        // An extent without a length means the whole file, and any number of such extents would
        // fit into no bytes at all.
        let known =
            [offset_size, base_size].iter().all(|size| matches!(size, 0 | 4 | 8)) && matches!(length_size, 4 | 8);
        if version > 2 || !known {
            return None;
        }
        let wide = if version == 2 { 4 } else { 2 };
        let count = self.number(wide)?;
        let mut items = Vec::new();
        for _ in 0..count {
            let id = self.number(wide)? as u32;
            let method = if version == 0 { 0 } else { self.number(2)? & 15 };
            // Items whose data lie in another file, or are derived from other items,
            // cannot be checked here.
            if method > 1 || self.number(2)? != 0 {
                return None;
            }
            let base = self.number(base_size)?;
            let mut extents = Vec::new();
            for _ in 0..self.number(2)? {
                self.number(if version == 0 { 0 } else { index_size })?;
                let offset = self.number(offset_size)?.checked_add(base)?;
                extents.push(Extent { in_idat: method == 1, offset, length: self.number(length_size)? });
            }
            items.push(Item { id, extents });
        }
        Some(items)
    }

    /// Reads the positions of an item's properties from an `ipma` box (ISO/IEC
    /// 23008-12, section 9.3).
    fn properties_of(mut self, item: u32) -> Option<Vec<u64>> {
        let (version, flags) = self.version_and_flags()?;
        let (id_size, size) = (if version == 0 { 2 } else { 4 }, if flags & 1 == 1 { 2 } else { 1 });
        for _ in 0..self.number(4)? {
            let id = self.number(id_size)? as u32;
            let mut numbers = Vec::new();
            for _ in 0..self.number(1)? {
                numbers.push(self.number(size)? & if size == 1 { 0x7f } else { 0x7fff });
            }
            if id == item {
                return Some(numbers);
            }
        }
        None
    }
}

/// Returns the data of the item with this id, for tests that decode what was written.
#[cfg(test)]
pub(super) fn item(file: &[u8], id: u32) -> Option<&[u8]> {
    let mut rest = file;
    loop {
        let (kind, content, after) = next_box(rest)?;
        if kind == b"meta" {
            let items = Reader(child(content.get(4..)?, b"iloc")?).locations()?;
            let extent = items.iter().find(|item| item.id == id)?.extents.first()?;
            return file.get(extent.offset as usize..(extent.offset + extent.length) as usize);
        }
        rest = after;
    }
}
