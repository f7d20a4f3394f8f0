//! Measures the memory of this process.

/// Returns the resident memory of this process in megabytes, or `None` if the system does not
/// report it.
pub fn resident_mb() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kilobytes: u64 =
        status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes / 1024)
}
