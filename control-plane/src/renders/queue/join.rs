//! Joining of render nodes: checks what they report of themselves, and limits how many nodes one
//! token may have.

use super::nodes::SLOTS_MAX;
use crate::clock::UnixMs;
use crate::db::Tx;
use crate::money::microusd_from;
use crate::plain_text;
use crate::renders::Renders;
use cyclorama_core::wire::{CUSTOM_PAINTS, JoinRequest};
use sqlx::{AssertSqlSafe, Row};

/// Nodes that were not seen for this long (a day) are deleted, in milliseconds.
const FORGOTTEN_AFTER_MS: i64 = 24 * 60 * 60_000;

/// Maximum length of a graphics device's name, in characters. Drivers' names have some forty,
/// software renderers' up to a hundred.
const DEVICE_NAME_CHARS_MAX: usize = 200;

/// SQL condition that a node holds no lease. A row of a node with a lease stays until the lease is
/// over, because the renderer of a job is read from it.
const HOLDS_NO_LEASE: &str = "not exists (select 1 from jobs where node_id = nodes.id and state = 'leased')";

/// The errors with which a request to join is refused.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    #[error("`{field}` {rule}")]
    Invalid { field: &'static str, rule: &'static str },
    /// The token has as many living nodes as one token may have. A silent node gives up its place
    /// after `retry_after_seconds`.
    #[error("this node token has {nodes_max} active nodes, the maximum of one token")]
    TooMany { nodes_max: i64, retry_after_seconds: u64 },
    #[error("the database did not answer")]
    Database(#[from] sqlx::Error),
}

/// Returns the first rule that a request to join breaks.
fn check(request: &JoinRequest, usd_per_hour_max: f64) -> Result<(), JoinError> {
    let device = &request.device;
    let provider = device.execution_provider.as_deref().unwrap_or_default();
    let has_chars = |text: &str, most: usize| text.chars().nth(most).is_none();
    let readable = |texts: &[&str]| texts.iter().all(|text| plain_text::is_readable(text));
    let (pipelines, paints, no_control) = (&request.pipelines, &request.paints, "must have no control characters");
    let rules = [
        ("name", !request.name.is_empty() && has_chars(&request.name, 80), "must have 1 to 80 characters"),
        ("version", request.version.len() <= 80, "must have at most 80 characters"),
        ("name", readable(&[&request.name]), no_control),
        ("version", readable(&[&request.version]), no_control),
        ("slots", (1..=SLOTS_MAX).contains(&request.slots), "must be 1 to 64"),
        (
            "usd_per_hour",
            request.usd_per_hour.is_none_or(|price| (0.0..=usd_per_hour_max).contains(&price)),
            "must be 0 to what CYCLORAMA_NODE_USD_PER_HOUR_MAX of the control plane allows",
        ),
        ("pipelines", (1..=16).contains(&pipelines.len()), "must name 1 to 16"),
        (
            "pipelines",
            pipelines.iter().all(|p| p.id.len() <= 120 && p.digest.len() <= 200),
            "has too long an id or digest",
        ),
        (
            "pipelines",
            pipelines.iter().all(|p| readable(&[&p.id, &p.digest])),
            "must have no control characters in ids and digests",
        ),
        (
            "paints",
            paints.len() <= 16 && paints.iter().all(|p| p.len() <= 40),
            "must be up to 16 words of up to 40 bytes",
        ),
        ("device.name", has_chars(&device.name, DEVICE_NAME_CHARS_MAX), "must have at most 200 characters"),
        ("device.backend", has_chars(&device.backend, 80), "must have at most 80 characters"),
        ("device.execution_provider", has_chars(provider, 80), "must have at most 80 characters"),
        ("device", readable(&[&device.name, &device.backend, provider]), no_control),
    ];
    match rules.into_iter().find(|(_, holds, _)| !holds) {
        Some((field, _, rule)) => Err(JoinError::Invalid { field, rule }),
        None => Ok(()),
    }
}

