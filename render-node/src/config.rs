//! Settings of the node: a TOML file, overridden by environment variables of the same meaning,
//! checked at start. No other module reads the environment.

use crate::diffusion::{Provider, ProviderChoice, onnx_runtime};
use crate::gpu::AdapterChoice;
use serde::Deserialize;
use std::fmt;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Default number of jobs held at once. Two keep the device busy: one renders while the one before
/// it is encoded and uploaded.
const SLOTS_DEFAULT: u32 = 2;
/// Maximum number of slots: every job holds some 100 MB of pixels.
const SLOTS_MAX: u32 = 16;
/// Maximum length of a name: the control plane accepts no longer one.
const NAME_CHARS_MAX: usize = 80;
/// Length of the suffix (`-16`) that each of several processes adds to the name.
const NUMBER_CHARS_MAX: usize = 3;
const NAME: &str = "at most 80 characters (77 with several adapters)";
const PROVIDER: &str = "auto, cpu, cuda, tensorrt, openvino or webgpu";
/// Maximum number of studios. Each takes its own part of the GPU's memory; more than two only help
/// where drawing takes longer than the model.
const STUDIOS_MAX: u32 = 4;
/// Maximum number of adapters: more than a machine has cards.
const ADAPTERS_MAX: usize = 16;
const ADAPTERS: &str = "all, or up to 16 of best, cpu, a PCI bus id or a part of a name, separated by commas";
const MEMORY_WATERMARK_DEFAULT: u8 = 90;

/// A variable that holds a number, and a description of the expected value.
#[derive(Debug, Clone, Copy)]
struct NumberSetting {
    variable: &'static str,
    expected: &'static str,
}

const SLOTS_SETTING: NumberSetting =
    NumberSetting { variable: "CYCLORAMA_NODE_SLOTS", expected: "a number from 1 to 16" };
const BATCH_MAX_SETTING: NumberSetting =
    NumberSetting { variable: "CYCLORAMA_NODE_BATCH_MAX", expected: "a number from 1 to CYCLORAMA_NODE_SLOTS" };
const STUDIOS_SETTING: NumberSetting =
    NumberSetting { variable: "CYCLORAMA_NODE_STUDIOS", expected: "a number from 1 to 4" };
const MEMORY_WATERMARK_SETTING: NumberSetting =
    NumberSetting { variable: "CYCLORAMA_NODE_MEMORY_WATERMARK", expected: "percent from 1 to 100" };
const USD_PER_HOUR_SETTING: NumberSetting =
    NumberSetting { variable: "CYCLORAMA_NODE_USD_PER_HOUR", expected: "US dollars from 0 to 1000" };

/// Returns a variable of this process's environment. A value that is not valid Unicode counts as
/// unset.
#[expect(clippy::disallowed_methods, reason = "the one place where the node reads its environment")]
pub fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// A text that must appear in no log and no error.
#[derive(Clone, PartialEq, Eq, Deserialize)]
pub struct Secret(String);

impl Secret {
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

#[derive(Debug, Clone)]
pub struct Config {
    /// URL of the control plane, without a slash at the end.
    pub url: Option<String>,
    pub token: Option<Secret>,
    pub name: String,
    pub slots: u32,
    /// Cost of an hour of this machine, in US dollars, from which the cost of its renders is
    /// computed.
    pub usd_per_hour: Option<f64>,
    /// URL of the OpenTelemetry collector that receives the spans.
    pub traces: Option<String>,
    /// Adapters that serve.
    pub adapters: Adapters,
    pub local: LocalConfig,
}

/// The adapters that a node serves with, one process each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Adapters {
    /// Every adapter that is a GPU.
    All,
    /// The listed adapters, at least one.
    Listed(Vec<AdapterChoice>),
}

impl Adapters {
    /// Returns true if each adapter has a process of its own, with one process that supervises
    /// them.
    pub fn are_several(&self) -> bool {
        match self {
            Adapters::All => true,
            Adapters::Listed(choices) => choices.len() > 1,
        }
    }
}

