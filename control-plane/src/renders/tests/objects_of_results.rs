//! Objects that nodes upload: verified, published and handed out, on files and in a bucket. Between
//! the steps the test does what a malicious node, a stalled process or a store in trouble could do.

use super::super::results::{Accepting, VerifiedUpload};
use super::*;
use crate::objects::{ObjectError, ObjectKey, keys};
use bytes::Bytes;
use cyclorama_tests::bucket::{Bucket, BucketBehaviour};
use std::collections::HashMap;

/// A folder, and a bucket that lives as long as the test.
async fn stores() -> Vec<(ObjectStore, Option<Bucket>)> {
    let bucket = Bucket::start().await.expect("a bucket");
    let store = crate::objects::s3_tests::opened(&bucket.address("trust")).await.expect("opens");
    vec![(self::store(), None), (store, Some(bucket))]
}

/// Uploads the objects that the job requires to its addresses, with these layers.
async fn stage(renders: &Renders, job: &Job, layers: &'static [u8]) -> Vec<UploadedObject> {
    let mut objects = Vec::new();
    for owed in &job.uploads {
        let bytes = if owed.name == ObjectName::Layers { layers.to_vec() } else { object_for(job, owed) };
        objects.push(described(&owed.name, &bytes));
        renders.0.store.put(&staged(job, &owed.name), bytes.into()).await.expect("stages");
    }
    objects
}

fn staged(job: &Job, name: &ObjectName) -> ObjectKey {
    keys::staging(&job.job_id, job.fence, name).expect("a key")
}

/// Returns every object that is kept for good, with its bytes.
async fn lasting(store: &ObjectStore) -> Vec<(String, Bytes)> {
    let (mut listed, mut objects) = (store.lasting(), Vec::new());
    while let Some(object) = listed.recv().await {
        let key = object.expect("lists").key;
        let bytes = store.get(&key).await.expect("reads");
        objects.push((key.as_str().to_owned(), bytes));
    }
    objects.sort();
    objects
}

