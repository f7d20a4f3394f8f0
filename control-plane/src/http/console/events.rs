//! `GET /console/events`: the live part of the console as server-sent events, whenever it has changed.

use super::live;
use super::session::Watcher;
use crate::app::App;
use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures::{Stream, StreamExt};
use std::convert::Infallible;
use std::time::Duration;

/// Between looks.
const PAUSE: Duration = Duration::from_secs(2);

pub async fn get(State(app): State<App>, _: Watcher) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let stopping = app.stopping.clone();
    let looks = futures::stream::unfold((app, String::new()), |(app, mut last)| async move {
        loop {
            tokio::time::sleep(PAUSE).await;
            // What cannot be read now may be read at the next look; the cause is logged.
            let Ok(fresh) = live::render(&app).await else { continue };
            if fresh != last {
                last.clone_from(&fresh);
                return Some((Ok(Event::default().data(fresh)), (app, last)));
            }
        }
    });
    // An open page does not hold up the end of the service.
    Sse::new(looks.take_until(stopping.cancelled_owned())).keep_alive(KeepAlive::default())
}
