//! One child process from its start to its end.

use crate::log::{Log, LogEnd};
use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::process::{ChildStdin, Command};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How a child is asked to end.
#[derive(Debug, Clone, Copy)]
pub enum StopBy {
    /// By SIGTERM. The child is killed if it still runs after this time.
    Signal { kill_after: Duration },
    /// By a byte on its standard input. The child is never killed: it finishes the work that it
    /// holds, however long that takes.
    Byte,
}

/// An event in the life of a child.
#[derive(Debug)]
pub enum Event {
    /// The child runs. Its output waits in the pipe until the log is passed on.
    Started {
        process_id: Option<u32>,
        log: Log,
    },
    NotStarted(io::Error),
    /// The child has run long enough for a good start, and still runs.
    StartedWell,
    /// The child could not be asked to end. The supervisor waits for it all the same.
    NotAsked(io::Error),
    /// The child has ended; `status` describes how, in words. Its log has been passed on, except
    /// lines that the log's reader takes longer than a moment for.
    Ended {
        status: String,
        started_well: bool,
    },
}

/// A process whose standard input is a pipe, and which has to end when that pipe closes.
#[derive(Debug)]
pub struct Child {
    process: tokio::process::Child,
    stdin: ChildStdin,
    log: Log,
    log_end: LogEnd,
}

impl Child {
    /// Starts the command with pipes as its standard input and standard error.
    pub fn spawn(command: &mut Command) -> io::Result<Self> {
        let mut process = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let (Some(stdin), Some(stderr)) = (process.stdin.take(), process.stderr.take()) else {
            return Err(io::Error::other("the system made no pipes to the process"));
        };
        let (log, log_end) = Log::new(stderr);
        Ok(Self { process, stdin, log, log_end })
    }
}

/// A child that has not ended, with the events that are still to come.
pub(crate) struct Running {
    process: tokio::process::Child,
    /// Kept open until the process has ended.
    stdin: Option<ChildStdin>,
    log_end: Option<LogEnd>,
    /// Time at which the start counts as good; `None` if it already does.
    good_at: Option<Instant>,
    kill_at: Option<Instant>,
    was_asked: bool,
}

impl Running {
    /// Returns a child that was just started, and the event that reports the start.
    pub(crate) fn begin(child: Child, good_start: Duration) -> (Self, Event) {
        let Child { process, stdin, log, log_end } = child;
        let started = Event::Started { process_id: process.id(), log };
        let (stdin, log_end, good_at) = (Some(stdin), Some(log_end), Some(Instant::now() + good_start));
        (Self { process, stdin, log_end, good_at, kill_at: None, was_asked: false }, started)
    }

    /// Waits for the next event. [`Event::Ended`] is the last one.
    pub(crate) async fn next(&mut self, stop_by: StopBy, stop: &CancellationToken) -> Event {
        let status = loop {
            tokio::select! {
                status = self.process.wait() => break status,
                () = at(self.good_at) => {
                    self.good_at = None;
                    return Event::StartedWell;
                }
                () = stop.cancelled(), if !self.was_asked => {
                    self.was_asked = true;
                    if let Err(error) = self.ask_to_end(stop_by).await {
                        return Event::NotAsked(error);
                    }
                }
                () = at(self.kill_at) => {
                    self.kill_at = None;
                    if let Err(error) = self.process.start_kill() {
                        break Err(error);
                    }
                }
            }
        };
        self.ended(status).await
    }

    async fn ask_to_end(&mut self, stop_by: StopBy) -> io::Result<()> {
        match stop_by {
            StopBy::Signal { kill_after } => {
                self.kill_at = Some(Instant::now() + kill_after);
                let id = self.process.id().and_then(|id| i32::try_from(id).ok());
                let Some(id) = id.and_then(rustix::process::Pid::from_raw) else { return Ok(()) };
                // The child has not been reaped, so the id is still its own.
                Ok(rustix::process::kill_process(id, rustix::process::Signal::TERM)?)
            }
            StopBy::Byte => match &mut self.stdin {
                // This does not block, because one byte goes into an empty pipe.
                Some(stdin) => stdin.write_all(b"\n").await,
                None => Ok(()),
            },
        }
    }

    async fn ended(&mut self, status: io::Result<ExitStatus>) -> Event {
        self.stdin = None;
        if let Some(log_end) = self.log_end.take() {
            log_end.last_words().await;
        }
        let status = status.map_or_else(|error| error.to_string(), |status| status.to_string());
        Event::Ended { status, started_well: self.good_at.is_none() }
    }
}

/// Resolves at `moment`, or never if there is none.
async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}
