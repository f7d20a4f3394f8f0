//! Adapter and device. A CPU adapter (Mesa's lavapipe) is fully supported: it is slower, and gives
//! the same images.

use std::fmt;
use std::sync::{Arc, Mutex};

#[derive(Debug, thiserror::Error)]
pub enum GpuError {
    #[error(
        "no Vulkan device found; install a GPU driver with Vulkan, or Mesa's software one (Debian: apt install mesa-vulkan-drivers libvulkan1)"
    )]
    NoDevice,
    #[error("CYCLORAMA_NODE_ADAPTER is `{wanted}`, and no Vulkan device is that; there is {}", listed(.found))]
    NoAdapter { wanted: AdapterChoice, found: Vec<Adapter> },
    #[error("CYCLORAMA_NODE_ADAPTER is `all`, and no Vulkan device is a GPU; there is {}", listed(.found))]
    NoGpu { found: Vec<Adapter> },
    #[error("the Vulkan device `{adapter}` lacks {what}")]
    TooSmall { adapter: String, what: String },
    #[error("the Vulkan device `{adapter}` refused to open")]
    Refused {
        adapter: String,
        #[source]
        source: wgpu::RequestDeviceError,
    },
    #[error("graphics memory ran out during {during}")]
    OutOfMemory { during: &'static str },
    #[error("the graphics device was lost during {during}: {reason}")]
    Lost { during: &'static str, reason: String },
    #[error("the graphics device rejected {during}: {detail}")]
    Rejected { during: &'static str, detail: String },
}

/// The adapter to open. Displayed as written in settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum AdapterChoice {
    /// A discrete GPU before an integrated one before a CPU.
    #[default]
    Best,
    /// The best adapter that is a GPU.
    Gpu,
    /// The software adapter, for tests that must give the same image everywhere.
    Cpu,
    /// The card at this position on the PCI bus, as Linux writes it: `0000:01:00.0`.
    BusId(String),
    /// The first adapter whose name contains this text, ASCII case ignored.
    Named(String),
}

impl AdapterChoice {
    /// Returns the index of the chosen adapter among `adapters`, which must be sorted with the best
    /// first.
    pub fn place_among(&self, adapters: &[Adapter]) -> Result<usize, GpuError> {
        let place = adapters.iter().position(|adapter| match self {
            AdapterChoice::Best => true,
            AdapterChoice::Gpu => adapter.is_gpu(),
            AdapterChoice::Cpu => adapter.is_software(),
            AdapterChoice::BusId(id) => adapter.pci_bus_id.eq_ignore_ascii_case(id),
            AdapterChoice::Named(part) => adapter.name.to_ascii_lowercase().contains(&part.to_ascii_lowercase()),
        });
        let found = || adapters.to_vec();
        place.ok_or_else(|| match self {
            _ if adapters.is_empty() => GpuError::NoDevice,
            AdapterChoice::Gpu => GpuError::NoGpu { found: found() },
            wanted => GpuError::NoAdapter { wanted: wanted.clone(), found: found() },
        })
    }
}

impl fmt::Display for AdapterChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AdapterChoice::Best => "best",
            AdapterChoice::Gpu => "all",
            AdapterChoice::Cpu => "cpu",
            AdapterChoice::BusId(text) | AdapterChoice::Named(text) => text,
        })
    }
}

/// Description of an adapter by its driver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adapter {
    pub name: String,
    /// PCI bus id of the card (`0000:01:00.0`); empty for a software adapter, and if the driver
    /// does not report it.
    pub pci_bus_id: String,
    pub kind: wgpu::DeviceType,
    /// PCI vendor id of the manufacturer.
    pub vendor: u32,
}

impl Adapter {
    fn of(adapter: &wgpu::Adapter) -> Self {
        let info = adapter.get_info();
        Self { name: info.name, pci_bus_id: info.device_pci_bus_id, kind: info.device_type, vendor: info.vendor }
    }

