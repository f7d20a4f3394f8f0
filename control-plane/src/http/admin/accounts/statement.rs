//! `GET /admin/accounts/{account_id}/statement`: the statement of an account, as its owner sees it.

use crate::accounts::account;
use crate::app::App;
use crate::http::answers::statement::{StatementQuery, page};
use crate::http::error::Problem;
use crate::http::operator::Operator;
use crate::http::request_id::RequestId;
use axum::extract::{Path, RawQuery, State};
use axum::http::HeaderMap;
use axum::response::Response;

pub async fn get(
    State(app): State<App>,
    _: Operator,
    request_id: RequestId,
    Path(account_id): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    account::find(&app.db, &account_id).await?;
    page(&app, &account_id, StatementQuery::read(query.as_deref(), &headers)?, request_id).await
}
