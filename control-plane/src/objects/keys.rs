//! The keys of all objects: this module alone defines where each kind of object is stored.

use cyclorama_core::wire::ObjectName;
use cyclorama_core::{Format, Framing, View};
use std::fmt;

/// A checked object key: segments of `a-z 0-9 . _ -` joined by `/`, none empty or starting with a
/// dot, so that a key is also a safe path and a safe URL. Upper case is left out because some file
/// systems do not distinguish it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectKey(String);

/// Maximum length of a key, in bytes. S3 allows 1,024 bytes; file systems allow 255 for a segment,
/// of which the temporary name needs some.
const KEY_BYTES_MAX: usize = 512;
const SEGMENT_BYTES_MAX: usize = 200;

/// The error for a text that is no object key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an object key")]
pub struct InvalidKey(String);

impl ObjectKey {
    /// Checks a key. Fails with [`InvalidKey`] if it breaks the rules of [`ObjectKey`].
    pub fn new(key: impl Into<String>) -> Result<Self, InvalidKey> {
        let key = key.into();
        let segment_ok = |s: &str| {
            !s.is_empty()
                && s.len() <= SEGMENT_BYTES_MAX
                && !s.starts_with('.')
                && s.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-'))
        };
        if key.len() <= KEY_BYTES_MAX && key.split('/').all(segment_ok) {
            Ok(Self(key))
        } else {
            // The text came from outside and may be long; the start is enough to recognise it.
            Err(InvalidKey(key.chars().take(120).collect()))
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// First segments of the keys of objects that are kept for good.
pub const LASTING: [&str; 5] = ["layers", "masters", "paints", "derived", "signed"];

/// First segment of the keys of uploads.
pub const STAGING: &str = "staging";

/// Returns the key of the layers of a vehicle (by its key, `make/model/year`) and view, which
/// contains the digest of their content. `sha256` is lower-case hex. A rerender has a higher
/// revision.
pub fn layers(vehicle_key: &str, view: View, revision: u64, sha256: &str) -> Result<ObjectKey, InvalidKey> {
    ObjectKey::new(format!("layers/{vehicle_key}/{view}/{revision}-{}", digest(sha256)?))
}

/// Returns the same key as versions up to 0.1 wrote it.
pub fn layers_by_revision(vehicle_key: &str, view: View, revision: u64) -> Result<ObjectKey, InvalidKey> {
    ObjectKey::new(format!("layers/{vehicle_key}/{view}/{revision}"))
}

/// Returns the key of a variant's master (1024 px, composed), which contains the digest of its
/// content. `sha256` is lower-case hex.
pub fn master(sha256: &str) -> Result<ObjectKey, InvalidKey> {
    ObjectKey::new(format!("masters/{}.png", digest(sha256)?))
}

/// Returns the key of a master in a paint that is not a preset. Such masters are removed when there
/// are too many of them.
pub fn custom_master(sha256: &str) -> Result<ObjectKey, InvalidKey> {
    ObjectKey::new(format!("paints/{}.png", digest(sha256)?))
}

/// Returns the key of a sized and encoded copy of a master.
pub fn derived(master_sha256: &str, width: u32, height: u32, format: Format) -> Result<ObjectKey, InvalidKey> {
    ObjectKey::new(format!("derived/{}/{width}x{height}.{format}", digest(master_sha256)?))
}

/// The part of the store for images of sizes that are not presets, by the kind of request that
/// wanted them. The parts are separate so that free images never push out those that others paid
/// for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizePart {
    Paid,
    Free,
}

impl SizePart {
    pub const ALL: [SizePart; 2] = [SizePart::Paid, SizePart::Free];

    /// Returns the folder that holds all sizes of the part.
    pub const fn folder(self) -> &'static [&'static str; 1] {
        match self {
            SizePart::Paid => &["sizes/paid"],
            SizePart::Free => &["sizes/free"],
        }
    }
}

/// Returns the key of a copy of a master in a framing or a format that is not a preset.
/// `certificate_id` is the id of the certificate that signs its credentials, if they are signed.
/// Such a copy does not last: it is removed when there are too many of them, and made again.
pub fn size(
    part: SizePart,
    certificate_id: Option<&str>,
    master_sha256: &str,
    frame: &Framing,
    format: Format,
) -> Result<ObjectKey, InvalidKey> {
    let ([folder], by) = (part.folder(), certificate_id.unwrap_or("plain"));
    ObjectKey::new(format!("{folder}/{by}/{}/{frame}.{format}", digest(master_sha256)?))
}

/// Returns the key of a marker object. The marker says that sizes that an earlier version stored
/// beside the presets have been removed.
pub fn sizes_moved() -> ObjectKey {
    ObjectKey("sizes/moved".to_owned())
}

/// Returns the key of a derivative with credentials, by the certificate that signs them.
pub fn signed(derived: &ObjectKey, certificate_id: &str) -> Result<ObjectKey, InvalidKey> {
    ObjectKey::new(format!("signed/{certificate_id}/{derived}"))
}

/// Returns the key under which a node's upload waits until its result has been accepted. Each lease
/// has a folder of its own, so a late upload of a lost lease cannot touch a newer one.
pub fn staging(job_id: &str, fence: i64, name: &ObjectName) -> Result<ObjectKey, InvalidKey> {
    ObjectKey::new(format!("{STAGING}/{job_id}/{fence}/{name}"))
}

/// Returns the key of a pinned object: a staged object as it was when a result came, to which no
/// upload address leads. It is below the lease's folder, so that it is removed with it. `attempt`
/// is unique for each check of a result, so that no check sees objects that another one pinned.
pub fn pinned(job_id: &str, fence: i64, attempt: &str, name: &ObjectName) -> Result<ObjectKey, InvalidKey> {
    ObjectKey::new(format!("{STAGING}/{job_id}/{fence}/{attempt}/{name}"))
}

fn digest(sha256: &str) -> Result<&str, InvalidKey> {
    if sha256.len() == 64 && sha256.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
        Ok(sha256)
    } else {
        Err(InvalidKey(sha256.chars().take(120).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_cannot_leave_the_store() {
        for bad in [
            "",
            "/",
            "/etc/passwd",
            "a//b",
            "a/",
            "../a",
            "a/../b",
            "a/.hidden",
            "a\\b",
            "a b",
            "A",
            "a\0",
            "ä",
            "a%2e",
        ] {
            assert!(ObjectKey::new(bad).is_err(), "{bad:?}");
        }
        assert!(ObjectKey::new("a".repeat(201)).is_err());
        assert!(ObjectKey::new(vec!["abcdefgh"; 60].join("/")).is_err());
        for good in
            ["a", "a/b", "layers/bmw/3-series/2020/front-3-4/1", "masters/00.png", "staging/0190-a/7/master.red.png"]
        {
            assert_eq!(ObjectKey::new(good).map(|k| k.as_str().to_owned()), Ok(good.to_owned()));
        }
    }

    #[test]
    fn builders() {
        let sha = "0".repeat(63) + "a";
        assert_eq!(master(&sha).unwrap().as_str(), format!("masters/{sha}.png"));
        assert_eq!(derived(&sha, 450, 300, Format::Jpg).unwrap().as_str(), format!("derived/{sha}/450x300.jpg"));
        let named = layers("bmw/x5/2020", View::SideRight, 3, &sha).unwrap();
        assert_eq!(named.as_str(), format!("layers/bmw/x5/2020/side-right/3-{sha}"));
        let older = layers_by_revision("bmw/x5/2020", View::SideRight, 3).unwrap();
        assert_eq!(older.as_str(), "layers/bmw/x5/2020/side-right/3");
        assert_eq!(pinned("0190-a", 7, "b", &ObjectName::Layers).unwrap().as_str(), "staging/0190-a/7/b/layers");
        assert_eq!(staging("0190-a", 7, &"256.red.webp".into()).unwrap().as_str(), "staging/0190-a/7/256.red.webp");
        for bad in ["", "abc", &sha.to_uppercase(), &format!("../{}", &sha[3..])] {
            assert!(master(bad).is_err(), "{bad:?}");
            assert!(layers("bmw/x5/2020", View::Side, 1, bad).is_err(), "{bad:?}");
        }
    }
}
