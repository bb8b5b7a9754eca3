//! The script of an array, as text.
//!
//! Slurm sends SIGTERM to the shell before the task's time is over, and when it takes the node for another job. The
//! shell passes it on, the run saves itself and ends with 130, and the task asks to be queued again, unless the user is
//! cancelling it.

use std::path::Path;

use thiserror::Error;

use super::TimeLimit;

/// What a task is given, and how many tasks run at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resources {
    /// Where in the cluster.
    pub partition: Option<String>,
    /// For how long.
    pub time: Option<TimeLimit>,
    /// Graphics cards of each task.
    pub gpus: Option<u16>,
    /// Processors of each task.
    pub cpus: Option<u16>,
    /// Of each task, as Slurm writes it: `8G`.
    pub memory: Option<String>,
    /// Tasks at a time.
    pub max_running: Option<u32>,
    /// Seconds before the end of the time at which a run is asked to stop.
    pub warning: u32,
    /// More of what `sbatch` takes.
    pub extra: Vec<String>,
}

/// Why a script cannot be written.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ScriptError {
    /// It has a line break or another control character.
    #[error("{0:?} cannot be written into a script: it has control characters")]
    Control(String),
    /// It would break the array, or hide it from `grid status`.
    #[error("`{0}` is set by this program and cannot be given")]
    Ours(String),
    /// The task would be asked to stop as soon as it has started.
    #[error(
        "a time limit of {time} is too short for a warning {warning} seconds before its end: Slurm may send the warning \
         30 seconds early"
    )]
    TooShort {
        /// The limit.
        time: String,
        /// In seconds.
        warning: u32,
    },
}

/// What a script needs. Paths are absolute.
#[derive(Clone, Debug)]
pub struct Script<'a> {
    /// Of the job.
    pub name: &'a str,
    /// This program.
    pub program: &'a Path,
    /// Where the grid is submitted: relative paths in its settings begin there.
    pub from: &'a Path,
    /// The grid's directory.
    pub grid: &'a Path,
    /// Where the outputs of tasks go.
    pub logs: &'a Path,
    /// The list of runs.
    pub manifest: &'a Path,
    /// The runs of each task, by their numbers in the manifest.
    pub tasks: &'a [Vec<usize>],
    /// What each task is given.
    pub resources: &'a Resources,
}

/// The script's part that is the same for every grid.
const BODY: &str = include_str!("body.sh");

/// Options of `sbatch` that would break the array, or hide it from `grid status`.
const OURS: [&str; 6] = ["--array", "-a", "--job-name", "-J", "--wrap", "--parsable"];

impl Script<'_> {
    /// The text.
    ///
    /// # Errors
    /// As [`Resources::check`], or something has control characters.
    pub fn text(&self) -> Result<String, ScriptError> {
        self.resources.check()?;
        let runs: usize = self.tasks.iter().map(Vec::len).sum();
        let mut text = format!(
            "#!/bin/bash\n# Made by `rehearsal grid submit`: {runs} runs of a grid in {} tasks of an array.\n\
             # Can be submitted again by hand, with sbatch: runs that are finished are skipped.\n",
            self.tasks.len()
        );
        for option in self.options()? {
            text += &format!("#SBATCH {option}\n");
        }
        text += "\n";
        for (name, path) in [("program", self.program), ("manifest", self.manifest), ("grid", self.grid)] {
            text += &format!("{name}={}\n", for_shell(&shown(path)?));
        }
        text += "# The runs of each task, by their numbers in the manifest.\nruns=(\n";
        for task in self.tasks {
            let numbers: Vec<String> = task.iter().map(usize::to_string).collect();
            text += &format!("  '{}'\n", numbers.join(" "));
        }
        Ok(text + ")\n\n" + BODY)
    }

    /// What `sbatch` reads, one option a line but for those of the user.
    fn options(&self) -> Result<Vec<String>, ScriptError> {
        let Resources { partition, time, gpus, cpus, memory, max_running, warning, extra } = self.resources;
        let at_a_time = max_running.map(|most| format!("%{most}")).unwrap_or_default();
        // A percent sign stands for something in the names of outputs.
        let output = format!("{}/slurm-%A_%a.out", shown(self.logs)?.replace('%', "%%"));
        let mut options = vec![
            format!("--job-name={}", self.name),
            format!("--array=0-{}{at_a_time}", self.tasks.len().saturating_sub(1)),
            "--nodes=1".into(),
            "--ntasks=1".into(),
            format!("--signal=B:TERM@{warning}"),
            "--requeue".into(),
            format!("--chdir={}", for_sbatch(&shown(self.from)?)),
            format!("--output={}", for_sbatch(&output)),
            "--open-mode=append".into(),
        ];
        let mut add = |name: &str, value: Option<String>| options.extend(value.map(|value| format!("{name}={value}")));
        add("--partition", partition.as_deref().map(plain).transpose()?.map(|text| for_sbatch(&text)));
        add("--time", time.as_ref().map(ToString::to_string));
        add("--gpus", gpus.map(|count| count.to_string()));
        add("--cpus-per-task", cpus.map(|count| count.to_string()));
        add("--mem", memory.as_deref().map(plain).transpose()?.map(|text| for_sbatch(&text)));
        if !extra.is_empty() {
            let extra: Result<Vec<String>, ScriptError> =
                extra.iter().map(|option| plain(option).map(|option| for_sbatch(&option))).collect();
            options.push(extra?.join(" "));
        }
        Ok(options)
    }
}

