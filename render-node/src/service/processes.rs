//! Several graphics cards in one machine: a node process for each, and one process that only
//! supervises them.
//!
//! A process knows one card and nothing of the others, so that a driver that fails takes only one
//! card's work with it. Each process is a node of its own towards the control plane, and is
//! restarted when it ends. A byte on its standard input requests that it finish the jobs it holds,
//! and the end of that pipe ends the process, however its parent died. Unlike a signal, neither can
//! arrive twice if a supervisor signals both parent and children.

use crate::config::{Adapters, Config, LocalConfig};
use crate::diffusion::{OnnxRuntime, Provider, ProviderChoice};
use crate::gpu::{Adapter, AdapterChoice, GpuError};
use cyclorama_supervisor::{Child, Event, Settings, StopBy, Supervisor};
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::Duration;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

const NVIDIA: u32 = 0x10de;
/// Value of `CUDA_VISIBLE_DEVICES` that hides every card: no card has this number, and CUDA ignores
/// all cards from the first that does not exist. An empty value means the same to CUDA, but not to
/// programs that treat an empty variable as unset.
const NO_CUDA_DEVICE: &str = "-1";
/// Maximum length of a log line that is passed on as one, in bytes. The rest becomes the next line.
const LINE_MAX: u64 = 64 * 1024;
/// Time for the last entries to reach our own log after every process has ended.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// Rules for restarting a process, and for giving up.
#[derive(Debug, Clone, Copy)]
struct RestartPolicy {
    starts: Settings,
    /// Number of bad starts in a row, of every process, after which to give up.
    bad_starts_max: u32,
}

const PATIENCE: RestartPolicy = RestartPolicy {
    starts: Settings {
        pause_min: Duration::from_secs(1),
        // A broken driver is tried once a minute, often enough to recover by itself.
        pause_max: Duration::from_secs(60),
        // Random pauses, so that cards that failed together do not all load their models at one
        // moment.
        random: rand::random,
        // Longer than models take to load and to pass the self-test, including the minutes that
        // TensorRT takes to prepare them. Otherwise a process that fails after that would begin
        // again with the shortest pause, forever.
        good_start: Duration::from_secs(600),
        stop_by: StopBy::Byte,
    },
    // Some five minutes of pauses. If every card fails for longer, the remedy is outside: a new
    // container, another machine.
    bad_starts_max: 10,
};

/// One process: a node with one adapter.
#[derive(Debug, Clone, PartialEq)]
pub struct Process {
    /// Name of the node.
    pub name: String,
    /// Description of the device, for people.
    pub device: String,
    /// Settings of this process that replace those of the machine.
    pub adapter: AdapterChoice,
    pub usd_per_hour: Option<f64>,
    /// Provider that runs its models; `None` for the one in the machine's settings.
    pub provider: Option<Provider>,
    /// Value of `CUDA_VISIBLE_DEVICES`: the UUID of the card, so that CUDA sees only this card and
    /// numbers it first, or no card.
    pub cuda_device: String,
}

/// Reasons why the configured adapters cannot have a process each.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error(transparent)]
    Gpu(#[from] GpuError),
    #[error(
        "CYCLORAMA_NODE_ADAPTER: `{first}` and `{second}` are the same card, {device}; use PCI bus ids to distinguish equal cards"
    )]
    SameCard { first: AdapterChoice, second: AdapterChoice, device: String },
    #[error("no setting can distinguish {device} from the other Vulkan devices: its driver reports no PCI bus id")]
    Alike { device: String },
    #[error(
        "NVML does not know {device} (a container needs the driver capability `utility`), so CUDA could run its models on another card; if CUDA runs no models here, set CYCLORAMA_NODE_PROVIDER to the provider that does"
    )]
    NoUuid { device: String },
    #[error(
        "CYCLORAMA_NODE_PROVIDER is `{provider}`, which would run the models of {device} on the card of another node or of no node: remove {device} from CYCLORAMA_NODE_ADAPTER, or set CYCLORAMA_NODE_PROVIDER to `auto`, which runs its models without CUDA"
    )]
    NotNvidia { provider: Provider, device: String },
}

/// Reasons why supervision ended.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    #[error("the processes cannot be started")]
    Start(#[from] std::io::Error),
    #[error(
        "no card has a running process: each process ended {0} times in a row soon after its start; the log says why"
    )]
    GivenUp(u32),
}

