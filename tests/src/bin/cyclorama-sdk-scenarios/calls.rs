//! The calls of scenarios, by the name of the operation, with arguments and results as JSON.

use cyclorama_client::types::{CheckRow, DeviceCodeResponse, Event, StatementQuery};
use cyclorama_client::{CarImage, Client, Error, ImageInfo, sign_partner_url};
use futures::TryStreamExt;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

pub enum Outcome {
    Done(Value),
    Refused(Error),
}

pub async fn call(client: &Client, url: &str, name: &str, arguments: Value, step: &Value) -> Outcome {
    match done(client, url, name, arguments, step).await {
        Ok(document) => Outcome::Done(document),
        Err(error) => Outcome::Refused(error),
    }
}

async fn done(client: &Client, url: &str, name: &str, mut given: Value, step: &Value) -> Result<Value, Error> {
    let text = |given: &Value, name: &str| given[name].as_str().map(str::to_owned);
    Ok(match name {
        "getCarImage" => picture(client.get_car_image(&read(given)).await?),
        "headCarImage" => info(client.head_car_image(&read(given)).await?),
        "getCarImageUrl" => document(client.get_car_image_url(&read(given)).await?),
        "saveCarImage" => {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("car.png");
            let saved = client.save_car_image(&file, &read(given)).await;
            let left = std::fs::read_dir(folder.path()).unwrap().count();
            assert_eq!((left, file.exists()), if step["error"].is_null() { (1, true) } else { (0, false) });
            let mut told = info(saved?);
            told["bytes"] = std::fs::metadata(&file).unwrap().len().into();
            told
        }
        "createImageUrls" => document(client.create_image_urls(&read(given)).await?),
        "loadDelivery" => picture(loaded(client, &given).await?),
        "checkDelivery" => info(client.check_delivery(given["url"].as_str().unwrap()).await?),
        "embedCarImage" => {
            let grant = grant(&mut given);
            picture(client.embed_car_image(&read(given), &read(grant)).await?)
        }
        "headEmbedCarImage" => {
            let grant = grant(&mut given);
            info(client.head_embed_car_image(&read(given), &read(grant)).await?)
        }
        "resolveImage" => document(client.resolve_image(&read(given)).await?),
        "getVehicles" | "getVehicle" | "checkVehicles" | "decodeVin" => vehicle(client, name, given).await?,
        "getImageOptions" => document(client.get_image_options().await?),
        "getAccount" => document(client.get_account().await?),
        "getStatement" => document(client.get_statement(&read(given)).await?),
        "statementLines" => {
            let lines: Vec<_> = client.statement_lines(read::<StatementQuery>(given)).try_collect().await?;
            json!({ "lines": document(lines) })
        }
        "statementCsv" => {
            let parts: Vec<String> = client.statement_csv(read::<StatementQuery>(given)).try_collect().await?;
            json!({ "parts": parts, "text": parts.concat() })
        }
        "rateImage" => document(client.rate_image(&read(given)).await?),
        "createCheckout" => {
            let key = text(&given, "idempotency_key");
            document(client.create_checkout(given["credits"].as_i64().unwrap(), key.as_deref()).await?)
        }
        "createPortal" => document(client.create_portal().await?),
        "startDeviceLogin" => {
            let (name, scope) = (given["client_name"].as_str(), given["scope"].as_str());
            document(client.start_device_login(name, scope).await?)
        }
        "pollDeviceLogin" => document(client.poll_device_login(given["device_code"].as_str().unwrap()).await?),
        "waitForDeviceLogin" => {
            let started: DeviceCodeResponse = read(given["started"].take());
            document(client.wait_for_device_login(&started).await?)
        }
        "approveDeviceLogin" => {
            let code = given["user_code"].as_str().unwrap();
            let approved = Command::new("python3").args(["../approve_device_login.py", url, code]).status().unwrap();
            assert!(approved.success());
            json!({})
        }
        "reportEvents" => document(client.report_events(&read::<Vec<Event>>(given["events"].take())).await?),
        "getHealth" => document(client.get_health().await?),
        "signPartnerUrl" => {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64;
            let parameters: Vec<(String, String)> = given["parameters"]
                .as_object()
                .unwrap()
                .iter()
                .map(|(name, value)| (name.clone(), value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
                .collect();
            let parameters: Vec<(&str, &str)> =
                parameters.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            let expires_at = now + given["expires_in"].as_i64().unwrap();
            let signed = sign_partner_url(url, given["secret"].as_str().unwrap(), &parameters, expires_at)?;
            let signed = url::Url::parse(&signed).unwrap();
            let sig = signed.query_pairs().find(|(name, _)| name == "sig").unwrap().1.into_owned();
            json!({ "exp": expires_at, "sig": sig })
        }
        other => panic!("no call `{other}`"),
    })
}

/// Calls an operation of the catalog for one vehicle, or for a list of them.
async fn vehicle(client: &Client, name: &str, mut given: Value) -> Result<Value, Error> {
    Ok(match name {
        "getVehicles" => document(client.get_vehicles(&read(given)).await?),
        "getVehicle" => document(client.get_vehicle(given["id"].as_str().unwrap()).await?),
        "checkVehicles" => document(client.check_vehicles(&read::<Vec<CheckRow>>(given["vehicles"].take())).await?),
        _ => document(client.decode_vin(given["vin"].as_str().unwrap(), given["year"].as_i64()).await?),
    })
}

/// Loads a signed URL, with or without the media types that the client accepts.
async fn loaded(client: &Client, given: &Value) -> Result<CarImage, Error> {
    let (url, if_none_match) = (given["url"].as_str().unwrap(), given["if_none_match"].as_str());
    match given["accept"].as_str() {
        Some(accept) => client.load_delivery_as(accept, url, if_none_match).await,
        None => client.load_delivery(url, if_none_match).await,
    }
}

fn read<Given: DeserializeOwned>(given: Value) -> Given {
    serde_json::from_value(given).unwrap()
}

fn document(answer: impl Serialize) -> Value {
    serde_json::to_value(answer).unwrap()
}

fn info(info: ImageInfo) -> Value {
    document(info)
}

fn picture(image: CarImage) -> Value {
    let mut told = document(image.info);
    told["bytes"] = image.content.len().into();
    told
}

/// Moves the members of a grant out of the arguments.
fn grant(given: &mut Value) -> Value {
    let members = given.as_object_mut().unwrap();
    ["mode", "exp", "sig"].into_iter().filter_map(|name| members.remove_entry(name)).collect()
}
