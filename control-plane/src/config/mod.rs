//! The settings: one file per concern, all checked at start. Nothing else reads the environment.

pub mod credentials;
pub mod delivery;
pub mod farm;
pub mod limits;
pub mod listen;
pub mod logs;
mod mail;
pub mod objects;
pub mod openid;
mod peer;
pub mod prices;
mod sizes;
mod source;
pub mod storage;
pub mod stripe;
pub mod variables;

pub use source::{ConfigError, SettingsSource};

use crate::delivery::sizes::DerivativeBounds;
use std::path::Path;

/// Every setting, checked.
#[derive(Debug, Clone)]
pub struct Config {
    pub listen: listen::Listen,
    pub storage: storage::Storage,
    pub farm: farm::FarmSettings,
    pub delivery: delivery::DeliverySettings,
    /// Bounds for stored images in sizes without a preset name.
    pub sizes: DerivativeBounds,
    pub prices: prices::Prices,
    pub limits: limits::Limits,
    pub logs: logs::Logs,
    /// `None` if no email is sent.
    pub mail: Option<crate::mail::MailSettings>,
    /// `None` if images are not signed.
    pub credentials: Option<credentials::CredentialsSettings>,
    /// The OpenID Connect providers with which people may sign in, beside passwords.
    pub openid: Vec<openid::ProviderSettings>,
}

impl Config {
    /// Reads the file, if one is named, and the environment of this process.
    #[expect(clippy::disallowed_methods, reason = "the one place where the service reads its environment")]
    pub fn load(file: Option<&Path>) -> Result<Self, ConfigError> {
        Self::from_source(&SettingsSource::gather(file, std::env::vars_os())?)
    }

