//! The catalog's release file: its contents, and how it is written and read.
//!
//! A release is two files, each a zstd frame around a postcard value. The release file holds makes,
//! models, years, and body and dimensions from sources that require attribution at most. The
//! supplement holds the facts that come only from a share-alike source (CC BY-SA 4.0) and is laid
//! over the release at load. Without it the catalog is complete, with coarser dimensions.

use cyclorama_core::{BodyClass, Dimensions};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// Changes whenever the layout below does. A file with another number is refused.
const LAYOUT: u16 = 1;
/// First year of a [`YearSet`] and of a [`Span`]. The sets have room for 64 years.
pub const FIRST_YEAR: u16 = 1990;
/// Maximum size of a decompressed file, in bytes. The real one has under 3 MB; a broken one must
/// not exhaust the memory.
const DECOMPRESSED_BYTES_MAX: usize = 64 << 20;
const COMPRESSION_LEVEL: i32 = 19;

/// A set of years as bits; bit 0 is [`FIRST_YEAR`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct YearSet(pub u64);

impl YearSet {
    pub fn insert(&mut self, year: u16) {
        if let Some(offset) = year.checked_sub(FIRST_YEAR).filter(|offset| *offset < 64) {
            self.0 |= 1 << offset;
        }
    }

    pub fn contains(self, year: u16) -> bool {
        year.checked_sub(FIRST_YEAR).is_some_and(|offset| offset < 64 && self.0 >> offset & 1 == 1)
    }

    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// The years, ascending.
    pub fn iter(self) -> impl Iterator<Item = u16> {
        (0..64).filter(move |offset| self.0 >> offset & 1 == 1).map(|offset| FIRST_YEAR + offset)
    }
}

/// The contents of a release file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Release {
    pub layout: u16,
    /// Package and version that the makes, models and years come from.
    pub package: String,
    pub sources: Vec<Source>,
    pub makes: Vec<Make>,
    /// Distinct dimensions. [`Span::dimensions`] is a position in this list.
    pub dimensions: Vec<Dimensions>,
}

/// A source of makes, models and years.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    pub id: String,
    pub name: String,
    pub region: String,
    pub license: String,
    pub url: String,
}

/// A make with its models.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Make {
    /// The package's own number for the make.
    pub id: u64,
    pub name: String,
    pub slug: String,
    /// Other names of the make (`VW`), as people write them.
    pub aliases: Vec<String>,
    /// In order of key.
    pub models: Vec<Model>,
}

/// A model of a make. The package's spellings of one name (`F-150`, `F150`) are one model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Model {
    pub name: String,
    pub slug: String,
    /// Popularity from 1 (the most common) to 10, or 0 where it is not known. It is used for
    /// ranking only.
    pub popularity: u8,
    pub spellings: Vec<Spelling>,
    /// Vehicle types (positions in `VehicleType::ALL`) with their years, the likeliest first: the
    /// type in a year is the first that has the year.
    pub types: Vec<(u8, YearSet)>,
    /// Ascending; they cover every year of the model.
    pub spans: Vec<Span>,
}

/// One name of the package, with its years by vehicle type (positions in `VehicleType::ALL`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spelling {
    pub name: String,
    pub years: Vec<(u8, YearSet)>,
}

/// Body and dimensions from the year `from` up to the next span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// Years since [`FIRST_YEAR`].
    pub from: u8,
    /// Position in `BodyClass::ALL`.
    pub body: u8,
    pub dimensions: u32,
}

/// Share-alike facts: for some models, the spans that replace those of the release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Supplement {
    pub layout: u16,
    /// The licence notice, which `catalog info` shows. The file carries its own terms.
    pub notice: String,
    /// SHA-256 of the release file it was made with. The positions below are positions in that
    /// release.
    pub release_sha256: [u8; 32],
    pub dimensions: Vec<Dimensions>,
    pub patches: Vec<Patch>,
}

/// The spans of one model that replace those of the release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Patch {
    pub make: u32,
    pub model: u32,
    /// First and last year (since [`FIRST_YEAR`]), body (position in `BodyClass::ALL`), position in
    /// `dimensions`.
    pub spans: Vec<(u8, u8, u8, u32)>,
}

