//! Handing letters to a mail server, a few at a time and beside the request that asks for it: how long it takes tells nobody whether an
//! address has an account.

use crate::secret::Secret;
use lettre::message::header::ContentType;
use lettre::transport::smtp;
use lettre::{Address, AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Letters on their way at once; more are refused.
const SENDING_MAX: usize = 32;

/// For one letter, connection included.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Where letters are handed over, and whom they are from.
#[derive(Debug, Clone)]
pub struct Settings {
    /// As `lettre` takes it. May hold a password.
    pub smtp_url: Secret,
    pub from: lettre::message::Mailbox,
    /// Who gets letters about the service itself.
    pub operator: Option<String>,
}

/// A letter in plain text.
#[derive(Debug)]
pub struct Letter {
    pub to: String,
    pub subject: &'static str,
    pub text: String,
}

#[derive(Debug, thiserror::Error)]
pub enum MailError {
    #[error("too many letters are on their way")]
    Busy,
    #[error("the address cannot be written to")]
    Address,
    #[error("the mail server did not take the letter")]
    Server { is_permanent: bool },
}

/// Room for one letter, given back when it was sent or nobody writes it.
#[derive(Debug)]
pub struct Room(OwnedSemaphorePermit);

/// Sends letters. Cheap to clone.
#[derive(Clone)]
pub struct Mailer {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: lettre::message::Mailbox,
    sending: Arc<Semaphore>,
}

/// The connection of an address, not opened yet.
pub fn transport(smtp_url: &str) -> Result<AsyncSmtpTransport<Tokio1Executor>, smtp::Error> {
    Ok(AsyncSmtpTransport::<Tokio1Executor>::from_url(smtp_url)?.timeout(Some(TIMEOUT)).build())
}

impl Mailer {
    pub fn new(settings: &Settings) -> Result<Self, smtp::Error> {
        Ok(Mailer {
            transport: transport(settings.smtp_url.reveal())?,
            from: settings.from.clone(),
            sending: Arc::new(Semaphore::new(SENDING_MAX)),
        })
    }

    /// Room for one letter, to be asked for before anything is looked up: whether there is any says nothing about an address.
    pub fn room(&self) -> Result<Room, MailError> {
        self.sending.clone().try_acquire_owned().map(Room).map_err(|_| MailError::Busy)
    }

    /// Takes a letter and sends it by a task of its own. What goes wrong then is logged.
    pub fn post(&self, Room(permit): Room, letter: Letter) -> Result<(), MailError> {
        let (subject, message) = (letter.subject, self.message(letter)?);
        let mailer = self.clone();
        tokio::spawn(async move {
            // Logged where it happens.
            let _ = mailer.hand_over(subject, message).await;
            drop(permit);
        });
        Ok(())
    }

    /// Sends a letter and waits until the mail server has it.
    pub async fn send(&self, letter: Letter) -> Result<(), MailError> {
        let Room(_permit) = self.room()?;
        let (subject, message) = (letter.subject, self.message(letter)?);
        self.hand_over(subject, message).await
    }

    fn message(&self, letter: Letter) -> Result<Message, MailError> {
        let to: Address = letter.to.parse().map_err(|_| MailError::Address)?;
        Message::builder()
            .from(self.from.clone())
            .to(to.into())
            .subject(letter.subject)
            .header(ContentType::TEXT_PLAIN)
            .body(letter.text)
            .map_err(|_| MailError::Address)
    }

    /// What goes wrong is logged without address or text: both are private.
    async fn hand_over(&self, subject: &'static str, message: Message) -> Result<(), MailError> {
        match self.transport.send(message).await {
            Ok(_) => {
                tracing::info!(subject, "a letter was handed to the mail server");
                Ok(())
            }
            Err(error) => {
                // The server's own words may repeat the address.
                tracing::error!(
                    subject,
                    is_permanent = error.is_permanent(),
                    is_timeout = error.is_timeout(),
                    status = ?error.status(),
                    "a letter could not be handed to the mail server"
                );
                Err(MailError::Server { is_permanent: error.is_permanent() })
            }
        }
    }
}
