//! Watches memory before it runs out: how much of it is in use, and whether that is above the
//! operator's mark. The engine decides what to do about it; `memory_recovery` covers the case that
//! memory has run out.
//!
//! Memory in use is the highest ratio among the graphics card's memory, where its driver reports
//! it, the machine's memory, and that of the control group of this process. All count because the
//! device that draws and the one that runs models may differ.
//!
//! Why: `docs/decisions/nodes-and-protocol.md` (Memory that is nearly full: the watermark).

use crate::gpu::Meter;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Percentage points below the mark at which the state is left again, so that one job more or less
/// does not cross it back and forth. For a mark below twice this value, the state is left at half
/// the mark, because usage never falls below zero.
const LEFT_BELOW: f64 = 5.0;

/// Watches memory. Shared by the workers of an engine.
pub struct Watermark {
    percent: u8,
    meter: Arc<Meter>,
    /// Root of the file system in which the kernel reports memory.
    root: PathBuf,
    is_crossed: AtomicBool,
}

impl Watermark {
    pub fn new(percent: u8, meter: Arc<Meter>) -> Self {
        Self { percent, meter, root: PathBuf::from("/"), is_crossed: AtomicBool::new(false) }
    }

    /// Returns true if more memory is in use than the mark allows. Logs when that changes.
    pub fn is_crossed(&self) -> bool {
        let Some(used) = self.used_percent() else { return false };
        let mark = f64::from(self.percent);
        let before = self.is_crossed.load(Ordering::Relaxed);
        let now = used > if before { (mark - LEFT_BELOW).max(mark / 2.0) } else { mark };
        // Another worker may have seen the change first and logged it.
        if self.is_crossed.swap(now, Ordering::Relaxed) != now {
            let used = used.round();
            match now {
                true => {
                    tracing::warn!(used, mark, "memory in use passed the watermark: one job at a time from now on")
                }
                false => tracing::info!(used, mark, "memory in use fell below the watermark"),
            }
        }
        now
    }

    /// Returns the percentage of memory in use, or `None` if no source reports it.
    fn used_percent(&self) -> Option<f64> {
        let load = self.meter.read();
        let of_card = match (load.gpu_memory_used_mb, load.gpu_memory_total_mb) {
            (Some(used), Some(total)) if total > 0 => Some(used as f64 / total as f64),
            _ => None,
        };
        let ratio = of_card.into_iter().chain(used_ratio(&self.root)).reduce(f64::max);
        ratio.map(|ratio| ratio * 100.0)
    }
}

/// Returns the used ratio of the machine's memory or of what a control group allows of it,
/// whichever is higher, 0 to 1.
fn used_ratio(root: &Path) -> Option<f64> {
    machine_ratio(root).into_iter().chain(group_ratios(root)).reduce(f64::max)
}

fn machine_ratio(root: &Path) -> Option<f64> {
    let text = std::fs::read_to_string(root.join("proc/meminfo")).ok()?;
    let total = field(&text, "MemTotal:")?;
    let available = field(&text, "MemAvailable:")?;
    (total > 0).then(|| total.saturating_sub(available) as f64 / total as f64)
}

/// Returns the used ratio of each control group with a limit that contains this process: its own
/// and the groups around it, of version 2 and of version 1, either of which may limit memory. In a
/// container the path may be that of the machine outside; then only the root group is found.
fn group_ratios(root: &Path) -> Vec<f64> {
    let groups = root.join("sys/fs/cgroup");
    let text = std::fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let path_of = |has_memory: fn(&str, &str) -> bool| {
        let mut lines = text.lines().filter_map(|line| {
            let (hierarchy, rest) = line.split_once(':')?;
            let (controllers, path) = rest.split_once(':')?;
            has_memory(hierarchy, controllers).then_some(path)
        });
        Path::new(lines.next().unwrap_or("/").trim_start_matches('/'))
    };
    let second = path_of(|hierarchy, _| hierarchy == "0").ancestors();
    let first = path_of(|_, controllers| controllers.split(',').any(|one| one == "memory")).ancestors();
    let second = second.filter_map(|group| group_ratio(&groups.join(group), &VERSION_2));
    let first = first.filter_map(|group| group_ratio(&groups.join("memory").join(group), &VERSION_1));
    second.chain(first).collect()
}

/// Names of the files of a control group.
struct Files {
    limit: &'static str,
    current: &'static str,
    /// Name of a field of `memory.stat` that includes the groups inside.
    inactive_file: &'static str,
}

const VERSION_2: Files = Files { limit: "memory.max", current: "memory.current", inactive_file: "inactive_file" };
const VERSION_1: Files =
    Files { limit: "memory.limit_in_bytes", current: "memory.usage_in_bytes", inactive_file: "total_inactive_file" };

fn group_ratio(group: &Path, files: &Files) -> Option<f64> {
    let read = |file: &str| std::fs::read_to_string(group.join(file)).ok();
    // Without a limit, version 2 says `max`, and version 1 gives a number so high that no usage
    // comes near it.
    let limit: u64 = read(files.limit)?.trim().parse().ok()?;
    let current: u64 = read(files.current)?.trim().parse().ok()?;
    // Pages of files that were read once count as current, but are reclaimed before memory runs
    // out.
    let unneeded = read("memory.stat").and_then(|stat| field(&stat, files.inactive_file)).unwrap_or(0);
    (limit > 0).then(|| current.saturating_sub(unneeded) as f64 / limit as f64)
}

