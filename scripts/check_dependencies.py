"""Checks what the program is built from: every dependency's licence is one that goes with MIT OR Apache-2.0, and
no crate is built in two versions but those named here, each with its reason. What features for GPUs add is counted, and
none of it may be built without them.

    python3 scripts/check_dependencies.py

What `cargo deny` would do with licences and duplicates, without compiling it. Advisories need its database."""
import collections, re, subprocess, sys

ALLOWED = {
    "MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD-2-Clause", "BSD-3-Clause", "ISC", "Zlib", "0BSD",
    "Unlicense", "CC0-1.0", "Unicode-3.0", "CDLA-Permissive-2.0", "BSL-1.0", "MPL-2.0",
}
# Crate → why two versions of it are built.
TWICE = {
    "syn": "macros of serde and clap have moved to 3, Burn's have not",
    "hashbrown": "Burn's and toml's",
    "getrandom": "Burn's and ring's",
    "miniz_oxide": "backtrace's (Burn) and flate2's",
    "spin": "Burn's and the reader of multipart forms'",
    "darling": "two of Burn's derive macros",
    "darling_core": "two of Burn's derive macros",
    "darling_macro": "two of Burn's derive macros",
}

# The features that build for GPUs. What they add has the same licences; of how many versions it is made is Burn's affair.
GPU = ["wgpu", "vulkan", "metal", "cuda", "rocm", "wgpu,fusion,autotune"]
# What only these may bring.
NEVER = ["wgpu", "cubecl", "cubecl-runtime", "burn-cubecl", "burn-wgpu", "cudarc"]


def fits(expression):
    """Whether a licence expression can be met by allowed licences: every AND part has an OR part that is allowed."""
    parts = expression.replace("(", "").replace(")", "").replace("/", " OR ").split(" AND ")
    return all(any(choice.strip() in ALLOWED for choice in part.split(" OR ")) for part in parts)


def tree(*more):
    """Every crate that is built: name → versions, and (name, version) → licence."""
    command = ["cargo", "tree", "--locked", "-e", "normal,build", "--prefix", "none", "-f", "{p}|{l}", *more]
    lines = set(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines())
    versions, licences = collections.defaultdict(set), {}
    for line in filter(None, lines):
        package, licence = re.sub(r" \(\*\)$", "", line).split("|")
        name, version = package.split()[:2]
        versions[name].add(version)
        licences[name, version] = licence
    return versions, licences


wrong = []
versions, licences = tree("--workspace")
for name, found in sorted(versions.items()):
    if len(found) > 1 and name not in TWICE:
        wrong.append(f"{name} is built in versions {', '.join(sorted(found))}")
for name in TWICE:
    if len(versions[name]) < 2:
        wrong.append(f"{name} is built once by now: take it off the list")
print(f"{len(versions)} crates, {sum(len(found) > 1 for found in versions.values())} of them in two versions")
for features in GPU:
    more, theirs = tree("--package", "rehearsal-cli", "--features", features)
    licences |= theirs
    print(f"with --features {features}: {len(more.keys() - versions.keys())} crates more")
for name in NEVER:
    if name in versions:
        wrong.append(f"{name} is built by default: it is for GPUs")
wrong += [f"{name} {version}: licence `{licence}`" for (name, version), licence in sorted(licences.items()) if not fits(licence)]
if wrong:
    sys.exit("\n".join(wrong))
