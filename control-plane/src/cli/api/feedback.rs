//! `cyclorama feedback`: rates an image.

use super::service::ServiceArguments;
use crate::cli::print;
use cyclorama_client::types::FeedbackRequest;

#[derive(Debug, clap::Args)]
pub struct Feedback {
    /// Request id of the delivery
    #[arg(long, value_name = "ID", conflicts_with_all = ["make", "model", "vehicle", "year", "body", "view", "color", "finish", "shadow"])]
    request_id: Option<String>,
    #[arg(long, requires_all = ["model", "year"], required_unless_present_any = ["request_id", "vehicle"])]
    make: Option<String>,
    #[arg(long, requires = "make")]
    model: Option<String>,
    /// Permanent id of make, model and body, instead of --make and --model
    #[arg(long, value_name = "ID", requires = "year", conflicts_with = "make")]
    vehicle: Option<String>,
    #[arg(long)]
    year: Option<i64>,
    #[arg(long)]
    body: Option<String>,
    #[arg(long)]
    view: Option<String>,
    #[arg(long)]
    color: Option<String>,
    #[arg(long, requires = "make")]
    finish: Option<String>,
    #[arg(long, requires = "make")]
    shadow: Option<String>,
    /// Rating from 1 (bad) to 5 (good)
    #[arg(long, required_unless_present = "verdict")]
    rating: Option<i64>,
    /// `good` or `bad`, instead of a rating
    #[arg(long)]
    verdict: Option<String>,
    /// Reason for the rating, at most 500 characters
    #[arg(long)]
    reason: Option<String>,
    #[command(flatten)]
    service: ServiceArguments,
}

impl Feedback {
    pub async fn run(self, as_json: bool) -> anyhow::Result<()> {
        let asked = FeedbackRequest {
            request_id: self.request_id,
            make: self.make,
            model: self.model,
            vehicle: self.vehicle,
            year: self.year,
            body: self.body.map(Into::into),
            view: self.view.map(Into::into),
            color: self.color.map(Into::into),
            finish: self.finish.map(Into::into),
            shadow: self.shadow.map(Into::into),
            rating: self.rating,
            verdict: self.verdict,
            reason: self.reason,
        };
        let answer = self.service.client()?.rate_image(&asked).await?;
        if as_json {
            return Ok(print::answer(&serde_json::to_value(&answer)?, true)?);
        }
        Ok(print::line(match answer.data.flagged {
            Some(true) => "Recorded. The operator will review the image.",
            _ => "Recorded.",
        })?)
    }
}