/// The reason why a release or its supplement cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum ReleaseError {
    #[error("cannot read catalog file {}", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("cannot write catalog file {}", path.display())]
    Write { path: PathBuf, source: std::io::Error },
    #[error("catalog file {file} does not decompress")]
    Decompress { file: String, source: std::io::Error },
    #[error("catalog file {file} does not decode")]
    Decode { file: String, source: postcard::Error },
    #[error(
        "catalog file {file} has layout {found}, this program reads layout {LAYOUT}; run `cyclorama catalog import` again"
    )]
    Layout { file: String, found: u16 },
    #[error("catalog supplement {file} was made for another release; run `cyclorama catalog import` again")]
    Mismatch { file: String },
    #[error("catalog file {file} is inconsistent: {detail}")]
    Inconsistent { file: String, detail: String },
}

/// The path of the supplement beside a release: for `vehicles.bin` it is `vehicles.cc-by-sa.bin`.
pub fn supplement_path(release: &Path) -> PathBuf {
    release.with_extension("cc-by-sa.bin")
}

/// Encodes a release or a supplement as a zstd frame around its postcard value.
pub fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>, ReleaseError> {
    let plain = postcard::to_stdvec(value).map_err(|source| ReleaseError::Decode { file: "(new)".into(), source })?;
    zstd::bulk::compress(&plain, COMPRESSION_LEVEL)
        .map_err(|source| ReleaseError::Decompress { file: "(new)".into(), source })
}

fn decode<T: DeserializeOwned>(file: &str, bytes: &[u8]) -> Result<T, ReleaseError> {
    let plain = zstd::bulk::decompress(bytes, DECOMPRESSED_BYTES_MAX)
        .map_err(|source| ReleaseError::Decompress { file: file.into(), source })?;
    // The layout number comes first in both files, and is checked before the rest is decoded.
    let (found, _) = postcard::take_from_bytes::<u16>(&plain)
        .map_err(|source| ReleaseError::Decode { file: file.into(), source })?;
    if found != LAYOUT {
        return Err(ReleaseError::Layout { file: file.into(), found });
    }
    postcard::from_bytes(&plain).map_err(|source| ReleaseError::Decode { file: file.into(), source })
}

impl Release {
    pub fn new(package: String, sources: Vec<Source>, makes: Vec<Make>, dimensions: Vec<Dimensions>) -> Self {
        Self { layout: LAYOUT, package, sources, makes, dimensions }
    }

    /// Reads a release and lays its supplement over it, if there is one. Returns [`ReleaseError`]
    /// if a file is broken, has another layout, or was not made with this release.
    pub fn decode(file: &str, release: &[u8], supplement: Option<&[u8]>) -> Result<Self, ReleaseError> {
        let mut read: Self = decode(file, release)?;
        if let Some(supplement) = supplement {
            let supplement: Supplement = decode(&format!("{file} (share-alike supplement)"), supplement)?;
            if supplement.release_sha256 != *Sha256::digest(release) {
                return Err(ReleaseError::Mismatch { file: file.into() });
            }
            read.apply(supplement, file)?;
        }
        read.check(file)?;
        Ok(read)
    }

    fn apply(&mut self, supplement: Supplement, file: &str) -> Result<(), ReleaseError> {
        let base = self.dimensions.len() as u32;
        self.dimensions.extend(supplement.dimensions);
        for patch in supplement.patches {
            let model = self
                .makes
                .get_mut(patch.make as usize)
                .and_then(|make| make.models.get_mut(patch.model as usize))
                .ok_or_else(|| ReleaseError::Mismatch { file: file.into() })?;
            let mut years: Vec<(u8, u32)> = (0..64).map(|year| model.facts_of(year)).collect();
            for (first, last, body, dimensions) in patch.spans {
                for year in first..=last.min(63) {
                    years[year as usize] = (body, base + dimensions);
                }
            }
            model.spans =
                spans(years.iter().enumerate().map(|(from, (body, dimensions))| (from as u8, *body, *dimensions)));
        }
        Ok(())
    }

    /// Checks everything that lookups rely on without checking again.
    fn check(&self, file: &str) -> Result<(), ReleaseError> {
        for make in &self.makes {
            for model in &make.models {
                let in_range = model.spans.iter().all(|span| {
                    (span.dimensions as usize) < self.dimensions.len() && (span.body as usize) < BodyClass::ALL.len()
                });
                if !in_range || model.spans.is_empty() || model.types.is_empty() {
                    let detail = format!("{}/{} has no body or points past the dimensions", make.slug, model.slug);
                    return Err(ReleaseError::Inconsistent { file: file.into(), detail });
                }
            }
        }
        Ok(())
    }
}

