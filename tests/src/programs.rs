//! Finds the programs under test, as cargo built them.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context, Result, bail, ensure};

/// The folder with the sources of each program, relative to this package's folder.
const PROGRAMS: [(&str, &str); 2] = [("cyclorama", "../control-plane"), ("cyclorama-node", "../render-node")];

/// Returns the folder where cargo put the workspace's programs: this program's own folder, or the
/// one above it for a test program in `deps`. `cargo test` builds the tests but not the programs
/// that they start, so this fails if a program is missing, older than one of its sources, or built
/// from another checkout.
pub fn binaries() -> Result<PathBuf> {
    static CHECKED: OnceLock<Result<(), String>> = OnceLock::new();
    let this = std::env::current_exe()?;
    let mut folder = this.parent().context("this program is in no folder")?;
    if folder.ends_with("deps") {
        folder = folder.parent().context("`deps` is in no folder")?;
    }
    let checked = CHECKED.get_or_init(|| {
        let check = |(program, sources)| check_program(&folder.join(program), Path::new(sources));
        PROGRAMS
            .into_iter()
            .try_for_each(check)
            .map_err(|error| format!("{error:#}: run `cargo build --workspace` first"))
    });
    match checked {
        Ok(()) => Ok(folder.to_owned()),
        Err(error) => bail!("{error}"),
    }
}

/// Compares a program with the sources that cargo lists in the dependency file beside it.
fn check_program(program: &Path, sources: &Path) -> Result<()> {
    let built = std::fs::metadata(program).with_context(|| format!("{} is missing", program.display()))?.modified()?;
    let list = program.with_extension("d");
    let list = std::fs::read_to_string(&list).with_context(|| format!("{} cannot be read", list.display()))?;
    let files: Vec<&Path> = list.split_whitespace().skip(1).map(Path::new).collect();
    // Programs of this package also run in other folders, from which the checkout cannot be found.
    if let Ok(sources) = sources.canonicalize() {
        ensure!(
            files.iter().any(|file| file.starts_with(&sources)),
            "{} was built from another checkout, not from {}",
            program.display(),
            sources.display()
        );
    }
    for file in files {
        let is_newer = std::fs::metadata(file).and_then(|file| file.modified()).is_ok_and(|changed| changed > built);
        ensure!(!is_newer, "{} is older than {}", program.display(), file.display());
    }
    Ok(())
}
