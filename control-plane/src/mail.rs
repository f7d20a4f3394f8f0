//! Sends emails through a mail server, a few at a time and independently of the request that causes
//! them, so that the duration of a request does not reveal whether an address has an account.

use crate::secret::Secret;
use lettre::message::header::ContentType;
use lettre::transport::smtp;
use lettre::{Address, AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Maximum number of emails being sent at once; more are refused.
const SENDING_MAX: usize = 32;

/// Time limit for sending one email, connection included.
const TIMEOUT: Duration = Duration::from_secs(20);

/// The mail server and the sender of emails.
#[derive(Debug, Clone)]
pub struct MailSettings {
    /// URL of the server in the form that `lettre` accepts. May contain a password.
    pub smtp_url: Secret,
    pub from: lettre::message::Mailbox,
    /// Email address that gets the emails about the service itself.
    pub operator: Option<String>,
}

/// An email in plain text.
#[derive(Debug)]
pub struct Email {
    pub to: String,
    pub subject: &'static str,
    pub text: String,
}

#[derive(Debug, thiserror::Error)]
pub enum MailError {
    #[error("too many emails are being sent")]
    Busy,
    #[error("the email address cannot receive email")]
    Address,
    #[error("the mail server did not accept the email")]
    Server { is_permanent: bool },
}

/// A permit to send one email. It is released when the email was sent or the permit is dropped.
#[derive(Debug)]
pub struct SendPermit(OwnedSemaphorePermit);

/// Sends emails. Cheap to clone.
#[derive(Clone)]
pub struct Mailer {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: lettre::message::Mailbox,
    sending: Arc<Semaphore>,
}

/// Returns the transport of an SMTP URL; its connection is not opened yet.
pub fn transport(smtp_url: &str) -> Result<AsyncSmtpTransport<Tokio1Executor>, smtp::Error> {
    Ok(AsyncSmtpTransport::<Tokio1Executor>::from_url(smtp_url)?.timeout(Some(TIMEOUT)).build())
}

impl Mailer {
    pub fn new(settings: &MailSettings) -> Result<Self, smtp::Error> {
        Ok(Mailer {
            transport: transport(settings.smtp_url.reveal())?,
            from: settings.from.clone(),
            sending: Arc::new(Semaphore::new(SENDING_MAX)),
        })
    }

    /// Returns a permit for one email, or [`MailError::Busy`]. Callers must take it before they
    /// look anything up, so that the availability of permits reveals nothing about an address.
    pub fn room(&self) -> Result<SendPermit, MailError> {
        self.sending.clone().try_acquire_owned().map(SendPermit).map_err(|_| MailError::Busy)
    }

    /// Accepts an email and sends it in a separate task. Errors of sending are logged.
    pub fn post(&self, SendPermit(permit): SendPermit, letter: Email) -> Result<(), MailError> {
        let (subject, message) = (letter.subject, self.message(letter)?);
        let mailer = self.clone();
        tokio::spawn(async move {
            // `hand_over` logs its errors.
            let _ = mailer.hand_over(subject, message).await;
            drop(permit);
        });
        Ok(())
    }

    /// Sends an email and waits until the mail server has it.
    pub async fn send(&self, letter: Email) -> Result<(), MailError> {
        let SendPermit(_permit) = self.room()?;
        let (subject, message) = (letter.subject, self.message(letter)?);
        self.hand_over(subject, message).await
    }

    fn message(&self, letter: Email) -> Result<Message, MailError> {
        let to: Address = letter.to.parse().map_err(|_| MailError::Address)?;
        Message::builder()
            .from(self.from.clone())
            .to(to.into())
            .subject(letter.subject)
            .header(ContentType::TEXT_PLAIN)
            .body(letter.text)
            .map_err(|_| MailError::Address)
    }

    /// Hands an email to the mail server. Errors are logged without address and text,
    /// because both are private.
    async fn hand_over(&self, subject: &'static str, message: Message) -> Result<(), MailError> {
        match self.transport.send(message).await {
            Ok(_) => {
                tracing::info!(subject, "an email was handed to the mail server");
                Ok(())
            }
            Err(error) => {
                // The server's own message may repeat the address.
                tracing::error!(
                    subject,
                    is_permanent = error.is_permanent(),
                    is_timeout = error.is_timeout(),
                    status = ?error.status(),
                    "an email could not be handed to the mail server"
                );
                Err(MailError::Server { is_permanent: error.is_permanent() })
            }
        }
    }
}
