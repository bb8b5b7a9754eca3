//! Signals. The libraries leave them alone; this is for the program.

/// What is printed if a mapped file is truncated while it is read.
#[cfg(unix)]
const TRUNCATED: &[u8] = b"error: a file of the data set was truncated while it was read, or its disk failed\n\
    hint: restore the file, then continue from the last checkpoint (rehearsal run --resume)\n";

/// From now on the program ends with an error message and exit code 1 if a mapped file was truncated
/// while it is read (SIGBUS), and a file that may not grow (`ulimit -f`) is an error of the write
/// (SIGXFSZ is ignored).
#[cfg(unix)]
#[allow(unsafe_code, reason = "a handler that calls the one of the standard library would not return")]
pub fn handle() {
    extern "C" fn explain(_: libc::c_int) {
        // SAFETY: both may be called in a signal handler, the bytes live as long as the program, and
        // nothing of it runs after `_exit`.
        unsafe {
            libc::write(libc::STDERR_FILENO, TRUNCATED.as_ptr().cast(), TRUNCATED.len());
            libc::_exit(1)
        }
    }
    let handler: extern "C" fn(libc::c_int) = explain;
    // SAFETY: a zeroed `sigaction` has no flags and an empty mask; a handler of the type that goes
    // with the flags is set, which runs on the alternative stack if there is one. Ignoring a signal
    // runs nothing. If they cannot be set, the system ends the program without a message.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as libc::sighandler_t;
        action.sa_flags = libc::SA_ONSTACK;
        libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut());
    }
}

/// Does what starts to listen for requests to stop, and leaves a request ignored that the program was started to
/// ignore: `nohup` does that to SIGHUP, and a shell without job control to SIGINT of what it starts in the background.
#[cfg(unix)]
#[allow(unsafe_code, reason = "the standard library cannot ask what a signal does")]
pub fn unless_ignored<T>(listen: impl FnOnce() -> T) -> T {
    let is_ignored = |signal: &libc::c_int| {
        // SAFETY: nothing is changed, and the answer is written to memory of its type, zeroed, which is a valid one.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            libc::sigaction(*signal, std::ptr::null(), &raw mut action) == 0 && action.sa_sigaction == libc::SIG_IGN
        }
    };
    let ignored: Vec<libc::c_int> =
        [libc::SIGHUP, libc::SIGINT, libc::SIGTERM].into_iter().filter(is_ignored).collect();
    let listening = listen();
    for signal in ignored {
        // SAFETY: ignoring a signal runs nothing.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    listening
}

/// No program is started to ignore them.
#[cfg(not(unix))]
pub fn unless_ignored<T>(listen: impl FnOnce() -> T) -> T {
    listen()
}

/// There are no such signals.
#[cfg(not(unix))]
pub fn handle() {}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::{fs, process::Command};

    use rehearsal_data::{Dataset, Request, Split};

    /// Set in the child process of the test.
    const CHILD: &str = "REHEARSAL_TEST_TRUNCATED_PACK";

    /// An image that is kept, as a memory keeps it, is read after its pack was truncated.
    fn read_after_truncation() {
        super::handle();
        let place = tempfile::tempdir().unwrap();
        for number in 0..10 {
            let path = place.path().join(format!("photos/{}/{number}.png", number % 2));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            image::RgbImage::new(8, 8).save(path).unwrap();
        }
        let (photos, packs) = (place.path().join("photos"), place.path().join("packs"));
        let request = Request { directory: Some(&photos), packs: Some(&packs), ..Request::default() };
        let source = Dataset::Folder.open(&request).unwrap();
        let image = source.image(Split::Train, 0).unwrap();
        for pack in fs::read_dir(&packs).unwrap() {
            fs::File::options().write(true).open(pack.unwrap().path()).unwrap().set_len(0).unwrap();
        }
        println!("{}", image.iter().map(|&byte| u64::from(byte)).sum::<u64>());
    }

    #[test]
    fn reading_a_truncated_file_ends_with_a_message() {
        if std::env::var_os(CHILD).is_some() {
            return read_after_truncation();
        }
        let test = "signals::tests::reading_a_truncated_file_ends_with_a_message";
        let mut child = Command::new(std::env::current_exe().unwrap());
        let child = child.args(["--exact", test, "--nocapture"]).env(CHILD, "1").output().unwrap();
        let errors = String::from_utf8_lossy(&child.stderr);
        assert_eq!(child.status.code(), Some(1), "{:?} {errors}", child.status);
        assert!(errors.contains("error: a file of the data set was truncated while it was read"), "{errors}");
    }
}
