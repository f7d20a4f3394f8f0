//! Measures how full and how busy the graphics card is, as its driver reports: NVIDIA's through
//! NVML, AMD's through the kernel's files. A software adapter, and a card of another manufacturer,
//! report nothing.

use cyclorama_core::wire::CardLoad;
use nvml_wrapper::Nvml;
use std::path::{Path, PathBuf};

/// Folder in which Linux describes each card, in a folder by PCI bus id.
const PCI_DEVICES: &str = "/sys/bus/pci/devices";
const BYTES_PER_MB: u64 = 1 << 20;

/// Reads the load of one card.
#[derive(Debug)]
pub enum Meter {
    Nvidia { nvml: Box<Nvml>, bus_id: String },
    Amd { folder: PathBuf },
    Silent,
}

impl Meter {
    /// Opens the meter of a card. `bus_id` is the card's id on the PCI bus (`0000:01:00.0`), or
    /// empty if it is on none.
    pub fn open(bus_id: &str) -> Meter {
        Self::open_below(Path::new(PCI_DEVICES), bus_id)
    }

    fn open_below(devices: &Path, bus_id: &str) -> Meter {
        if bus_id.is_empty() {
            return Meter::Silent;
        }
        let folder = devices.join(bus_id);
        if folder.join("mem_info_vram_total").is_file() {
            return Meter::Amd { folder };
        }
        match Nvml::init() {
            Ok(nvml) => Meter::Nvidia { nvml: Box::new(nvml), bus_id: bus_id.to_owned() },
            Err(error) => {
                tracing::debug!(%error, "NVML is not available: memory and use of the graphics card stay unknown");
                Meter::Silent
            }
        }
    }

    /// Reads the load, with `None` for each value that is unknown. Takes a millisecond at most.
    pub fn read(&self) -> CardLoad {
        match self {
            Meter::Silent => CardLoad::default(),
            Meter::Amd { folder } => {
                let number = |file: &str| -> Option<u64> {
                    std::fs::read_to_string(folder.join(file)).ok()?.trim().parse().ok()
                };
                CardLoad {
                    gpu_memory_used_mb: number("mem_info_vram_used").map(|bytes| bytes / BYTES_PER_MB),
                    gpu_memory_total_mb: number("mem_info_vram_total").map(|bytes| bytes / BYTES_PER_MB),
                    gpu_utilisation: number("gpu_busy_percent").map(|percent| percent as f64 / 100.0),
                }
            }
            Meter::Nvidia { nvml, bus_id } => {
                let Ok(card) = nvml.device_by_pci_bus_id(bus_id.as_str()) else { return CardLoad::default() };
                let memory = card.memory_info().ok();
                CardLoad {
                    gpu_memory_used_mb: memory.as_ref().map(|memory| memory.used / BYTES_PER_MB),
                    gpu_memory_total_mb: memory.as_ref().map(|memory| memory.total / BYTES_PER_MB),
                    gpu_utilisation: card.utilization_rates().ok().map(|rates| f64::from(rates.gpu) / 100.0),
                }
            }
        }
    }
}

/// Returns CUDA's name (UUID) of the NVIDIA card at this position on the PCI bus, or `None` if NVML
/// does not report it.
pub fn nvidia_uuid(bus_id: &str) -> Option<String> {
    let nvml = Nvml::init().inspect_err(|error| tracing::debug!(%error, "no NVML")).ok()?;
    nvml.device_by_pci_bus_id(bus_id).ok()?.uuid().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amd_card_is_read_from_the_kernels_files() {
        let devices = tempfile::tempdir().expect("a folder");
        let card = devices.path().join("0000:03:00.0");
        std::fs::create_dir(&card).expect("a folder");
        for (file, text) in [
            ("mem_info_vram_total", "17163091968\n"),
            ("mem_info_vram_used", "1073741824\n"),
            ("gpu_busy_percent", "37\n"),
        ] {
            std::fs::write(card.join(file), text).expect("written");
        }
        let load = Meter::open_below(devices.path(), "0000:03:00.0").read();
        let wanted =
            CardLoad { gpu_memory_used_mb: Some(1024), gpu_memory_total_mb: Some(16368), gpu_utilisation: Some(0.37) };
        assert_eq!(load, wanted);
        // A driver that reports less is no error.
        std::fs::remove_file(card.join("gpu_busy_percent")).expect("removed");
        let load = Meter::open_below(devices.path(), "0000:03:00.0").read();
        assert_eq!(load, CardLoad { gpu_utilisation: None, ..wanted });
    }

    #[test]
    fn a_software_adapter_tells_nothing() {
        assert_eq!(Meter::open("").read(), CardLoad::default());
    }
}