impl Renders {
    /// Adds a node and returns its id. A restarted node is a new node: nothing that counted against
    /// its last run applies to it. Fails with [`JoinError::Invalid`] if the request breaks a rule,
    /// and with [`JoinError::TooMany`] if the token has too many living nodes.
    pub async fn join(&self, token_id: &str, request: &JoinRequest) -> Result<String, JoinError> {
        check(request, self.settings().node_usd_per_hour_max)?;
        let now = self.0.clock.now();
        let json = |value: Result<String, serde_json::Error>| value.map_err(|error| sqlx::Error::Encode(error.into()));
        let node_id = uuid::Uuid::now_v7().to_string();
        let forget = format!("delete from nodes where seen_at_ms < $1 and {HOLDS_NO_LEASE}");
        self.0.database.write(sqlx::query(AssertSqlSafe(forget)).bind(now.0 - FORGOTTEN_AFTER_MS)).await?;
        let mut tx = self.0.database.begin().await?;
        self.make_room(&mut tx, token_id, now).await?;
        sqlx::query(
            "insert into nodes (id, token_id, name, version, slots, pipelines, device, standing, reported_state, joined_at_ms, seen_at_ms,
                                jobs_done, failed_in_a_row, microusd_per_hour, custom_paints)
             values ($1, $2, $3, $4, $5, $6, $7, 'active', 'ready', $8, $8, 0, '', $9, $10)",
        )
        .bind(&node_id)
        .bind(token_id)
        .bind(&request.name)
        .bind(&request.version)
        .bind(i64::from(request.slots))
        .bind(json(serde_json::to_string(&request.pipelines))?)
        .bind(json(serde_json::to_string(&request.device))?)
        .bind(now.0)
        .bind(request.usd_per_hour.map(microusd_from))
        .bind(i64::from(request.paints.iter().any(|paints| paints == CUSTOM_PAINTS)))
        .execute(&mut *tx)
        .await?;
        tx.commit().await?;
        tracing::info!(node_id, name = request.name, device = request.device.name, "a render node joined");
        Ok(node_id)
    }

    /// Makes room for one more row of the token: deletes as many rows as needed of nodes that left
    /// or are silent, those first that were seen the longest time ago. Fails with
    /// [`JoinError::TooMany`] when as many nodes are alive as the token may have.
    async fn make_room(&self, tx: &mut Tx<'_>, token_id: &str, now: UnixMs) -> Result<(), JoinError> {
        // Locks the token's row, so that of several nodes that join at once each counts those
        // before it.
        sqlx::query("update node_tokens set name = name where id = $1").bind(token_id).execute(&mut **tx).await?;
        let (nodes_max, silent_since_ms) = (self.settings().nodes_per_token, self.silent_since_ms(now));
        let row = sqlx::query(
            "select count(*), count(case when standing <> 'left' and seen_at_ms >= $2 then 1 end) from nodes where token_id = $1",
        )
        .bind(token_id)
        .bind(silent_since_ms)
        .fetch_one(&mut **tx)
        .await?;
        let (rows, alive): (i64, i64) = (row.try_get(0)?, row.try_get(1)?);
        if alive >= nodes_max {
            let retry_after_seconds = (now.0 - silent_since_ms).max(1000) as u64 / 1000;
            return Err(JoinError::TooMany { nodes_max, retry_after_seconds });
        }
        if rows >= nodes_max {
            let give_way = format!(
                "delete from nodes where id in (
                    select id from nodes where token_id = $1 and (standing = 'left' or seen_at_ms < $2) and {HOLDS_NO_LEASE}
                    order by seen_at_ms, id limit $3)"
            );
            sqlx::query(AssertSqlSafe(give_way))
                .bind(token_id)
                .bind(silent_since_ms)
                .bind(rows - nodes_max + 1)
                .execute(&mut **tx)
                .await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cyclorama_core::wire::{Device, Pipeline};

    fn request() -> JoinRequest {
        JoinRequest {
            name: "node".to_owned(),
            version: "1".to_owned(),
            slots: 1,
            batch_max: 1,
            pipelines: vec![Pipeline { id: "builtin".to_owned(), digest: "0".repeat(64) }],
            paints: Vec::new(),
            device: Device { name: "card".to_owned(), backend: "vulkan".to_owned(), ..Device::default() },
            usd_per_hour: None,
        }
    }

    #[test]
    fn what_a_node_says_of_itself_has_bounds() {
        type Change = fn(&mut JoinRequest);
        let cases: [(Option<&str>, Change); 19] = [
            (None, |_| {}),
            (None, |request| request.device.name = "ö".repeat(200)),
            (Some("device.name"), |request| request.device.name = "x".repeat(201)),
            (Some("device.name"), |request| request.device.name = "x".repeat(14_000)),
            (Some("device.backend"), |request| request.device.backend = "x".repeat(81)),
            (Some("device.execution_provider"), |request| {
                request.device.execution_provider = Some("x".repeat(81));
            }),
            (Some("device"), |request| request.device.name = "card\u{1b}".to_owned()),
            (Some("device"), |request| request.device.execution_provider = Some("\n".to_owned())),
            (Some("name"), |request| request.name = String::new()),
            (Some("name"), |request| request.name = "x".repeat(81)),
            (Some("version"), |request| request.version = "x".repeat(81)),
            (Some("slots"), |request| request.slots = 0),
            (Some("slots"), |request| request.slots = 65),
            (Some("pipelines"), |request| request.pipelines.clear()),
            (Some("pipelines"), |request| request.pipelines[0].id = "x".repeat(121)),
            (None, |request| request.paints = vec!["custom".to_owned(), "of a later version".to_owned()]),
            (Some("paints"), |request| request.paints = vec!["custom".to_owned(); 17]),
            (Some("paints"), |request| request.paints = vec!["x".repeat(41)]),
            (Some("usd_per_hour"), |request| request.usd_per_hour = Some(100.5)),
        ];
        for (number, (expected, change)) in cases.into_iter().enumerate() {
            let mut request = request();
            change(&mut request);
            let wrong = match check(&request, 100.0) {
                Err(JoinError::Invalid { field, .. }) => Some(field),
                _ => None,
            };
            assert_eq!(wrong, expected, "case {number}");
        }
    }
}
