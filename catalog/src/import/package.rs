//! Reads the npm package `@meterapp/vehicle-db`: a folder or the `.tgz` of `npm pack`. Its data is
//! one JSON literal in `dist/data.js`; none of the JavaScript is executed.

use super::ImportError;
use serde::Deserialize;
use std::io::Read;
use std::path::Path;

/// Maximum size of one file of the package, in bytes; `data.js` has 5 MB.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// The package's data, unchanged.
#[derive(Debug)]
pub struct Package {
    pub name: String,
    pub version: String,
    pub data: Data,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Data {
    pub sources: Vec<PackageSource>,
    pub vehicle_types: Vec<PackageType>,
    pub makes: Vec<PackageMake>,
    pub model_names: Vec<String>,
    /// Year, make id, model id, position in `model_names`, vehicle type id, bit mask of sources.
    pub models: Vec<(u16, u64, u64, usize, u32, u32)>,
}

#[derive(Debug, Deserialize)]
pub struct PackageSource {
    pub source_id: String,
    pub source_name: String,
    pub source_url: String,
    pub license: String,
    pub region: String,
}

#[derive(Debug, Deserialize)]
pub struct PackageType {
    pub vehicle_type_id: u32,
    pub vehicle_type_name: String,
}

#[derive(Debug, Deserialize)]
pub struct PackageMake {
    pub make_id: u64,
    pub make_name: String,
}

#[derive(Deserialize)]
struct Manifest {
    name: String,
    version: String,
}

/// Reads the package from a folder or a `.tgz` file. Returns [`ImportError`] if a file is missing,
/// cannot be read or has another shape.
pub fn read(path: &Path) -> Result<Package, ImportError> {
    let unreadable = |source| ImportError::Read { path: path.to_owned(), source };
    let (manifest, data) = if path.is_dir() {
        let inside = if path.join("package").is_dir() { path.join("package") } else { path.to_owned() };
        let text = |name: &str| std::fs::read_to_string(inside.join(name)).map_err(unreadable);
        (text("package.json")?, text("dist/data.js")?)
    } else {
        let (mut manifest, mut data) = (None, None);
        let file = std::fs::File::open(path).map_err(unreadable)?;
        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(file));
        for entry in archive.entries().map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let slot = match entry.path().map_err(unreadable)?.to_str() {
                Some("package/package.json") => &mut manifest,
                Some("package/dist/data.js") => &mut data,
                _ => continue,
            };
            let mut text = String::new();
            entry.take(FILE_BYTES_MAX).read_to_string(&mut text).map_err(unreadable)?;
            *slot = Some(text);
        }
        let missing = |file: &str| ImportError::Package { detail: format!("{} has no {file}", path.display()) };
        (manifest.ok_or_else(|| missing("package.json"))?, data.ok_or_else(|| missing("dist/data.js"))?)
    };
    let wrong = |what: &str, error: serde_json::Error| ImportError::Package { detail: format!("{what}: {error}") };
    let Manifest { name, version } = serde_json::from_str(&manifest).map_err(|error| wrong("package.json", error))?;
    let data = literal(&data)
        .ok_or_else(|| ImportError::Package { detail: "dist/data.js holds no `const data = {`".into() })?
        .map_err(|error| wrong("dist/data.js", error))?;
    Ok(Package { name, version, data })
}

/// Returns the value of `const data = {...};` in a script, or `None` if it has no such line.
fn literal(script: &str) -> Option<Result<Data, serde_json::Error>> {
    let after = script.split_once("const data =")?.1;
    let json = &after[after.find('{')?..];
    serde_json::Deserializer::from_str(json).into_iter().next()
}
