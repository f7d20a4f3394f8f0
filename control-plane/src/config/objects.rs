//! Settings of the object store: a folder (`file:DIR`) or a bucket
//! (`s3://bucket/prefix?endpoint=...`). The credentials for a bucket are no setting: the SDK finds
//! them where AWS programs look (environment, profile files, web identity, container, machine).

use super::{ConfigError, SettingsSource};
use crate::objects::ObjectKey;
use std::fmt;
use std::path::{Path, PathBuf};
use url::Url;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Objects {
    Files(PathBuf),
    S3(Bucket),
}

/// A part of a bucket, and how it is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bucket {
    pub name: String,
    /// Prefix of every key, without a slash at either end. May be empty.
    pub prefix: String,
    /// URL of the server without the slash at its end. It may have a path, for a gateway that
    /// serves S3 below one. `None` stands for AWS itself.
    pub endpoint: Option<String>,
    /// `None` if the region is found where AWS programs look.
    pub region: Option<String>,
    /// True if the bucket is in the path of URLs, not in their host name.
    pub path_style: bool,
}

/// Maximum length of a prefix, in bytes: S3 accepts names of 1,024 bytes, and a key of ours may
/// have half of that.
const PREFIX_BYTES_MAX: usize = 400;

impl Objects {
    pub fn read(source: &SettingsSource, data_dir: &Path) -> Result<Self, ConfigError> {
        let Some(text) = source.text("objects") else { return Ok(Objects::Files(data_dir.join("objects"))) };
        if text.starts_with("s3:") {
            // The error does not show the value: somebody may have put a secret into it.
            return Bucket::parse(text).map(Objects::S3).map_err(|reason| source.rule("objects", reason));
        }
        match text.strip_prefix("file:").map(|folder| folder.strip_prefix("//").unwrap_or(folder)) {
            Some(folder) if !folder.is_empty() => Ok(Objects::Files(PathBuf::from(folder))),
            _ => Err(source.refuse("objects", "file:DIR or s3://bucket/prefix")),
        }
    }
}

impl Bucket {
    fn parse(text: &str) -> Result<Self, String> {
        const FORM: &str = "must be s3://bucket/prefix?endpoint=http://host:port&region=...&path_style=true";
        let address = Url::parse(text).map_err(|_| FORM.to_owned())?;
        if text.contains('@') {
            return Err("contains an `@`, but must not contain credentials: they come from AWS_ACCESS_KEY_ID and \
                        AWS_SECRET_ACCESS_KEY, a profile or the machine"
                .to_owned());
        }
        if address.port().is_some() || address.fragment().is_some() {
            return Err(FORM.to_owned());
        }
        let name = address.host_str().unwrap_or_default().to_owned();
        if !is_bucket_name(&name) {
            return Err(
                "must name a bucket of 3 to 63 lower-case letters, digits, dots and hyphens after s3://".to_owned()
            );
        }
        let prefix = address.path().trim_matches('/').to_owned();
        if !prefix.is_empty() && (prefix.len() > PREFIX_BYTES_MAX || ObjectKey::new(prefix.as_str()).is_err()) {
            return Err(format!(
                "must have a prefix of at most {PREFIX_BYTES_MAX} lower-case letters, digits, `.`, `_`, `-` and `/`"
            ));
        }
        let (mut endpoint, mut region, mut path_style) = (None, None, None);
        for (parameter, value) in address.query_pairs() {
            let slot = match &*parameter {
                "endpoint" => &mut endpoint,
                "region" => &mut region,
                "path_style" => &mut path_style,
                other => {
                    return Err(format!(
                        "has the unknown parameter `{other}`; it takes endpoint, region and path_style",
                    ));
                }
            };
            if slot.replace(value.into_owned()).is_some() {
                return Err(format!("has the parameter `{parameter}` twice"));
            }
        }
        let endpoint = endpoint.as_deref().map(endpoint_address).transpose()?;
        if region.as_deref().is_some_and(|region| !is_region(region)) {
            return Err(
                "must have a region of lower-case letters, digits and hyphens, as in region=eu-central-1".to_owned()
            );
        }
        let path_style = match path_style.as_deref() {
            // Self-hosted servers seldom have a host name for each bucket.
            None => endpoint.is_some(),
            Some("true") => true,
            Some("false") => false,
            Some(_) => return Err("must have path_style=true or path_style=false".to_owned()),
        };
        Ok(Bucket { name, prefix, endpoint, region, path_style })
    }
}

fn is_bucket_name(name: &str) -> bool {
    let inner = |b: u8| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'-');
    let outer = |b: Option<u8>| b.is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    (3..=63).contains(&name.len())
        && name.bytes().all(inner)
        && outer(name.bytes().next())
        && outer(name.bytes().next_back())
        && !name.contains("..")
}

fn is_region(region: &str) -> bool {
    (1..=40).contains(&region.len()) && region.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-'))
}

