//! Content Credentials: with a certificate, every delivered image has a signed manifest. The C2PA
//! library reads it here, and trusts only the certificate's own root.

use c2pa::{Context, Reader, Settings, ValidationState};
use cyclorama_tests::fake_node::{Behaviour, FakeNode};
use cyclorama_tests::{Bucket, DatabaseChoice, Options, Service};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose,
};
use reqwest::StatusCode;
use std::io::Cursor;
use std::path::{Path, PathBuf};

struct Certificate {
    chain: PathBuf,
    key: PathBuf,
    root: String,
}

/// A signer's certificate with its key, as an authority would issue it.
fn certificate(folder: &Path) -> Certificate {
    let name = |params: &mut CertificateParams, name: &str| {
        params.distinguished_name.push(DnType::OrganizationName, "Example Studios");
        params.distinguished_name.push(DnType::CommonName, name);
    };
    let mut root = CertificateParams::default();
    name(&mut root, "Example Root");
    root.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    root.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    let root_key = KeyPair::generate().unwrap();
    let root_certificate = root.self_signed(&root_key).unwrap();

    let mut leaf = CertificateParams::default();
    name(&mut leaf, "Example Signer");
    leaf.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    leaf.extended_key_usages = vec![ExtendedKeyUsagePurpose::EmailProtection];
    leaf.use_authority_key_identifier_extension = true;
    let key = KeyPair::generate().unwrap();
    let signed = leaf.signed_by(&key, &Issuer::new(root, root_key)).unwrap();
    let made =
        Certificate { chain: folder.join("chain.pem"), key: folder.join("key.pem"), root: root_certificate.pem() };
    std::fs::write(&made.chain, signed.pem() + &made.root).unwrap();
    std::fs::write(&made.key, key.serialize_pem()).unwrap();
    made
}

fn read(certificate: &Certificate, media_type: &str, bytes: &[u8]) -> c2pa::Result<Reader> {
    let settings = Settings::new().with_value("trust.user_anchors", certificate.root.clone())?;
    Reader::from_context(Context::new().with_settings(settings)?).with_stream(media_type, Cursor::new(bytes.to_vec()))
}

#[tokio::test(flavor = "multi_thread")]
async fn pictures_say_who_made_them_and_that_nobody_changed_them() {
    pictures_are_signed(Options::default()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pictures_in_a_bucket_are_signed_as_well_and_once() {
    let bucket = Bucket::start().await.unwrap();
    pictures_are_signed(bucket.options()).await;
    assert_eq!(bucket.names("cyclorama/test/signed/").len(), 3);
    assert_eq!(bucket.names("cyclorama/test/sizes/paid/").len(), 3);
}

async fn pictures_are_signed(options: Options) {
    let folder = tempfile::tempdir().unwrap();
    let certificate = certificate(folder.path());
    let options = options
        .set("CYCLORAMA_C2PA_CERTIFICATE", certificate.chain.display())
        .set("CYCLORAMA_C2PA_KEY", certificate.key.display());
    let mut service = Service::start_with(DatabaseChoice::Sqlite, options).await.unwrap();
    let customer = service.customer(100).unwrap();
    let node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
    let mut served = Vec::new();
    // 512 px come encoded from the node, 300 px are made by the service.
    for (format, media_type) in [("png", "image/png"), ("webp", "image/webp"), ("jpg", "image/jpeg")] {
        for width in [512, 300] {
            let path = format!("/api/v1/images/car?make=honda&model=civic&year=2018&format={format}&w={width}");
            let answer = service.get(&customer, &path).send().await.unwrap();
            assert_eq!(answer.status(), StatusCode::OK, "{path}");
            let etag = answer.headers()["etag"].clone();
            let bytes = answer.bytes().await.unwrap();
            let manifests = read(&certificate, media_type, &bytes).unwrap();
            assert_eq!(manifests.validation_state(), ValidationState::Trusted, "{path}: {manifests}");
            let told: serde_json::Value = serde_json::from_str(&manifests.json()).unwrap();
            let manifest = &told["manifests"][told["active_manifest"].as_str().unwrap()];
            assert_eq!(manifest["claim_generator_info"][0]["name"], "Cyclorama", "{told}");
            assert_eq!(manifest["signature_info"]["issuer"], "Example Studios", "{told}");
            let created = &manifest["assertions"][0]["data"]["actions"][0];
            assert_eq!(created["action"], "c2pa.created", "{told}");
            let made_by = created["digitalSourceType"].as_str().unwrap();
            assert!(made_by.ends_with("/trainedAlgorithmicMedia"), "{made_by}");

            let mut changed = bytes.to_vec();
            let last = changed.len() - 40;
            changed[last] ^= 1;
            let state = read(&certificate, media_type, &changed).map(|manifests| manifests.validation_state());
            assert!(!matches!(state, Ok(ValidationState::Trusted | ValidationState::Valid)), "{path}: {state:?}");
            served.push((path, etag, bytes));
        }
    }
    // Two signatures are never the same, so the stored bytes are served again.
    drop(node);
    assert!(service.terminate().await.unwrap().success());
    service.launch().await.unwrap();
    for (path, etag, bytes) in served {
        let again = service.get(&customer, &path).send().await.unwrap();
        assert_eq!(again.headers()["etag"], etag, "{path}");
        assert_eq!(again.bytes().await.unwrap(), bytes, "{path}");
        let known = service.get(&customer, &path).header("if-none-match", &etag).send().await.unwrap();
        assert_eq!(known.status(), StatusCode::NOT_MODIFIED);
    }
    assert_eq!(service.operator(&["ledger", "verify"]).unwrap()["sound"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_that_cannot_sign_stops_the_start_with_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let (good, other) = (certificate(folder.path()), tempfile::tempdir().unwrap());
    let stranger = certificate(other.path());
    let missing = folder.path().join("missing.pem");
    for (chain, key, says) in [
        (&good.chain, &stranger.key, "do not sign"),
        (&good.key, &good.key, "do not sign"),
        (&missing, &good.key, "missing.pem"),
    ] {
        let options = Options::default()
            .set("CYCLORAMA_C2PA_CERTIFICATE", chain.display())
            .set("CYCLORAMA_C2PA_KEY", key.display());
        let error = match Service::start_with(DatabaseChoice::Sqlite, options).await {
            Ok(_) => panic!("{says}: it started"),
            Err(error) => format!("{error:#}"),
        };
        assert!(error.contains("CYCLORAMA_C2PA_CERTIFICATE") && error.contains(says), "{says}: {error}");
    }
}
