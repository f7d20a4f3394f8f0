//! `cyclorama resolve`: what a few words mean.

use super::Service;
use super::show::{pairs, table, years};
use crate::cli::print;
use cyclorama_client::types::ResolveRequest;

#[derive(Debug, clap::Args)]
pub struct Resolve {
    /// Such as: navy porsche 911 2024 from behind
    #[arg(required = true)]
    words: Vec<String>,
    /// In place of a year among the words
    #[arg(long)]
    year: Option<i64>,
    /// Only vehicles of this make
    #[arg(long)]
    make: Option<String>,
    /// Only models of this name
    #[arg(long)]
    model: Option<String>,
    #[command(flatten)]
    service: Service,
}

impl Resolve {
    pub async fn run(self, as_json: bool) -> anyhow::Result<()> {
        let asked = ResolveRequest { query: self.words.join(" "), year: self.year, make: self.make, model: self.model };
        let answer = self.service.client()?.resolve_image(&asked).await?;
        if as_json {
            return Ok(print::answer(&serde_json::to_value(&answer)?, true)?);
        }
        let (found, params) = (&answer.data, &answer.data.params);
        let names = &found.display;
        let mut told = pairs(&[
            ("vehicle", format!("{} {} {}", names.make_name, names.model_name, params.year)),
            ("view", params.view.to_string()),
            ("color", params.color.to_string()),
            ("size", params.size.clone().unwrap_or_default()),
            ("format", params.format.clone().unwrap_or_default()),
            ("confidence", found.confidence.clone()),
            ("not understood", found.extracted.unread.join(" ")),
        ]);
        if found.confidence != "high" {
            told.push_str("\nAlso possible:\n");
            let rows = found.candidates.iter().map(|candidate| {
                let name = format!("{} {}", candidate.make_name, candidate.model_name);
                vec![name, candidate.match_kind.clone(), years(&candidate.years)]
            });
            told.push_str(&table(&rows.collect::<Vec<_>>()));
        }
        let (make, model) = (&params.make, &params.model);
        let (view, color) = (&params.view, &params.color);
        told.push_str(&format!("\ncyclorama get {make} {model} {} --view {view} --color {color}\n", params.year));
        Ok(print::text(&told)?)
    }
}
