//! The kinds of engines that two-wheelers have, by the words of their sheets.

use serde::Deserialize;

/// Engines that look different from the side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(try_from = "String")]
pub enum Engine {
    /// So many cylinders across the frame.
    Inline(u8),
    /// Two cylinders along the frame, upright.
    Vee,
    /// The same a right angle apart.
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
    /// The commonest.
    fn default() -> Engine {
        Engine::Inline(1)
    }
}

impl TryFrom<String> for Engine {
    type Error = String;

    /// An engine by the word that sheets have for it.
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
