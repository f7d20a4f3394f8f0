//! Checks the machine part by part: the graphics device, ONNX Runtime, each model; then all of it
//! by a render.

use crate::causes::with_causes;
use crate::config::{Config, LocalConfig};
use crate::diffusion::{DiffusionModel, OnnxRuntime};
use crate::engine::models::model_folders;
use crate::engine::self_test;
use crate::gpu::{self, Gpu};
use crate::service::processes::{self, Process};
use crate::studio;
use cyclorama_core::output;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::process::{ExitCode, Stdio};
use std::time::Instant;

/// The result of one check. `detail` is what was found, or what to do about it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Check {
    pub name: String,
    pub ok: bool,
    pub detail: String,
}

/// Runs all checks and prints their results. The exit status is a failure if any check fails.
pub fn doctor(config: &Config, settings_file: Option<&Path>, json: bool) -> anyhow::Result<ExitCode> {
    let checks = match config.adapters.are_several() {
        true => examine_each(config, settings_file),
        false => examine(&config.local),
    };
    let ok = checks.iter().all(|check| check.ok);
    if json {
        output::line(serde_json::to_string_pretty(&serde_json::json!({"ok": ok, "checks": checks}))?)?;
    } else {
        let width = checks.iter().map(|check| check.name.len()).max().unwrap_or(0).max(16);
        for check in &checks {
            let ok = if check.ok { "ok" } else { "FAIL" };
            output::line(format_args!("{ok:<4} {:<width$} {}", check.name, check.detail))?;
        }
    }
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Checks everything a render needs, in the order a render needs it. One failure does not hide the
/// next.
pub fn examine(config: &LocalConfig) -> Vec<Check> {
    let mut checks = vec![check("vulkan", Gpu::open(&config.adapter).map(|gpu| described(&gpu)))];
    let runtime = OnnxRuntime::load(config.onnx_runtime.as_deref());
    let described = runtime.as_ref().map(|r| format!("{} at {}", r.version(), r.path().display()));
    checks.push(check("onnx-runtime", described));
    let usable = runtime.as_ref().ok().and_then(|runtime| {
        let provider = runtime.provider(config.provider);
        let usable = provider.as_ref().ok().map(|provider| (runtime, *provider));
        checks.push(check("provider", provider.map(|provider| provider.onnx_name().to_owned())));
        usable
    });
    match (model_folders(&config.models), usable) {
        (Err(error), _) => checks.push(check("models", Err(error))),
        (Ok(folders), None) => {
            let detail = format!("{} found, not loaded without ONNX Runtime and a provider", folders.len());
            checks.push(Check { name: "models".to_owned(), ok: false, detail });
        }
        (Ok(folders), Some((runtime, provider))) => checks.extend(folders.iter().map(|folder| {
            let name = format!("model {}", folder.file_name().unwrap_or(folder.as_os_str()).display());
            let loaded = DiffusionModel::load(runtime, provider, folder, &studio::CONDITIONING_CHANNELS);
            check(
                &name,
                loaded.map(|model| {
                    let folder = model.folder();
                    format!("{} {} ({}, {})", folder.id(), folder.digest(), folder.precision(), folder.license())
                }),
            )
        })),
    }
    if checks.iter().all(|check| check.ok) {
        let began = Instant::now();
        let passed = self_test::passed(config);
        checks.push(check("self-test", passed.map(|_| format!("passed in {:.1} s", began.elapsed().as_secs_f64()))));
    }
    checks
}

fn described(gpu: &Gpu) -> String {
    match gpu.pci_bus_id.as_str() {
        "" => format!("{} ({})", gpu.name, gpu.backend),
        bus_id => format!("{} ({}, {bus_id})", gpu.name, gpu.backend),
    }
}

/// Runs the checks for each of several adapters, in a process of its own as when serving, because
/// the card that CUDA runs on is chosen when a process starts.
pub fn examine_each(config: &Config, settings_file: Option<&Path>) -> Vec<Check> {
    let processes = match processes::plan(config, &gpu::adapters(), gpu::nvidia_uuid) {
        Ok(processes) => processes,
        Err(error) => return vec![check("adapters", Err(error))],
    };
    let of_each = processes.iter().flat_map(|process| match ask(process, settings_file) {
        Ok(checks) => {
            let named = |check: Check| Check { name: format!("{} {}", process.name, check.name), ..check };
            checks.into_iter().map(named).collect()
        }
        Err(error) => vec![check(&process.name, Err(error))],
    });
    of_each.collect()
}

/// Runs the `doctor` command of a process and returns its checks.
fn ask(process: &Process, settings_file: Option<&Path>) -> std::io::Result<Vec<Check>> {
    #[derive(Deserialize)]
    struct Report {
        checks: Vec<Check>,
    }
    let mut command = process.command(settings_file)?;
    let output = command.args(["doctor", "--json"]).stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
    let report = serde_json::from_slice::<Report>(&output.stdout);
    Ok(report.map_err(|error| std::io::Error::other(format!("it ended with {}: {error}", output.status)))?.checks)
}

fn check<E: std::error::Error>(name: &str, found: Result<String, E>) -> Check {
    let (ok, detail) = match found {
        Ok(detail) => (true, detail),
        Err(error) => (false, with_causes(&error)),
    };
    Check { name: name.to_owned(), ok, detail }
}
