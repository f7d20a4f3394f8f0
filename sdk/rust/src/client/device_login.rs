//! Login of devices: a program gets a key that a person approves in a browser.

use super::Client;
use crate::error::Error;
use crate::transport::Request;
use crate::types::{DeviceCodeResponse, DeviceTokenResponse};
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;

impl Client {
    /// Begins a login: show `verification_uri_complete` to a person, then `wait_for_device_login`. `scope` says what the key is for, names
    /// separated by spaces, such as `images:read account:read`; without it the key may do all that a device may.
    pub async fn start_device_login(
        &self,
        client_name: Option<&str>,
        scope: Option<&str>,
    ) -> Result<DeviceCodeResponse, Error> {
        let given = [("client_name", client_name), ("scope", scope)];
        let body: BTreeMap<_, _> = given.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        self.json(&Request::post("/api/auth/device/code").body(&body)?).await
    }

    /// The key, once, or an error: `authorization_pending`, `slow_down`, `expired_token`.
    pub async fn poll_device_login(&self, device_code: &str) -> Result<DeviceTokenResponse, Error> {
        let request = Request::post("/api/auth/device/token").device_poll();
        self.json(&request.body(&json!({ "device_code": device_code }))?).await
    }

    /// Polls until a person has decided or the login has expired (`expired_token`).
    pub async fn wait_for_device_login(&self, started: &DeviceCodeResponse) -> Result<DeviceTokenResponse, Error> {
        loop {
            match self.poll_device_login(&started.device_code).await {
                Err(error) if matches!(error.code(), "authorization_pending" | "slow_down") => {
                    let interval = u64::try_from(started.interval).unwrap_or_default();
                    let seconds = interval.max(error.retry_after_seconds().unwrap_or_default());
                    (self.transport.pause)(Duration::from_secs(seconds)).await;
                }
                decided => return decided,
            }
        }
    }
}
