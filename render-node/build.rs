//! Puts the text of every vehicle sheet into the program, so that no list has to be maintained:
//! writes `$OUT_DIR/sheet_texts.rs` with `SHEETS`, `FACES` and `TWO_WHEELER_FAMILIES`, each
//! `&[(name, text)]` sorted by name. A sheet's name is that of its file.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

#[expect(clippy::disallowed_methods, reason = "Cargo tells a build script by variables where to read and write")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?).join("sheets");
    let (mut sheets, mut faces, mut families) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for folder in [folder.clone(), folder.join("models")] {
        gather(&folder, &mut sheets)?;
    }
    gather(&folder.join("faces"), &mut faces)?;
    gather(&folder.join("two-wheelers/families"), &mut families)?;
    let mut text = String::new();
    for (list, files) in [("SHEETS", sheets), ("FACES", faces), ("TWO_WHEELER_FAMILIES", families)] {
        writeln!(text, "pub const {list}: &[(&str, &str)] = &[")?;
        for (name, path) in files {
            writeln!(text, "    ({name:?}, include_str!({path:?})),")?;
        }
        writeln!(text, "];")?;
    }
    std::fs::write(PathBuf::from(std::env::var("OUT_DIR")?).join("sheet_texts.rs"), text)?;
    Ok(())
}

fn gather(folder: &Path, files: &mut BTreeMap<String, PathBuf>) -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let name = path.file_stem().and_then(|name| name.to_str()).ok_or("a sheet's name is not UTF-8")?;
            if let Some(other) = files.insert(name.to_owned(), path.clone()) {
                return Err(format!("two sheets have one name: {} and {}", other.display(), path.display()).into());
            }
        }
    }
    Ok(())
}
