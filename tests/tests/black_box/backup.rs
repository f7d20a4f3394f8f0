//! `cyclorama backup` and `cyclorama restore`: a backup taken while the service ran is served
//! again, on either database.

use cyclorama_tests::service::Customer;
use cyclorama_tests::{Behaviour, Bucket, DatabaseChoice, FakeNode, Options, Service, on_both_databases};
use std::path::Path;

const CAR: &str = "/api/v1/images/car?make=toyota&model=prius&year=2012";

/// Bytes, ETag and source of an image.
async fn picture(service: &Service, customer: &Customer, query: &str) -> (Vec<u8>, String, String) {
    let answer = service.get(customer, &format!("{CAR}{query}")).send().await.unwrap();
    assert_eq!(answer.status(), 200, "{query}");
    let header = |name: &str| answer.headers()[name].to_str().unwrap().to_owned();
    let (etag, source) = (header("etag"), header("x-image-source"));
    (answer.bytes().await.unwrap().to_vec(), etag, source)
}

fn save(service: &Service, folder: &Path) -> serde_json::Value {
    service.operator(&["backup", folder.to_str().unwrap()]).unwrap()
}

fn restore(service: &Service, folder: &Path) -> Result<serde_json::Value, String> {
    service.operator(&["restore", folder.to_str().unwrap()]).map_err(|error| error.to_string())
}

on_both_databases! {
    async fn what_was_saved_under_load_is_served_again_on_either_database(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(1_000).unwrap();
        picture(&service, &customer, "").await;
        let folder = tempfile::tempdir().unwrap();
        let load = async {
            for _ in 0..60 {
                picture(&service, &customer, "").await;
            }
        };
        let path = folder.path().to_owned();
        let (first, ()) = tokio::join!(async { tokio::task::block_in_place(|| save(&service, &path)) }, load);
        let copied = first["objects_copied"].as_u64().unwrap();
        assert!(copied >= 14, "{first}");

        // A second backup into the same folder saves only new files.
        let (rear, rear_etag, _) = picture(&service, &customer, "&view=rear&color=red&format=webp&w=512").await;
        service.account_at_rest(&customer).await.unwrap();
        let second = save(&service, folder.path());
        assert_eq!(second["objects_kept"], copied);
        assert!(second["objects_copied"].as_u64().unwrap() >= 14, "{second}");
        let balance = service.balance(&customer).await.unwrap();
        picture(&service, &customer, "&view=side").await;

        for other in [DatabaseChoice::Sqlite, DatabaseChoice::Postgres] {
            let mut restored = Service::prepare(other, Options::default()).await.unwrap();
            let moved = restore(&restored, folder.path()).unwrap();
            assert_eq!((&moved["rows"], &moved["tables"]), (&second["rows"], &second["tables"]), "{moved}");
            restored.launch().await.unwrap();
            assert_eq!(restored.balance(&customer).await.unwrap(), balance, "what came after the backup is gone");
            let again = picture(&restored, &customer, "&view=rear&color=red&format=webp&w=512").await;
            assert_eq!(again, (rear.clone(), rear_etag.clone(), "cache".to_owned()));
            assert_eq!(restored.balance(&customer).await.unwrap(), balance - 1);
            let error = restore(&restored, folder.path()).unwrap_err();
            assert!(error.contains("already has") && error.contains("empty"), "{error}");
        }
    }

    async fn a_bucket_is_saved_and_restored_into_another(db: DatabaseChoice) {
        let (bucket, other) = (Bucket::start().await.unwrap(), Bucket::start().await.unwrap());
        let service = Service::start_with(db, bucket.options()).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(5).unwrap();
        let (bytes, etag, _) = picture(&service, &customer, "").await;
        let folder = tempfile::tempdir().unwrap();
        let saved = save(&service, folder.path());
        let lasting = |bucket: &Bucket| -> Vec<String> {
            let staged = |name: &String| name.contains("/staging/") || name.contains("/probe/");
            bucket.names("cyclorama/test/").into_iter().filter(|name| !staged(name)).collect()
        };
        assert_eq!(saved["objects_copied"], lasting(&bucket).len());

        let mut restored = Service::prepare(db, other.options()).await.unwrap();
        restore(&restored, folder.path()).unwrap();
        assert_eq!(lasting(&other), lasting(&bucket));
        restored.launch().await.unwrap();
        assert_eq!(picture(&restored, &customer, "").await, (bytes, etag, "cache".to_owned()));
    }

    async fn a_backup_beside_the_original_is_refused(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let outside = tempfile::tempdir().unwrap();
        let link = outside.path().join("link");
        std::os::unix::fs::symlink(service.data_dir(), &link).unwrap();
        let data = service.data_dir();
        for folder in [data.clone(), data.join("backup"), data.join("a/b/c"), data.join("objects"), link.clone(), link.join("x")] {
            let error = service.operator(&["backup", folder.to_str().unwrap()]).unwrap_err().to_string();
            assert!(error.contains("name another folder") && error.contains(folder.to_str().unwrap()), "{error}");
        }
        let found: Vec<_> = std::fs::read_dir(&data).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(!found.iter().any(|name| name == "backup" || name == "a" || name == "database.jsonl.zst"), "{found:?}");
        save(&service, &outside.path().join("apart"));
    }

    async fn what_is_not_whole_is_refused_before_anything_is_written(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(5).unwrap();
        picture(&service, &customer, "").await;
        let folder = tempfile::tempdir().unwrap();
        save(&service, folder.path());

        let mut restored = Service::prepare(db, Options::default()).await.unwrap();
        let file = folder.path().join("database.jsonl.zst");
        let whole = std::fs::read(&file).unwrap();
        for cut in [0, whole.len() / 2, whole.len() - 1] {
            std::fs::write(&file, &whole[..cut]).unwrap();
            let error = restore(&restored, folder.path()).unwrap_err();
            assert!(error.contains("database.jsonl.zst is not a complete backup"), "{cut}: {error}");
        }
        std::fs::write(&file, &whole).unwrap();

        let masters = folder.path().join("objects/masters");
        let master = std::fs::read_dir(&masters).unwrap().next().unwrap().unwrap().path();
        let bytes = std::fs::read(&master).unwrap();
        std::fs::remove_file(&master).unwrap();
        let error = restore(&restored, folder.path()).unwrap_err();
        assert!(error.contains(master.file_stem().unwrap().to_str().unwrap()), "{error}");
        std::fs::write(&master, bytes).unwrap();

        // None of these attempts has touched the database.
        restore(&restored, folder.path()).unwrap();
        restored.launch().await.unwrap();
        assert_eq!(picture(&restored, &customer, "").await.2, "cache");
    }
}