/// The settings for rendering, with or without a control plane.
#[derive(Debug, Clone)]
pub struct LocalConfig {
    /// Maximum number of jobs that go through a model together.
    pub batch_max: u32,
    /// Percentage of memory in use above which jobs go through a model one by one.
    pub memory_watermark: u8,
    /// Number of studios, which prepare and finish images while the model works for another one.
    /// `None`: two with a GPU, otherwise one.
    pub studios: Option<u32>,
    /// A folder of model folders, or one model folder.
    pub models: PathBuf,
    /// ONNX Runtime's shared library; `None` for the one beside this program.
    pub onnx_runtime: Option<PathBuf>,
    /// The first of the serving adapters.
    pub adapter: AdapterChoice,
    /// The execution provider that runs models.
    pub provider: ProviderChoice,
    /// A folder of vehicle sheets to use in place of the program's own. For people who draw sheets.
    pub sheets: Option<PathBuf>,
}

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("cannot read the settings file {}", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("the settings file {} is not valid: {detail}", path.display())]
    Parse { path: PathBuf, detail: String },
    #[error("{setting} is `{found}`; expected {expected}")]
    Value { setting: &'static str, found: String, expected: &'static str },
    #[error("{0} is not set")]
    Missing(&'static str),
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    url: Option<String>,
    token: Option<Secret>,
    name: Option<String>,
    slots: Option<u32>,
    batch_max: Option<u32>,
    studios: Option<u32>,
    memory_watermark: Option<u8>,
    usd_per_hour: Option<f64>,
    models: Option<PathBuf>,
    onnx_runtime: Option<PathBuf>,
    adapter: Option<String>,
    provider: Option<String>,
    sheets: Option<PathBuf>,
}

impl Config {
    /// Loads the settings. `variable` reads the environment: `CYCLORAMA_NODE_URL`, `_TOKEN`,
    /// `_NAME`, `_SLOTS`, `_BATCH_MAX`, `_STUDIOS`, `_MEMORY_WATERMARK`, `_USD_PER_HOUR`,
    /// `_MODELS`, `_ADAPTER`, `_PROVIDER`, `_SHEETS`, `ORT_DYLIB_PATH`,
    /// `OTEL_EXPORTER_OTLP_ENDPOINT`, and `CYCLORAMA_CACHE` and `HOME` to find the ONNX Runtime
    /// that the set-up fetches. An empty value counts as unset.
    pub fn load(file: Option<&Path>, variable: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let file = file.map_or_else(|| Ok(File::default()), read_file)?;
        let variable = |name: &str| variable(name).filter(|value| !value.is_empty());

        let url = variable("CYCLORAMA_NODE_URL").or(file.url).map(|url| url.trim_end_matches('/').to_owned());
        if let Some(url) = &url {
            check_url("CYCLORAMA_NODE_URL", url)?;
        }
        let adapters = adapters(variable("CYCLORAMA_NODE_ADAPTER").or(file.adapter).as_deref().unwrap_or("best"))?;
        let name = variable("CYCLORAMA_NODE_NAME").or(file.name).or_else(|| variable("HOSTNAME"));
        let name = name.unwrap_or_else(|| "node".to_owned());
        let name_max = if adapters.are_several() { NAME_CHARS_MAX - NUMBER_CHARS_MAX } else { NAME_CHARS_MAX };
        if name.chars().count() > name_max {
            return Err(wrong("CYCLORAMA_NODE_NAME", &name, NAME));
        }
        let slots = number(SLOTS_SETTING, &variable, file.slots, 1..=SLOTS_MAX)?.unwrap_or(SLOTS_DEFAULT);
        let batch_max = number(BATCH_MAX_SETTING, &variable, file.batch_max, 1..=slots)?.unwrap_or(1);
        let studios = number(STUDIOS_SETTING, &variable, file.studios, 1..=STUDIOS_MAX)?;
        let memory_watermark = number(MEMORY_WATERMARK_SETTING, &variable, file.memory_watermark, 1..=100)?;
        let usd_per_hour = number(USD_PER_HOUR_SETTING, &variable, file.usd_per_hour, 0.0..=1000.0)?;
        let traces = variable("OTEL_EXPORTER_OTLP_ENDPOINT");
        if let Some(url) = &traces {
            check_url("OTEL_EXPORTER_OTLP_ENDPOINT", url)?;
        }
        let provider = provider(variable("CYCLORAMA_NODE_PROVIDER").or(file.provider).as_deref())?;
        let models = variable("CYCLORAMA_NODE_MODELS").map(PathBuf::from).or(file.models);
        let onnx_runtime = variable("ORT_DYLIB_PATH").map(PathBuf::from).or(file.onnx_runtime);
        let local = LocalConfig {
            batch_max,
            studios,
            memory_watermark: memory_watermark.unwrap_or(MEMORY_WATERMARK_DEFAULT),
            models: models.unwrap_or_else(default_models),
            onnx_runtime: onnx_runtime.or_else(|| fetched_onnx_runtime(&variable)),
            adapter: match &adapters {
                Adapters::All => AdapterChoice::Gpu,
                Adapters::Listed(choices) => choices.first().cloned().unwrap_or_default(),
            },
            provider,
            sheets: variable("CYCLORAMA_NODE_SHEETS").map(PathBuf::from).or(file.sheets),
        };
        let token = variable("CYCLORAMA_NODE_TOKEN").map(Secret).or(file.token);
        Ok(Self { url, token, name, slots, usd_per_hour, traces, adapters, local })
    }

