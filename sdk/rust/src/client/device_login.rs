//! Device login: a program gets an API key that a person approves in a browser.

use super::Client;
use crate::error::Error;
use crate::transport::Request;
use crate::types::{DeviceCodeResponse, DeviceTokenResponse};
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;

impl Client {
    /// Begins a login. Show `verification_uri_complete` to a person, then call
    /// `wait_for_device_login`. `scope` names the permissions of the key, separated by spaces, such
    /// as `images:read account:read`. Without it the key gets all permissions that a device may
    /// have.
    pub async fn start_device_login(
        &self,
        client_name: Option<&str>,
        scope: Option<&str>,
    ) -> Result<DeviceCodeResponse, Error> {
        let given = [("client_name", client_name), ("scope", scope)];
        let body: BTreeMap<_, _> = given.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        self.json(&Request::post("/api/auth/device/code").body(&body)?).await
    }

    /// Polls once and returns the API key, which the service sends only once. Until then the
    /// error's code is `authorization_pending`, `slow_down` or `expired_token`.
    pub async fn poll_device_login(&self, device_code: &str) -> Result<DeviceTokenResponse, Error> {
        let request = Request::post("/api/auth/device/token").device_poll();
        self.json(&request.body(&json!({ "device_code": device_code }))?).await
    }

    /// Polls until a person has approved or denied the login, or it has expired (`expired_token`).
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
