//! `cyclorama url`: makes signed URLs of an image, which contain no key and can be loaded free
//! until they expire.

use super::picture::PictureArguments;
use super::service::ServiceArguments;
use crate::cli::exit::WrongUsage;
use crate::cli::print::{self, UnprintedOutput};
use cyclorama_client::types::ImageRequest;
use cyclorama_client::{ImageUrlsRequest, car_image_html};

#[derive(Debug, clap::Args)]
pub struct UrlArguments {
    #[command(flatten)]
    asked: PictureArguments,
    /// Seconds until the URLs expire, 60 to 604800; default: that of the service, usually 3600
    #[arg(long, value_name = "SECONDS")]
    ttl: Option<i64>,
    /// How often each URL can be loaded (previews in chats and emails count); default: no limit
    #[arg(long, value_name = "TIMES")]
    uses: Option<i64>,
    /// Create one URL for each of these widths, such as 256,512,1024 (1 credit each)
    #[arg(long, value_delimiter = ',', value_name = "PIXELS", conflicts_with_all = ["width", "height", "size"])]
    widths: Vec<i64>,
    /// Print an <img> element for a page instead of the URLs
    #[arg(long)]
    html: bool,
    /// Name of this request: repeating it within a day returns the same URLs for free
    #[arg(long, value_name = "NAME")]
    idempotency_key: Option<String>,
    #[command(flatten)]
    service: ServiceArguments,
}

impl UrlArguments {
    pub async fn run(self, as_json: bool) -> anyhow::Result<()> {
        let one = self.asked.image();
        let images = match self.widths.as_slice() {
            [] => vec![one],
            widths => widths.iter().map(|width| ImageRequest { width: Some(*width), ..one.clone() }).collect(),
        };
        if self.html && self.uses.is_some_and(|uses| uses > 0) {
            return Err(WrongUsage(
                "--html does not allow --uses: a page loads its images each time it is opened".to_owned(),
            )
            .into());
        }
        // The request always has an idempotency key, so that URLs that were paid for can be fetched
        // again if they could not be printed.
        let name = self.idempotency_key.unwrap_or_else(|| uuid::Uuid::new_v4().to_string());
        let request = ImageUrlsRequest {
            images,
            ttl_seconds: self.ttl,
            max_uses: self.uses,
            idempotency_key: Some(name.clone()),
        };
        let made = self.service.client()?.create_image_urls(&request).await?;
        let shown = match (as_json, self.html) {
            (true, _) => serde_json::to_string(&made)?,
            (_, true) => car_image_html(&made.data, None, None).unwrap_or_default(),
            _ => made.data.iter().map(|address| address.url.as_str()).collect::<Vec<_>>().join("\n"),
        };
        if let Err(cause) = print::line(&shown) {
            print::note(&shown);
            let what =
                format!("charged, and printed above: `--idempotency-key {name}` prints it again for free within a day");
            return Err(UnprintedOutput { what, cause }.into());
        }
        if as_json {
            return Ok(());
        }
        let until = made.data.first().map(|address| address.expires_at.as_str()).unwrap_or_default();
        let billing = &made.billing;
        print::note(format_args!(
            "{} charged, {} left; loads are free until {until}",
            print::count(billing.credits_charged, "credit"),
            billing.credits_remaining
        ));
        Ok(())
    }
}
