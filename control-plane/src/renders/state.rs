//! The states of the rows of `renders`, `jobs` and `nodes`. The migration `0004_renders.sql` shows
//! how the states of renders and jobs follow each other.

cyclorama_core::named_enum! {
    /// The state of a variant's image. A new row is `Wanted`, in round 1, or `Done` if it is copied
    /// from another year of the look. The diagram in the migration shows a new row as `lapsed` and
    /// wants it in a second step; the code does both in one statement. `Expired` means that no
    /// request waited for the image any more.
    pub enum RenderState { Expired = "lapsed", Wanted = "wanted", Done = "done", Failed = "failed" }
}

cyclorama_core::named_enum! {
    /// The state of a job. `Expired` means that it expired because no request waited any more.
    pub enum JobState { Queued = "queued", Leased = "leased", Done = "done", Failed = "failed", Expired = "lapsed" }
}

cyclorama_core::named_enum! {
    /// A node's status as the service sees it, which says whether it may take jobs.
    pub enum NodeStatus {
        Active = "active",
        /// The node finishes its jobs and gets no more, by the operator's order.
        Draining = "draining",
        /// The node gets no jobs, by the operator's order.
        Locked = "locked",
        /// The node gets no jobs, because three different jobs in a row failed on it.
        Quarantined = "quarantined",
        Left = "left",
    }
}

/// Reads a state from a column's text. An unknown value is a decode error that names table, column
/// and id.
pub(super) fn column<T: std::str::FromStr<Err = cyclorama_core::UnknownName>>(
    text: &str,
    column: &'static str,
    id: &str,
) -> Result<T, sqlx::Error> {
    text.parse().map_err(|unknown| sqlx::Error::Decode(format!("{column} of {id}: {unknown}").into()))
}

/// Reads the paints of a row, as [`print_colours`] wrote them.
pub fn colours_of(text: &str, name: &'static str, id: &str) -> Result<Vec<cyclorama_core::Paint>, sqlx::Error> {
    text.split(',').map(|colour| column(colour, name, id)).collect()
}

/// Prints paints as columns hold them: comma-separated.
pub fn print_colours(colours: &[cyclorama_core::Paint]) -> String {
    colours.iter().map(|colour| colour.to_string()).collect::<Vec<_>>().join(",")
}

/// SQL condition on a row of `renders` that its paint is not a preset with its shadow, written as
/// in the index.
pub(super) const IS_CUSTOM: &str = "(color like '#%' or color like '%-no-shadow')";
