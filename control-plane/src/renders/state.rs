//! The states of the rows this module owns, as the migration draws them.

cyclorama_core::named_enum! {
    /// Whether a variant's picture exists. A row begins as wanted, in round 1; the migration's drawing has it begin one step earlier.
    pub enum RenderState { Lapsed = "lapsed", Wanted = "wanted", Done = "done", Failed = "failed" }
}

cyclorama_core::named_enum! {
    pub enum JobState { Queued = "queued", Leased = "leased", Done = "done", Failed = "failed", Lapsed = "lapsed" }
}

cyclorama_core::named_enum! {
    /// What a node may take, as the service sees it.
    pub enum Standing {
        Active = "active",
        /// Finishes what it has and takes no more: the operator's order.
        Draining = "draining",
        /// Takes nothing: the operator's order.
        Locked = "locked",
        /// Takes nothing: three different jobs in a row failed on it.
        Quarantined = "quarantined",
        Left = "left",
    }
}

/// Reads a state out of a column. A value that is none is reported by table, column and id instead of guessed.
pub(super) fn column<T: std::str::FromStr<Err = cyclorama_core::UnknownName>>(
    text: &str,
    column: &'static str,
    id: &str,
) -> Result<T, sqlx::Error> {
    text.parse().map_err(|unknown| sqlx::Error::Decode(format!("{column} of {id}: {unknown}").into()))
}

/// The colours of a row, as [`print_colours`] wrote them.
pub fn colours_of(text: &str, name: &'static str, id: &str) -> Result<Vec<cyclorama_core::Paint>, sqlx::Error> {
    text.split(',').map(|colour| column(colour, name, id)).collect()
}

/// As columns hold them.
pub fn print_colours(colours: &[cyclorama_core::Paint]) -> String {
    colours.iter().map(|colour| colour.to_string()).collect::<Vec<_>>().join(",")
}

/// In SQL, of a row of `renders`: whether its paint is one that no preset names, as the index has it.
pub(super) const IS_CUSTOM: &str = "(color like '#%' or color like '%-no-shadow')";
