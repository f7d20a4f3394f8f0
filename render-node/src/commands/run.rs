//! `run`: serves a control plane until told to stop.

use crate::config::Config;
use crate::engine::Engine;
use crate::gpu;
use crate::service::agent::Agent;
use crate::service::control_plane::ControlPlane;
use crate::service::processes;
use anyhow::{Context, bail};
use cyclorama_core::traces::Exporter;
use rustix::process::{Signal, getpid, kill_process};
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// How long the engine gets to put its device away, and to end a render that nobody waits for, when the node leaves.
const ENGINE_END_TIME: Duration = Duration::from_secs(20);

/// Serves with one adapter in this process, with several in a process for each. `embedded`: standard input is a parent's pipe.
pub fn serve(config: Config, settings_file: Option<&Path>, embedded: bool) -> anyhow::Result<ExitCode> {
    let asked = Arc::new(watch::Sender::new(false));
    if embedded {
        listen_to_parent(asked.clone())?;
    }
    let (url, token) = config.control_plane()?;
    if config.adapters.are_several() {
        return serve_with_each(&config, settings_file, asked.subscribe());
    }
    // The process-wide default for TLS; a second one would be a defect of ours.
    if rustls::crypto::ring::default_provider().install_default().is_err() {
        bail!("TLS was already set up");
    }
    let traces = config.traces.as_deref().map(|url| Exporter::start(url, "cyclorama-node", env!("CARGO_PKG_VERSION")));
    let traces = traces.transpose().context("OTEL_EXPORTER_OTLP_ENDPOINT")?;
    let control_plane = ControlPlane::new(url, token.clone()).context("TLS cannot be set up on this machine")?;
    let engine = Engine::start(config.local.clone(), config.slots as usize)?;
    let device = engine.device();
    let provider = device.execution_provider.as_deref();
    tracing::info!(device = device.name, backend = device.backend, provider, "the engine is ready");

    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    // Kept to the end, so that a word of the parent that comes late finds a listener.
    let by_parent = asked.subscribe();
    let ended = runtime.block_on(async {
        let stop = told_to_stop(by_parent.clone())?;
        Agent::new(control_plane, engine.clone(), &config).run(stop).await?;
        anyhow::Ok(())
    });
    if let Some(traces) = traces {
        traces.stop();
    }
    // The engine may be in the middle of a render that nobody waits for, on a device that never answers again.
    let engine_ends =
        async { tokio::time::timeout(ENGINE_END_TIME, tokio::task::spawn_blocking(|| drop(engine))).await };
    if runtime.block_on(engine_ends).is_err() {
        tracing::warn!("the engine does not end: leaving without it");
        end_at_once();
    }
    runtime.shutdown_background();
    ended.map(|()| ExitCode::SUCCESS)
}

/// A process for each adapter, until told to stop.
fn serve_with_each(
    config: &Config,
    settings_file: Option<&Path>,
    asked: watch::Receiver<bool>,
) -> anyhow::Result<ExitCode> {
    let processes = processes::plan(config, &gpu::adapters(), gpu::nvidia_uuid)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(async {
        processes::watch_over(processes, settings_file, told_to_stop(asked)?).await?;
        anyhow::Ok(())
    });
    // A line of the log may still wait for a reader.
    runtime.shutdown_background();
    ended.map(|()| ExitCode::SUCCESS)
}

/// The first SIGTERM or SIGINT, or the parent's word (`asked`), asks to finish what is held. A second signal ends the process at once; the
/// parent's word does not count for that, as a supervisor may tell parent and children alike.
fn told_to_stop(mut asked: watch::Receiver<bool>) -> std::io::Result<impl Future<Output = ()>> {
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    Ok(async move {
        let is_signal = tokio::select! {
            _ = terminate.recv() => true,
            _ = interrupt.recv() => true,
            _ = asked.wait_for(|asked| *asked) => false,
        };
        tokio::spawn(async move {
            // Who is asked by the parent and then told by a supervisor is told once.
            for _ in usize::from(is_signal)..2 {
                tokio::select! { _ = terminate.recv() => {}, _ = interrupt.recv() => {} }
            }
            // Whoever reads the log may stall.
            let said = tokio::task::spawn_blocking(|| tracing::warn!("told twice: stopping at once"));
            let _ = tokio::time::timeout(Duration::from_millis(200), said).await;
            end_at_once();
        });
    })
}

/// Ends without running exit handlers: those of ONNX Runtime and of the Vulkan driver wait for threads that are still at work,
/// some of them for ever.
fn end_at_once() -> ! {
    let _ = kill_process(getpid(), Signal::KILL);
    // Only if the system refuses a process to end itself.
    std::process::abort()
}

/// A byte from the parent asks to finish what is held. A parent that dies without a word closes the pipe: nobody is
/// left to take results, so nothing is worth finishing.
fn listen_to_parent(asked: Arc<watch::Sender<bool>>) -> std::io::Result<()> {
    let listen = move || {
        let mut bytes = [0; 256];
        let mut input = std::io::stdin().lock();
        loop {
            match input.read(&mut bytes) {
                Ok(0) => break,
                Ok(_) => {
                    asked.send_replace(true);
                    // Nobody listens before the engine is ready: nothing is held, and a model may load for minutes.
                    // What a signal does then.
                    if asked.receiver_count() == 0 {
                        let _ = kill_process(getpid(), Signal::TERM);
                    }
                }
                Err(e) if e.kind() != std::io::ErrorKind::Interrupted => break,
                Err(_) => {}
            }
        }
        // Without a word: the parent also read our log.
        end_at_once();
    };
    std::thread::Builder::new().name("parent".to_owned()).spawn(listen).map(drop)
}
