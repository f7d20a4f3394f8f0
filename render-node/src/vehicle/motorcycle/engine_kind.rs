//! The kinds of engines that two-wheelers have, with their words in the sheets.

use serde::Deserialize;

/// Engine, by its look from the side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(try_from = "String")]
pub enum EngineKind {
    /// This many cylinders in a row across the frame.
    Inline(u8),
    /// Two cylinders along the frame, upright.
    Vee,
    /// Two cylinders along the frame, a right angle apart.
    WideVee,
    /// Two cylinders that rise to the sides.
    CrossVee,
    /// Two cylinders that lie to the sides.
    Boxer,
    /// Three cylinders on each side.
    FlatSix,
    Electric,
}

impl Default for EngineKind {
    /// Returns the commonest engine.
    fn default() -> EngineKind {
        EngineKind::Inline(1)
    }
}

impl TryFrom<String> for EngineKind {
    type Error = String;

    /// Returns the engine of a sheet's word, or an error for an unknown word.
    fn try_from(word: String) -> Result<EngineKind, String> {
        Ok(match word.as_str() {
            "single" => EngineKind::Inline(1),
            "inline-2" => EngineKind::Inline(2),
            "inline-3" => EngineKind::Inline(3),
            "inline-4" => EngineKind::Inline(4),
            "v" => EngineKind::Vee,
            "wide-v" => EngineKind::WideVee,
            "cross-v" => EngineKind::CrossVee,
            "boxer" => EngineKind::Boxer,
            "flat-6" => EngineKind::FlatSix,
            "electric" => EngineKind::Electric,
            _ => return Err(format!("there is no engine `{word}`")),
        })
    }
}