fn endpoint_address(text: &str) -> Result<String, String> {
    let refused = || "must have an endpoint of the form http://host:port, https://host or https://host/path".to_owned();
    let url = Url::parse(text).map_err(|_| refused())?;
    let is_plain = matches!(url.scheme(), "http" | "https")
        && url.host_str().is_some_and(|host| !host.is_empty())
        && is_endpoint_path(url.path())
        && url.query().is_none()
        && url.fragment().is_none();
    if is_plain { Ok(url.as_str().trim_end_matches('/').to_owned()) } else { Err(refused()) }
}

/// True if the path has only characters that stand for themselves, because every request is signed
/// over the path, and no empty segments but the last.
fn is_endpoint_path(path: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-' | b'~'))
    };
    let path = path.strip_prefix('/').unwrap_or(path);
    path.is_empty() || path.strip_suffix('/').unwrap_or(path).split('/').all(is_part)
}

/// The bucket as operators know it: its place, without region and style.
impl fmt::Display for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s3://{}", self.name)?;
        if !self.prefix.is_empty() {
            write!(f, "/{}", self.prefix)?;
        }
        match &self.endpoint {
            Some(endpoint) => write!(f, " at {endpoint}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket(name: &str, prefix: &str, endpoint: Option<&str>, region: Option<&str>, path_style: bool) -> Bucket {
        Bucket {
            name: name.to_owned(),
            prefix: prefix.to_owned(),
            endpoint: endpoint.map(str::to_owned),
            region: region.map(str::to_owned),
            path_style,
        }
    }

    #[test]
    fn addresses_of_buckets() {
        let local = Some("http://127.0.0.1:9000");
        for (text, expected) in [
            ("s3://pictures", bucket("pictures", "", None, None, false)),
            ("s3://pictures/", bucket("pictures", "", None, None, false)),
            ("s3://my.pictures-1/cars/2024/", bucket("my.pictures-1", "cars/2024", None, None, false)),
            ("s3://pictures?region=eu-central-1", bucket("pictures", "", None, Some("eu-central-1"), false)),
            ("s3://pictures?endpoint=http://127.0.0.1:9000", bucket("pictures", "", local, None, true)),
            ("s3://pictures/x?endpoint=http%3A%2F%2F127.0.0.1:9000/", bucket("pictures", "x", local, None, true)),
            (
                "s3://pictures?endpoint=https://s3.example.com&region=auto&path_style=false",
                bucket("pictures", "", Some("https://s3.example.com"), Some("auto"), false),
            ),
            ("s3://pictures?path_style=true", bucket("pictures", "", None, None, true)),
            (
                "s3://pictures?endpoint=https://host.example/storage/v1/s3/",
                bucket("pictures", "", Some("https://host.example/storage/v1/s3"), None, true),
            ),
        ] {
            assert_eq!(Bucket::parse(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_with_an_address_is_said_without_its_secrets() {
        let long = format!("s3://pictures/{}", "a".repeat(401));
        for (text, expected) in [
            ("s3:", "name a bucket"),
            ("s3://", "name a bucket"),
            ("s3:///prefix", "name a bucket"),
            ("s3://ab", "name a bucket"),
            ("s3://Pictures", "name a bucket"),
            ("s3://-pictures", "name a bucket"),
            ("s3://a..pictures", "name a bucket"),
            ("s3://AKIDHUSH:hush@pictures", "credentials"),
            ("s3://pictures?endpoint=http://AKIDHUSH:hush@127.0.0.1", "credentials"),
            ("s3://pictures:9000", "s3://bucket/prefix"),
            ("s3://pictures#hush", "s3://bucket/prefix"),
            ("s3://pictures/Upper", "prefix"),
            ("s3://pictures/a//b", "prefix"),
            ("s3://pictures/.hush", "prefix"),
            (&long, "at most 400"),
            ("s3://pictures?secret_key=hush", "`secret_key`"),
            ("s3://pictures?region=a&region=b", "`region` twice"),
            ("s3://pictures?region=EU", "region"),
            ("s3://pictures?region=", "region"),
            ("s3://pictures?endpoint=127.0.0.1:9000", "endpoint"),
            ("s3://pictures?endpoint=ftp://hush", "endpoint"),
            ("s3://pictures?endpoint=http://host/a//hush", "endpoint"),
            ("s3://pictures?endpoint=http://host/a%252fhush", "endpoint"),
            ("s3://pictures?endpoint=http://host/hush;a", "endpoint"),
            ("s3://pictures?endpoint=http://host?hush", "endpoint"),
            ("s3://pictures?path_style=yes", "path_style"),
        ] {
            let reason = Bucket::parse(text).expect_err(text);
            assert!(reason.contains(expected), "{text}: {reason}");
            assert!(!reason.to_lowercase().contains("hush") && !reason.contains('\n'), "{text}: {reason}");
        }
    }
}
