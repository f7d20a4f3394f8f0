//! Operations on the account of a key: balance, statement, feedback, and pages for payment.

use super::Client;
use super::pictures::named;
use crate::error::Error;
use crate::transport::Request;
use crate::types::{
    AccountResponse, CheckoutResponse, FeedbackRequest, FeedbackResponse, PortalResponse, StatementLine,
    StatementQuery, StatementResponse,
};
use futures::stream::{self, Stream, TryStreamExt};
use serde_json::json;

const STATEMENT: &str = "/api/v1/account/statement";

impl Client {
    /// Returns the account of the key: its credits, usage and prices.
    pub async fn get_account(&self) -> Result<AccountResponse, Error> {
        self.json(&Request::get("/api/v1/account")).await
    }

    /// Returns one page of the account's statement, oldest entry first.
    pub async fn get_statement(&self, asked: &StatementQuery) -> Result<StatementResponse, Error> {
        self.json(&Request::get(STATEMENT).query(asked)?).await
    }

    /// Returns the statement from `asked.after` to its end as a stream of entries. Pages are
    /// requested as they are needed.
    pub fn statement_lines(&self, asked: StatementQuery) -> impl Stream<Item = Result<StatementLine, Error>> + '_ {
        let pages = stream::try_unfold(Some(asked), move |asked| async move {
            let Some(asked) = asked else { return Ok(None) };
            let page = self.get_statement(&asked).await?;
            let next = page.next_after.map(|after| StatementQuery { after: Some(after), ..asked });
            Ok(Some((stream::iter(page.data.into_iter().map(Ok)), next)))
        });
        pages.try_flatten()
    }

    /// Returns the statement as CSV, from `asked.after` to its end: a heading, then parts of whole
    /// lines. Pages are requested as they are needed.
    pub fn statement_csv(&self, asked: StatementQuery) -> impl Stream<Item = Result<String, Error>> + '_ {
        stream::try_unfold((Some(asked), true), move |(asked, is_first)| async move {
            let Some(asked) = asked else { return Ok(None) };
            let request = Request::get(STATEMENT).query(&asked)?.parameter("format", "csv");
            let request = request.expect_media_type("text/csv");
            let answer = self.transport.send(&request, None).await?;
            let text = String::from_utf8_lossy(&answer.body);
            let lines = if is_first { &*text } else { text.split_once('\n').map_or("", |(_, lines)| lines) };
            let next = answer.headers.get("x-next-after").and_then(|value| value.to_str().ok());
            let next = next.map(|after| StatementQuery { after: Some(after.to_owned()), ..asked });
            Ok(Some((lines.to_owned(), (next, false))))
        })
    }

    /// Sends feedback about an image.
    pub async fn rate_image(&self, asked: &FeedbackRequest) -> Result<FeedbackResponse, Error> {
        self.json(&Request::post("/api/v1/feedback").body(asked)?).await
    }

    /// Creates a page on which a person can buy credits. Creating it is free.
    pub async fn create_checkout(
        &self,
        credits: i64,
        idempotency_key: Option<&str>,
    ) -> Result<CheckoutResponse, Error> {
        let request = Request::post("/api/v1/billing/checkout").body(&json!({ "credits": credits }))?;
        self.json(&named(request, idempotency_key)?).await
    }

    /// Creates a page on which a person can manage cards and receipts.
    pub async fn create_portal(&self) -> Result<PortalResponse, Error> {
        self.json(&Request::post("/api/v1/billing/portal")).await
    }
}
