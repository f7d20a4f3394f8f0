//! The statement of an account: its pages, and the CSV file.

use crate::app::App;
use crate::http::error::Problem;
use crate::http::openapi::requests::query as parameter;
use crate::http::request_id::RequestId;
use crate::ledger::{self, PAGE_MAX, StatementLine};
use axum::Json;
use axum::body::Body;
use axum::http::header::{ACCEPT, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName};
use axum::response::{IntoResponse, Response};
use futures::stream;
use serde::Serialize;
use url::form_urlencoded;
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, SchemaType, Type};
use utoipa::{IntoParams, ToSchema};

/// Header with the value of `after` for the next page; absent on the last page.
const NEXT: HeaderName = HeaderName::from_static("x-next-after");

/// The query of a request for a statement.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct StatementQuery {
    after: Option<String>,
    limit: i64,
    as_csv: bool,
}

impl StatementQuery {
    /// Reads the query and the `Accept` header.
    pub fn read(query: Option<&str>, headers: &HeaderMap) -> Result<Self, Problem> {
        let mut read = StatementQuery { after: None, limit: PAGE_MAX, as_csv: wants_csv(headers) };
        let mut seen = Vec::new();
        for (key, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            match key.as_ref() {
                "after" if uuid::Uuid::parse_str(&value).is_ok() => read.after = Some(value.into_owned()),
                "after" => return Err(Problem::bad_parameter("after", "`after` must be the id of an entry.")),
                "limit" => {
                    let limit = value.parse().ok().filter(|limit| {
                        (1..=PAGE_MAX).contains(limit) && value.bytes().all(|digit| digit.is_ascii_digit())
                    });
                    let wrong = || {
                        Problem::bad_parameter("limit", format!("`limit` must be a whole number from 1 to {PAGE_MAX}."))
                    };
                    read.limit = limit.ok_or_else(wrong)?;
                }
                "format" => match value.as_ref() {
                    "json" => read.as_csv = false,
                    "csv" => read.as_csv = true,
                    _ => return Err(Problem::bad_parameter("format", "`format` must be json or csv.")),
                },
                _ => {
                    let shown: String = key.chars().take(40).collect();
                    let detail =
                        format!("`{shown}` is not a parameter of this endpoint, which takes after, limit and format.");
                    return Err(Problem::bad_parameter(&shown, detail));
                }
            }
            if seen.contains(&key) {
                return Err(Problem::bad_parameter(&key, format!("`{key}` is given more than once.")));
            }
            seen.push(key);
        }
        Ok(read)
    }
}

impl IntoParams for StatementQuery {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let schema = |kind: Type| ObjectBuilder::new().schema_type(SchemaType::new(kind));
        let after = schema(Type::String).format(Some(SchemaFormat::KnownFormat(KnownFormat::Uuid)));
        let limit = schema(Type::Integer).minimum(Some(1.0)).maximum(Some(PAGE_MAX as f64));
        let format = schema(Type::String).enum_values(Some(["json", "csv"]));
        vec![
            parameter(
                "after",
                after.description(Some("Id of the last entry of the page before. The page begins after it.")),
                false,
            ),
            parameter("limit", limit.description(Some("Maximum number of entries of the page. Default: 1000.")), false),
            parameter(
                "format",
                format.description(Some("Format of the page. Default: csv with `Accept: text/csv`, otherwise json.")),
                false,
            ),
        ]
    }
}

fn wants_csv(headers: &HeaderMap) -> bool {
    headers
        .get(ACCEPT)
        .and_then(|accept| accept.to_str().ok())
        .is_some_and(|accept| accept.trim().starts_with("text/csv"))
}

/// A page of the statement, with the oldest entry first.
#[derive(Debug, Serialize, ToSchema)]
pub struct StatementResponse {
    data: Vec<StatementLine>,
    /// `after` of the next page; null on the last page.
    next_after: Option<String>,
    request_id: String,
}

/// Returns a page of the statement as JSON or CSV, for the account's owner or the operator.
pub async fn page(
    app: &App,
    account_id: &str,
    query: StatementQuery,
    request_id: RequestId,
) -> Result<Response, Problem> {
    // One entry more than is shown tells if there is a next page.
    let mut lines = ledger::statement(&app.db.readers, account_id, query.after.as_deref(), query.limit + 1).await?;
    let more = lines.len() as i64 > query.limit;
    lines.truncate(query.limit as usize);
    let next_after = if more { lines.last().map(|line| line.id.clone()) } else { None };
    let next = next_after.clone().map(|next| [(NEXT, next)]);
    let cache = [(CACHE_CONTROL, "private, no-store")];
    if !query.as_csv {
        let answer = StatementResponse { data: lines, next_after, request_id: request_id.0 };
        return Ok((cache, next, Json(answer)).into_response());
    }
    Ok((cache, next, CSV_FILE, csv(&lines, true)?).into_response())
}

/// Maximum number of lines of one file, a few megabytes: more than a spreadsheet can handle well.
/// The API returns older entries page by page.
pub const FILE_LINES_MAX: i64 = 100_000;

