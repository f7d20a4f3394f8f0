//! `POST /dashboard/billing/auto-reload`: sets whether, when and with which pack the stored card is
//! charged.

use crate::app::App;
use crate::http::answers::payment_page;
use crate::http::error::Problem;
use crate::http::web::form::Form;
use crate::http::web::visit::SignedInVisit;
use crate::payments::auto_reload::{self, AutoReload};
use crate::payments::stripe::customers;
use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};

pub async fn post(
    State(app): State<App>,
    SignedInVisit { user, .. }: SignedInVisit,
    form: Form,
) -> Result<Response, Problem> {
    let Some(stripe) = &app.stripe else {
        return Err(Problem::unavailable("payments_off", "This service does not store cards."));
    };
    let is_on = form.text("on") == "yes";
    if is_on {
        let pack = payment_page::pack(&app, form.text("pack").parse().unwrap_or_default())?;
        let threshold: i64 = form.text("threshold").trim().parse().unwrap_or_default();
        // One pack must lift the balance over the threshold, or the card would be charged again and
        // again.
        if !(1..=pack.credits).contains(&threshold) {
            let detail =
                format!("`threshold` must be a whole number from 1 to {}, the credits of the pack.", pack.credits);
            return Err(Problem::bad_parameter("threshold", detail));
        }
        // Uses the newest card that was stored before. Without one, the next purchase stores its
        // card.
        if let Some(customer) = customers::find(&app.db, &user.account_id).await? {
            let asked_at = app.clock.now();
            let card = stripe.newest_card(&customer.id).await.map_err(payment_page::no_answer)?;
            customers::keep_newest(&app.db, &customer.id, card.as_deref(), asked_at).await?;
        }
        let settings = AutoReload { is_on, threshold_credits: threshold, pack_credits: pack.credits };
        auto_reload::set(&app.db, &app.config.prices.packs, &user.account_id, settings, app.clock.now()).await?;
    } else {
        let mut tx = app.db.begin().await?;
        auto_reload::turn_off(&mut tx, &user.account_id, app.clock.now()).await?;
        tx.commit().await?;
    }
    tracing::info!(account_id = user.account_id, is_on, "auto-reload set by its user");
    Ok(Redirect::to("/dashboard/billing").into_response())
}
