//! Restricts the service's files on this machine to its own user: they contain balances, email
//! addresses, signing keys and partner secrets.

use crate::config::storage::Storage;
use anyhow::Context;
use rustix::fs::Mode;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Permissions of group and others, as bits of a mode.
const OTHERS: u32 = 0o077;

/// Names in a data folder that belong to the service, or to what `make run` puts beside it. A name
/// that begins with that of the database file is a companion of it.
const OWN_NAMES: [&str; 6] = ["lock", "objects", "operator.json", "embedded-node.token", "demo-key", "cyclorama.db"];

/// Makes all files that this process and its children create from now on accessible to this user
/// only. Must be called before there are threads.
pub fn from_now_on() {
    rustix::process::umask(Mode::from_raw_mode(OTHERS));
}

/// Creates the data folder, or removes the permissions of other users from an existing one, and
/// from the database's files. A folder that contains other things as well may be shared on purpose,
/// so it stays as it is; a file or folder of another user cannot be changed. Both cases are logged.
pub fn secure(storage: &Storage) -> anyhow::Result<()> {
    let folder = &storage.data_dir;
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .with_context(|| format!("the data folder {} cannot be created", folder.display()))?;
    match holds_only_ours(folder) {
        Ok(true) => tighten(folder),
        Ok(false) if is_open(folder) => {
            tracing::warn!(
                folder = %folder.display(),
                "other users can read the data folder; its mode was left unchanged because it holds files of others"
            );
        }
        Ok(false) => {}
        Err(error) => return Err(error).with_context(|| format!("the data folder {}", folder.display())),
    }
    storage.sqlite_file().into_iter().flat_map(|file| companions(&file)).for_each(|file| tighten(&file));
    Ok(())
}

/// Returns a SQLite file and the files that SQLite keeps beside it.
fn companions(file: &Path) -> Vec<PathBuf> {
    ["", "-wal", "-shm", "-journal"]
        .into_iter()
        .map(|suffix| {
            let mut name = file.as_os_str().to_owned();
            name.push(suffix);
            name.into()
        })
        .collect()
}

fn holds_only_ours(folder: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let name = name.to_string_lossy();
        if !OWN_NAMES.iter().any(|own| {
            name == *own || name.strip_prefix(own).is_some_and(|rest| rest == ".new" || rest.starts_with('-'))
        }) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_open(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & OTHERS != 0)
}

/// Removes the permissions of other users from a file or folder, if it exists.
fn tighten(path: &Path) {
    let Ok(metadata) = fs::metadata(path) else { return };
    let mode = metadata.permissions().mode() & 0o7777;
    if mode & OTHERS == 0 {
        return;
    }
    match fs::set_permissions(path, Permissions::from_mode(mode & !OTHERS)) {
        Ok(()) => {
            tracing::info!(path = %path.display(), mode = format!("{mode:o}"), "a path that other users could read was made private")
        }
        // Volumes of containers belong to root and are shared by their group.
        Err(error) => tracing::warn!(
            path = %path.display(),
            mode = format!("{mode:o}"),
            %error,
            "a path that other users can read could not be made private"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("is there").permissions().mode() & 0o777
    }

    #[test]
    fn folders_of_the_service_are_told_from_shared_ones() {
        for (names, expected) in [
            (&[][..], true),
            (&["lock", "cyclorama.db", "cyclorama.db-wal", "cyclorama.db-shm", "objects", "operator.json.new"], true),
            (&["demo-key", "embedded-node.token"], true),
            (&["lock", "somebody-elses"], false),
            (&["operator.json.bak"], false),
            (&["locks"], false),
        ] {
            let folder = tempfile::tempdir().expect("a folder");
            for name in names {
                fs::write(folder.path().join(name), b"").expect("writes");
            }
            assert_eq!(holds_only_ours(folder.path()).expect("reads"), expected, "{names:?}");
        }
    }

    #[test]
    fn what_others_may_do_is_taken_away_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        for (before, after) in [(0o644, 0o600), (0o755, 0o700), (0o640, 0o600), (0o600, 0o600), (0o400, 0o400)] {
            fs::write(&file, b"").expect("writes");
            fs::set_permissions(&file, Permissions::from_mode(before)).expect("sets");
            tighten(&file);
            assert_eq!(mode(&file), after, "{before:o}");
            fs::remove_file(&file).expect("removes");
        }
        tighten(&file);
    }
}