/// Returns the processes for the adapters that `config` selects. `found` are those of the machine,
/// the best first; `uuid` returns CUDA's name of the NVIDIA card with a PCI bus id.
pub fn plan(
    config: &Config,
    found: &[Adapter],
    uuid: impl Fn(&str) -> Option<String>,
) -> Result<Vec<Process>, PlanError> {
    plan_with(config, found, uuid, auto_without_cuda)
}

/// Same as [`plan`]. `auto_without_cuda` returns the provider that replaces CUDA where `auto` would
/// choose it.
fn plan_with(
    config: &Config,
    found: &[Adapter],
    uuid: impl Fn(&str) -> Option<String>,
    auto_without_cuda: impl Fn(&LocalConfig) -> Option<Provider>,
) -> Result<Vec<Process>, PlanError> {
    let places = match &config.adapters {
        Adapters::All => every_gpu(found)?,
        Adapters::Listed(choices) => listed(choices, found)?,
    };
    let usd_per_hour = config.usd_per_hour.map(|price| price / places.len() as f64);
    let process = |(number, place): (usize, usize)| {
        let adapter = &found[place];
        let device = adapter.to_string();
        let is_nvidia = adapter.vendor == NVIDIA;
        let provider = match config.local.provider {
            ProviderChoice::Auto if !is_nvidia => auto_without_cuda(&config.local),
            ProviderChoice::Only(provider @ (Provider::Cuda | Provider::TensorRt)) if !is_nvidia => {
                return Err(PlanError::NotNvidia { provider, device });
            }
            _ => None,
        };
        if let Some(provider) = provider {
            tracing::warn!(
                device,
                provider = provider.as_str(),
                "the graphics card is not NVIDIA's: its models run without CUDA"
            );
        }
        let cuda_device = if is_nvidia { uuid(&adapter.pci_bus_id) } else { None };
        // If no other provider was chosen, an ONNX Runtime with CUDA uses it.
        let cuda_may_run_models = matches!(
            config.local.provider,
            ProviderChoice::Auto | ProviderChoice::Only(Provider::Cuda | Provider::TensorRt)
        );
        if is_nvidia && cuda_device.is_none() && cuda_may_run_models {
            return Err(PlanError::NoUuid { device });
        }
        let cuda_device = cuda_device.unwrap_or_else(|| NO_CUDA_DEVICE.to_owned());
        let name = format!("{}-{}", config.name, number + 1);
        Ok(Process { name, device, adapter: choice_of(place, found)?, usd_per_hour, provider, cuda_device })
    };
    places.into_iter().enumerate().map(process).collect()
}

/// Returns the provider that `auto` should become where CUDA sees no card, or `None` if `auto` may
/// stay. The library reports what it was built with, not what starts, so `auto` would still mean
/// CUDA there. If the library cannot be loaded, each process reports that itself.
fn auto_without_cuda(config: &LocalConfig) -> Option<Provider> {
    let runtime = OnnxRuntime::load(config.onnx_runtime.as_deref()).ok()?;
    if runtime.provider(ProviderChoice::Auto).ok()? != Provider::Cuda {
        return None;
    }
    let others = [Provider::OpenVino, Provider::Cpu];
    others.into_iter().find(|other| runtime.provider(ProviderChoice::Only(*other)).is_ok())
}

/// Returns the indices of all GPUs. A card that two drivers offer counts once.
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
        // Several processes may share the CPU.
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

/// Returns a choice that matches this adapter and no other.
fn choice_of(place: usize, found: &[Adapter]) -> Result<AdapterChoice, PlanError> {
    let Adapter { name, pci_bus_id, .. } = &found[place];
    // A comma would begin the next choice.
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
    /// Returns the command that starts this program with the process's settings. The caller adds
    /// the subcommand.
    pub fn command(&self, settings_file: Option<&Path>) -> std::io::Result<std::process::Command> {
        let mut command = std::process::Command::new(std::env::current_exe()?);
        command.env("CYCLORAMA_NODE_NAME", &self.name).env("CYCLORAMA_NODE_ADAPTER", self.adapter.to_string());
        if let Some(path) = settings_file {
            command.env("CYCLORAMA_NODE_CONFIG", path);
        }
        if let Some(price) = self.usd_per_hour {
            command.env("CYCLORAMA_NODE_USD_PER_HOUR", price.to_string());
        }
        if let Some(provider) = self.provider {
            command.env("CYCLORAMA_NODE_PROVIDER", provider.as_str());
        }
        command.env("CUDA_VISIBLE_DEVICES", &self.cuda_device);
        Ok(command)
    }
}