/// Returns the statement as a CSV file, which is sent while it is read: the newest
/// [`FILE_LINES_MAX`] entries, oldest first.
pub async fn csv_file(app: &App, account_id: String) -> Result<Response, Problem> {
    let before = ledger::before_newest(&app.db.readers, &account_id, FILE_LINES_MAX).await?;
    let app = app.clone();
    let begun = (before, true);
    let pages = stream::try_unfold(Some(begun), move |next: Option<(Option<String>, bool)>| {
        let (app, account_id) = (app.clone(), account_id.clone());
        async move {
            let Some((after, is_first)) = next else { return Ok(None) };
            let read = ledger::statement(&app.db.readers, &account_id, after.as_deref(), PAGE_MAX).await;
            let lines = read.inspect_err(|error| {
                tracing::error!(error = error as &dyn std::error::Error, "a statement broke off while it was sent");
            });
            let lines = lines.map_err(std::io::Error::other)?;
            let page = csv(&lines, is_first).map_err(|_| std::io::Error::other("not written as CSV"))?;
            let is_last = (lines.len() as i64) < PAGE_MAX;
            let next = lines.last().filter(|_| !is_last).map(|line| (Some(line.id.clone()), false));
            Ok::<_, std::io::Error>(Some((page, next)))
        }
    });
    Ok(([(CACHE_CONTROL, "private, no-store")], CSV_FILE, Body::from_stream(pages)).into_response())
}

const CSV_FILE: [(HeaderName, &str); 2] =
    [(CONTENT_TYPE, "text/csv; charset=utf-8"), (CONTENT_DISPOSITION, "attachment; filename=\"statement.csv\"")];

const HEADING: [&str; 10] =
    ["id", "at", "kind", "credits", "balance", "reason", "hold_id", "delivery_url_id", "reference", "corrects"];

/// Writes CSV (RFC 4180); the first page begins with a heading. An apostrophe is put before texts
/// that a spreadsheet would take for formulas.
fn csv(lines: &[StatementLine], is_first: bool) -> Result<Vec<u8>, Problem> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let text = |text: &Option<String>| match text.as_deref() {
        Some(text) if text.starts_with(['=', '+', '-', '@', '\t', '\r']) => format!("'{text}"),
        Some(text) => text.to_owned(),
        None => String::new(),
    };
    let mut write = || -> Result<(), csv::Error> {
        if is_first {
            writer.write_record(HEADING)?;
        }
        for line in lines {
            let (credits, balance) = (line.credits.to_string(), line.balance.to_string());
            let (reason, hold) = (text(&line.reason), text(&line.hold_id));
            let (url, reference, corrects) = (text(&line.delivery_url_id), text(&line.reference), text(&line.corrects));
            let [id, at, kind] = [&line.id, &line.at, &line.kind];
            let record = [id, at, kind, &credits, &balance, &reason, &hold, &url, &reference, &corrects];
            writer.write_record(record)?;
        }
        Ok(())
    };
    let written = write();
    match (written, writer.into_inner()) {
        (Ok(()), Ok(bytes)) => Ok(bytes),
        _ => {
            tracing::error!("a statement could not be written as CSV");
            Err(Problem::internal())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries() {
        let read = |query: &str| StatementQuery::read(Some(query), &HeaderMap::new());
        let query = read("after=01938e6c-0000-7000-8000-000000000000&limit=5&format=csv").expect("reads");
        assert_eq!(
            query,
            StatementQuery { after: Some("01938e6c-0000-7000-8000-000000000000".to_owned()), limit: 5, as_csv: true }
        );
        assert_eq!(read("").expect("reads"), StatementQuery { after: None, limit: 1000, as_csv: false });
        for wrong in [
            "limit=0",
            "limit=1001",
            "limit=+5",
            "limit=",
            "format=xml",
            "after=",
            "after=%00",
            "after=0190",
            "page=2",
            "limit=1&limit=2",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_spreadsheet_runs_nothing() {
        let line = StatementLine {
            id: "1".to_owned(),
            at: "2026-11-21T00:00:00Z".to_owned(),
            kind: "grant".to_owned(),
            credits: 5,
            balance: 5,
            reason: Some("=cmd(\"x\"), then".to_owned()),
            hold_id: None,
            delivery_url_id: None,
            reference: None,
            corrects: None,
        };
        let corrects =
            StatementLine { id: "2".to_owned(), reason: None, corrects: Some("1".to_owned()), ..line.clone() };
        let text = String::from_utf8(csv(&[corrects], false).expect("writes")).expect("text");
        assert!(text.ends_with("2,2026-11-21T00:00:00Z,grant,5,5,,,,,1\n"), "{text}");
        let text = String::from_utf8(csv(&[line], true).expect("writes")).expect("text");
        assert!(text.ends_with("1,2026-11-21T00:00:00Z,grant,5,5,\"'=cmd(\"\"x\"\"), then\",,,,\n"), "{text}");
    }
}
