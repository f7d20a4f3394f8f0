//! Settings of email: the SMTP server and the sender. Without them accounts are
//! active at once, and no email is sent.

use super::{ConfigError, SettingsSource};
use crate::mail::MailSettings;
use crate::secret::Secret;

/// Returns the settings, or `None` if there are none.
pub fn read(source: &SettingsSource) -> Result<Option<MailSettings>, ConfigError> {
    let (smtp_url, from) = match (source.text("smtp_url"), source.text("mail_from")) {
        (None, None) if source.text("operator_email").is_some() => {
            return Err(source.rule("operator_email", "needs CYCLORAMA_SMTP_URL"));
        }
        (None, None) => return Ok(None),
        (Some(smtp_url), Some(from)) => (smtp_url, from),
        (Some(_), None) => return Err(source.rule("mail_from", "is needed with CYCLORAMA_SMTP_URL")),
        (None, Some(_)) => return Err(source.rule("smtp_url", "is needed with CYCLORAMA_MAIL_FROM")),
    };
    if crate::mail::transport(smtp_url).is_err() {
        return Err(source.refuse("smtp_url", "smtps://user:password@host, or smtp://host:port?tls=required"));
    }
    let from = from
        .parse()
        .map_err(|_| source.refuse("mail_from", "an email address such as Cyclorama <no-reply@example.com>"))?;
    let operator = match source.text("operator_email") {
        None => None,
        Some(address) if address.parse::<lettre::Address>().is_ok() => Some(address.to_owned()),
        Some(_) => return Err(source.refuse("operator_email", "an email address such as operations@example.com")),
    };
    Ok(Some(MailSettings { smtp_url: Secret::new(smtp_url), from, operator }))
}
