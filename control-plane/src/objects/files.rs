//! Objects as files in a folder: a key is a path below it.

use super::error::{ObjectError, check_size};
use super::keys::ObjectKey;
use super::listing::{ListedObject, ListingSender};
use crate::clock::UnixMs;
use bytes::Bytes;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};
use tokio::io::AsyncWriteExt;

/// Folder of half-written files. It is on the same file system as the objects, so that a rename is
/// one step. No key can name it: segments do not start with a dot.
const PARTIAL_FOLDER: &str = ".partial";

/// Maximum age of a partial file. An older one belongs to a process that is gone: no put takes an
/// hour.
const PARTIAL_AGE_MAX: Duration = Duration::from_secs(3600);

/// Maximum number of attempts at a move. A folder can vanish between its creation and the rename
/// into it (see `remove_empty_folders`), but hardly twice.
const MOVE_TRIES: u32 = 5;

/// An object that is being received: a partial file, which is removed when it is dropped
/// unfinished.
#[derive(Debug)]
pub struct Incoming {
    store: FileStore,
    key: ObjectKey,
    partial: PathBuf,
    file: tokio::fs::File,
}

impl Incoming {
    pub async fn write(&mut self, piece: &[u8]) -> Result<(), ObjectError> {
        self.file.write_all(piece).await.map_err(|e| write_failure(&self.key, e))
    }

    /// Durably gives the object its key, in place of an earlier object.
    pub async fn finish(mut self) -> Result<(), ObjectError> {
        // The sync comes before the rename: otherwise a power cut can leave the new name on an
        // empty file. Writes that are still pending fail here.
        let flushed = async {
            self.file.flush().await?;
            self.file.sync_all().await
        };
        flushed.await.map_err(|e| write_failure(&self.key, e))?;
        let (key, partial) = (self.key.clone(), self.partial.clone());
        let place = move |store: &FileStore| {
            store
                .place_durably(&partial, &store.path(&key), |from, to| fs::rename(from, to))
                .map_err(|e| write_failure(&key, e))
        };
        self.store.run(place).await
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        // A finished object has no partial file any more, so the removal then does nothing.
        let _ = fs::remove_file(&self.partial);
    }
}

/// A store of objects as files in a folder. Cheap to clone.
#[derive(Debug, Clone)]
pub struct FileStore {
    folder: Arc<Path>,
}

impl FileStore {
    pub(super) fn open(folder: PathBuf) -> Result<Self, ObjectError> {
        let opened = || -> io::Result<()> {
            let partial = folder.join(PARTIAL_FOLDER);
            fs::create_dir_all(&partial)?;
            remove_abandoned(&partial)?;
            // Proves now, rather than at the first render, that the folder can be written.
            let trial = partial.join(uuid::Uuid::now_v7().to_string());
            File::create(&trial)?.write_all(b"cyclorama")?;
            fs::remove_file(&trial)
        };
        match opened() {
            Ok(()) => Ok(Self { folder: folder.into() }),
            Err(error) => Err(ObjectError::Open { store: folder.display().to_string(), source: error.into() }),
        }
    }

