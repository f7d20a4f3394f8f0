//! `cyclorama whoami`: prints the account as the key sees it.

use super::credentials::key_of_environment;
use super::service::ServiceArguments;
use super::show::pairs;
use crate::cli::print;

#[derive(Debug, clap::Args)]
pub struct Whoami {
    #[command(flatten)]
    service: ServiceArguments,
}

impl Whoami {
    pub async fn run(self, as_json: bool) -> anyhow::Result<()> {
        let answer = self.service.client()?.get_account().await?;
        if as_json {
            return Ok(print::answer(&serde_json::to_value(&answer)?, true)?);
        }
        let (account, key) = (&answer.data, &answer.data.key);
        let cap = key.monthly_cap.as_ref();
        let source = if key_of_environment().is_some() { "CYCLORAMA_KEY" } else { "login" };
        Ok(print::text(&pairs(&[
            ("service", self.service.address()?),
            ("credits", format!("{} (USD {:.2})", account.credits, account.credits_value_usd)),
            ("last 30 days", {
                let usage = &account.usage_30d;
                format!("{}, {}", print::count(usage.images, "image"), print::count(usage.credits_spent, "credit"))
            }),
            ("key", format!("{} (from {source})", key.id)),
            ("may", key.scopes.join(", ")),
            ("rate", format!("{} a minute", print::count(key.rate_limit_per_minute, "request"))),
            ("monthly cap", cap.map_or_else(String::new, |cap| format!("{} of {} spent", cap.spent, cap.credits))),
        ]))?)
    }
}