    /// Returns URL and token, which only serving a control plane needs.
    pub fn control_plane(&self) -> Result<(&str, &Secret), ConfigError> {
        let url =
            self.url.as_deref().ok_or(ConfigError::Missing("CYCLORAMA_NODE_URL (the URL of the control plane)"))?;
        let token = self.token.as_ref().ok_or(ConfigError::Missing("CYCLORAMA_NODE_TOKEN (a node token, cycn_...)"))?;
        Ok((url, token))
    }
}

fn read_file(path: &Path) -> Result<File, ConfigError> {
    let text =
        std::fs::read_to_string(path).map_err(|source| ConfigError::Read { path: path.to_path_buf(), source })?;
    toml::from_str(&text).map_err(|e| ConfigError::Parse {
        path: path.to_path_buf(),
        // The message alone: the whole error quotes the line, which may hold the token.
        detail: e.message().to_owned(),
    })
}

fn adapters(text: &str) -> Result<Adapters, ConfigError> {
    if text == "all" {
        return Ok(Adapters::All);
    }
    let entries: Vec<&str> = text.split(',').map(str::trim).collect();
    if entries.len() > ADAPTERS_MAX || entries.iter().any(|entry| entry.is_empty() || *entry == "all") {
        return Err(wrong("CYCLORAMA_NODE_ADAPTER", text, ADAPTERS));
    }
    let choice = |entry: &str| match entry {
        "best" => AdapterChoice::Best,
        "cpu" => AdapterChoice::Cpu,
        entry => pci_bus_id(entry).map_or_else(|| AdapterChoice::Named(entry.to_owned()), AdapterChoice::BusId),
    };
    Ok(Adapters::Listed(entries.into_iter().map(choice).collect()))
}

/// Parses `01:00.0` or `0000:01:00.0`, with a domain of up to eight digits as NVIDIA's tools write
/// it, and returns it as Linux writes it.
fn pci_bus_id(text: &str) -> Option<String> {
    let number = |text: &str, digits: usize| {
        let is_hex = (1..=digits).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit());
        u32::from_str_radix(text, 16).ok().filter(|_| is_hex)
    };
    let (device, function) = text.rsplit_once('.')?;
    let (bus, device) = device.rsplit_once(':')?;
    let (domain, bus) = bus.rsplit_once(':').unwrap_or(("0", bus));
    let (domain, bus) = (number(domain, 8)?, number(bus, 2)?);
    let (device, function) = (number(device, 2)?, number(function, 1)?);
    Some(format!("{domain:04x}:{bus:02x}:{device:02x}.{function:x}"))
}

