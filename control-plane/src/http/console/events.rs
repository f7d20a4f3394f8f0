//! `GET /console/events`: sends the live part of the console as server-sent events, whenever it has
//! changed.

use super::live;
use super::session::ConsoleOperator;
use crate::app::App;
use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures::{Stream, StreamExt};
use std::convert::Infallible;
use std::time::Duration;

/// Pause between two reads of the live part.
const PAUSE: Duration = Duration::from_secs(2);

pub async fn get(State(app): State<App>, _: ConsoleOperator) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let stopping = app.stopping.clone();
    let looks = futures::stream::unfold((app, String::new()), |(app, mut last)| async move {
        loop {
            tokio::time::sleep(PAUSE).await;
            // After a failed read the loop tries again, because the next one may succeed. The cause
            // is logged.
            let Ok(fresh) = live::render(&app).await else { continue };
            if fresh != last {
                last.clone_from(&fresh);
                return Some((Ok(Event::default().data(fresh)), (app, last)));
            }
        }
    });
    // The stream ends when the service stops, so that an open page does not delay the stop.
    Sse::new(looks.take_until(stopping.cancelled_owned())).keep_alive(KeepAlive::default())
}