/// Asserts that each object whose key contains a digest has that digest.
fn keep_their_word(objects: &[(String, Bytes)]) {
    assert!(!objects.is_empty());
    for (name, bytes) in objects {
        let digest = hex::encode(Sha256::digest(bytes));
        if name.starts_with("layers/") || name.starts_with("masters/") {
            assert!(name.contains(&digest), "{name} holds {} bytes of {digest}", bytes.len());
        } else {
            cyclorama_core::encoding::probe(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }
}

/// Leases a job, and has its result verified.
async fn verified(renders: &Renders, node_id: &str) -> (Job, Accepting, HashMap<ObjectName, VerifiedUpload>) {
    let job = one(renders, node_id).await;
    let objects = stage(renders, &job, b"honest layers").await;
    let accepting = renders.begin_accepting(TOKEN, &job.job_id, job.fence).await.expect("is leased");
    let verified = renders.verify_uploads(&accepting, &report(&job, objects)).await.expect("is honest");
    (job, accepting, verified)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_verified_is_published_whatever_is_uploaded_meanwhile() {
    for database in databases().await {
        for (store, _bucket) in stores().await {
            let renders = Renders::new(database.clone(), Clock::SYSTEM, store, settings());
            let (vehicle, node_id) = (vehicle(&format!("m{}", uuid::Uuid::now_v7().simple())), node(&renders).await);
            want(&renders, &vehicle, Colour::Red).await.expect("queues");
            let (job, accepting, verified) = verified(&renders, &node_id).await;
            for owed in &job.uploads {
                let other = Bytes::from_static(b"<html>other bytes</html>");
                renders.0.store.put(&staged(&job, &owed.name), other).await.expect("an address of a bucket stays open");
            }
            renders.publish(&accepting, &verified).await.expect("publishes");
            renders.record(&accepting, &verified, "{}").await.expect("records");
            let objects = lasting(&renders.0.store).await;
            assert_eq!(objects.len(), 14, "{:?}", database.kind);
            keep_their_word(&objects);

            // The layers that the row names are those that were verified.
            want(&renders, &vehicle, Colour::Blue).await.expect("queues");
            let paint = one(&renders, &node_id).await;
            assert_eq!(paint.layers_sha256, Some(hex::encode(Sha256::digest(b"honest layers"))));
            assert!(paint.layers_url.expect("has one").contains(match renders.0.store.has_files() {
                true => "/node/v1/layers/",
                false => paint.layers_sha256.as_deref().expect("has one"),
            }));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lease_that_is_lost_after_its_result_was_verified_changes_nothing() {
    for database in databases().await {
        for (store, bucket) in stores().await {
            let renders = Renders::new(database.clone(), Clock::SYSTEM, store, settings());
            let vehicle = vehicle(&format!("m{}", uuid::Uuid::now_v7().simple()));
            let (first, second) = (node(&renders).await, node(&renders).await);
            want(&renders, &vehicle, Colour::Red).await.expect("queues");
            let (stale, accepting, verified) = verified(&renders, &first).await;
            // The process that checks the result stalls. Another one takes the lease back, and
            // cannot reach the store to delete the uploads.
            if let Some(bucket) = &bucket {
                bucket.feel(BucketBehaviour::Answers(403, "AccessDenied"));
                assert!(renders.clear_staging(&stale.job_id, stale.fence).await.is_err());
            }
            let asked = bucket.as_ref().map_or(0, Bucket::requests);
            renders.lose(&stale.job_id, stale.fence, Loss::Silence).await.expect("ends");
            if let Some(bucket) = &bucket {
                // The deletions at the end of the attempt fail, too.
                while bucket.requests() < asked + 14 {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                bucket.feel(BucketBehaviour::Well);
            }
            let fresh = one(&renders, &second).await;
            assert!(fresh.fence > stale.fence);
            let objects = stage(&renders, &fresh, b"layers of the lease that lives").await;

            // The stalled process goes on before the result of the other lease is there, and after
            // it.
            let before = lasting(&renders.0.store).await;
            assert!(matches!(renders.publish(&accepting, &verified).await, Err(ResultError::Stale(_))));
            assert_eq!(lasting(&renders.0.store).await, before);
            renders.accept(TOKEN, &fresh.job_id, &report(&fresh, objects)).await.expect("is accepted");
            let before = lasting(&renders.0.store).await;
            assert!(matches!(renders.publish(&accepting, &verified).await, Err(ResultError::Stale(_))));
            assert!(matches!(renders.record(&accepting, &verified, "{}").await, Err(ResultError::Stale(_))));
            let after = lasting(&renders.0.store).await;
            assert_eq!(after, before, "{:?}", database.kind);
            keep_their_word(&after);
            let layers: Vec<_> = after.iter().filter(|(name, _)| name.starts_with("layers/")).collect();
            assert!(layers.len() == 1 && layers[0].1 == "layers of the lease that lives", "{layers:?}");

            // The sweep removes the objects that could not be deleted, once they are too old to
            // belong to any lease.
            let is_staged = |renders: &Renders| {
                let (store, key) = (renders.0.store.clone(), staged(&stale, &ObjectName::Layers));
                async move { store.size(&key).await.expect("asks").is_some() }
            };
            let now = Clock::SYSTEM.now();
            renders.sweep_staging(now).await.expect("sweeps");
            assert_eq!(is_staged(&renders).await, bucket.is_some(), "of a folder it was cleared at once");
            renders.sweep_staging(now.plus_ms(crate::clock::DAY_MS)).await.expect("sweeps");
            assert!(!is_staged(&renders).await);
            let nothing = renders.0.store.remove_staged_before(now.plus_ms(crate::clock::DAY_MS), 1).await;
            assert_eq!(nothing.expect("sweeps"), 0);
        }
    }
}

#[tokio::test]
async fn addresses_are_closed_while_a_result_is_looked_at() {
    for database in databases().await {
        let renders = renders(&database, settings());
        let (vehicle, node_id) = (vehicle("closed"), node(&renders).await);
        want(&renders, &vehicle, Colour::Red).await.expect("queues");
        let job = one(&renders, &node_id).await;
        let open = || async { renders.open_upload(secret_of(&job.uploads[0].url), &ObjectName::Layers).await };
        let begun = open().await.expect("is open");
        {
            let _looking = renders.close_uploads(&job.job_id, job.fence);
            let _again = renders.close_uploads(&job.job_id, job.fence);
            drop(_again);
            assert!(matches!(open().await, Err(UploadError::Closed)));
            let late = renders.take_upload(&begun, in_pieces(&b"late"[..])).await;
            assert!(matches!(late, Err(UploadError::Closed)), "its body came to its end meanwhile");
            let other = renders.close_uploads(&job.job_id, job.fence + 1);
            drop(other);
            assert!(open().await.is_err());
        }
        // After a refusal the same addresses accept the object again.
        renders.take_upload(&begun, in_pieces(&b"again"[..])).await.expect("is open");
        let empty = ResultRequest { fence: job.fence, objects: vec![], receipt: Unparsed::default() };
        assert!(matches!(renders.accept(TOKEN, &job.job_id, &empty).await, Err(ResultError::Rejected(_))));
        finish(&renders, &job).await;
        assert!(open().await.is_err(), "the lease is over");
        assert_eq!(renders.sweep_staging(Clock::SYSTEM.now().plus_ms(crate::clock::DAY_MS)).await.expect("sweeps"), 0);
    }
}

#[tokio::test]
async fn layers_are_handed_out_as_they_were_recorded_or_not_at_all() {
    for database in databases().await {
        let renders = renders(&database, settings());
        let (vehicle, node_id) = (vehicle("recorded"), node(&renders).await);
        want(&renders, &vehicle, Colour::Red).await.expect("queues");
        let render = one(&renders, &node_id).await;
        finish(&renders, &render).await;
        let digest = hex::encode(Sha256::digest(b"layers"));
        let named = keys::layers("testa/recorded/2020", View::Side, 1, &digest).expect("a key");
        assert_eq!(renders.0.store.get(&named).await.expect("is there"), "layers");

        want(&renders, &vehicle, Colour::Blue).await.expect("queues");
        let paint = one(&renders, &node_id).await;
        let url = paint.layers_url.clone().expect("a paint job has layers");
        let handed_out = || async { renders.layers_for(url.rsplit('/').next().expect("a secret")).await };
        assert_eq!(handed_out().await.expect("reads"), "layers");
        renders.0.store.put(&named, Bytes::from_static(b"something else")).await.expect("puts");
        let altered = handed_out().await;
        assert!(
            matches!(&altered, Err(UploadError::Store(ObjectError::Altered { key })) if *key == named),
            "{altered:?}"
        );

        // A row of an older version names its object by the revision.
        let older = keys::layers_by_revision("testa/recorded/2020", View::Side, 1).expect("a key");
        renders.0.store.put(&older, Bytes::from_static(b"layers")).await.expect("puts");
        database.write(sqlx::query("update layers set named_by_sha256 = null")).await.expect("sets");
        assert_eq!(handed_out().await.expect("reads"), "layers");
        finish(&renders, &paint).await;

        // Without its row the layers are unknown: waiting requests fail at once.
        want(&renders, &vehicle, Colour::White).await.expect("queues");
        database.write(sqlx::query("delete from layers")).await.expect("deletes");
        assert!(work(&renders, &node_id, 0).await.is_empty());
        assert_eq!(number(&database, "select count(*) from renders where state = 'failed'").await, 1);
    }
}
