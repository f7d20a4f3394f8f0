//! Writes and reads a mesh as two files, for other programs. `mesh.json` holds the positions
//! in `mesh.bin` of the numbers of each material. Positions and normals are f32 x 3, triangles
//! u32 x 3, little endian.

use super::mesh::{Material, Surface, VehicleMesh};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

const DESCRIPTION: &str = "mesh.json";
const NUMBERS: &str = "mesh.bin";
/// Bytes of three numbers of four bytes.
const TRIPLE: usize = 12;

#[derive(Debug, thiserror::Error)]
pub enum ExportedError {
    #[error("cannot read or write {}", path.display())]
    File {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("{} is not a description of a mesh", path.display())]
    Description {
        path: PathBuf,
        #[source]
        source: serde_json::Error,
    },
    #[error("{}: {material:?} lies beyond the end of the file, or its triangles name corners that it does not have", path.display())]
    Numbers { path: PathBuf, material: Material },
}

#[derive(Serialize, Deserialize)]
struct Description {
    surfaces: Vec<ExportedPiece>,
}

#[derive(Serialize, Deserialize)]
struct ExportedPiece {
    material: Material,
    positions: ByteSpan,
    normals: ByteSpan,
    indices: ByteSpan,
}

/// `count` triples from byte `offset` on.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct ByteSpan {
    offset: usize,
    count: usize,
}

/// Returns the contents of `mesh.bin`, and the positions of everything in it.
fn packed(mesh: &VehicleMesh) -> (Description, Vec<u8>) {
    let mut bytes: Vec<u8> = Vec::new();
    let mut place = |data: &[u8]| {
        let span = ByteSpan { offset: bytes.len(), count: data.len() / TRIPLE };
        bytes.extend_from_slice(data);
        span
    };
    let surfaces = mesh.surfaces.iter().map(|(material, surface)| ExportedPiece {
        material: *material,
        positions: place(bytemuck::cast_slice(&surface.positions)),
        normals: place(bytemuck::cast_slice(&surface.normals)),
        indices: place(bytemuck::cast_slice(&surface.indices)),
    });
    (Description { surfaces: surfaces.collect() }, bytes)
}

/// Writes the mesh into an existing folder.
pub fn write(mesh: &VehicleMesh, folder: &Path) -> Result<(), ExportedError> {
    let (description, bytes) = packed(mesh);
    let (path, numbers) = (folder.join(DESCRIPTION), folder.join(NUMBERS));
    let json =
        serde_json::to_vec(&description).map_err(|source| ExportedError::Description { path: path.clone(), source })?;
    for (path, bytes) in [(path, json), (numbers, bytes)] {
        std::fs::write(&path, bytes).map_err(|source| ExportedError::File { path, source })?;
    }
    Ok(())
}

/// True if the folder holds exactly this mesh.
pub fn holds(folder: &Path, mesh: &VehicleMesh) -> Result<bool, ExportedError> {
    Ok(bytes_of(&folder.join(NUMBERS))? == packed(mesh).1)
}

/// Reads a mesh that [`write`] wrote.
pub fn read(folder: &Path) -> Result<VehicleMesh, ExportedError> {
    let (path, numbers) = (folder.join(DESCRIPTION), folder.join(NUMBERS));
    let description: Description =
        serde_json::from_slice(&bytes_of(&path)?).map_err(|source| ExportedError::Description { path, source })?;
    let bytes = bytes_of(&numbers)?;
    let mut mesh = VehicleMesh::default();
    for piece in &description.surfaces {
        let surface = surface_of(&bytes, piece)
            .ok_or_else(|| ExportedError::Numbers { path: numbers.clone(), material: piece.material })?;
        mesh.add(piece.material, &surface);
    }
    Ok(mesh)
}

fn bytes_of(path: &Path) -> Result<Vec<u8>, ExportedError> {
    std::fs::read(path).map_err(|source| ExportedError::File { path: path.to_owned(), source })
}

fn surface_of(bytes: &[u8], piece: &ExportedPiece) -> Option<Surface> {
    let numbers = |span: ByteSpan| bytes.get(span.offset..)?.get(..span.count.checked_mul(TRIPLE)?);
    let triples = |span: ByteSpan| -> Option<Vec<[f32; 3]>> {
        Some(numbers(span)?.chunks_exact(TRIPLE).map(bytemuck::pod_read_unaligned).collect())
    };
    let surface = Surface {
        positions: triples(piece.positions)?,
        normals: triples(piece.normals)?,
        indices: numbers(piece.indices)?.chunks_exact(4).map(bytemuck::pod_read_unaligned).collect(),
    };
    let corners = surface.positions.len();
    let is_whole = surface.normals.len() == corners && surface.indices.iter().all(|index| (*index as usize) < corners);
    is_whole.then_some(surface)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn triangle() -> VehicleMesh {
        let mut mesh = VehicleMesh::default();
        let surface = Surface {
            positions: vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
            normals: vec![[0.0, -1.0, 0.0]; 3],
            indices: vec![0, 1, 2],
        };
        mesh.add(Material::Paint, &surface);
        mesh.add(Material::PanelGap, &surface.mirrored());
        mesh
    }

    #[test]
    fn what_was_written_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let mesh = triangle();
        write(&mesh, folder.path()).unwrap();
        let again = read(folder.path()).unwrap();
        assert!(holds(folder.path(), &mesh).unwrap());
        for (material, surface) in &mesh.surfaces {
            let found = &again.surfaces[material];
            assert_eq!(
                (&found.positions, &found.normals, &found.indices),
                (&surface.positions, &surface.normals, &surface.indices)
            );
        }
    }

    #[test]
    fn a_file_that_is_too_short_is_named() {
        let folder = tempfile::tempdir().unwrap();
        write(&triangle(), folder.path()).unwrap();
        let numbers = folder.path().join(NUMBERS);
        let bytes = std::fs::read(&numbers).unwrap();
        std::fs::write(&numbers, &bytes[..bytes.len() - 1]).unwrap();
        let told = read(folder.path()).unwrap_err().to_string();
        assert!(told.contains("mesh.bin") && told.contains("PanelGap"), "{told}");
    }
}
