//! macOS wants to be told that Python's own symbols come later; other systems need nothing.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
