//! What runs and grids write, and what users write: results, diagnostics, names, manifests, grid
//! files.
#![no_main]

use rehearsal_grid::{Grid, read_manifest};
use rehearsal_runs::{Record, RunName, TaskDiagnostics, seal};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((which, text)) = bytes.split_first() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    match which % 6 {
        0 => drop(Record::parse(text)),
        1 => drop(TaskDiagnostics::parse(text)),
        2 => {
            if let Ok(name) = text.parse::<RunName>() {
                assert!(!name.to_string().contains(['/', '\0']) && name.to_string() != "..", "{name} leaves its directory");
            }
        }
        3 => {
            if let Ok(runs) = read_manifest(text) {
                assert!(runs.iter().all(|run| !run.name.to_string().contains('/')));
            }
        }
        4 => {
            if let Ok(grid) = Grid::parse(text) {
                let _ = grid.runs();
            }
        }
        _ => drop(seal::fingerprints(text)),
    }
});