    pub fn from_source(source: &SettingsSource) -> Result<Self, ConfigError> {
        let listen = listen::Listen::read(source)?;
        if source.is_default("payments") && !listen.is_for_this_machine() {
            let name = if listen.base_url.is_some() { "base_url" } else { "listen" };
            let reason = "strangers can reach this service, and with the default payments they would get credits \
                          without paying: set CYCLORAMA_PAYMENTS to stripe, off or local";
            return Err(source.rule(name, reason));
        }
        Ok(Config {
            listen,
            storage: storage::Storage::read(source)?,
            farm: farm::FarmSettings::read(source)?,
            delivery: delivery::DeliverySettings::read(source)?,
            sizes: sizes::read(source)?,
            prices: prices::Prices::read(source)?,
            limits: limits::Limits::read(source)?,
            logs: logs::Logs::read(source)?,
            mail: mail::read(source)?,
            credentials: credentials::CredentialsSettings::read(source)?,
            openid: openid::ProviderSettings::read_all(source)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from_env(pairs: &[(&str, &str)]) -> Result<Config, ConfigError> {
        let pairs = pairs.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned()));
        Config::from_source(&SettingsSource::gather(None, pairs)?)
    }

    #[test]
    fn the_shipped_defaults_are_valid_and_those_of_the_contract() {
        let config = from_env(&[]).expect("defaults");
        assert_eq!(config.listen.public.to_string(), "127.0.0.1:8080");
        assert_eq!(config.listen.admin.to_string(), "127.0.0.1:9090");
        assert_eq!(
            (config.farm.lease_seconds, config.farm.heartbeat_seconds, config.farm.render_wait_seconds),
            (30, 5, 120)
        );
        assert_eq!((config.delivery.ttl_seconds_min, config.delivery.ttl_seconds_max), (60, 604_800));
        assert_eq!(config.prices.free_credits, 100);
        assert_eq!(config.prices.packs.len(), 4);
        assert_eq!((config.prices.packs[3].credits, config.prices.packs[3].cents), (100_000, 10_000));
        assert_eq!(config.limits.rate_limit_per_minute, 120);
        assert!(config.storage.database_url.reveal().ends_with("/cyclorama.db?mode=rwc"));
        assert!(!config.delivery.allow_legacy_query_keys);
    }

    #[test]
    fn wrong_settings_name_the_setting_and_what_is_allowed() {
        for (name, value, expected) in [
            ("CYCLORAMA_LISTEN", "8080", "host:port"),
            ("CYCLORAMA_LEASE_SECONDS", "0", "2 to 600"),
            ("CYCLORAMA_HEARTBEAT_SECONDS", "30", "below CYCLORAMA_LEASE_SECONDS"),
            ("CYCLORAMA_RENDER_WAIT_SECONDS", "soon", "1 to 600"),
            ("CYCLORAMA_NODE", "maybe", "embedded or none"),
            ("CYCLORAMA_OBJECTS", "s3://bucket?secret=hush", "region and path_style"),
            ("CYCLORAMA_OBJECTS", "s3://a:hush@bucket", "credentials"),
            ("CYCLORAMA_OBJECTS", "ftp://x", "file:DIR"),
            ("CYCLORAMA_DATABASE_URL", "mysql://root:hush@x", "sqlite:PATH or postgres://"),
            ("CYCLORAMA_DATABASE_URL", "sqlite::memory:", "sqlite:PATH or postgres://"),
            ("CYCLORAMA_DATABASE_URL", "sqlite://:memory:", "sqlite:PATH or postgres://"),
            ("CYCLORAMA_DATABASE_URL", "sqlite:a.db?mode=memory&cache=shared", "sqlite:PATH or postgres://"),
            ("CYCLORAMA_DATABASE_URL", "sqlite:", "sqlite:PATH or postgres://"),
            ("CYCLORAMA_DELIVERY_TTL_MIN", "59", "60 to 604800"),
            ("CYCLORAMA_DAILY_BUDGET_USD", "-1", "0 to 1000000"),
            ("CYCLORAMA_SIZE_STORE_MIB", "16385", "0 to 16384"),
            ("CYCLORAMA_SIZE_STORE_DAYS", "0", "1 to 365"),
            ("CYCLORAMA_TRUSTED_PROXIES", "10.0.0.0/33", "10.0.0.0/8"),
            ("CYCLORAMA_ADMIN_HOSTS", "http://farm-1", "without ports"),
            ("CYCLORAMA_ADMIN_HOSTS", "farm-1:9090", "without ports"),
            ("CYCLORAMA_ADMIN_HOSTS", "farm 1", "without ports"),
            ("CYCLORAMA_BASE_URL", "example.com", "http:// or https://"),
            ("CYCLORAMA_BASE_URL", "ftp://example.com", "http:// or https://"),
            ("CYCLORAMA_BASE_URL", "https://u:hush@images.example.com", "a user or a password"),
            ("CYCLORAMA_BASE_URL", "https://hush@images.example.com", "a user or a password"),
            ("CYCLORAMA_BASE_URL", "https://@images.example.com", "a user or a password"),
            ("CYCLORAMA_BASE_URL", "http://u:hush@", "a user or a password"),
            ("CYCLORAMA_BASE_URL", "https://images.example.com?key=hush", "a query"),
            ("CYCLORAMA_BASE_URL", "https://images.example.com/#hush", "a fragment"),
            ("CYCLORAMA_BASE_URL", "https://example.com/cars", "a host name of its own"),
            ("CYCLORAMA_BASE_URL", "https://example.com/a/b/", "a host name of its own"),
            ("CYCLORAMA_PACKS", "5000", "credits:cents"),
            ("CYCLORAMA_PACKS", "5000:500, 1000000000001:900", "at most 1000000000000 credits"),
            ("CYCLORAMA_BASE_URL", "https://images.example.com", "CYCLORAMA_PAYMENTS"),
            ("CYCLORAMA_BASE_URL", "https://localhost", "CYCLORAMA_PAYMENTS"),
            ("CYCLORAMA_BASE_URL", "http://192.0.2.1:8080", "CYCLORAMA_PAYMENTS"),
            ("CYCLORAMA_LISTEN", "0.0.0.0:8080", "CYCLORAMA_PAYMENTS"),
            ("CYCLORAMA_PAYMENTS", "bank", "local, stripe or off"),
            ("CYCLORAMA_PAYMENTS", "stripe", "CYCLORAMA_STRIPE_SECRET_KEY"),
            ("CYCLORAMA_AUTO_RELOAD_SECONDS", "0", "1 to 3600"),
            ("CYCLORAMA_OPERATOR_TOKEN", "hush", "32 to 200"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318", "http:// or https://"),
            ("ALLOW_LEGACY_QUERY_KEYS", "perhaps", "true or false"),
            ("CYCLORAMA_MAIL_FROM", "a@example.com", "CYCLORAMA_SMTP_URL"),
            ("CYCLORAMA_C2PA_CERTIFICATE", "/etc/cyclorama/chain.pem", "CYCLORAMA_C2PA_KEY"),
            ("CYCLORAMA_C2PA_KEY", "/etc/cyclorama/hush.pem", "CYCLORAMA_C2PA_CERTIFICATE"),
            ("CYCLORAMA_SMTP_URL", "smtp://hush@mail.example.com", "CYCLORAMA_MAIL_FROM"),
        ] {
            let line = from_env(&[(name, value)]).expect_err(name).to_string();
            assert!(line.contains(name), "{line}");
            assert!(line.contains(expected), "{line}");
            assert!(!line.contains("hush") && !line.contains('\n'), "{line}");
        }
    }

    #[test]
    fn the_base_address_is_kept_in_its_one_spelling() {
        for (given, kept) in [
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("http://127.0.0.1:8080/", "http://127.0.0.1:8080"),
            ("HTTPS://Images.Example.com:443/", "https://images.example.com"),
            ("https://images.example.com:8443//", "https://images.example.com:8443"),
            ("http://[::1]:8080", "http://[::1]:8080"),
        ] {
            let config = from_env(&[("CYCLORAMA_BASE_URL", given), ("CYCLORAMA_PAYMENTS", "off")]).expect(given);
            assert_eq!(config.listen.base_url.as_deref(), Some(kept), "{given}");
        }
    }

    #[test]
    fn what_is_no_text_is_refused_in_our_variables_and_passed_over_in_others() {
        use std::ffi::OsString;
        use std::os::unix::ffi::OsStringExt;
        let no_text = || OsString::from_vec(vec![b'a', 0xff]);
        let others =
            [(OsString::from("FOO"), no_text()), (no_text(), no_text()), ("CYCLORAMA_NODE_NAME".into(), no_text())];
        Config::from_source(&SettingsSource::gather(None, others).expect("passed over")).expect("defaults");
        for name in ["CYCLORAMA_DATA_DIR", "CYCLORAMA_OPERATOR_TOKEN", "ORT_DYLIB_PATH"] {
            let line = SettingsSource::gather(None, [(OsString::from(name), no_text())]).err().expect(name).to_string();
            assert!(line.contains(name) && line.contains("UTF-8"), "{line}");
        }
    }

    #[test]
    fn who_takes_payments_is_said_where_strangers_can_come() {
        for (base_url, payments) in [
            ("https://images.example.com", "off"),
            ("https://images.example.com", "local"),
            ("http://127.0.0.1:8080", ""),
            ("http://localhost:8080", ""),
            ("http://[::1]:8080", ""),
        ] {
            let given: Vec<_> = [("CYCLORAMA_BASE_URL", base_url), ("CYCLORAMA_PAYMENTS", payments)]
                .into_iter()
                .filter(|(_, value)| !value.is_empty())
                .collect();
            from_env(&given).expect(base_url);
        }
    }

    #[test]
    fn the_environment_wins_over_the_file_and_unknown_names_in_a_file_are_refused() {
        let folder = tempfile::tempdir().expect("folder");
        let file = folder.path().join("c.toml");
        std::fs::write(&file, "CYCLORAMA_LEASE_SECONDS = 40\nrender_wait_seconds = 9\n").expect("write");
        let environment = [("CYCLORAMA_LEASE_SECONDS".to_owned(), "50".to_owned())];
        let config =
            Config::from_source(&SettingsSource::gather(Some(&file), environment).expect("source")).expect("config");
        assert_eq!((config.farm.lease_seconds, config.farm.render_wait_seconds), (50, 9));

        for (text, told) in [
            ("leese_seconds = 40\n", "setting `leese_seconds` in"),
            ("credits_per_image = 3\n", "no longer exists: an image is one credit; leave it out"),
            ("CYCLORAMA_CREDITS_PER_IMAGE = 1\n", "no longer exists: an image is one credit; leave it out"),
        ] {
            std::fs::write(&file, text).expect("write");
            let refused = SettingsSource::gather(Some(&file), std::iter::empty::<(String, String)>()).err();
            let line = refused.expect("refused").to_string();
            assert!(line.contains(told), "{line}");
        }
    }

    #[test]
    fn stripe_is_set_up_by_its_secrets_which_are_not_printed() {
        let with = |key: &str, webhook: &str, url: &str| {
            let given = [
                ("CYCLORAMA_PAYMENTS", "stripe"),
                ("CYCLORAMA_STRIPE_SECRET_KEY", key),
                ("CYCLORAMA_STRIPE_WEBHOOK_SECRET", webhook),
                ("CYCLORAMA_STRIPE_API_URL", url),
            ];
            from_env(&given)
        };
        let (key, webhook) = ("sk_test_hush1234", "whsec_hush1234");
        for url in ["https://api.stripe.com", "https://api.stripe.com/", "http://127.0.0.1:8420", "http://localhost:1"]
        {
            let config = with(key, webhook, url).expect(url);
            assert!(!format!("{config:?}").contains("hush"), "{url}");
        }
        for (key, webhook, url, named) in [
            ("", webhook, "https://api.stripe.com", "CYCLORAMA_STRIPE_SECRET_KEY"),
            ("pk_test_hush1234", webhook, "https://api.stripe.com", "CYCLORAMA_STRIPE_SECRET_KEY"),
            ("sk_hush", webhook, "https://api.stripe.com", "CYCLORAMA_STRIPE_SECRET_KEY"),
            ("sk_test_hush 1234", webhook, "https://api.stripe.com", "CYCLORAMA_STRIPE_SECRET_KEY"),
            (key, "", "https://api.stripe.com", "CYCLORAMA_STRIPE_WEBHOOK_SECRET"),
            (key, "hush1234567", "https://api.stripe.com", "CYCLORAMA_STRIPE_WEBHOOK_SECRET"),
            (key, webhook, "http://api.stripe.com", "CYCLORAMA_STRIPE_API_URL"),
            (key, webhook, "https://api.stripe.com/v1", "CYCLORAMA_STRIPE_API_URL"),
            (key, webhook, "api.stripe.com", "CYCLORAMA_STRIPE_API_URL"),
        ] {
            let line = with(key, webhook, url).expect_err(named).to_string();
            assert!(line.contains(named) && !line.contains("hush"), "{line}");
        }
    }

    #[test]
    fn providers_are_in_a_file_whose_secrets_are_not_printed() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("openid.toml");
        let with = |text: &str| {
            std::fs::write(&path, text).expect("write");
            from_env(&[("CYCLORAMA_OPENID_PROVIDERS", path.to_str().expect("text"))])
        };
        let entry = |id: &str, name: &str, issuer: &str, rest: &str| {
            format!(
                "[[provider]]\nid = \"{id}\"\nname = \"{name}\"\nissuer = \"{issuer}\"\nclient_id = \"c\"\n{rest}\n"
            )
        };
        let secret = "client_secret = \"hush\"";
        let work = entry("work", "Example Ltd", "https://login.example.com/tenant", secret);
        let club = entry("the-club", "The Club", "http://127.0.0.1:9", secret);
        let config = with(&format!("{work}{club}")).expect("two providers");
        assert_eq!(config.openid.len(), 2);
        assert!(!format!("{config:?}").contains("hush"));
        assert!(from_env(&[]).expect("defaults").openid.is_empty());
        for (text, expected) in [
            (String::new(), "provider"),
            ("provider = []".to_owned(), "1 to 8 providers"),
            (format!("{work}{work}"), "another provider"),
            (entry("Work", "x", "https://a.example", secret), "lower-case"),
            (entry("work", "", "https://a.example", secret), "name"),
            (entry("work", "x", "http://a.example", secret), "https://"),
            (entry("work", "x", "https://a.example?x", secret), "https://"),
            (entry("work", "x", "https://a.example", "client_secret = \"\""), "client_secret"),
            (entry("work", "x", "https://a.example", ""), "client_secret"),
            (entry("work", "x", "https://a.example", &format!("{secret}\nsecret = \"hush\"")), "secret"),
            (entry("work", "x", "https://a.example", "client_secret = hush"), "openid.toml"),
        ] {
            let line = with(&text).expect_err(&text).to_string();
            assert!(line.contains("CYCLORAMA_OPENID_PROVIDERS") && line.contains(expected), "{line}");
            assert!(!line.contains("hush"), "{line}");
        }
        assert!(from_env(&[("CYCLORAMA_OPENID_PROVIDERS", "/nowhere/openid.toml")]).is_err());
    }

    #[test]
    fn mail_is_set_up_by_two_settings_and_its_password_is_not_printed() {
        let with = |url: &str, from: &str| from_env(&[("CYCLORAMA_SMTP_URL", url), ("CYCLORAMA_MAIL_FROM", from)]);
        for url in
            ["smtps://ada:hush@mail.example.com", "smtp://mail.example.com:587?tls=required", "smtp://127.0.0.1:25"]
        {
            let config = with(url, "Cyclorama <no-reply@example.com>").expect(url);
            assert!(config.mail.is_some() && !format!("{config:?}").contains("hush"), "{url}");
        }
        assert!(from_env(&[]).expect("defaults").mail.is_none());
        for (url, from, named) in [
            ("https://ada:hush@mail.example.com", "a@example.com", "CYCLORAMA_SMTP_URL"),
            ("smtps://mail.example.com", "nobody", "CYCLORAMA_MAIL_FROM"),
        ] {
            let line = with(url, from).expect_err(url).to_string();
            assert!(line.contains(named) && !line.contains("hush"), "{line}");
        }
    }
}
