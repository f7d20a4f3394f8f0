//! Tests with the vectors that all clients share (`sdk/vectors`): partner signatures, and
//! attributes of images in pages.

use cyclorama_client::types::DeliveryUrl;
use cyclorama_client::{Verdict, car_image_attributes, car_image_html, sign_partner_url, verify_partner_url};
use serde_json::Value;

fn rows(file: &str, name: &str) -> Vec<Value> {
    let path = std::path::absolute("../vectors").expect("a current folder").join(file);
    let document: Value = serde_json::from_str(&std::fs::read_to_string(path).expect("reads")).expect("JSON");
    let rows = document[name].as_array().expect("rows").clone();
    assert!(!rows.is_empty());
    rows
}

fn text<'a>(row: &'a Value, name: &str) -> &'a str {
    row[name].as_str().unwrap_or_else(|| panic!("no {name} in {row}"))
}

#[test]
fn partner_urls_are_signed() {
    for row in rows("partner-signatures.json", "sign") {
        let parameters: Vec<(&str, String)> = row["parameters"]
            .as_object()
            .expect("parameters")
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
            .collect();
        let parameters: Vec<(&str, &str)> = parameters.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let expires_at = row["expires_at"].as_i64().expect("seconds");
        let signed = sign_partner_url(text(&row, "url"), text(&row, "secret"), &parameters, expires_at);
        let signed = signed.expect("signs");
        assert_eq!(signed, text(&row, "signed_url"), "{}", row["name"]);
        assert!(signed.contains(&format!("{}&sig=", text(&row, "text"))), "{}", row["name"]);
    }
    for name in ["exp", "sig"] {
        let refused = sign_partner_url("https://x.example", "s", &[(name, "1")], 1).expect_err("given");
        assert!(refused.to_string().contains(name), "{refused}");
    }
}

#[test]
fn partner_urls_are_verified() {
    for row in rows("partner-signatures.json", "verify") {
        let now = row["now"].as_f64().expect("seconds") as i64;
        let expected = match text(&row, "verdict") {
            "valid" => Verdict::Valid,
            "unsigned" => Verdict::Unsigned,
            "malformed" => Verdict::Malformed,
            "expired" => Verdict::Expired,
            "too_far_ahead" => Verdict::TooFarAhead,
            "wrong" => Verdict::Wrong,
            other => panic!("{other} is no verdict"),
        };
        assert_eq!(verify_partner_url(text(&row, "url"), text(&row, "secret"), now), expected, "{}", row["name"]);
    }
}

#[test]
fn pictures_in_pages() {
    for row in rows("image-attributes.json", "rows") {
        let urls: Vec<DeliveryUrl> = serde_json::from_value(row["urls"].clone()).expect("addresses");
        let (sizes, alt) = (row["options"]["sizes"].as_str(), row["options"]["alt"].as_str());
        let attributes = car_image_attributes(&urls, sizes, alt).expect("attributes");
        assert_eq!(attributes.len(), row["attributes"].as_object().expect("members").len());
        for (name, value) in attributes {
            assert_eq!(value, text(&row["attributes"], name), "{}: {name}", row["name"]);
        }
        assert_eq!(car_image_html(&urls, sizes, alt).expect("an element"), text(&row, "html"), "{}", row["name"]);
    }
    assert_eq!(car_image_html(&[], None, None), None);
}
