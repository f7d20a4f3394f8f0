//! Checks that the quick start of the README is the package's example, word for word, and runs it
//! as a reader would.

use std::process::Command;

pub fn check(url: &str, key: &str) {
    let readme = std::fs::read_to_string("README.md").unwrap();
    let (_, rest) = readme.split_once("```rust,no_run\n").unwrap();
    let (snippet, rest) = rest.split_once("```").unwrap();
    assert!(!rest.contains("```"), "one snippet");
    let example = std::fs::read_to_string("examples/quick_start.rs").unwrap();
    assert_eq!(example.split_once("\n\n").unwrap().1, snippet, "the example is the README's");

    let program = cyclorama_tests::programs::binaries().unwrap().join("examples/quick_start");
    assert!(program.exists(), "{} is missing: run `cargo build --workspace --examples` first", program.display());
    let folder = tempfile::tempdir().unwrap();
    let ran = Command::new(program)
        .current_dir(folder.path())
        .env("CYCLORAMA_URL", url)
        .env("CYCLORAMA_KEY", key)
        .output()
        .unwrap();
    let told = String::from_utf8(ran.stdout).unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let pattern = regex::Regex::new(r"^1024 px, 1 credit, \d+ left\n$").unwrap();
    assert!(pattern.is_match(&told), "{told}");
    assert_eq!(std::fs::read(folder.path().join("civic.png")).unwrap()[..8], *b"\x89PNG\r\n\x1a\n");
}
