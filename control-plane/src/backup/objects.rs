//! Copies every permanent object from one store to another. An object that is there already with
//! the same size is left alone: an object never changes once rows refer to it.

use crate::objects::{ListedObject, ObjectError, ObjectKey, ObjectStore};
use serde::Serialize;
use tokio::task::JoinSet;

/// Maximum number of objects that are copied at once. Each is held in memory: 64 MB at
/// most, mostly a megabyte.
const COPIES_AT_ONCE: usize = 8;

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CopiedObjects {
    pub objects_copied: u64,
    pub bytes_copied: u64,
    /// Objects that were there already.
    pub objects_kept: u64,
}

pub(super) async fn copy(from: &ObjectStore, to: &ObjectStore) -> Result<CopiedObjects, ObjectError> {
    let mut listed = from.lasting();
    let mut under_way: JoinSet<Result<Option<u64>, ObjectError>> = JoinSet::new();
    let mut done = CopiedObjects::default();
    loop {
        let next = if under_way.len() < COPIES_AT_ONCE { listed.recv().await } else { None };
        match next {
            Some(entry) => {
                let ListedObject { key, bytes, .. } = entry?;
                let (from, to) = (from.clone(), to.clone());
                under_way.spawn(async move { copy_one(&from, &to, key, bytes).await });
            }
            None => match under_way.join_next().await {
                Some(copied) => match copied.map_err(interrupted)?? {
                    Some(bytes) => {
                        done.objects_copied += 1;
                        done.bytes_copied += bytes;
                    }
                    None => done.objects_kept += 1,
                },
                None => return Ok(done),
            },
        }
    }
}

/// Copies one object and returns its bytes. Returns `None` if it was there already, or has been
/// deleted since it was listed.
async fn copy_one(
    from: &ObjectStore,
    to: &ObjectStore,
    key: ObjectKey,
    bytes: u64,
) -> Result<Option<u64>, ObjectError> {
    if to.size(&key).await? == Some(bytes) {
        return Ok(None);
    }
    let object = match from.get(&key).await {
        Err(ObjectError::Missing { .. }) => return Ok(None),
        object => object?,
    };
    let bytes = object.len() as u64;
    to.put(&key, object).await?;
    Ok(Some(bytes))
}

fn interrupted(error: tokio::task::JoinError) -> ObjectError {
    ObjectError::Open { store: "the object store".to_owned(), source: error.into() }
}