impl Supplement {
    pub fn new(notice: String, release: &[u8], dimensions: Vec<Dimensions>, patches: Vec<Patch>) -> Self {
        Self { layout: LAYOUT, notice, release_sha256: Sha256::digest(release).into(), dimensions, patches }
    }
}

impl Model {
    pub fn years(&self) -> YearSet {
        self.types.iter().fold(YearSet::default(), |all, (_, years)| all.union(*years))
    }

    /// Body and position of the dimensions in a year (since [`FIRST_YEAR`]). Before the first span
    /// begins, those of the first span.
    pub(super) fn facts_of(&self, year: u8) -> (u8, u32) {
        facts_in(&self.spans, year)
    }
}

/// Does the same as [`Model::facts_of`] for spans that no model holds.
pub(super) fn facts_in(spans: &[Span], year: u8) -> (u8, u32) {
    let after = spans.partition_point(|span| span.from <= year);
    spans.get(after.saturating_sub(1)).map_or((0, 0), |span| (span.body, span.dimensions))
}

/// Joins consecutive years (since [`FIRST_YEAR`]) with the same body and dimensions into spans.
pub fn spans(years: impl Iterator<Item = (u8, u8, u32)>) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    for (from, body, dimensions) in years {
        if spans.last().is_none_or(|last| (last.body, last.dimensions) != (body, dimensions)) {
            spans.push(Span { from, body, dimensions });
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sized(length_mm: u32) -> Dimensions {
        Dimensions { length_mm, width_mm: 1, height_mm: 1, wheelbase_mm: 1, front_track_mm: 1 }
    }

    fn small() -> Release {
        let years = YearSet(0b1111);
        let model = Model {
            name: "A".into(),
            slug: "a".into(),
            popularity: 0,
            spellings: vec![Spelling { name: "A".into(), years: vec![(1, years)] }],
            types: vec![(1, years)],
            spans: vec![Span { from: 0, body: 0, dimensions: 0 }, Span { from: 2, body: 1, dimensions: 0 }],
        };
        let make = Make { id: 1, name: "M".into(), slug: "m".into(), aliases: vec![], models: vec![model] };
        Release::new("p 1".into(), vec![], vec![make], vec![sized(1000)])
    }

    #[test]
    fn a_supplement_replaces_only_its_years() {
        let bytes = encode(&small()).unwrap();
        let patch = Patch { make: 0, model: 0, spans: vec![(1, 2, 3, 0)] };
        let supplement = encode(&Supplement::new("n".into(), &bytes, vec![sized(2000)], vec![patch])).unwrap();
        let read = Release::decode("t", &bytes, Some(&supplement)).unwrap();
        let model = &read.makes[0].models[0];
        let facts: Vec<(u8, u32)> = (0..4).map(|year| model.facts_of(year)).collect();
        assert_eq!(facts, [(0, 0), (3, 1), (3, 1), (1, 0)]);
        assert_eq!(read.dimensions[1].length_mm, 2000);
        assert_eq!(Release::decode("t", &bytes, None).unwrap(), small());
    }

    #[test]
    fn broken_files_are_refused_with_a_reason() {
        let bytes = encode(&small()).unwrap();
        let other = encode(&Supplement::new("n".into(), b"another release", vec![], vec![])).unwrap();
        assert!(matches!(Release::decode("t", &bytes, Some(&other)), Err(ReleaseError::Mismatch { .. })));
        assert!(matches!(Release::decode("t", b"no zstd", None), Err(ReleaseError::Decompress { .. })));
        let newer = encode(&Release { layout: LAYOUT + 1, ..small() }).unwrap();
        assert!(matches!(Release::decode("t", &newer, None), Err(ReleaseError::Layout { .. })));
        let mut pointing_nowhere = small();
        pointing_nowhere.dimensions.clear();
        let bytes = encode(&pointing_nowhere).unwrap();
        assert!(matches!(Release::decode("t", &bytes, None), Err(ReleaseError::Inconsistent { .. })));
        for cut in [0, 1, bytes.len() / 2, bytes.len() - 1] {
            assert!(Release::decode("t", &bytes[..cut], None).is_err());
        }
    }
}
