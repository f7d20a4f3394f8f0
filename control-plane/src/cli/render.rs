//! `cyclorama render ...`: renders and their review, for operators.

use super::client::{OperatorClient, segment};
use super::numbers::whole;
use serde_json::{Value, json};

#[derive(Debug, clap::Subcommand)]
pub enum Render {
    /// Show the state of a render and the receipt of its node
    Show {
        /// Id of the render, from `cyclorama render list` or `cyclorama render flagged`
        render_id: String,
    },
    /// List the renders in review, which three accounts rated bad, with their reasons
    Flagged,
    /// Approve a flagged render: this revision is not reviewed again
    Approve {
        /// Id of the render, from `cyclorama render list` or `cyclorama render flagged`
        render_id: String,
    },
    /// Rerender a vehicle and view in all its colours, without review; the new images replace the
    /// delivered ones as soon as they are rendered
    Rerender {
        /// Id of the render, from `cyclorama render list` or `cyclorama render flagged`
        render_id: String,
    },
    /// Rerender as a candidate: delivered images do not change until the candidate is accepted
    Candidate {
        /// Id of the render, from `cyclorama render list` or `cyclorama render flagged`
        render_id: String,
    },
    /// Accept a candidate: it replaces the delivered images
    Accept {
        /// Id of the render, from `cyclorama render list` or `cyclorama render flagged`
        render_id: String,
        /// Revision of the candidate, as `cyclorama render candidate` printed it
        #[arg(allow_negative_numbers = true, value_parser = whole(1..=i64::MAX))]
        revision: i64,
    },
    /// Reject a candidate and approve the delivered images
    Reject {
        /// Id of the render, from `cyclorama render list` or `cyclorama render flagged`
        render_id: String,
        /// Revision of the candidate, as `cyclorama render candidate` printed it
        #[arg(allow_negative_numbers = true, value_parser = whole(1..=i64::MAX))]
        revision: i64,
    },
    /// List the renders that changed last, with their receipts
    List {
        /// Number of renders, 1 to 200
        #[arg(long, default_value_t = 20, allow_hyphen_values = true, value_parser = whole(1..=200))]
        limit: i64,
    },
}

impl Render {
    pub async fn run(self, client: &OperatorClient) -> anyhow::Result<Value> {
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
