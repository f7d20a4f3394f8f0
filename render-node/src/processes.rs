//! Several graphics cards in one machine: a node's process for each, and one that only watches over them.
//!
//! A process knows one card and nothing of the others, so that a driver that fails takes one card's work with it. Each is a node of its own
//! towards the control plane. It is started anew when it ends, and ends when the pipe to its standard input closes, however its parent died.

use crate::backoff::Backoff;
use crate::config::{Adapters, Config};
use crate::diffusion::{Provider, ProviderChoice};
use crate::gpu::{Adapter, AdapterChoice, GpuError};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::Child;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// First pause before a new start; a broken driver is tried once a minute, often enough to heal by itself.
const PAUSE_MIN: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_secs(60);
/// A process that ran for so long had a good start.
const GOOD_START: Duration = Duration::from_secs(60);
const NVIDIA: u32 = 0x10de;

/// One process: a node with one adapter.
#[derive(Debug, Clone, PartialEq)]
pub struct Process {
    /// The node's.
    pub name: String,
    /// For people.
    pub device: String,
    /// What its settings say in place of the machine's.
    pub adapter: AdapterChoice,
    pub usd_per_hour: Option<f64>,
    /// The card by its UUID, as `CUDA_VISIBLE_DEVICES`: all that CUDA sees, and so its first.
    pub cuda_device: Option<String>,
}

/// Why the adapters that were asked for cannot have a process each.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error(transparent)]
    Gpu(#[from] GpuError),
    #[error(
        "CYCLORAMA_NODE_ADAPTER: `{first}` and `{second}` are the same card, {device}; equal cards are told apart by their PCI bus ids"
    )]
    SameCard { first: AdapterChoice, second: AdapterChoice, device: String },
    #[error("no setting tells {device} from the other Vulkan devices: its driver names no PCI bus id")]
    Alike { device: String },
    #[error(
        "{device} has no name for CUDA, so that models could run on another card: NVML does not know it (a container needs the driver capability `utility`); where CUDA runs no models, say what does by CYCLORAMA_NODE_PROVIDER"
    )]
    NoUuid { device: String },
}

/// The processes for the adapters that `config` asks for. `found` are those of the machine, the best first; `uuid` gives what CUDA calls the
/// NVIDIA card with a PCI bus id.
pub fn plan(
    config: &Config,
    found: &[Adapter],
    uuid: impl Fn(&str) -> Option<String>,
) -> Result<Vec<Process>, PlanError> {
    let places = match &config.adapters {
        Adapters::All => every_gpu(found)?,
        Adapters::Listed(choices) => listed(choices, found)?,
    };
    let usd_per_hour = config.usd_per_hour.map(|price| price / places.len() as f64);
    // Where nothing else was chosen, an ONNX Runtime with CUDA uses it.
    let cuda_may_run_models = matches!(
        config.local.provider,
        ProviderChoice::Auto | ProviderChoice::Only(Provider::Cuda | Provider::TensorRt)
    );
    let process = |(number, place): (usize, usize)| {
        let adapter = &found[place];
        let is_nvidia = adapter.vendor == NVIDIA;
        let cuda_device = if is_nvidia { uuid(&adapter.pci_bus_id) } else { None };
        if is_nvidia && cuda_device.is_none() && cuda_may_run_models {
            return Err(PlanError::NoUuid { device: adapter.to_string() });
        }
        let (name, device) = (format!("{}-{}", config.name, number + 1), adapter.to_string());
        Ok(Process { name, device, adapter: choice_of(place, found)?, usd_per_hour, cuda_device })
    };
    places.into_iter().enumerate().map(process).collect()
}

/// A card that two drivers offer counts once.
fn every_gpu(found: &[Adapter]) -> Result<Vec<usize>, PlanError> {
    let first = AdapterChoice::Gpu.place_among(found)?;
    let mut places = vec![first];
    for place in first + 1..found.len() {
        if found[place].is_gpu() && !places.iter().any(|known| is_same_card(*known, place, found)) {
            places.push(place);
        }
    }
    Ok(places)
}

fn listed(choices: &[AdapterChoice], found: &[Adapter]) -> Result<Vec<usize>, PlanError> {
    let mut places: Vec<usize> = Vec::with_capacity(choices.len());
    for choice in choices {
        let place = choice.place_among(found)?;
        // The CPU may be shared.
        let same = |known: &usize| !found[place].is_software() && is_same_card(*known, place, found);
        if let Some(before) = places.iter().position(same) {
            let device = found[place].to_string();
            return Err(PlanError::SameCard { first: choices[before].clone(), second: choice.clone(), device });
        }
        places.push(place);
    }
    Ok(places)
}

fn is_same_card(one: usize, other: usize, found: &[Adapter]) -> bool {
    let bus_id = |place: usize| Some(&found[place].pci_bus_id).filter(|id| !id.is_empty());
    one == other || (bus_id(one).is_some() && bus_id(one) == bus_id(other))
}

