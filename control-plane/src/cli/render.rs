//! `cyclorama render ...`

use super::client::{Client, segment};
use super::numbers::whole;
use serde_json::{Value, json};

#[derive(Debug, clap::Subcommand)]
pub enum Render {
    /// State of one render, and the receipt of the node that made it
    Show { render_id: String },
    /// Renders that enough accounts called bad, with what they said
    Flagged,
    /// Keep a flagged render: this revision is not put into review again
    Approve { render_id: String },
    /// Render anew, from new noise, with every colour of the vehicle and view; the present pictures are served until then
    Rerender { render_id: String },
    /// Render anew to look at it first: what is served stays until the candidate is accepted
    Candidate { render_id: String },
    /// Put a candidate in the place of what is served
    Accept {
        render_id: String,
        #[arg(allow_negative_numbers = true, value_parser = whole(1..=i64::MAX))]
        revision: i64,
    },
    /// Keep what is served, and approve it
    Reject {
        render_id: String,
        #[arg(allow_negative_numbers = true, value_parser = whole(1..=i64::MAX))]
        revision: i64,
    },
    /// The renders that changed last, with their receipts
    List {
        /// How many, 1 to 200
        #[arg(long, default_value_t = 20, allow_hyphen_values = true, value_parser = whole(1..=200))]
        limit: i64,
    },
}

impl Render {
    pub async fn run(self, client: &Client) -> anyhow::Result<Value> {
        match self {
            Render::Show { render_id } => client.get(&format!("/admin/renders/{}", segment(&render_id))).await,
            Render::Flagged => client.get("/admin/renders/flagged").await,
            Render::Approve { render_id } => {
                client.post(&format!("/admin/renders/{}/approve", segment(&render_id)), json!({})).await
            }
            Render::Rerender { render_id } => {
                client.post(&format!("/admin/renders/{}/rerender", segment(&render_id)), json!({})).await
            }
            Render::Candidate { render_id } => {
                client.post(&format!("/admin/renders/{}/candidates", segment(&render_id)), json!({})).await
            }
            Render::Accept { render_id, revision } => {
                client
                    .post(&format!("/admin/renders/{}/candidates/{revision}/accept", segment(&render_id)), json!({}))
                    .await
            }
            Render::Reject { render_id, revision } => {
                client
                    .post(&format!("/admin/renders/{}/candidates/{revision}/reject", segment(&render_id)), json!({}))
                    .await
            }
            Render::List { limit } => client.get(&format!("/admin/renders?limit={limit}")).await,
        }
    }
}