/// Runs all processes until `stop` resolves, or until none of them has a good start any more; then
/// lets each finish the jobs it holds.
pub async fn watch_over(
    processes: Vec<Process>,
    settings_file: Option<&Path>,
    stop: impl Future<Output = ()>,
) -> Result<(), WatchError> {
    let with_command = |process: Process| {
        let mut command = process.command(settings_file)?;
        command.args(["run", "--embedded"]);
        Ok((process, command))
    };
    let processes = processes.into_iter().map(with_command).collect::<std::io::Result<Vec<_>>>()?;
    watch_over_commands(processes, PATIENCE, stop).await
}

async fn watch_over_commands(
    processes: Vec<(Process, std::process::Command)>,
    patience: RestartPolicy,
    stop: impl Future<Output = ()>,
) -> Result<(), WatchError> {
    let stop_all = CancellationToken::new();
    let (bad_starts, mut seen) = watch::channel(vec![0; processes.len()]);
    let bad_starts = Arc::new(bad_starts);
    let (log, logged) = start_log()?;
    let mut watches = JoinSet::new();
    for (place, (process, command)) in processes.into_iter().enumerate() {
        let watched = SupervisedProcess {
            process: Arc::new(process),
            place,
            patience,
            bad_starts: bad_starts.clone(),
            stop: stop_all.clone(),
            log: log.clone(),
        };
        watches.spawn(watched.keep_running(command.into()));
    }
    let every_start_is_bad =
        async { seen.wait_for(|all| all.iter().all(|bad| *bad >= patience.bad_starts_max)).await.is_ok() };
    let given_up = tokio::select! {
        () = stop => false,
        given_up = every_start_is_bad => given_up,
    };
    stop_all.cancel();
    while watches.join_next().await.is_some() {}
    drop(log);
    let _ = tokio::time::timeout(LAST_WORDS, logged).await;
    if given_up { Err(WatchError::GivenUp(patience.bad_starts_max)) } else { Ok(()) }
}

/// An event of a process to be logged.
enum ProcessEvent {
    Started { process_id: Option<u32> },
    NotStarted(std::io::Error),
    Ended { status: String, was_told: bool },
    NotAsked(std::io::Error),
}

/// Maximum number of entries that wait while the reader of the log stalls. Further entries are
/// dropped. Sixteen cards of which none comes to work make some two hundred in the first minute,
/// and fewer later.
const ENTRIES_MAX: usize = 1_024;

type Log = mpsc::SyncSender<(Arc<Process>, ProcessEvent)>;

/// Starts a thread that logs, and returns a receiver that resolves when it is done. It is a thread
/// of its own because the reader of the log may stall, and signals must be handled all the same.
fn start_log() -> std::io::Result<(Log, oneshot::Receiver<()>)> {
    let (log, entries) = mpsc::sync_channel::<(Arc<Process>, ProcessEvent)>(ENTRIES_MAX);
    let (done, logged) = oneshot::channel();
    let write = move || {
        for (process, entry) in entries {
            let Process { name, device, .. } = &*process;
            match entry {
                ProcessEvent::Started { process_id } => {
                    tracing::info!(name, device, process_id, "a process for a graphics card was started")
                }
                ProcessEvent::NotStarted(error) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::error!(name, device, error, "no process could be started for a graphics card");
                }
                ProcessEvent::Ended { status, was_told: true } => tracing::info!(name, status, "ended"),
                ProcessEvent::Ended { status, was_told: false } => {
                    tracing::warn!(name, device, status, "the process for a graphics card ended; it is restarted");
                }
                ProcessEvent::NotAsked(error) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(name, error, "the process for a graphics card could not be asked to end");
                }
            }
        }
        drop(done);
    };
    std::thread::Builder::new().name("log".to_owned()).spawn(write)?;
    Ok((log, logged))
}

/// A process that is restarted whenever it has ended.
struct SupervisedProcess {
    process: Arc<Process>,
    /// Index among the bad starts.
    place: usize,
    patience: RestartPolicy,
    /// Bad starts in a row, of every process.
    bad_starts: Arc<watch::Sender<Vec<u32>>>,
    stop: CancellationToken,
    log: Log,
}

