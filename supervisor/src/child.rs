//! One child from its start to its end.

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
    /// A signal to terminate. It is killed if it still runs after this time.
    Signal { kill_after: Duration },
    /// A byte on its standard input. It is never killed: it finishes what it holds, however long that takes.
    Byte,
}

/// What happens to a child.
#[derive(Debug)]
pub enum Event {
    /// It runs. What it writes waits in the pipe until its log is passed on.
    Started {
        process_id: Option<u32>,
        log: Log,
    },
    NotStarted(io::Error),
    /// It has run long enough for a good start, and still does.
    StartedWell,
    /// It could not be asked to end; it is waited for all the same.
    NotAsked(io::Error),
    /// How it ended, in words. Its log has been passed on, but for what takes its reader longer than a moment.
    Ended {
        status: String,
        started_well: bool,
    },
}

/// A process whose standard input is a pipe, and which is to end when that closes.
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

/// A child that has not ended, and what is still to come in its life.
pub(crate) struct Running {
    process: tokio::process::Child,
    /// Open until the process has ended.
    stdin: Option<ChildStdin>,
    log_end: Option<LogEnd>,
    /// When its start counts as good; `None`: it does.
    good_at: Option<Instant>,
    kill_at: Option<Instant>,
    was_asked: bool,
}

impl Running {
    /// A child that was just started, and the event that tells of it.
    pub(crate) fn begin(child: Child, good_start: Duration) -> (Self, Event) {
        let Child { process, stdin, log, log_end } = child;
        let started = Event::Started { process_id: process.id(), log };
        let (stdin, log_end, good_at) = (Some(stdin), Some(log_end), Some(Instant::now() + good_start));
        (Self { process, stdin, log_end, good_at, kill_at: None, was_asked: false }, started)
    }

    /// What happens to it next. Nothing does after [`Event::Ended`].
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
                // The child has not been waited for, so the id is still its own.
                Ok(rustix::process::kill_process(id, rustix::process::Signal::TERM)?)
            }
            StopBy::Byte => match &mut self.stdin {
                // One byte, into a pipe that is empty: this does not wait.
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

/// Resolves at that moment; without one, never.
async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}
