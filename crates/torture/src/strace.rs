//! strace, where it is installed: kills and errors at the n-th system call.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::Result;

use crate::program::Call;

/// The calls that make, read and change files.
const CALLS: &[&str] = &[
    "write",
    "pwrite64",
    "writev",
    "read",
    "pread64",
    "openat",
    "rename",
    "renameat",
    "renameat2",
    "fsync",
    "fdatasync",
    "ftruncate",
    "unlink",
    "unlinkat",
    "mkdir",
    "mkdirat",
    "flock",
    "fcntl",
    "lseek",
    "getdents64",
    "statx",
    "newfstatat",
    "close",
    "mmap",
];

/// How often an undisturbed process of a scene makes each call.
pub type Counts = BTreeMap<String, usize>;

/// Whether strace can be used here.
pub fn is_there() -> bool {
    let mut traced = Command::new("strace");
    traced.args(["-f", "--seccomp-bpf", "-o", "/dev/null", "-e", "trace=write", "true"]);
    traced.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    traced.status().is_ok_and(|status| status.success())
}

/// Counts the calls of an undisturbed process. strace counts those of each thread for itself: the
/// highest counts.
pub fn count(call: &Call, place: &Path) -> Result<Counts> {
    let log = place.with_added_extension("strace");
    let wrapper = ["strace", "-f", "--seccomp-bpf", "-o"].map(Into::into).into_iter();
    let wrapper =
        wrapper.chain([log.clone().into_os_string(), "-e".into(), format!("trace={}", CALLS.join(",")).into()]);
    call.clone().through(wrapper).run(place)?;
    let counts = counted(&String::from_utf8_lossy(&fs::read(&log)?));
    fs::remove_file(log)?;
    Ok(counts)
}

fn counted(log: &str) -> Counts {
    let mut each: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for line in log.lines() {
        let Some((thread, rest)) = line.split_once(' ') else { continue };
        let Some((name, _)) = rest.trim_start().split_once('(') else { continue };
        *each.entry((thread, name)).or_default() += 1;
    }
    let mut counts = Counts::new();
    for ((_, name), count) in each {
        let most = counts.entry(name.to_owned()).or_default();
        *most = (*most).max(count);
    }
    counts.retain(|name, _| CALLS.contains(&name.as_str()));
    counts
}

/// A call in which something happens at system calls: `injected` is what strace injects.
pub fn injected(call: Call, name: &str, injected: &str) -> Call {
    let (trace, inject) = (format!("trace={name}"), format!("inject={name}:{injected}"));
    call.through(["strace", "-f", "--seccomp-bpf", "-o", "/dev/null", "-e", &trace, "-e", &inject])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_by_thread() {
        let log = "7 write(1, \"x\", 1) = 1\n7 write(1, \"y\", 1) = 1\n8 write(2, \"z\", 1) = 1\n7 +++ exited with 0 +++\n\
                   8 <... read resumed>\n7 brk(NULL) = 0\n12  rename(\"a\", \"b\") = 0\n";
        assert_eq!(counted(log), [("rename".to_owned(), 1), ("write".to_owned(), 2)].into());
    }
}
