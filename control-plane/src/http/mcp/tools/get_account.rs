//! `get_account`: the balance of the account, and the key that makes the call.

use super::call::{Call, structured};
use super::definition::{Cost, Definition, nothing};
use crate::accounts::Scope;
use crate::http::answers::account;
use crate::http::error::Problem;
use crate::http::openapi;
use rmcp::model::CallToolResult;

pub fn definition() -> Definition {
    Definition {
        name: "get_account",
        title: "Get the account",
        cost: Cost::Free,
        scope: Some(Scope::AccountRead),
        limits: "usage covers the last thirty days",
        about: "Returns the credits left, prices, recent usage, and this key's scopes, rate limit and monthly cap. \
                Call it before you spend many credits.",
        input: nothing(),
        output: openapi::schema("AccountResponse"),
        is_read_only: true,
    }
}

pub async fn call(call: Call<'_>) -> Result<CallToolResult, Problem> {
    call.caller.require(Scope::AccountRead)?;
    structured(&account::answer(call.app, call.caller, call.request_id.clone()).await?)
}