impl SupervisedProcess {
    async fn keep_running(self, mut command: tokio::process::Command) {
        let start = || Child::spawn(&mut command);
        let mut supervisor = Supervisor::new(self.patience.starts, self.stop.clone(), start);
        while let Some(event) = supervisor.next().await {
            match event {
                Event::Started { process_id, log } => {
                    self.say(ProcessEvent::Started { process_id });
                    // If no thread can be started, the process runs without its log.
                    let _ = log.pass_on(LINE_MAX, passed_on(self.process.name.clone(), std::io::stderr()));
                }
                Event::NotStarted(error) => {
                    self.say(ProcessEvent::NotStarted(error));
                    self.count_start(false);
                }
                // While this process runs well, the failures of others are no reason to give up.
                Event::StartedWell => self.count_start(true),
                Event::NotAsked(error) => self.say(ProcessEvent::NotAsked(error)),
                Event::Ended { status, started_well } => {
                    self.say(ProcessEvent::Ended { status, was_told: self.stop.is_cancelled() });
                    self.count_start(started_well);
                }
            }
        }
    }

    fn count_start(&self, is_good: bool) {
        self.bad_starts.send_modify(|all| all[self.place] = if is_good { 0 } else { all[self.place] + 1 });
    }

    fn say(&self, entry: ProcessEvent) {
        // Without the thread there is no log, and nothing waits for a thread that stalls.
        let _ = self.log.try_send((self.process.clone(), entry));
    }
}