    /// Runs file work on the blocking pool: a slow disk must not hold an async worker.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&FileStore) -> Result<T, ObjectError> + Send + 'static,
    ) -> Result<T, ObjectError> {
        let store = self.clone();
        match tokio::task::spawn_blocking(move || work(&store)).await {
            Ok(result) => result,
            Err(e) if e.is_panic() => std::panic::resume_unwind(e.into_panic()),
            // Only a runtime that is shutting down cancels blocking work.
            Err(_) => Err(ObjectError::Open {
                store: self.folder.display().to_string(),
                source: "the process is shutting down".into(),
            }),
        }
    }

    pub(super) async fn receive(&self, key: &ObjectKey) -> Result<Incoming, ObjectError> {
        let partial = self.new_partial();
        let file = tokio::fs::File::create_new(&partial).await.map_err(|e| write_failure(key, e))?;
        Ok(Incoming { store: self.clone(), key: key.clone(), partial, file })
    }

    fn new_partial(&self) -> PathBuf {
        self.folder.join(PARTIAL_FOLDER).join(uuid::Uuid::now_v7().to_string())
    }

    pub(super) fn put(&self, key: &ObjectKey, bytes: &[u8]) -> Result<(), ObjectError> {
        self.write(key, bytes, |from, to| fs::rename(from, to)).map(drop)
    }

    /// Stores an object unless one exists, and returns true if it was stored.
    pub(super) fn put_new(&self, key: &ObjectKey, bytes: &[u8]) -> Result<bool, ObjectError> {
        // A link, unlike a rename, does not replace an existing file.
        self.write(key, bytes, |from, to| fs::hard_link(from, to))
    }

    /// Writes a partial file and gives it the key's name by `place`. Returns false if the name was
    /// taken.
    fn write(
        &self,
        key: &ObjectKey,
        bytes: &[u8],
        place: impl Fn(&Path, &Path) -> io::Result<()>,
    ) -> Result<bool, ObjectError> {
        let partial = self.new_partial();
        let target = self.path(key);
        let written = || -> io::Result<bool> {
            let mut file = File::create_new(&partial)?;
            file.write_all(bytes)?;
            // The sync comes before the rename: otherwise a power cut can leave the new name on an
            // empty file.
            file.sync_all()?;
            match self.place_durably(&partial, &target, &place) {
                Err(e) if e.kind() == ErrorKind::AlreadyExists && target.is_file() => Ok(false),
                placed => placed.map(|()| true),
            }
        };
        let written = written();
        // A rename leaves no partial file behind; a link and a failure do.
        let _ = fs::remove_file(&partial);
        written.map_err(|e| write_failure(key, e))
    }

    pub(super) fn get(&self, key: &ObjectKey) -> Result<(Bytes, File), ObjectError> {
        let mut file = File::open(self.path(key)).map_err(|e| failure(key, e))?;
        let metadata = file.metadata().map_err(|e| failure(key, e))?;
        if metadata.is_dir() {
            return Err(ObjectError::Missing { key: key.clone() });
        }
        check_size(key, metadata.len())?;
        let mut bytes = Vec::with_capacity(metadata.len() as usize);
        file.read_to_end(&mut bytes).map_err(|e| failure(key, e))?;
        Ok((bytes.into(), file))
    }

    pub(super) fn size(&self, key: &ObjectKey) -> Result<Option<u64>, ObjectError> {
        match fs::metadata(self.path(key)) {
            Ok(metadata) if metadata.is_dir() => Ok(None),
            Ok(metadata) => Ok(Some(metadata.len())),
            Err(e) if is_missing(&e) => Ok(None),
            Err(e) => Err(failure(key, e)),
        }
    }

    /// Sends every object below the folders to the listener, until the listener is closed.
    pub(super) fn list(&self, below: &[&str], listener: &ListingSender) {
        let mut folders: Vec<String> = below.iter().map(|folder| (*folder).to_owned()).collect();
        while let Some(folder) = folders.pop() {
            let path = self.folder.join(&folder);
            match list_folder(&path, &folder, listener) {
                Ok(Some(inner)) => folders.extend(inner),
                Ok(None) => return,
                // The folder does not exist yet, or was emptied and removed since it was listed.
                Err(error) if is_missing(&error) => {}
                Err(error) => {
                    let error = ObjectError::Open { store: path.display().to_string(), source: error.into() };
                    return drop(listener.blocking_send(Err(error)));
                }
            }
        }
    }

    pub(super) fn delete(&self, key: &ObjectKey) -> Result<(), ObjectError> {
        match fs::remove_file(self.path(key)) {
            Err(e) if !is_missing(&e) => Err(failure(key, e)),
            _ => {
                self.remove_empty_folders(key);
                Ok(())
            }
        }
    }

    /// Gives a file a second name. The bytes of the file never change, because objects are replaced
    /// by new files and never written into. The folders are not flushed: after a power cut no
    /// pinned object is needed.
    pub(super) fn pin(&self, from: &ObjectKey, to: &ObjectKey) -> Result<(), ObjectError> {
        let (from_path, to_path) = (self.path(from), self.path(to));
        self.place(&from_path, &to_path, |from, to| fs::hard_link(from, to)).map(drop).map_err(|e| failure(from, e))
    }

    /// Moves a file to its final key, see `ObjectStore::publish`.
    pub(super) fn publish(&self, from: &ObjectKey, to: &ObjectKey) -> Result<bool, ObjectError> {
        if self.size(from)?.is_none() {
            return Err(ObjectError::Missing { key: from.clone() });
        }
        let target = self.path(to);
        let is_new = match self.place_durably(&self.path(from), &target, |from, to| fs::hard_link(from, to)) {
            Ok(()) => true,
            Err(e) if e.kind() == ErrorKind::AlreadyExists && target.is_file() => false,
            // The target's folder has just been made, so the missing file is the source.
            Err(e) if is_missing(&e) => return Err(ObjectError::Missing { key: from.clone() }),
            Err(e) => return Err(failure(to, e)),
        };
        self.delete(from)?;
        Ok(is_new)
    }

    /// Removes the folders above a deleted key, as far as they are empty: every lease stages under
    /// a folder of its own. Best effort: a folder that is in use is not empty, or is made again by
    /// the writer that needs it.
    fn remove_empty_folders(&self, gone: &ObjectKey) {
        let path = self.path(gone);
        let above = path.ancestors().skip(1).take_while(|folder| *folder != &*self.folder);
        for folder in above {
            if fs::remove_dir(folder).is_err() {
                break;
            }
        }
    }

    fn path(&self, key: &ObjectKey) -> PathBuf {
        self.folder.join(key.as_str())
    }

    /// Gives a file another name by `place`, then flushes the folders whose entries changed, so
    /// that the new name survives a power cut.
    fn place_durably(&self, from: &Path, to: &Path, place: impl Fn(&Path, &Path) -> io::Result<()>) -> io::Result<()> {
        let changed = self.place(from, to, place)?;
        let flush = |folder: &&Path| match File::open(folder) {
            // Already emptied and removed again, with the object that was moved here.
            Err(e) if is_missing(&e) => Ok(()),
            opened => opened?.sync_all(),
        };
        changed.iter().try_for_each(flush)
    }

    /// Gives a file another name by `place`, in a folder that is made if it is absent. Returns the
    /// folders whose entries changed.
    fn place<'a>(
        &'a self,
        from: &Path,
        to: &'a Path,
        place: impl Fn(&Path, &Path) -> io::Result<()>,
    ) -> io::Result<Vec<&'a Path>> {
        let parent = to.parent().unwrap_or(&self.folder);
        let mut changed = vec![parent];
        let mut tries_left = MOVE_TRIES;
        loop {
            if !parent.is_dir() {
                // Each folder that is about to be made is an entry in the one above it.
                let absent = parent.ancestors().take_while(|folder| !folder.is_dir());
                changed.extend(absent.filter_map(Path::parent));
            }
            tries_left -= 1;
            match fs::create_dir_all(parent).and_then(|()| place(from, to)) {
                // The folder was empty for a moment, and the task that deleted its last object
                // removed the folder: before the rename (not found), or between the two checks that
                // making the folder takes (it exists already, and then does not).
                Err(e)
                    if (is_missing(&e) || (e.kind() == ErrorKind::AlreadyExists && !to.exists()))
                        && tries_left > 0
                        && from.exists() => {}
                Err(e) => return Err(e),
                Ok(()) => return Ok(changed),
            }
        }
    }
}