/// Returns the number after a name at the beginning of a line.
fn field(text: &str, name: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name).filter(|rest| rest.starts_with(' ')))?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMINFO: (&str, &str) = ("proc/meminfo", "MemTotal:    1000 kB\nMemFree:   100 kB\nMemAvailable:   400 kB\n");

    fn root(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a folder");
        for (file, text) in files {
            let path = root.path().join(file);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            std::fs::write(path, text).expect("written");
        }
        root
    }

    #[test]
    fn the_fuller_of_machine_and_control_group_counts() {
        let own = ("proc/self/cgroup", "0::/system.slice/node.service\n");
        let max = "sys/fs/cgroup/system.slice/node.service/memory.max";
        let current = "sys/fs/cgroup/system.slice/node.service/memory.current";
        let stat = "sys/fs/cgroup/system.slice/node.service/memory.stat";
        let (around_max, around) =
            ("sys/fs/cgroup/system.slice/memory.max", "sys/fs/cgroup/system.slice/memory.current");
        let (root_max, root_current) = ("sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory.current");
        // A hierarchy of the second version without memory exists beside it.
        let first = ("proc/self/cgroup", "5:cpu,cpuacct:/\n4:hugetlb,memory:/node\n0::/node\n");
        let first_limit = "sys/fs/cgroup/memory/node/memory.limit_in_bytes";
        let first_usage = "sys/fs/cgroup/memory/node/memory.usage_in_bytes";
        let first_stat = "sys/fs/cgroup/memory/node/memory.stat";
        for (what, files, expected) in [
            ("nothing tells", &[][..], None),
            ("the machine alone", &[MEMINFO], Some(0.6)),
            ("a group without a limit", &[MEMINFO, own, (max, "max\n"), (current, "900\n")], Some(0.6)),
            ("a fuller group", &[MEMINFO, own, (max, "1000\n"), (current, "900\n")], Some(0.9)),
            ("an emptier group", &[MEMINFO, own, (max, "1000\n"), (current, "200\n")], Some(0.6)),
            (
                "files that were read",
                &[MEMINFO, own, (max, "1000\n"), (current, "900\n"), (stat, "anon 600\ninactive_file 200\n")],
                Some(0.7),
            ),
            ("a group around it", &[MEMINFO, own, (around_max, "100\n"), (around, "80\n")], Some(0.8)),
            (
                "a container",
                &[MEMINFO, ("proc/self/cgroup", "0::/\n"), (root_max, "10\n"), (root_current, "9\n")],
                Some(0.9),
            ),
            ("a path from outside", &[MEMINFO, own, (root_max, "100\n"), (root_current, "70\n")], Some(0.7)),
            ("version 1 without files", &[MEMINFO, first], Some(0.6)),
            ("version 1", &[MEMINFO, first, (first_limit, "1000\n"), (first_usage, "900\n")], Some(0.9)),
            (
                "version 1, files that were read",
                &[
                    MEMINFO,
                    first,
                    (first_limit, "1000\n"),
                    (first_usage, "900\n"),
                    (first_stat, "inactive_file 1\ntotal_inactive_file 200\n"),
                ],
                Some(0.7),
            ),
            (
                "version 1 without a limit",
                &[MEMINFO, first, (first_limit, "9223372036854771712\n"), (first_usage, "900\n")],
                Some(0.6),
            ),
            (
                "version 1, a container",
                &[
                    MEMINFO,
                    first,
                    ("sys/fs/cgroup/memory/memory.limit_in_bytes", "10\n"),
                    ("sys/fs/cgroup/memory/memory.usage_in_bytes", "9\n"),
                ],
                Some(0.9),
            ),
            ("unreadable", &[("proc/meminfo", "MemTotal: many kB\n")], None),
        ] {
            let found = used_ratio(root(files).path());
            let is_near = |(a, b): (f64, f64)| (a - b).abs() < 1e-9;
            assert!(found.zip(expected).map_or(found == expected, is_near), "{what}: {found:?}");
        }
    }

    /// Returns what `watermark` reports while these percentages of the machine's memory are in use,
    /// one after the other.
    fn seen(mut watermark: Watermark, used: &[u32]) -> Vec<bool> {
        let folder = root(&[MEMINFO]);
        watermark.root = folder.path().to_path_buf();
        let at = |used: &u32| {
            let text = format!("MemTotal: 100 kB\nMemAvailable: {} kB\n", 100 - used);
            std::fs::write(folder.path().join("proc/meminfo"), text).expect("written");
            watermark.is_crossed()
        };
        used.iter().map(at).collect()
    }

    #[test]
    fn the_mark_is_crossed_above_and_left_well_below() {
        for (mark, used, expected) in [
            (80, &[60, 80, 81, 78, 76, 74, 78, 81][..], &[false, false, true, true, true, false, false, true][..]),
            // However low the mark is, the state can be left again.
            (5, &[5, 6, 4, 3, 2, 4], &[false, true, true, true, false, false]),
            (1, &[1, 2, 1, 0], &[false, true, true, false]),
        ] {
            assert_eq!(seen(Watermark::new(mark, Arc::new(Meter::open(""))), used), expected, "{mark} %");
        }
    }

    #[test]
    fn the_fuller_of_card_and_machine_counts() {
        for (used_mb, expected) in [(10, [false, true, false]), (90, [true, true, true])] {
            let card = tempfile::tempdir().expect("a folder");
            let files = [("mem_info_vram_total", 100_u64 << 20), ("mem_info_vram_used", used_mb << 20)];
            for (file, bytes) in files {
                std::fs::write(card.path().join(file), bytes.to_string()).expect("written");
            }
            let meter = Meter::Amd { folder: card.path().to_path_buf() };
            assert_eq!(seen(Watermark::new(80, Arc::new(meter)), &[60, 81, 60]), expected, "{used_mb} MB of the card");
        }
    }
}
