//! The files in `experiments/` are grids of the size that their README says.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::Path;

use rehearsal_grid::Grid;

#[test]
fn every_experiment_is_a_grid_of_its_size() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    let mut files: Vec<_> = std::fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
    let mut sizes: Vec<(String, usize)> = files
        .iter()
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let grid =
                Grid::parse(&std::fs::read_to_string(path).unwrap()).unwrap_or_else(|error| panic!("{name}: {error}"));
            let runs = grid.runs().unwrap_or_else(|error| panic!("{name}: {error}")).len();
            (name, runs)
        })
        .collect();
    sizes.sort();
    let expected = [
        ("diagnostics", 4 * 2 * 5),
        ("diagnostics-cpu", 4 * 3),
        ("features-cifar100", 3 * 10 * 2 * 2),
        ("features-embedded", 9 * 10),
        ("features-more", 11 * 3),
        ("features-references", 4 * 3),
        ("online-cifar100", 8 * 2 * 5),
        ("randumb-cifar100", 4 * 3),
        ("retrievals", 7 * 2 * 5),
        ("retrievals-cpu", 7 * 3),
        ("smoke", (3 * 2 - 1) * 2),
        ("table1", 10 * 6 * 5),
        ("table1-cpu", 10 * 3),
        ("table2-buffers", 3 * 2 * 2 * 3 * 5),
        ("table2-buffers-cpu", 3 * 2 * 3 * 3),
        ("table3-ratios", 12 * 2 * 5),
        ("table3-ratios-cpu", 12 * 3),
        ("worth-cpu", 5 * 6),
        ("worth-methods-cpu", 2 * 2 * 6),
    ];
    assert_eq!(sizes, expected.map(|(name, runs)| (name.to_owned(), runs)));
    let readme = std::fs::read_to_string(directory.join("README.md")).unwrap();
    for (name, runs) in
        expected.iter().filter(|(name, _)| name.starts_with("worth") || !name.ends_with("-cpu") && *name != "smoke")
    {
        assert!(readme.contains(&format!("| `{name}.toml` | {runs} |")), "{name}");
    }
}
