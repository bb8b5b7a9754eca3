//! What runs and grids write as text: results, diagnostics, lists of runs; and grid files.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rehearsal_grid::{Grid, manifest, read_manifest};
use rehearsal_runs::{Record, TaskDiagnostics, seal};

fuzz_target!(|text: &str| {
    let _ = Record::parse(text);
    let _ = TaskDiagnostics::parse(text);
    let _ = seal::fingerprints(text);
    if let Ok(runs) = read_manifest(text) {
        assert_eq!(read_manifest(&manifest(&runs)).as_ref(), Ok(&runs), "what is read is written alike");
    }
    // Combinations multiply: a short file may stand for very many runs.
    if text.len() < 400
        && let Ok(grid) = Grid::parse(text)
    {
        let _ = grid.runs();
    }
});
