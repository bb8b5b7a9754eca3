//! strace: counts system calls, and makes the n-th one fail or kill.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::Result;

use crate::process::{Call, Exit};

const STRACE: [&str; 3] = ["strace", "-f", "--seccomp-bpf"];
/// The system calls that make, read and change files.
const FILE_CALLS: &str = "write,pwrite64,writev,read,pread64,openat,rename,renameat,renameat2,fsync,fdatasync,ftruncate,\
                          unlink,unlinkat,mkdir,mkdirat,flock,fcntl,lseek,getdents64,statx,newfstatat,close,mmap";

/// Whether strace is installed and may trace.
pub fn is_available() -> bool {
    let mut command = Command::new(STRACE[0]);
    command.args(&STRACE[1..]).args(["-o", "/dev/null", "-e", "trace=write", "true"]);
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// Runs a command and gives the log of some of its system calls.
pub fn log(call: Call, directory: &Path, system_calls: &str, options: &[&str]) -> Result<(Exit, String)> {
    let path = directory.with_added_extension("strace");
    let (file, trace) = (path.to_string_lossy(), format!("trace={system_calls}"));
    let exit = call.through(&[&STRACE, options, &["-o", &file, "-e", &trace]].concat()).run(directory)?;
    let log = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
    fs::remove_file(path)?;
    Ok((exit, log))
}

/// Counts the system calls of an undisturbed command.
pub fn count(call: Call, directory: &Path) -> Result<BTreeMap<String, usize>> {
    Ok(counted(&log(call, directory, FILE_CALLS, &[])?.1))
}

/// The highest count of a thread, because strace counts those of each thread separately.
fn counted(log: &str) -> BTreeMap<String, usize> {
    let (mut by_thread, mut highest) = (BTreeMap::new(), BTreeMap::new());
    for (thread, call) in log.lines().filter_map(|line| line.split_once(' ')) {
        let name = call.trim_start().split_once('(').map_or("", |(name, _)| name);
        if FILE_CALLS.split(',').any(|call| call == name) {
            let count: &mut usize = by_thread.entry((thread, name)).or_default();
            *count += 1;
            let most: &mut usize = highest.entry(name.to_owned()).or_default();
            *most = (*count).max(*most);
        }
    }
    highest
}

/// A command in which something happens at a system call.
pub fn inject(call: Call, system_call: &str, what: &str) -> Call {
    let (trace, inject) = (format!("trace={system_call}"), format!("inject={system_call}:{what}"));
    call.through(&[&STRACE[..], &["-o", "/dev/null", "-e", &trace, "-e", &inject]].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_calls_are_counted_by_thread() {
        let log = "7 write(1, \"x\", 1) = 1\n7 write(1, \"y\", 1) = 1\n8 write(2, \"z\", 1) = 1\n7 +++ exited with 0 +++\n\
                   8 <... read resumed>\n7 brk(NULL) = 0\n12  rename(\"a\", \"b\") = 0\n";
        assert_eq!(counted(log), [("rename".to_owned(), 1), ("write".to_owned(), 2)].into());
    }
}