/// Returns the number of a variable, or otherwise that of the settings file, if either has one.
fn number<T: Copy + PartialOrd + FromStr + fmt::Display>(
    NumberSetting { variable: name, expected }: NumberSetting,
    variable: &impl Fn(&str) -> Option<String>,
    in_file: Option<T>,
    range: RangeInclusive<T>,
) -> Result<Option<T>, ConfigError> {
    let value = match variable(name) {
        Some(text) => Some(text.parse().map_err(|_| wrong(name, &text, expected))?),
        None => in_file,
    };
    match value {
        Some(value) if !range.contains(&value) => Err(wrong(name, &value.to_string(), expected)),
        value => Ok(value),
    }
}

fn provider(name: Option<&str>) -> Result<ProviderChoice, ConfigError> {
    let Some(name) = name.filter(|name| *name != "auto") else { return Ok(ProviderChoice::Auto) };
    let found = Provider::ALL.into_iter().find(|provider| provider.as_str() == name);
    Ok(ProviderChoice::Only(found.ok_or_else(|| wrong("CYCLORAMA_NODE_PROVIDER", name, PROVIDER))?))
}

fn check_url(setting: &'static str, url: &str) -> Result<(), ConfigError> {
    match url.starts_with("http://") || url.starts_with("https://") {
        true => Ok(()),
        false => Err(wrong(setting, url, "a URL that starts with http:// or https://")),
    }
}

fn wrong(setting: &'static str, found: &str, expected: &'static str) -> ConfigError {
    ConfigError::Value { setting, found: found.chars().take(200).collect(), expected }
}

/// Returns `models` in the working folder (a checkout), or otherwise beside the program (an
/// installation).
fn default_models() -> PathBuf {
    let here = PathBuf::from("models");
    let beside = std::env::current_exe().ok().and_then(|exe| exe.parent().map(|folder| folder.join("models")));
    match beside {
        Some(beside) if !here.is_dir() && beside.is_dir() => beside,
        _ => here,
    }
}