    pub fn is_gpu(&self) -> bool {
        use wgpu::DeviceType::{DiscreteGpu, IntegratedGpu, VirtualGpu};
        matches!(self.kind, DiscreteGpu | VirtualGpu | IntegratedGpu)
    }

    pub fn is_software(&self) -> bool {
        self.kind == wgpu::DeviceType::Cpu
    }
}

impl fmt::Display for Adapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pci_bus_id.as_str() {
            "" => f.write_str(&self.name),
            bus_id => write!(f, "{} ({bus_id})", self.name),
        }
    }
}

fn listed(adapters: &[Adapter]) -> String {
    match adapters {
        [] => "none".to_owned(),
        some => some.iter().map(Adapter::to_string).collect::<Vec<_>>().join(", "),
    }
}

/// Returns every adapter of this machine, the best first, without opening any.
pub fn adapters() -> Vec<Adapter> {
    enumerate().iter().map(Adapter::of).collect()
}

fn enumerate() -> Vec<wgpu::Adapter> {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = wgpu::Backends::VULKAN;
    // Validation layers are a developer's tool and are often not installed; naga has checked the
    // shaders already.
    descriptor.flags = wgpu::InstanceFlags::empty();
    let instance = wgpu::Instance::new(descriptor);
    let mut adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::VULKAN));
    adapters.sort_by_key(|adapter| rank(adapter.get_info().device_type));
    adapters
}

/// Class of the device's limits. The studio needs `Basic`; more only makes it faster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tier {
    /// WebGPU's guaranteed limits: 2048 px targets, several passes.
    Basic,
    /// 4096 px targets and 64 bytes per sample fit.
    Large,
}

/// An open device and its queue. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Gpu {
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
    /// Name as the driver gives it.
    pub name: String,
    /// `vulkan`, with a note if it is a CPU adapter. Shown in health and receipts.
    pub backend: String,
    pub is_cpu: bool,
    /// PCI bus id of the card (`0000:01:00.0`); empty for a software adapter.
    pub pci_bus_id: String,
    pub tier: Tier,
    lost: Arc<Mutex<Option<String>>>,
}

