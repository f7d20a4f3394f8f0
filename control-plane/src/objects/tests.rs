//! The contract of every store, on a folder and on two S3 servers written by others; and the
//! properties of the file store alone.

use super::s3_tests::opened;
use super::*;
use crate::clock::Clock;
use cyclorama_tests::bucket::{Bucket, Moto};
use cyclorama_tests::gateway::Gateway;
use std::fs;

pub(super) fn key(text: &str) -> ObjectKey {
    ObjectKey::new(text).unwrap()
}

fn files_below(folder: &std::path::Path) -> usize {
    fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).map(|p| if p.is_dir() { files_below(&p) } else { 1 }).sum()
}

async fn keeps_the_contract(store: &ObjectStore) {
    what_is_put_is_read_until_it_is_deleted(store).await;
    of_several_that_are_new_one_is_kept(store).await;
    what_is_pinned_does_not_change_with_what_it_was_pinned_from(store).await;
    what_is_published_stays(store).await;
    staged_objects_are_removed_when_they_are_old(store).await;
    readers_never_see_half_an_object(store).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_keeps_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    let store = ObjectStore::open_files(folder.path().join("deep/store")).unwrap();
    keeps_the_contract(&store).await;
    assert_eq!(files_below(folder.path()), 3, "no partial file stays behind");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_of_s3s_keeps_the_contract() {
    let bucket = Bucket::start().await.unwrap();
    let store = opened(&bucket.address("deep/store")).await.unwrap();
    keeps_the_contract(&store).await;
    assert_eq!(bucket.names("").len(), 3, "nothing stays behind, and nothing is outside the prefix");
    assert_eq!(bucket.names("deep/store/").len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_of_moto_keeps_the_contract() {
    let moto = Moto::start().await.unwrap();
    keeps_the_contract(&opened(&moto.address("")).await.unwrap()).await;
}

/// A bucket behind a gateway that verifies each signature over the whole path.
#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_below_a_path_keeps_the_contract() {
    let gateway = Gateway::start().await.unwrap();
    let store = opened(&gateway.address("deep/store")).await.unwrap();
    keeps_the_contract(&store).await;
    let (verified, refused) = gateway.counts();
    assert!(verified > 100 && refused == 0, "{verified}, {refused}");
    assert_eq!((gateway.names("").len(), gateway.names("deep/store/").len()), (3, 3));
    let mut listed = store.lasting();
    let mut names = 0;
    while let Some(object) = listed.recv().await {
        assert!(object.is_ok(), "{object:?}");
        names += 1;
    }
    assert!(names > 0);
}

async fn what_is_put_is_read_until_it_is_deleted(store: &ObjectStore) {
    let a = key("derived/ab/256x256.png");
    assert!(matches!(store.get(&a).await, Err(ObjectError::Missing { .. })));
    assert_eq!(store.size(&a).await.unwrap(), None);
    store.put(&a, Bytes::from_static(b"one")).await.unwrap();
    store.put(&a, Bytes::from_static(b"two!")).await.unwrap();
    assert_eq!(store.get(&a).await.unwrap().as_ref(), b"two!");
    assert_eq!(store.size(&a).await.unwrap(), Some(4));
    let (bytes, file) = store.get_with_file(&a).await.unwrap();
    assert_eq!((bytes.as_ref(), file.is_some()), (&b"two!"[..], store.has_files()));

    store.delete(&a).await.unwrap();
    store.delete(&a).await.unwrap();
    assert_eq!(store.size(&a).await.unwrap(), None);
    store.put(&a, Bytes::new()).await.unwrap();
    assert_eq!((store.get(&a).await.unwrap().len(), store.size(&a).await.unwrap()), (0, Some(0)));
    store.delete(&a).await.unwrap();

    // An object that could never be read back.
    let large = Bytes::from(vec![0; OBJECT_BYTES_MAX as usize + 1]);
    assert!(matches!(store.put(&a, large.clone()).await, Err(ObjectError::TooLarge { .. })));
    assert!(matches!(store.put_new(&a, large).await, Err(ObjectError::TooLarge { .. })));
    assert_eq!(store.size(&a).await.unwrap(), None);
}

async fn of_several_that_are_new_one_is_kept(store: &ObjectStore) {
    let puts = (0..16u8).map(|i| {
        let store = store.clone();
        tokio::spawn(async move { (i, store.put_new(&key("deep/down/one"), vec![i; 10_000].into()).await.unwrap()) })
    });
    let mut kept = Vec::new();
    for put in puts.collect::<Vec<_>>() {
        let (i, new) = put.await.unwrap();
        kept.extend(new.then_some(i));
    }
    assert_eq!(kept.len(), 1);
    assert_eq!(store.get(&key("deep/down/one")).await.unwrap(), vec![kept[0]; 10_000]);
    assert!(!store.put_new(&key("deep/down/one"), "later".into()).await.unwrap());
    assert_eq!(store.get(&key("deep/down/one")).await.unwrap(), vec![kept[0]; 10_000]);
}

async fn what_is_pinned_does_not_change_with_what_it_was_pinned_from(store: &ObjectStore) {
    let (staged, pinned) = (key("staging/j/1/layers"), key("staging/j/1/look/layers"));
    let absent = store.pin(&staged, &pinned).await;
    assert!(matches!(&absent, Err(ObjectError::Missing { key }) if *key == staged), "{absent:?}");
    store.put(&staged, Bytes::from_static(b"honest")).await.unwrap();
    store.pin(&staged, &pinned).await.unwrap();
    store.put(&staged, Bytes::from_static(b"something else")).await.unwrap();
    assert_eq!(store.get(&pinned).await.unwrap().as_ref(), b"honest");
    store.delete(&staged).await.unwrap();
    assert_eq!(store.get(&pinned).await.unwrap().as_ref(), b"honest");
    store.delete(&pinned).await.unwrap();
}

async fn what_is_published_stays(store: &ObjectStore) {
    let (first, second, to) = (key("staging/j/1/a"), key("staging/j/2/a"), key("layers/bmw/x5/2020/front/1"));
    store.put(&first, Bytes::from_static(b"x")).await.unwrap();
    assert!(store.publish(&first, &to).await.unwrap());
    assert_eq!((store.size(&first).await.unwrap(), store.size(&to).await.unwrap()), (None, Some(1)));
    store.put(&second, Bytes::from_static(b"later")).await.unwrap();
    assert!(!store.publish(&second, &to).await.unwrap(), "the name is taken");
    assert_eq!(store.size(&second).await.unwrap(), None);
    assert_eq!(store.get(&to).await.unwrap().as_ref(), b"x");
    let other = key("layers/bmw/x5/2020/front/2");
    let again = store.publish(&first, &other).await;
    assert!(matches!(&again, Err(ObjectError::Missing { key }) if *key == first), "{again:?}");
}

async fn staged_objects_are_removed_when_they_are_old(store: &ObjectStore) {
    let (staged, pinned, lasting) = (key("staging/a/1/x"), key("staging/a/1/b/x"), key("masters/kept.png"));
    for object in [&staged, &pinned, &lasting] {
        store.put(object, Bytes::from_static(b"x")).await.unwrap();
    }
    let now = Clock::SYSTEM.now();
    assert_eq!(store.remove_staged_before(now.plus_ms(-60_000), 10).await.unwrap(), 0, "they are young");
    assert_eq!(store.remove_staged_before(now.plus_ms(60_000), 1).await.unwrap(), 1, "no more than that");
    assert_eq!(store.remove_staged_before(now.plus_ms(60_000), 10).await.unwrap(), 1);
    assert_eq!(store.remove_staged_before(now.plus_ms(60_000), 10).await.unwrap(), 0);
    assert_eq!((store.size(&staged).await.unwrap(), store.size(&pinned).await.unwrap()), (None, None));
    assert_eq!(store.size(&lasting).await.unwrap(), Some(1));
    store.delete(&lasting).await.unwrap();
}

async fn readers_never_see_half_an_object(store: &ObjectStore) {
    let shared = key("masters/shared.png");
    store.put(&shared, Bytes::from(vec![0; 200_000])).await.unwrap();
    let writer = tokio::spawn({
        let (store, shared) = (store.clone(), shared.clone());
        async move {
            for value in 1..40_u8 {
                store.put(&shared, Bytes::from(vec![value; 200_000 + usize::from(value)])).await.unwrap();
            }
        }
    });
    while !writer.is_finished() {
        let seen = store.get(&shared).await.unwrap();
        assert_eq!(seen.len(), 200_000 + usize::from(seen[0]));
        assert!(seen.iter().all(|b| *b == seen[0]));
    }
    writer.await.unwrap();
}

#[tokio::test]
async fn a_folder_is_not_an_object_and_an_object_is_not_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let store = ObjectStore::open_files(folder.path().to_owned()).unwrap();
    store.put(&key("derived/ab/256x256.png"), Bytes::from_static(b"one")).await.unwrap();
    assert_eq!(store.size(&key("derived/ab")).await.unwrap(), None);
    assert!(matches!(store.get(&key("derived/ab")).await, Err(ObjectError::Missing { .. })));
    assert!(matches!(store.get(&key("derived/ab/256x256.png/x")).await, Err(ObjectError::Missing { .. })));
}

#[tokio::test]
async fn failures_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    // A store whose folder goes away.
    let gone = ObjectStore::open_files(folder.path().join("gone")).unwrap();
    fs::remove_dir_all(folder.path().join("gone")).unwrap();
    let put = gone.put(&key("a/b"), Bytes::from_static(b"x")).await;
    assert!(matches!(put, Err(ObjectError::Unreachable { .. })), "{put:?}");

    // A folder that is a file.
    fs::write(folder.path().join("file"), b"").unwrap();
    let open = ObjectStore::open_files(folder.path().join("file"));
    assert!(matches!(&open, Err(ObjectError::Open { .. })) && open.unwrap_err().to_string().contains("file"));
}

