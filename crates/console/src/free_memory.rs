//! How much memory this process may still take: what the machine has free, and what its control groups leave. And how many addresses.

use std::path::{Component, Path, PathBuf};

/// The files of a control group with memory, and the lines of its `memory.stat` with what it gives back before it runs out: files, used
/// lately or not.
struct GroupFiles {
    limit: &'static str,
    used: &'static str,
    reclaimable: [&'static str; 2],
}

const VERSION_1: GroupFiles = GroupFiles {
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    reclaimable: ["total_inactive_file", "total_active_file"],
};
const VERSION_2: GroupFiles =
    GroupFiles { limit: "memory.max", used: "memory.current", reclaimable: ["inactive_file", "active_file"] };

/// Bytes of addresses with which no program runs yet: its guest reserves 8.2 GiB.
pub const LEAST_ADDRESSES: u64 = 8 << 30;
/// What to do about a limit on addresses.
pub const ADDRESSES_HINT: &str =
    "`ulimit -v unlimited` lifts it: a guest reserves 8.2 GiB of addresses, and takes memory for what it writes";

/// Bytes of addresses that this process may have, by `ulimit -v`; `None` where nothing bounds them.
pub fn most_addresses() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::As).current
}

/// Bytes that are free on the machine and in every control group of this process; `None` where nothing is known.
pub fn free_memory() -> Option<u64> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok();
    let groups = groups.and_then(|groups| free_in_groups(&groups, Path::new("/sys/fs/cgroup")));
    [groups, free_on_machine()].into_iter().flatten().min()
}

/// Bytes that Linux can give without evicting anything.
fn free_on_machine() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemAvailable:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}

/// What the groups of `membership`, a text like `/proc/self/cgroup`, leave free, with the hierarchies mounted at `root`.
fn free_in_groups(membership: &str, root: &Path) -> Option<u64> {
    membership.lines().filter_map(|line| free_in_group(line, root)).min()
}

/// The same for one line: `0::/GROUP` of version 2, or `NUMBER:CONTROLLERS:/GROUP` of version 1. The limits of the groups above it hold too.
fn free_in_group(line: &str, root: &Path) -> Option<u64> {
    let mut parts = line.splitn(3, ':');
    let (number, controllers, group) = (parts.next()?, parts.next()?, parts.next()?);
    let (mount, files) = match controllers {
        "" if number == "0" => (root.to_owned(), VERSION_2),
        _ if controllers.split(',').any(|name| name == "memory") => (root.join("memory"), VERSION_1),
        _ => return None,
    };
    // A group outside of this namespace begins with `..`; one that is named from the host may not be there. What is mounted counts then.
    let names = Path::new(group).components().skip(1).take_while(|part| matches!(part, Component::Normal(_)));
    let group: PathBuf = names.collect();
    group.ancestors().filter_map(|group| free_in_folder(&mount.join(group), &files)).min()
}

/// What one group leaves free; `None` where it has no limit.
fn free_in_folder(folder: &Path, files: &GroupFiles) -> Option<u64> {
    let number = |name: &str| std::fs::read_to_string(folder.join(name)).ok()?.trim().parse::<u64>().ok();
    let used = number(files.used)?.saturating_sub(reclaimable(folder, files).unwrap_or(0));
    Some(number(files.limit)?.saturating_sub(used))
}

/// Bytes of files that the group has read, which can be read again.
fn reclaimable(folder: &Path, files: &GroupFiles) -> Option<u64> {
    let stat = std::fs::read_to_string(folder.join("memory.stat")).ok()?;
    let fields = stat.lines().filter_map(|line| line.split_once(' '));
    let bytes =
        fields.filter(|(name, _)| files.reclaimable.contains(name)).map(|(_, bytes)| bytes.trim().parse::<u64>());
    bytes.sum::<Result<u64, _>>().ok()
}

/// Bytes in GiB, for people.
pub fn gib(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))
}

/// Bytes as MiB, for people.
pub fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hierarchies with these files, a line each: the path, and behind a blank the text, with `;` for a line end.
    fn tree(files: &str) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a temporary directory");
        for (path, text) in files.lines().filter_map(|file| file.trim().split_once(' ')) {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().expect("it is in the root")).expect("it can be made");
            std::fs::write(path, text.replace(';', "\n") + "\n").expect("it can be written");
        }
        root
    }

    #[test]
    fn the_tightest_group_up_to_the_root_counts() {
        let root = tree(
            "memory.stat inactive_file 5
            a/memory.max 1000
            a/memory.current 900
            a/b/memory.max 500
            a/b/memory.current 100
            a/b/c/memory.max max
            a/b/c/memory.current 50
            other/memory.max 1
            other/memory.current 1",
        );
        let free = |group: &str| free_in_groups(&format!("0::{group}\n"), root.path());
        assert_eq!(["/a/b/c", "/a/b", "/a"].map(free), [Some(100); 3]);
        assert_eq!(["/", "/none", "/../other"].map(free), [None; 3]);
    }

    #[test]
    fn the_root_of_a_container_is_its_own_group_and_above_its_limit_nothing_is_free() {
        let root = tree(
            "memory.max 700
            memory.current 600
            memory.stat anon 1;inactive_file 200;active_file 300",
        );
        for group in ["/", "/named/by/the/host", "/../../other"] {
            assert_eq!(free_in_groups(&format!("0::{group}\n"), root.path()), Some(600), "{group}");
        }
        assert_eq!(free_in_groups("0::/\n", tree("memory.max 10\nmemory.current 20").path()), Some(0));
    }

    #[test]
    fn version_1_has_its_own_hierarchy_and_files() {
        let root = tree(
            "memory/memory.limit_in_bytes 9223372036854771712
            memory/memory.usage_in_bytes 5000
            memory/a/memory.limit_in_bytes 1000
            memory/a/memory.usage_in_bytes 2000
            memory/a/memory.stat inactive_file 1;total_inactive_file 1400
            cpu/a/memory.limit_in_bytes 1
            cpu/a/memory.usage_in_bytes 1",
        );
        let free = |membership: &str| free_in_groups(membership, root.path());
        assert_eq!(free("12:cpu,cpuacct:/a\n4:hugetlb,memory:/a\n1:name=systemd:/a\n0::/a\n"), Some(400));
        assert_eq!(free("4:memory:/none\n"), Some(9_223_372_036_854_771_712 - 5000));
        assert_eq!(["3:cpu:/a\n", "memory\n", ""].map(free), [None; 3]);
    }

    #[test]
    fn this_machine_reports_its_free_memory() {
        assert!(free_memory().is_some_and(|bytes| bytes > 1 << 20));
    }
}
