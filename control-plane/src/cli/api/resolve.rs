//! `cyclorama resolve`: resolves a few words, or an identification
//! number, to the parameters of an image.

use super::service::ServiceArguments;
use super::show::{pairs, table, years};
use crate::cli::print;
use anyhow::Context;
use cyclorama_client::types::ResolveRequest;
use std::io::{BufRead, Read};

/// Maximum number of bytes that are read for a number. A number has 17 characters, and the service
/// refuses longer ones.
const VIN_LINE_BYTES_MAX: u64 = 100;

#[derive(Debug, clap::Args)]
pub struct Resolve {
    /// Text to resolve, such as: navy porsche 911 2024 from behind
    #[arg(required_unless_present = "vin")]
    words: Vec<String>,
    /// Vehicle identification number or its beginning, instead of words; `-` reads it from
    /// standard input
    #[arg(long, conflicts_with_all = ["words", "make", "model"])]
    vin: Option<String>,
    /// Model year, instead of a year among the words; with --vin: its model year, if known
    #[arg(long)]
    year: Option<i64>,
    /// Only vehicles of this make
    #[arg(long)]
    make: Option<String>,
    /// Only models of this name
    #[arg(long)]
    model: Option<String>,
    #[command(flatten)]
    service: ServiceArguments,
}

impl Resolve {
    pub async fn run(self, as_json: bool) -> anyhow::Result<()> {
        let vin = self.vin.map(given).transpose()?;
        let query = vin.is_none().then(|| self.words.join(" "));
        let asked = ResolveRequest { query, vin, year: self.year, make: self.make, model: self.model };
        let answer = self.service.client()?.resolve_image(&asked).await?;
        if as_json {
            return Ok(print::answer(&serde_json::to_value(&answer)?, true)?);
        }
        let (found, params) = (&answer.data, &answer.data.params);
        let names = &found.display;
        let mut message = pairs(&[
            ("vehicle", format!("{} {} {}", names.make_name, names.model_name, params.year)),
            ("body", params.body.as_ref().map(ToString::to_string).unwrap_or_default()),
            ("view", params.view.to_string()),
            ("color", params.color.to_string()),
            ("size", params.size.clone().unwrap_or_default()),
            ("format", params.format.clone().unwrap_or_default()),
            ("confidence", found.confidence.clone()),
            ("not understood", found.extracted.unread.join(" ")),
        ]);
        if found.confidence != "high" {
            message.push_str("\nAlso possible:\n");
            let rows = found.candidates.iter().map(|candidate| {
                let name = format!("{} {}", candidate.make_name, candidate.model_name);
                vec![name, candidate.match_kind.clone(), years(&candidate.years)]
            });
            message.push_str(&table(&rows.collect::<Vec<_>>()));
        }
        let (make, model) = (&params.make, &params.model);
        let (view, color) = (&params.view, &params.color);
        let body = params.body.as_ref().map_or_else(String::new, |body| format!(" --body {body}"));
        message
            .push_str(&format!("\ncyclorama get {make} {model} {}{body} --view {view} --color {color}\n", params.year));
        Ok(print::text(&message)?)
    }
}

/// Returns the number that was given, or the first line of standard input for `-`: every user of a
/// machine can see the arguments of its programs.
fn given(vin: String) -> anyhow::Result<String> {
    if vin != "-" {
        return Ok(vin);
    }
    let mut line = String::new();
    std::io::stdin().lock().take(VIN_LINE_BYTES_MAX).read_line(&mut line).context("standard input cannot be read")?;
    Ok(line.trim().to_owned())
}
