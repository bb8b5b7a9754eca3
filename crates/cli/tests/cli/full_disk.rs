//! A disk that is full while a grid runs: what went wrong is said, and stays said.

use std::{fs, process::Command};

/// Runs a script with a file system of `kilobytes` at `disk`, where the system lets us make one.
fn with_small_disk(place: &std::path::Path, kilobytes: usize, script: &str) -> Option<String> {
    let mount = format!("mkdir -p disk && mount -t tmpfs -o size={kilobytes}k none disk");
    let program = env!("CARGO_BIN_EXE_rehearsal");
    let can = Command::new("unshare").args(["-Urm", "sh", "-c", &mount]).current_dir(place).output();
    if !can.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: this system lets nobody mount a small file system (unshare -Urm, tmpfs)");
        return None;
    }
    let script = format!("{mount} && PATH=\"$(dirname {program}):$PATH\" && {{ {script}\n}} 2>&1");
    let output = Command::new("unshare").args(["-Urm", "sh", "-c", &script]).current_dir(place).output().unwrap();
    Some(String::from_utf8(output.stdout).unwrap())
}

const GRID: &str = "[fixed]\nclasses = 4\ntasks = 2\ntrain-per-class = 30\ntest-per-class = 10\nbackbone = 'tiny'\n\
                    width = 4\nmemory = 25\ncandidates = 12\n[axes]\nseed = [0, 1]\n";

#[test]
fn a_grid_on_a_full_disk_says_so_and_its_status_too() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("small.toml"), GRID).unwrap();
    // Kilobytes that are left: for nothing, for no settings, for no steps, for no checkpoint.
    for left in [0, 8, 12, 24] {
        let script = format!(
            "head -c {}k /dev/zero > disk/filler\n\
             rehearsal grid small.toml --out disk/grid --jobs 1; echo \"exit $?\"\n\
             rehearsal grid status small.toml --out disk/grid\n\
             rm disk/filler; mount -o remount,size=20m disk\n\
             rehearsal grid small.toml --out disk/grid --jobs 1; echo \"then $?\"",
            200 - left
        );
        let Some(said) = with_small_disk(place.path(), 200, &script) else { return };
        let states: Vec<&str> = said.lines().filter(|line| line.starts_with("   0 ")).collect();
        assert!(said.contains("No space left on device"), "{left} kB: {said}");
        if left == 0 {
            assert!(said.contains("exit 1") && states == ["   0 left     seed0"], "nothing was begun: {said}");
        } else {
            assert!(said.contains("exit 1"), "{left} kB: {said}");
            assert!(states[0].starts_with("   0 failed   seed0 (disk/grid/seed0/"), "{left} kB: {said}");
            assert!(states[0].contains("cannot be written: No space left on device"), "{left} kB: {said}");
        }
        assert!(said.trim_end().ends_with("then 0"), "with room again the same command succeeds: {said}");
    }
}