/// What means this adapter and no other.
fn choice_of(place: usize, found: &[Adapter]) -> Result<AdapterChoice, PlanError> {
    let Adapter { name, pci_bus_id, .. } = &found[place];
    // A comma would begin the next one.
    let name = name.split(',').next().unwrap_or_default();
    let candidates = [
        (!pci_bus_id.is_empty()).then(|| AdapterChoice::BusId(pci_bus_id.clone())),
        Some(AdapterChoice::Cpu),
        Some(AdapterChoice::Named(name.to_owned())),
    ];
    let means_it = |choice: &AdapterChoice| choice.place_among(found).is_ok_and(|meant| meant == place);
    let choice = candidates.into_iter().flatten().find(means_it);
    choice.ok_or_else(|| PlanError::Alike { device: found[place].to_string() })
}

impl Process {
    /// This program with its settings; what it is to do comes after.
    pub fn command(&self, settings_file: Option<&Path>) -> std::io::Result<std::process::Command> {
        let mut command = std::process::Command::new(std::env::current_exe()?);
        command.env("CYCLORAMA_NODE_NAME", &self.name).env("CYCLORAMA_NODE_ADAPTER", self.adapter.to_string());
        if let Some(path) = settings_file {
            command.env("CYCLORAMA_NODE_CONFIG", path);
        }
        if let Some(price) = self.usd_per_hour {
            command.env("CYCLORAMA_NODE_USD_PER_HOUR", price.to_string());
        }
        if let Some(uuid) = &self.cuda_device {
            command.env("CUDA_VISIBLE_DEVICES", uuid);
        }
        Ok(command)
    }
}

/// Runs them all until `stop` resolves; then has each of them finish what it holds.
pub async fn watch_over(
    processes: Vec<Process>,
    settings_file: Option<&Path>,
    stop: impl Future<Output = ()>,
) -> std::io::Result<()> {
    let (tell, told) = watch::channel(false);
    let mut watches = JoinSet::new();
    for process in processes {
        let mut command = process.command(settings_file)?;
        command
            .args(["run", "--embedded"])
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            // Ctrl-C in a terminal goes to a whole group: told by us as well, it would stop at once.
            .process_group(0);
        watches.spawn(keep_running(process, command.into(), told.clone()));
    }
    stop.await;
    tell.send_replace(true);
    while watches.join_next().await.is_some() {}
    Ok(())
}

async fn keep_running(process: Process, mut command: tokio::process::Command, mut stop: watch::Receiver<bool>) {
    let Process { name, device, .. } = &process;
    let mut backoff = Backoff::new(PAUSE_MIN, PAUSE_MAX);
    while !*stop.borrow() {
        let started = Instant::now();
        match command.spawn() {
            Ok(child) => {
                tracing::info!(name, device, process_id = child.id(), "a process for this card");
                let ended = until_it_ends(child, name, &mut stop).await;
                let status = ended.map_or_else(|error| error.to_string(), |status| status.to_string());
                if *stop.borrow() {
                    return tracing::info!(name, status, "ended");
                }
                tracing::warn!(name, device, status, "the process for this card ended; it is started anew");
            }
            Err(error) => {
                tracing::error!(name, device, error = &error as &dyn std::error::Error, "no process can be started");
            }
        }
        if started.elapsed() >= GOOD_START {
            backoff.reset();
        }
        tokio::select! {
            () = tokio::time::sleep(backoff.next(rand::random())) => {}
            _ = stop.wait_for(|stop| *stop) => {}
        }
    }
}

/// Passes its log on meanwhile, and a stop.
async fn until_it_ends(mut child: Child, name: &str, stop: &mut watch::Receiver<bool>) -> std::io::Result<ExitStatus> {
    // Kept until the end: it ends when this closes.
    let _stdin = child.stdin.take();
    let log = child.stderr.take().map(|stderr| tokio::spawn(pass_on(name.to_owned(), stderr)));
    let told = async { stop.wait_for(|stop| *stop).await.is_ok() };
    let ended = tokio::select! {
        ended = child.wait() => Some(ended),
        _ = told => None,
    };
    let ended = match ended {
        Some(ended) => ended,
        None => {
            ask_to_end(&child, name);
            child.wait().await
        }
    };
    if let Some(log) = log {
        // A grandchild could hold the pipe open; what it says is not waited for.
        let _ = tokio::time::timeout(Duration::from_millis(200), log).await;
    }
    ended
}

fn ask_to_end(child: &Child, name: &str) {
    use rustix::process::{Pid, Signal, kill_process};
    let Some(id) = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw) else { return };
    // The child has not been waited for, so the id is still its own.
    if let Err(error) = kill_process(id, Signal::TERM) {
        tracing::warn!(name, error = &error as &dyn std::error::Error, "the process could not be asked to end");
    }
}