/// `/dev/full` answers every write as a full disk does.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_named_as_such() {
    use std::io::Write;
    let source = fs::OpenOptions::new().write(true).open("/dev/full").unwrap().write_all(b"x").unwrap_err();
    assert!(matches!(files::failure(&key("a"), source), ObjectError::Full { .. }));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "files have their times from the machine's clock")]
fn abandoned_partial_files_are_removed_at_start_and_fresh_ones_kept() {
    let folder = tempfile::tempdir().unwrap();
    ObjectStore::open_files(folder.path().to_owned()).unwrap();
    let (old, fresh) = (folder.path().join(".partial/old"), folder.path().join(".partial/fresh"));
    for path in [&old, &fresh] {
        fs::write(path, b"half").unwrap();
    }
    let two_hours_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(7200);
    fs::File::options().write(true).open(&old).unwrap().set_modified(two_hours_ago).unwrap();
    ObjectStore::open_files(folder.path().to_owned()).unwrap();
    assert_eq!((old.exists(), fresh.exists()), (false, true));
}

#[tokio::test]
async fn folders_go_with_their_last_object_and_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let store = ObjectStore::open_files(folder.path().to_owned()).unwrap();
    store.put(&key("staging/job/1/a"), Bytes::from_static(b"x")).await.unwrap();
    store.put(&key("staging/job/1/b"), Bytes::from_static(b"x")).await.unwrap();
    store.publish(&key("staging/job/1/a"), &key("derived/aa/a")).await.unwrap();
    assert!(folder.path().join("staging/job/1").is_dir(), "it still holds b");
    store.delete(&key("staging/job/1/b")).await.unwrap();
    assert!(!folder.path().join("staging").exists());

    // Two objects are stored and deleted under one folder concurrently: neither may be lost to the
    // other's removal of empty folders.
    let come_and_go = |name: &'static str| {
        let store = store.clone();
        tokio::spawn(async move {
            let (here, there) = (key(&format!("staging/one/{name}")), key(&format!("kept/two/{name}")));
            for _ in 0..200 {
                store.put(&here, Bytes::from_static(b"x")).await.unwrap();
                store.publish(&here, &there).await.unwrap();
                store.delete(&there).await.unwrap();
            }
        })
    };
    let (first, second) = (come_and_go("first"), come_and_go("second"));
    first.await.unwrap();
    second.await.unwrap();
    assert_eq!(files_below(folder.path()), 1);
}
