//! The names of objects, side by side: what is stored where is read here and nowhere else.

use cyclorama_core::wire::ObjectName;
use cyclorama_core::{Format, Frame, View};
use std::fmt;

/// A checked object name: segments of `a-z 0-9 . _ -` joined by `/`, none empty or starting with a dot, so that a key
/// is also a safe path and a safe URL. Upper case is left out because some file systems cannot tell it apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectKey(String);

/// S3 allows 1,024 bytes; file systems allow 255 a segment, of which the temporary name needs some.
const KEY_BYTES_MAX: usize = 512;
const SEGMENT_BYTES_MAX: usize = 200;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an object key")]
pub struct InvalidKey(String);

impl ObjectKey {
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

/// What keys of objects that last begin with.
pub const LASTING: [&str; 5] = ["layers", "masters", "paints", "derived", "signed"];

/// What keys of uploads begin with.
pub const STAGING: &str = "staging";

/// Light layers of a vehicle (by its key, `make/model/year`) and view, named by their content. `sha256` is lower-case
/// hex. A re-render has a higher revision.
pub fn layers(vehicle_key: &str, view: View, revision: u64, sha256: &str) -> Result<ObjectKey, InvalidKey> {
    ObjectKey::new(format!("layers/{vehicle_key}/{view}/{revision}-{}", digest(sha256)?))
}

/// The same as versions up to 0.1 named them.
pub fn layers_by_revision(vehicle_key: &str, view: View, revision: u64) -> Result<ObjectKey, InvalidKey> {
    ObjectKey::new(format!("layers/{vehicle_key}/{view}/{revision}"))
}

/// The 1024 px composed picture of a variant, named by its content. `sha256` is lower-case hex.
pub fn master(sha256: &str) -> Result<ObjectKey, InvalidKey> {
    ObjectKey::new(format!("masters/{}.png", digest(sha256)?))
}

/// The same for a paint that no preset names, which is removed when there are too many of them.
pub fn custom_master(sha256: &str) -> Result<ObjectKey, InvalidKey> {
    ObjectKey::new(format!("paints/{}.png", digest(sha256)?))
}

/// A sized and encoded copy of a master.
pub fn derived(master_sha256: &str, width: u32, height: u32, format: Format) -> Result<ObjectKey, InvalidKey> {
    ObjectKey::new(format!("derived/{}/{width}x{height}.{format}", digest(master_sha256)?))
}

/// Who had a picture of a size of its own made: such sizes are kept apart, so that nobody's free pictures push out what others paid for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizePart {
    Paid,
    Free,
}

impl SizePart {
    pub const ALL: [SizePart; 2] = [SizePart::Paid, SizePart::Free];

    /// The folder that all sizes of the part are below.
    pub const fn folder(self) -> &'static [&'static str; 1] {
        match self {
            SizePart::Paid => &["sizes/paid"],
            SizePart::Free => &["sizes/free"],
        }
    }
}

/// A copy of a master in a frame or a format that no preset names. `certificate_id`: of what its credentials are
/// signed with, if they are. Does not last: it is removed when there are too many of them, and made again.
pub fn size(
    part: SizePart,
    certificate_id: Option<&str>,
    master_sha256: &str,
    frame: &Frame,
    format: Format,
) -> Result<ObjectKey, InvalidKey> {
    let ([folder], by) = (part.folder(), certificate_id.unwrap_or("plain"));
    ObjectKey::new(format!("{folder}/{by}/{}/{frame}.{format}", digest(master_sha256)?))
}

/// A mark: sizes that an earlier version stored beside the presets are removed.
pub fn sizes_moved() -> ObjectKey {
    ObjectKey("sizes/moved".to_owned())
}

/// A derivative with credentials, by what they are signed with.
pub fn signed(derived: &ObjectKey, certificate_id: &str) -> Result<ObjectKey, InvalidKey> {
    ObjectKey::new(format!("signed/{certificate_id}/{derived}"))
}

/// Where a node's upload waits until its result has been accepted. One lease, one folder, so a late upload of a lost
/// lease cannot touch a newer one.
pub fn staging(job_id: &str, fence: i64, name: &ObjectName) -> Result<ObjectKey, InvalidKey> {
    ObjectKey::new(format!("{STAGING}/{job_id}/{fence}/{name}"))
}

/// A staged object as it was when a result came: nobody has an address for it. Below the lease's folder, so that it is cleared with it.
/// `attempt` is a name of its own for each look at a result, so that none sees what another one pinned.
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