/// Returns the library that `scripts/onnxruntime.sh` has fetched: the newest version in the cache.
/// Returns `None` if an installation has one beside its programs.
fn fetched_onnx_runtime(variable: &impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    if onnx_runtime::beside_this_program().is_file() {
        return None;
    }
    let cache = variable("CYCLORAMA_CACHE").map(PathBuf::from);
    let cache = cache.or_else(|| variable("HOME").map(|home| Path::new(&home).join(".cache/cyclorama")))?;
    let version = |folder: &Path| -> Option<Vec<u32>> {
        folder.file_name()?.to_str()?.split('.').map(|part| part.parse().ok()).collect()
    };
    let versions = std::fs::read_dir(cache.join("onnxruntime")).ok()?.filter_map(Result::ok).map(|entry| entry.path());
    let newest = versions.filter_map(|folder| Some((version(&folder)?, folder))).max()?.1;
    Some(newest.join("libonnxruntime.so")).filter(|library| library.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(variables: &[(&str, &str)]) -> Result<Config, ConfigError> {
        Config::load(None, |name| variables.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn the_environment_wins_over_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("node.toml");
        std::fs::write(&path, "url = \"https://farm.example/\"\ntoken = \"cycn_file\"\nslots = 4\nname = \"one\"\n")
            .unwrap();
        let config =
            Config::load(Some(&path), |name| (name == "CYCLORAMA_NODE_NAME").then(|| "two".to_owned())).unwrap();
        let (url, token) = config.control_plane().unwrap();
        assert_eq!(
            (url, token.expose(), config.slots, config.name.as_str()),
            ("https://farm.example", "cycn_file", 4, "two")
        );
    }

    #[test]
    fn a_wrong_setting_is_one_line_that_names_it() {
        for (variables, says) in [
            (&[("CYCLORAMA_NODE_URL", "farm.example")][..], "CYCLORAMA_NODE_URL is `farm.example`"),
            (&[("CYCLORAMA_NODE_SLOTS", "0")], "CYCLORAMA_NODE_SLOTS is `0`; expected a number from 1 to 16"),
            (&[("CYCLORAMA_NODE_SLOTS", "many")], "CYCLORAMA_NODE_SLOTS is `many`"),
            (&[("CYCLORAMA_NODE_BATCH_MAX", "0")], "CYCLORAMA_NODE_BATCH_MAX is `0`; expected a number from 1 to"),
            (
                &[("CYCLORAMA_NODE_BATCH_MAX", "3")],
                "CYCLORAMA_NODE_BATCH_MAX is `3`; expected a number from 1 to CYCLORAMA_NODE_SLOTS",
            ),
            (&[("CYCLORAMA_NODE_STUDIOS", "5")], "CYCLORAMA_NODE_STUDIOS is `5`; expected a number from 1 to 4"),
            (
                &[("CYCLORAMA_NODE_ADAPTER", "cpu,,best")],
                "CYCLORAMA_NODE_ADAPTER is `cpu,,best`; expected all, or up to 16 of best, cpu, a PCI",
            ),
            (&[("CYCLORAMA_NODE_ADAPTER", "all, cpu")], "CYCLORAMA_NODE_ADAPTER is `all, cpu`; expected all, or"),
            (
                &[("CYCLORAMA_NODE_MEMORY_WATERMARK", "0")],
                "CYCLORAMA_NODE_MEMORY_WATERMARK is `0`; expected percent from 1 to 100",
            ),
            (
                &[("CYCLORAMA_NODE_MEMORY_WATERMARK", "101")],
                "CYCLORAMA_NODE_MEMORY_WATERMARK is `101`; expected percent",
            ),
            (&[("CYCLORAMA_NODE_PROVIDER", "gpu")], "CYCLORAMA_NODE_PROVIDER is `gpu`; expected auto, cpu, cuda"),
            (
                &[("OTEL_EXPORTER_OTLP_ENDPOINT", "collector")],
                "OTEL_EXPORTER_OTLP_ENDPOINT is `collector`; expected a URL",
            ),
        ] {
            let error = load(variables).unwrap_err().to_string();
            assert!(error.starts_with(says) && !error.contains('\n'), "{error}");
        }
        let missing = load(&[]).unwrap().control_plane().unwrap_err().to_string();
        assert!(missing.starts_with("CYCLORAMA_NODE_URL"), "{missing}");
    }

    #[test]
    fn adapters_are_listed_with_commas() {
        use AdapterChoice::{Best, BusId, Cpu, Gpu, Named};
        let bus_id = |text: &str| BusId(text.to_owned());
        for (text, expected) in [
            ("", vec![Best]),
            ("best", vec![Best]),
            ("cpu, cpu", vec![Cpu, Cpu]),
            ("RTX 4090", vec![Named("RTX 4090".to_owned())]),
            ("0000:0A:00.0,b:0.1", vec![bus_id("0000:0a:00.0"), bus_id("0000:0b:00.1")]),
            ("00000001:01:00.0", vec![bus_id("0001:01:00.0")]),
            ("1:2:3", vec![Named("1:2:3".to_owned())]),
        ] {
            let config = load(&[("CYCLORAMA_NODE_ADAPTER", text)]).unwrap();
            assert_eq!(config.local.adapter, expected[0], "{text}");
            assert_eq!(config.adapters, Adapters::Listed(expected), "{text}");
        }
        let all = load(&[("CYCLORAMA_NODE_ADAPTER", "all")]).unwrap();
        assert_eq!((all.adapters, all.local.adapter), (Adapters::All, Gpu));
    }

    #[test]
    fn the_token_is_never_printed() {
        let config = load(&[("CYCLORAMA_NODE_TOKEN", "cycn_verysecret")]).unwrap();
        assert!(!format!("{config:?}").contains("verysecret"));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("node.toml");
        std::fs::write(&path, "token = \"cycn_verysecret\" x").unwrap();
        let error = Config::load(Some(&path), |_| None).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("verysecret"), "{error:?}");
    }

    #[test]
    fn the_newest_fetched_library_is_found() {
        let cache = tempfile::tempdir().unwrap();
        for version in ["1.9.2", "1.31.1", ".partial.x"] {
            let folder = cache.path().join("onnxruntime").join(version);
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("libonnxruntime.so"), b"").unwrap();
        }
        let config = load(&[("CYCLORAMA_CACHE", cache.path().to_str().unwrap())]).unwrap();
        assert!(config.local.onnx_runtime.unwrap().ends_with("1.31.1/libonnxruntime.so"));
    }
}