impl Resources {
    /// Checks options and time.
    ///
    /// # Errors
    /// An option that this program sets, or a time limit that is too short.
    pub fn check(&self) -> Result<(), ScriptError> {
        let name = |option: &str| option.split('=').next().unwrap_or("").to_owned();
        let ours = |option: &&String| OURS.contains(&name(option).as_str());
        if let Some(option) = self.extra.iter().find(ours) {
            return Err(ScriptError::Ours(name(option)));
        }
        let time = self.time.as_ref().and_then(|time| Some((time, time.seconds()?)));
        match time {
            Some((time, seconds)) if seconds <= u64::from(self.warning) + 30 => {
                Err(ScriptError::TooShort { time: time.to_string(), warning: self.warning })
            }
            _ => Ok(()),
        }
    }
}

/// The name of the job of a grid in a directory: letters that `squeue --name` takes.
pub fn job_name(grid: &Path) -> String {
    let name = grid.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    format!("rehearsal-{}", name.chars().map(|c| if is_plain(c) { c } else { '-' }).collect::<String>())
}

fn shown(path: &Path) -> Result<String, ScriptError> {
    match path.to_str() {
        Some(text) => plain(text),
        None => Err(ScriptError::Control(path.to_string_lossy().into_owned())),
    }
}

fn plain(text: &str) -> Result<String, ScriptError> {
    if text.chars().any(char::is_control) { Err(ScriptError::Control(text.into())) } else { Ok(text.into()) }
}

fn needs_no_quotes(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "-_./=:,@%+".contains(c))
}

/// As a word of `bash`.
fn for_shell(text: &str) -> String {
    if needs_no_quotes(text) { text.into() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// As a word of a line that `sbatch` reads.
fn for_sbatch(text: &str) -> String {
    if needs_no_quotes(text) { text.into() } else { format!("\"{}\"", text.replace('\\', r"\\").replace('"', r#"\""#)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resources() -> Resources {
        Resources {
            partition: None,
            time: None,
            gpus: None,
            cpus: None,
            memory: None,
            max_running: None,
            warning: 120,
            extra: Vec::new(),
        }
    }

    fn text(resources: &Resources, grid: &str) -> Result<String, ScriptError> {
        let grid = Path::new(grid);
        Script {
            name: &job_name(grid),
            program: Path::new("/home/me/.cargo/bin/rehearsal"),
            from: Path::new("/project/study"),
            grid,
            logs: &grid.join("logs"),
            manifest: &grid.join("slurm/1/manifest.jsonl"),
            tasks: &[vec![0, 1], vec![4]],
            resources,
        }
        .text()
    }

    #[test]
    fn a_script_reads_like_this() {
        let all = Resources {
            partition: Some("long".into()),
            time: Some("1-12".parse().unwrap()),
            gpus: Some(1),
            cpus: Some(4),
            memory: Some("8G".into()),
            max_running: Some(20),
            extra: ["-A", "vision", "--constraint=[a|b]"].map(str::to_owned).into(),
            ..resources()
        };
        let expected = "\
#!/bin/bash
# Made by `rehearsal grid submit`: 3 runs of a grid in 2 tasks of an array.
# Can be submitted again by hand, with sbatch: runs that are finished are skipped.
#SBATCH --job-name=rehearsal-table1
#SBATCH --array=0-1%20
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --signal=B:TERM@120
#SBATCH --requeue
#SBATCH --chdir=/project/study
#SBATCH --output=/project/study/runs/table1/logs/slurm-%A_%a.out
#SBATCH --open-mode=append
#SBATCH --partition=long
#SBATCH --time=1-12
#SBATCH --gpus=1
#SBATCH --cpus-per-task=4
#SBATCH --mem=8G
#SBATCH -A vision \"--constraint=[a|b]\"

program=/home/me/.cargo/bin/rehearsal
manifest=/project/study/runs/table1/slurm/1/manifest.jsonl
grid=/project/study/runs/table1
# The runs of each task, by their numbers in the manifest.
runs=(
  '0 1'
  '4'
)

";
        let script = text(&all, "/project/study/runs/table1").unwrap();
        assert_eq!(script, expected.to_owned() + BODY);
        let little = text(&resources(), "/project/study/runs/table1").unwrap();
        assert!(little.contains("--array=0-1\n") && !little.contains("--mem") && !little.contains("--time"));
    }

    #[test]
    fn names_with_odd_characters_stay_one_word() {
        let odd = text(&resources(), "/project/it's 5% of $HOME").unwrap();
        assert!(odd.contains("--job-name=rehearsal-it-s-5--of--HOME\n"), "{odd}");
        assert!(odd.contains("--output=\"/project/it's 5%% of $HOME/logs/slurm-%A_%a.out\"\n"), "{odd}");
        assert_eq!(for_sbatch(r#"a "b" \c"#), r#""a \"b\" \\c""#);
        assert!(odd.contains(r"grid='/project/it'\''s 5% of $HOME'"), "{odd}");
        assert!(matches!(text(&resources(), "/project/two\nlines"), Err(ScriptError::Control(_))));
    }

    #[test]
    fn wrong_options_are_refused() {
        for option in ["--array=0-7", "-a", "--job-name=mine", "-J"] {
            let extra = vec!["--qos=high".to_owned(), option.to_owned()];
            let refused = text(&Resources { extra, ..resources() }, "/g").unwrap_err().to_string();
            assert!(refused.contains("is set by this program and cannot be given"), "{refused}");
        }
        let with = |time: &str, warning| Resources { time: Some(time.parse().unwrap()), warning, ..resources() };
        assert!(text(&with("2", 120), "/g").unwrap_err().to_string().starts_with("a time limit of 2 is too short"));
        assert!(text(&with("2", 60), "/g").is_ok() && text(&with("unlimited", 120), "/g").is_ok());
    }
}
