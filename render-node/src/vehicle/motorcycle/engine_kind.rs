//! The kinds of engines that two-wheelers have, with their words in the sheets.

use serde::Deserialize;

/// Engine, by its look from the side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(try_from = "String")]
pub enum Engine {
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

impl Default for Engine {
    /// Returns the commonest engine.
    fn default() -> Engine {
        Engine::Inline(1)
    }
}

impl TryFrom<String> for Engine {
    type Error = String;

    /// Returns the engine of a sheet's word, or an error for an unknown word.
    fn try_from(word: String) -> Result<Engine, String> {
        Ok(match word.as_str() {
            "single" => Engine::Inline(1),
            "inline-2" => Engine::Inline(2),
            "inline-3" => Engine::Inline(3),
            "inline-4" => Engine::Inline(4),
            "v" => Engine::Vee,
            "wide-v" => Engine::WideVee,
            "cross-v" => Engine::CrossVee,
            "boxer" => Engine::Boxer,
            "flat-6" => Engine::FlatSix,
            "electric" => Engine::Electric,
            _ => return Err(format!("there is no engine `{word}`")),
        })
    }
}
