//! Runs one child after another.

use crate::backoff::Backoff;
use crate::child::{Child, Event, Running, StopBy};
use std::io;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// When a child is started again, and how it is asked to end.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// First pause before a new start. Each further failed start in a row doubles
    /// it, up to `pause_max`.
    pub pause_min: Duration,
    pub pause_max: Duration,
    /// Returns a number from 0 to 1 for each pause: at 0 the pause is halved, at 1 it is whole.
    pub random: fn() -> f64,
    /// A child that ran for this long had a good start.
    pub good_start: Duration,
    pub stop_by: StopBy,
}

enum State {
    Due,
    Running(Box<Running>),
    Pausing,
}

/// Keeps one child running until it is stopped.
pub struct Supervisor<S> {
    settings: Settings,
    stop: CancellationToken,
    start: S,
    pauses: Backoff,
    state: State,
}

impl<S: FnMut() -> io::Result<Child>> Supervisor<S> {
    /// `start` starts a child. It is called whenever one is due, until `stop` is cancelled.
    pub fn new(settings: Settings, stop: CancellationToken, start: S) -> Self {
        let pauses = Backoff::new(settings.pause_min, settings.pause_max);
        Self { settings, stop, start, pauses, state: State::Due }
    }

    /// Returns the next event, or `None` once the supervisor was stopped and no child is left.
    /// The caller must await it repeatedly and never drop it midway, because nothing watches the
    /// child in the meantime.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            match &mut self.state {
                State::Due if self.stop.is_cancelled() => return None,
                State::Due => return Some(self.start_one()),
                State::Running(running) => {
                    let event = running.next(self.settings.stop_by, &self.stop).await;
                    match event {
                        Event::StartedWell => self.pauses.reset(),
                        Event::Ended { .. } => self.state = State::Pausing,
                        _ => {}
                    }
                    return Some(event);
                }
                State::Pausing => {
                    tokio::select! {
                        () = tokio::time::sleep(self.pauses.next((self.settings.random)())) => {}
                        () = self.stop.cancelled() => {}
                    }
                    self.state = State::Due;
                }
            }
        }
    }

    fn start_one(&mut self) -> Event {
        match (self.start)() {
            Ok(child) => {
                let (running, started) = Running::begin(child, self.settings.good_start);
                self.state = State::Running(Box::new(running));
                started
            }
            Err(error) => {
                self.state = State::Pausing;
                Event::NotStarted(error)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, sync_channel};
    use tokio::process::Command;

    const LONG: Duration = Duration::from_secs(600);

    /// Settings with pauses of a millisecond.
    fn impatient(good_start: Duration, stop_by: StopBy) -> Settings {
        let pause = Duration::from_millis(1);
        Settings { pause_min: pause, pause_max: pause, random: || 1.0, good_start, stop_by }
    }

    /// Supervises a shell that runs `script`.
    fn shell(
        script: String,
        settings: Settings,
        stop: &CancellationToken,
    ) -> Supervisor<impl FnMut() -> io::Result<Child>> {
        Supervisor::new(settings, stop.clone(), move || Child::spawn(Command::new("sh").args(["-c", &script])))
    }

    /// Passes a log on into a queue.
    fn lines_of(event: Option<Event>) -> Receiver<String> {
        let Some(Event::Started { log, .. }) = event else { panic!("{event:?} in place of a start") };
        let (lines, received) = sync_channel(16);
        log.pass_on(1024, move |line| lines.send(line.to_owned()).expect("a test that listens")).expect("a thread");
        received
    }

    #[tokio::test]
    async fn what_does_not_start_is_tried_again_and_a_stop_ends_the_pause() {
        let stop = CancellationToken::new();
        let missing = || Child::spawn(&mut Command::new("/nonexistent"));
        let mut supervisor = Supervisor::new(impatient(LONG, StopBy::Byte), stop.clone(), missing);
        for _ in 0..3 {
            assert!(matches!(supervisor.next().await, Some(Event::NotStarted(_))));
        }

        let settings = Settings { pause_min: LONG, pause_max: LONG, ..impatient(LONG, StopBy::Byte) };
        let mut supervisor = Supervisor::new(settings, stop.clone(), missing);
        assert!(matches!(supervisor.next().await, Some(Event::NotStarted(_))));
        let stop_soon = async {
            tokio::task::yield_now().await;
            stop.cancel();
        };
        let (event, ()) = tokio::join!(supervisor.next(), stop_soon);
        assert!(event.is_none());
    }

    #[tokio::test]
    async fn a_child_that_ended_is_started_again_and_one_that_lasts_had_a_good_start() {
        let stop = CancellationToken::new();
        let folder = tempfile::tempdir().expect("a folder");
        // The second child keeps running.
        let script = format!("cd {}; [ ! -e begun ] || read line; touch begun; exit 4", folder.path().display());
        let settings = impatient(Duration::from_secs(1), StopBy::Byte);
        let mut supervisor = shell(script, settings, &stop);
        let mut told = Vec::new();
        while let Some(event) = supervisor.next().await {
            told.push(match event {
                Event::Started { .. } => "started".to_owned(),
                Event::StartedWell => {
                    stop.cancel();
                    "well".to_owned()
                }
                Event::Ended { status, started_well } => format!("{status}, {started_well}"),
                other => panic!("{other:?}"),
            });
        }
        assert_eq!(told, ["started", "exit status: 4, false", "started", "well", "exit status: 4, true"]);
    }

    #[tokio::test]
    async fn it_is_asked_to_end_in_one_of_two_ways() {
        let signal = |kill_after| StopBy::Signal { kill_after };
        let moment = Duration::from_millis(100);
        for (script, stop_by, expected) in [
            ("echo ready >&2; read line", signal(LONG), "signal: 15 (SIGTERM)"),
            ("trap '' TERM; echo ready >&2; read line", signal(moment), "signal: 9 (SIGKILL)"),
            ("echo ready >&2; read line; sleep 0.3; exit 3", StopBy::Byte, "exit status: 3"),
        ] {
            let stop = CancellationToken::new();
            let mut supervisor = shell(script.to_owned(), impatient(LONG, stop_by), &stop);
            let lines = lines_of(supervisor.next().await);
            assert_eq!(lines.recv().as_deref(), Ok("ready"));
            stop.cancel();
            let event = supervisor.next().await;
            assert!(matches!(&event, Some(Event::Ended { status, .. }) if status == expected), "{script}: {event:?}");
            assert!(supervisor.next().await.is_none());
        }

        // A child that does not read its input is reported as such, and is waited for.
        let stop = CancellationToken::new();
        let script = "exec <&-; echo ready >&2; sleep 0.3";
        let mut supervisor = shell(script.to_owned(), impatient(LONG, StopBy::Byte), &stop);
        let lines = lines_of(supervisor.next().await);
        assert_eq!(lines.recv().as_deref(), Ok("ready"));
        stop.cancel();
        assert!(matches!(supervisor.next().await, Some(Event::NotAsked(_))));
        assert!(matches!(supervisor.next().await, Some(Event::Ended { status, .. }) if status == "exit status: 0"));
    }

    #[tokio::test]
    async fn it_does_not_outlive_its_supervisor() {
        let stop = CancellationToken::new();
        let script = "echo ready >&2; read line; echo over >&2";
        let mut supervisor = shell(script.to_owned(), impatient(LONG, StopBy::Byte), &stop);
        let lines = lines_of(supervisor.next().await);
        assert_eq!(lines.recv().as_deref(), Ok("ready"));
        drop(supervisor);
        assert_eq!(lines.recv().as_deref(), Ok("over"));
    }

    #[tokio::test]
    async fn a_grandchild_that_holds_the_log_open_is_not_waited_for() {
        let stop = CancellationToken::new();
        let folder = tempfile::tempdir().expect("a folder");
        let go = folder.path().join("go");
        // The grandchild holds the pipe until it may go on.
        let wait = format!("while [ ! -e {} ]; do sleep 0.01; done", go.display());
        let script = format!("{{ {wait}; echo late >&2; }} & echo last >&2");
        let mut supervisor = shell(script, impatient(LONG, StopBy::Byte), &stop);
        let lines = lines_of(supervisor.next().await);
        assert!(matches!(supervisor.next().await, Some(Event::Ended { .. })));
        assert_eq!(lines.recv().as_deref(), Ok("last"));
        std::fs::write(&go, "").expect("a file");
        assert_eq!(lines.recv().as_deref(), Ok("late"));
    }

    #[tokio::test]
    async fn a_reader_of_the_log_who_stalls_holds_up_nothing() {
        let stop = CancellationToken::new();
        let script = "echo ready >&2; read line; exit 3";
        let mut supervisor = shell(script.to_owned(), impatient(LONG, StopBy::Byte), &stop);
        let Some(Event::Started { log, .. }) = supervisor.next().await else { panic!("no start") };
        let (reading, reads) = tokio::sync::oneshot::channel();
        let (on, go_on) = sync_channel::<()>(0);
        let mut reading = Some(reading);
        let stall = move |_: &str| {
            reading.take().expect("one line").send(()).expect("a test that listens");
            let _ = go_on.recv();
        };
        log.pass_on(1024, stall).expect("a thread");
        reads.await.expect("a line");
        stop.cancel();
        assert!(matches!(supervisor.next().await, Some(Event::Ended { status, .. }) if status == "exit status: 3"));
        assert!(supervisor.next().await.is_none());
        drop(on);
    }
}