impl Gpu {
    /// Opens a Vulkan device. Blocks while the driver starts, for tenths of a second.
    pub fn open(choice: &AdapterChoice) -> Result<Gpu, GpuError> {
        let mut adapters = enumerate();
        let found: Vec<Adapter> = adapters.iter().map(Adapter::of).collect();
        let place = choice.place_among(&found)?;
        let adapter = adapters.swap_remove(place);
        let info = adapter.get_info();
        let available = adapter.limits();
        let tier =
            if available.max_texture_dimension_2d >= 4096 && available.max_color_attachment_bytes_per_sample >= 64 {
                Tier::Large
            } else {
                Tier::Basic
            };
        // The layers of one image take 48 bytes per pixel in one buffer.
        let mut limits = wgpu::Limits::default();
        limits.max_buffer_size = limits.max_buffer_size.min(available.max_buffer_size);
        if available.max_texture_dimension_3d < 256 {
            return Err(GpuError::TooSmall { adapter: info.name, what: "3D textures of 256 texels".to_owned() });
        }
        limits.max_texture_dimension_3d = limits.max_texture_dimension_3d.min(available.max_texture_dimension_3d);
        let request = adapter.request_device(&wgpu::DeviceDescriptor {
            label: Some("cyclorama studio"),
            required_features: wgpu::Features::PRIMITIVE_INDEX | adapter.features() & wanted_features(&info),
            required_limits: limits,
            ..Default::default()
        });
        let (device, queue) =
            pollster::block_on(request).map_err(|source| GpuError::Refused { adapter: info.name.clone(), source })?;
        let lost = Arc::new(Mutex::new(None));
        let note = lost.clone();
        device.set_device_lost_callback(move |reason, message| {
            if let Ok(mut lost) = note.lock() {
                lost.get_or_insert(format!("{reason:?} {message}"));
            }
        });
        // Errors outside a scope would otherwise panic; every frame also checks its own scope (see
        // `guarded`).
        let note = lost.clone();
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            tracing::error!(%error, "graphics device error outside a frame");
            if let Ok(mut lost) = note.lock() {
                lost.get_or_insert(error.to_string());
            }
        }));
        let is_cpu = info.device_type == wgpu::DeviceType::Cpu;
        let backend = if is_cpu { "vulkan (cpu)".to_owned() } else { "vulkan".to_owned() };
        Ok(Gpu { device, queue, name: info.name, backend, is_cpu, pci_bus_id: info.device_pci_bus_id, tier, lost })
    }

    /// Returns the usage of a buffer that is read back. A software adapter's memory is ordinary
    /// memory, so it is mapped where it is, without a copy.
    pub fn readable(&self) -> wgpu::BufferUsages {
        if self.maps_buffers() { wgpu::BufferUsages::MAP_READ } else { wgpu::BufferUsages::COPY_SRC }
    }

    /// Returns the additional usage of a buffer that is filled when it is created. On a software
    /// adapter it is mapped for writing.
    pub fn fillable(&self) -> wgpu::BufferUsages {
        if self.maps_buffers() { wgpu::BufferUsages::MAP_WRITE } else { wgpu::BufferUsages::empty() }
    }

    fn maps_buffers(&self) -> bool {
        self.device.features().contains(wgpu::Features::MAPPABLE_PRIMARY_BUFFERS)
    }

    /// Runs `work`, which records and submits commands, and returns the error that the device
    /// reports about it, if any.
    pub fn guarded<T>(&self, during: &'static str, work: impl FnOnce() -> Result<T, GpuError>) -> Result<T, GpuError> {
        self.check_lost(during)?;
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let validation = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let internal = self.device.push_error_scope(wgpu::ErrorFilter::Internal);
        let result = work();
        let problems = [internal.pop(), validation.pop()].map(pollster::block_on);
        if pollster::block_on(memory.pop()).is_some() {
            return Err(GpuError::OutOfMemory { during });
        }
        self.check_lost(during)?;
        if let Some(problem) = problems.into_iter().flatten().next() {
            return Err(GpuError::Rejected { during, detail: problem.to_string() });
        }
        result
    }

    /// Waits for everything submitted so far.
    pub fn wait(&self, during: &'static str) -> Result<(), GpuError> {
        self.poll(wgpu::PollType::wait_indefinitely(), during)
    }

    /// Waits for a submission and for those before it.
    pub fn wait_for(&self, submission: wgpu::SubmissionIndex, during: &'static str) -> Result<(), GpuError> {
        self.poll(wgpu::PollType::Wait { submission_index: Some(submission), timeout: None }, during)
    }

    fn poll(&self, until: wgpu::PollType, during: &'static str) -> Result<(), GpuError> {
        match self.device.poll(until) {
            Ok(_) => self.check_lost(during),
            Err(error) => Err(GpuError::Lost { during, reason: error.to_string() }),
        }
    }

    fn check_lost(&self, during: &'static str) -> Result<(), GpuError> {
        match self.lost.lock().ok().and_then(|lost| lost.clone()) {
            Some(reason) => Err(GpuError::Lost { during, reason }),
            None => Ok(()),
        }
    }
}

/// Returns the optional features to enable where they exist. Buffers that shaders use and that are
/// mapped at the same time would be slow on a card with memory of its own.
fn wanted_features(info: &wgpu::AdapterInfo) -> wgpu::Features {
    match info.device_type {
        wgpu::DeviceType::Cpu => wgpu::Features::MAPPABLE_PRIMARY_BUFFERS,
        _ => wgpu::Features::empty(),
    }
}

/// Returns the rank of a device type; lower is better.
fn rank(kind: wgpu::DeviceType) -> u8 {
    match kind {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::VirtualGpu => 1,
        wgpu::DeviceType::IntegratedGpu => 2,
        wgpu::DeviceType::Other => 3,
        wgpu::DeviceType::Cpu => 4,
    }
}