/// Sends the objects in one folder to the listener, and returns the names of the folders in it.
/// Returns `None` if the listener is closed.
fn list_folder(path: &Path, folder: &str, listener: &ListingSender) -> io::Result<Option<Vec<String>>> {
    let mut inner = Vec::new();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let name = format!("{folder}/{}", entry.file_name().to_string_lossy());
        let metadata = match entry.metadata() {
            Err(error) if is_missing(&error) => continue,
            metadata => metadata?,
        };
        if metadata.is_dir() {
            inner.push(name);
            continue;
        }
        match ObjectKey::new(name) {
            Ok(key) => {
                let since_1970 = metadata.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
                let stored_at = UnixMs(i64::try_from(since_1970.as_millis()).unwrap_or(i64::MAX));
                if listener.blocking_send(Ok(ListedObject { key, bytes: metadata.len(), stored_at })).is_err() {
                    return Ok(None);
                }
            }
            Err(error) => tracing::warn!(%error, "a file of others in the object store's folder was skipped"),
        }
    }
    Ok(Some(inner))
}

/// A file where a folder is expected also means that no such object exists.
fn is_missing(e: &io::Error) -> bool {
    matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

pub(super) fn failure(key: &ObjectKey, source: io::Error) -> ObjectError {
    let key = key.clone();
    match source.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => ObjectError::Missing { key },
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => ObjectError::Full { key, source: source.into() },
        _ => ObjectError::Unreachable { key, source: source.into() },
    }
}

/// Returns the error of a failed write. A write finds nothing missing but the store itself.
fn write_failure(key: &ObjectKey, source: io::Error) -> ObjectError {
    match failure(key, source) {
        ObjectError::Missing { key } => {
            ObjectError::Unreachable { key, source: io::Error::from(ErrorKind::NotFound).into() }
        }
        other => other,
    }
}

fn remove_abandoned(partial: &Path) -> io::Result<()> {
    for entry in fs::read_dir(partial)? {
        let entry = entry?;
        let age = entry.metadata().and_then(|m| m.modified()).map(|m| m.elapsed().unwrap_or_default());
        // Another process may remove the same file first; that is as good.
        if age.is_ok_and(|age| age > PARTIAL_AGE_MAX) {
            let _ = fs::remove_file(entry.path());
        }
    }
    Ok(())
}
