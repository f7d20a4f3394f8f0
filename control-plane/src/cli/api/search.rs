//! `cyclorama search`: finds makes and models by name.

use super::service::ServiceArguments;
use super::show::{table, years};
use crate::cli::print;
use cyclorama_client::types::{VehicleList, VehiclesQuery};

#[derive(Debug, clap::Args)]
pub struct Search {
    #[arg(required = true)]
    words: Vec<String>,
    /// Only models of this make
    #[arg(long)]
    make: Option<String>,
    /// Only models of this model year
    #[arg(long)]
    year: Option<i64>,
    /// Number of results, 1 to 25; default: 10
    #[arg(long)]
    limit: Option<i64>,
    #[command(flatten)]
    service: ServiceArguments,
}

impl Search {
    pub async fn run(self, as_json: bool) -> anyhow::Result<()> {
        let asked = VehiclesQuery {
            q: Some(self.words.join(" ")),
            make: self.make,
            year: self.year,
            limit: self.limit,
            ..VehiclesQuery::default()
        };
        let answer = self.service.visitor()?.get_vehicles(&asked).await?;
        if as_json {
            return Ok(print::answer(&serde_json::to_value(&answer)?, true)?);
        }
        let VehicleList::Results(found) = answer.data else { return Ok(()) };
        let rows = found.results.iter().map(|hit| {
            vec![
                hit.make_slug.clone(),
                hit.model_slug.clone().unwrap_or_else(|| "-".to_owned()),
                hit.vehicle_type.clone().unwrap_or_else(|| "-".to_owned()),
                hit.vehicle_id.clone().unwrap_or_else(|| "-".to_owned()),
                years(&hit.years),
            ]
        });
        let rows: Vec<_> = rows.collect();
        match rows.is_empty() {
            true => Ok(print::line("Nothing found.")?),
            false => Ok(print::text(&table(&rows))?),
        }
    }
}