/// Returns a function that writes each line of a process's log with the process's name in front.
fn passed_on(name: String, mut to: impl Write) -> impl FnMut(&str) {
    move |line| {
        let text = format!("{name}: {line}\n");
        // Our log may have no reader left; the child must continue to write all the same.
        let _ = to.write_all(text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wgpu::DeviceType::{Cpu, DiscreteGpu, IntegratedGpu};

    fn adapter(name: &str, pci_bus_id: &str, kind: wgpu::DeviceType, vendor: u32) -> Adapter {
        Adapter { name: name.to_owned(), pci_bus_id: pci_bus_id.to_owned(), kind, vendor }
    }

    /// Two equal cards of NVIDIA, one of AMD that two drivers offer, integrated graphics, and a
    /// software adapter.
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
        let uuid = |bus_id: &str| (bus_id != "0000:09:00.0").then(|| format!("GPU-{bus_id}"));
        plan_with(&config, found, uuid, |_| Some(Provider::OpenVino))
    }

    #[test]
    fn each_adapter_that_is_asked_for_gets_a_process() {
        let (first, second) = (("0000:01:00.0", "GPU-0000:01:00.0"), ("0000:02:00.0", "GPU-0000:02:00.0"));
        let (amd, intel, cpu) = (("0000:03:00.0", "-1"), ("Intel(R) Graphics", "-1"), ("cpu", "-1"));
        for (adapters, expected) in [
            ("all", vec![first, second, amd, intel]),
            ("best,cpu", vec![first, cpu]),
            ("02:00.0, 01:00.0", vec![second, first]),
            ("l4,radeon", vec![first, amd]),
            ("cpu,cpu,llvmpipe", vec![cpu, cpu, cpu]),
            ("xe,cpu", vec![intel, cpu]),
        ] {
            let processes = planned(adapters, &[], &machine()).expect(adapters);
            let adapter = |process: &Process| process.adapter.to_string();
            let found: Vec<(String, &str)> =
                processes.iter().map(|one| (adapter(one), one.cuda_device.as_str())).collect();
            let owned = |(adapter, cuda): &(&'static str, &'static str)| (adapter.to_string(), *cuda);
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
            ("all", &alike, "no setting can distinguish Mali from the other"),
            ("all", &unknown, "NVML does not know NVIDIA T4 (0000:09:00.0)"),
        ] {
            let error = planned(adapters, &[], found).expect_err(adapters).to_string();
            assert!(error.contains(says), "{adapters}: {error}");
        }
        let processes = planned("all", &[("CYCLORAMA_NODE_PROVIDER", "cpu")], &unknown).expect("CUDA runs nothing");
        assert_eq!((processes.len(), processes[0].cuda_device.as_str()), (1, "-1"));

        for provider in ["cuda", "tensorrt"] {
            let settings = [("CYCLORAMA_NODE_PROVIDER", provider)];
            let error = planned("best,cpu", &settings, &machine()).expect_err(provider).to_string();
            let says = format!("CYCLORAMA_NODE_PROVIDER is `{provider}`, which would run the models of llvmpipe");
            assert!(error.contains(&says), "{error}");
            planned("L4,02:00.0", &settings, &machine()).expect("NVIDIA's alone");
        }
    }

    #[test]
    fn cuda_sees_the_card_of_its_process_and_no_other() {
        let environment = |provider: &str, place: usize| {
            let processes = planned("all", &[("CYCLORAMA_NODE_PROVIDER", provider)], &machine()).expect(provider);
            let command = processes[place].command(None).expect("a command");
            let value = |name: &str| {
                let of_name = command.get_envs().find(|(known, _)| *known == name);
                of_name.and_then(|(_, value)| Some(value?.to_str()?.to_owned()))
            };
            (value("CUDA_VISIBLE_DEVICES").expect("always set"), value("CYCLORAMA_NODE_PROVIDER"))
        };
        let some = |provider: &str| Some(provider.to_owned());
        // NVIDIA's second card, AMD's, and the integrated one.
        assert_eq!(environment("auto", 1), ("GPU-0000:02:00.0".to_owned(), None));
        assert_eq!(environment("auto", 2), ("-1".to_owned(), some("openvino")));
        assert_eq!(environment("auto", 3), ("-1".to_owned(), some("openvino")));
        // An explicit choice stays.
        assert_eq!(environment("cpu", 1), ("GPU-0000:02:00.0".to_owned(), None));
        assert_eq!(environment("cpu", 2), ("-1".to_owned(), None));
    }

    /// A process that runs `script` in a shell.
    fn shell(name: &str, script: &str) -> (Process, std::process::Command) {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", script]);
        let process = Process {
            name: name.to_owned(),
            device: "a card".to_owned(),
            adapter: AdapterChoice::Cpu,
            usd_per_hour: None,
            provider: None,
            cuda_device: NO_CUDA_DEVICE.to_owned(),
        };
        (process, command)
    }

    fn impatient(good_start: Duration) -> RestartPolicy {
        let pause = Duration::from_millis(1);
        let starts = Settings { pause_min: pause, pause_max: pause, good_start, ..PATIENCE.starts };
        RestartPolicy { starts, bad_starts_max: 3 }
    }

    #[tokio::test]
    async fn it_gives_up_when_no_process_starts_well_any_more() {
        let patience = impatient(Duration::from_secs(600));
        let bad = || shell("bad", "exit 1");
        let missing = || (bad().0, std::process::Command::new("/nonexistent"));
        let ended = watch_over_commands(vec![bad(), missing()], patience, std::future::pending()).await;
        assert!(matches!(ended, Err(WatchError::GivenUp(3))), "{ended:?}");

        // One process that runs is enough once it has started well; and it ends when requested.
        let patience = impatient(Duration::from_millis(50));
        let processes = vec![bad(), shell("good", "read line")];
        let stop = tokio::time::sleep(Duration::from_millis(500));
        watch_over_commands(processes, patience, stop).await.expect("told to stop");
    }

    #[tokio::test]
    async fn a_life_that_was_long_enough_makes_up_for_bad_starts() {
        let folder = tempfile::tempdir().expect("a folder");
        let starts = folder.path().join("starts");
        // Every third start is a good one.
        let script = format!("echo >> {0}; [ $(($(wc -l < {0}) % 3)) != 0 ] || sleep 0.3", starts.display());
        let patience = impatient(Duration::from_millis(100));
        let stop = async {
            while std::fs::read_to_string(&starts).unwrap_or_default().len() < 8 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let ended = tokio::time::timeout(
            Duration::from_secs(60),
            watch_over_commands(vec![shell("one", &script)], patience, stop),
        );
        ended.await.expect("it goes on").expect("it does not give up");
    }

    #[test]
    fn lines_are_passed_on_in_pieces_that_memory_has_room_for() {
        let long = "x".repeat(LINE_MAX as usize + 10);
        let mut written = Vec::new();
        let log = format!("one\n{long}\nlast");
        cyclorama_supervisor::each_line(log.as_bytes(), LINE_MAX, passed_on("rack-1".to_owned(), &mut written));
        let expected = format!("rack-1: one\nrack-1: {}\nrack-1: xxxxxxxxxx\nrack-1: last\n", &long[10..]);
        assert!(written == expected.as_bytes());
    }
}
