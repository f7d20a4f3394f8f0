//! `run`: serves a control plane until stopped.

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

/// Maximum time for the engine to release its device, and to end a render that nobody waits for,
/// when the node leaves.
const ENGINE_END_TIME: Duration = Duration::from_secs(20);

/// Serves with one adapter in this process, or with several in a process for each. If `embedded`,
/// standard input is a parent's pipe.
pub fn serve(config: Config, settings_file: Option<&Path>, embedded: bool) -> anyhow::Result<ExitCode> {
    let asked = Arc::new(watch::Sender::new(false));
    if embedded {
        listen_to_parent(asked.clone())?;
    }
    let (url, token) = config.control_plane()?;
    if config.adapters.are_several() {
        return serve_with_each(&config, settings_file, asked.subscribe());
    }
    // Installs the process-wide default for TLS; a second one would be a defect of this program.
    if rustls::crypto::ring::default_provider().install_default().is_err() {
        bail!("TLS is already set up");
    }
    let traces = config.traces.as_deref().map(|url| Exporter::start(url, "cyclorama-node", env!("CARGO_PKG_VERSION")));
    let traces = traces.transpose().context("OTEL_EXPORTER_OTLP_ENDPOINT")?;
    let control_plane = ControlPlane::new(url, token.clone()).context("TLS cannot be set up on this machine")?;
    let engine = Engine::start(config.local.clone(), config.slots as usize)?;
    let device = engine.device();
    let provider = device.execution_provider.as_deref();
    tracing::info!(device = device.name, backend = device.backend, provider, "the engine is ready");

    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    // Kept to the end, so that a late request of the parent finds a receiver.
    let by_parent = asked.subscribe();
    let ended = runtime.block_on(async {
        let stop = stop_requested(by_parent.clone())?;
        Agent::new(control_plane, engine.clone(), &config).run(stop).await?;
        anyhow::Ok(())
    });
    if let Some(traces) = traces {
        traces.stop();
    }
    // The engine may be in the middle of a render that nobody waits for, on a device that never
    // answers again.
    let engine_ends =
        async { tokio::time::timeout(ENGINE_END_TIME, tokio::task::spawn_blocking(|| drop(engine))).await };
    if runtime.block_on(engine_ends).is_err() {
        tracing::warn!("the engine did not end in time; leaving without it");
        end_at_once();
    }
    runtime.shutdown_background();
    ended.map(|()| ExitCode::SUCCESS)
}

/// Runs a process for each adapter, until stopped.
fn serve_with_each(
    config: &Config,
    settings_file: Option<&Path>,
    asked: watch::Receiver<bool>,
) -> anyhow::Result<ExitCode> {
    let processes = processes::plan(config, &gpu::adapters(), gpu::nvidia_uuid)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(async {
        processes::watch_over(processes, settings_file, stop_requested(asked)?).await?;
        anyhow::Ok(())
    });
    // A line of the log may still wait for a reader.
    runtime.shutdown_background();
    ended.map(|()| ExitCode::SUCCESS)
}

/// Returns a future that resolves at the first SIGTERM or SIGINT, or when the parent requests it
/// (`asked`); the node then finishes the jobs it holds. A second signal ends the process at once.
/// The parent's request does not count for that, because a supervisor may signal both parent and
/// children.
fn stop_requested(mut asked: watch::Receiver<bool>) -> std::io::Result<impl Future<Output = ()>> {
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    Ok(async move {
        let is_signal = tokio::select! {
            _ = terminate.recv() => true,
            _ = interrupt.recv() => true,
            _ = asked.wait_for(|asked| *asked) => false,
        };
        tokio::spawn(async move {
            // After a request of the parent, one signal does not count: a supervisor may have sent
            // it for the same stop.
            for _ in usize::from(is_signal)..2 {
                tokio::select! { _ = terminate.recv() => {}, _ = interrupt.recv() => {} }
            }
            // The reader of the log may stall.
            let said = tokio::task::spawn_blocking(|| tracing::warn!("stopped at once because of a second signal"));
            let _ = tokio::time::timeout(Duration::from_millis(200), said).await;
            end_at_once();
        });
    })
}

/// Ends the process without running exit handlers: those of ONNX Runtime and of the Vulkan driver
/// wait for threads that are still at work, some of them forever.
fn end_at_once() -> ! {
    let _ = kill_process(getpid(), Signal::KILL);
    // Only reached if the system refuses to let a process kill itself.
    std::process::abort()
}

/// Starts a thread that reads standard input. A byte from the parent requests that held jobs be
/// finished. A parent that dies without a request closes the pipe: nobody is left to take results,
/// so nothing is worth finishing.
fn listen_to_parent(asked: Arc<watch::Sender<bool>>) -> std::io::Result<()> {
    let listen = move || {
        let mut bytes = [0; 256];
        let mut input = std::io::stdin().lock();
        loop {
            match input.read(&mut bytes) {
                Ok(0) => break,
                Ok(_) => {
                    asked.send_replace(true);
                    // Before the engine is ready nothing receives the request: no job is held, and
                    // a model may load for minutes. So do what a signal does then.
                    if asked.receiver_count() == 0 {
                        let _ = kill_process(getpid(), Signal::TERM);
                    }
                }
                Err(e) if e.kind() != std::io::ErrorKind::Interrupted => break,
                Err(_) => {}
            }
        }
        // The parent has died without a request, so its log is gone, too, and nothing is logged.
        end_at_once();
    };
    std::thread::Builder::new().name("parent".to_owned()).spawn(listen).map(drop)
}