/// Each line of its log, with its name in front.
async fn pass_on(name: String, stderr: impl AsyncRead + Unpin) {
    let mut reader = BufReader::new(stderr);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line).await.is_ok_and(|length| length > 0) {
        let text = format!("{name}: {}\n", String::from_utf8_lossy(&line).trim_end());
        // Nobody may be left to read ours; the child is to go on writing.
        let _ = std::io::stderr().write_all(text.as_bytes());
        line.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wgpu::DeviceType::{Cpu, DiscreteGpu, IntegratedGpu};

    fn adapter(name: &str, pci_bus_id: &str, kind: wgpu::DeviceType, vendor: u32) -> Adapter {
        Adapter { name: name.to_owned(), pci_bus_id: pci_bus_id.to_owned(), kind, vendor }
    }

    /// Two equal cards of NVIDIA, one of AMD that two drivers offer, graphics in the processor, and software.
    fn machine() -> Vec<Adapter> {
        vec![
            adapter("NVIDIA L4", "0000:01:00.0", DiscreteGpu, NVIDIA),
            adapter("NVIDIA L4", "0000:02:00.0", DiscreteGpu, NVIDIA),
            adapter("AMD Radeon Pro (RADV)", "0000:03:00.0", DiscreteGpu, 0x1002),
            adapter("AMD Radeon Pro", "0000:03:00.0", DiscreteGpu, 0x1002),
            adapter("Intel(R) Graphics, Xe", "", IntegratedGpu, 0x8086),
            adapter("llvmpipe (LLVM 19.1.7, 256 bits)", "", Cpu, 0x10005),
        ]
    }

    fn planned(adapters: &str, more: &[(&str, &str)], found: &[Adapter]) -> Result<Vec<Process>, PlanError> {
        let settings = [&[("CYCLORAMA_NODE_ADAPTER", adapters), ("CYCLORAMA_NODE_NAME", "rack")], more].concat();
        let value =
            |name: &str| settings.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        let config = Config::load(None, value).expect("settings");
        plan(&config, found, |bus_id| (bus_id != "0000:09:00.0").then(|| format!("GPU-{bus_id}")))
    }

    #[test]
    fn each_adapter_that_is_asked_for_gets_a_process() {
        let (first, second) = (("0000:01:00.0", Some("GPU-0000:01:00.0")), ("0000:02:00.0", Some("GPU-0000:02:00.0")));
        let (amd, intel, cpu) = (("0000:03:00.0", None), ("Intel(R) Graphics", None), ("cpu", None));
        for (adapters, expected) in [
            ("all", vec![first, second, amd, intel]),
            ("best,cpu", vec![first, cpu]),
            ("02:00.0, 01:00.0", vec![second, first]),
            ("l4,radeon", vec![first, amd]),
            ("cpu,cpu,llvmpipe", vec![cpu, cpu, cpu]),
            ("xe,cpu", vec![intel, cpu]),
        ] {
            let processes = planned(adapters, &[], &machine()).expect(adapters);
            let found: Vec<(String, Option<String>)> =
                processes.iter().map(|one| (one.adapter.to_string(), one.cuda_device.clone())).collect();
            let owned = |(adapter, uuid): &(&str, Option<&str>)| (adapter.to_string(), uuid.map(str::to_owned));
            assert_eq!(found, expected.iter().map(owned).collect::<Vec<_>>(), "{adapters}");
            let names: Vec<String> = (1..=expected.len()).map(|number| format!("rack-{number}")).collect();
            assert_eq!(processes.into_iter().map(|one| one.name).collect::<Vec<_>>(), names);
        }
        let processes = planned("all", &[("CYCLORAMA_NODE_USD_PER_HOUR", "3")], &machine()).expect("a plan");
        assert_eq!(processes[0].usd_per_hour, Some(0.75), "a share of what the machine costs");
    }

    #[test]
    fn what_cannot_be_is_an_error_that_names_it() {
        let unknown = [adapter("NVIDIA T4", "0000:09:00.0", DiscreteGpu, NVIDIA)];
        let alike = [adapter("Mali", "", IntegratedGpu, 0x13b5), adapter("Mali", "", IntegratedGpu, 0x13b5)];
        for (adapters, found, says) in [
            ("L4,L4", &machine()[..], "`L4` and `L4` are the same card, NVIDIA L4 (0000:01:00.0)"),
            ("best,0000:01:00.0", &machine(), "`best` and `0000:01:00.0` are the same card"),
            ("AMD Radeon Pro (RADV),0000:03:00.0", &machine(), "are the same card, AMD Radeon Pro (RADV)"),
            (
                "cpu,H100",
                &machine(),
                "CYCLORAMA_NODE_ADAPTER is `H100`, and no Vulkan device is that; there is NVIDIA L4",
            ),
            ("0000:07:00.0,cpu", &machine(), "is `0000:07:00.0`, and no Vulkan device"),
            ("all", &machine()[5..], "is `all`, and no Vulkan device is a GPU; there is llvmpipe"),
            ("all", &[], "no Vulkan device found; install a GPU driver"),
            ("all", &alike, "no setting tells Mali from the other"),
            ("all", &unknown, "NVIDIA T4 (0000:09:00.0) has no name for CUDA"),
        ] {
            let error = planned(adapters, &[], found).expect_err(adapters).to_string();
            assert!(error.contains(says), "{adapters}: {error}");
        }
        let processes = planned("all", &[("CYCLORAMA_NODE_PROVIDER", "cpu")], &unknown).expect("CUDA runs nothing");
        assert_eq!((processes.len(), &processes[0].cuda_device), (1, &None));
    }
}
