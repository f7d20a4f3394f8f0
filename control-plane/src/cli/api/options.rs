//! `cyclorama options`: prints the options of images, and their prices.

use super::service::ServiceArguments;
use super::show::pairs;
use crate::cli::print;

#[derive(Debug, clap::Args)]
pub struct Options {
    #[command(flatten)]
    service: ServiceArguments,
}

impl Options {
    pub async fn run(self, as_json: bool) -> anyhow::Result<()> {
        let answer = self.service.visitor()?.get_image_options().await?;
        if as_json {
            return Ok(print::answer(&serde_json::to_value(&answer)?, true)?);
        }
        let options = &answer.data;
        let words = |words: Vec<String>| words.join(", ");
        let mut sizes: Vec<(&String, &i64)> = options.sizes.presets.iter().collect();
        sizes.sort_by_key(|(_, side)| **side);
        let (prices, limits, catalog) = (&options.pricing, &options.limits, &options.catalog);
        Ok(print::text(&pairs(&[
            ("views", words(options.views.iter().map(|view| view.id.to_string()).collect())),
            ("colors", words(options.colors.iter().map(|color| color.name.to_string()).collect())),
            ("sizes", words(sizes.iter().map(|(name, side)| format!("{name} {side}")).collect())),
            ("largest", format!("{} x {} px", options.sizes.max, options.sizes.max)),
            (
                "formats",
                words(
                    options
                        .formats
                        .iter()
                        .map(|format| format.id.to_string())
                        .chain([options.auto_format.id.clone()])
                        .collect(),
                ),
            ),
            ("finishes", words(options.paints.finishes.iter().map(ToString::to_string).collect())),
            ("fits", words(options.frame.fits.iter().map(ToString::to_string).collect())),
            ("padding", format!("{} to {} percent", options.frame.padding.min, options.frame.padding.max)),
            (
                "backgrounds",
                words(
                    options
                        .frame
                        .backgrounds
                        .iter()
                        .map(ToString::to_string)
                        .chain(["six hex digits".to_owned()])
                        .collect(),
                ),
            ),
            ("scales", words(options.frame.scales.iter().map(ToString::to_string).collect())),
            (
                "price",
                format!(
                    "{} an image, {} for 1 USD",
                    print::count(prices.credits_per_image, "credit"),
                    prices.credits_per_dollar
                ),
            ),
            (
                "packs",
                words(
                    prices
                        .packs
                        .iter()
                        .map(|pack| format!("{} for USD {:.2}", pack.credits, pack.cents as f64 / 100.0))
                        .collect(),
                ),
            ),
            (
                "catalog",
                format!(
                    "{} makes, {} models, {} to {}",
                    catalog.makes, catalog.models, catalog.years.from, catalog.years.to
                ),
            ),
            ("rate", format!("{} a minute", print::count(limits.rate_limit_per_minute_default, "request"))),
            (
                "signed URLs",
                format!(
                    "at most {} at once, {} to {} seconds",
                    limits.max_batch_urls, limits.delivery_ttl.min, limits.delivery_ttl.max
                ),
            ),
        ]))?)
    }
}
