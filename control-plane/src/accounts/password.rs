//! Passwords: the rules for new ones, and their argon2id hashes.
//!
//! Hashing deliberately takes 19 MiB and tens of milliseconds (the crate's defaults, which are
//! OWASP's). Only as many hashes run at once as there are cores, and only a limited number wait.

use argon2::Argon2;
use argon2::password_hash::phc;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use std::sync::{Arc, LazyLock};
use tokio::sync::Semaphore;
use unicode_normalization::UnicodeNormalization;

pub const CHARS_MIN: usize = 8;
/// Long enough for any phrase, short enough to hash.
pub const CHARS_MAX: usize = 200;

/// Maximum number of hashes that run or wait at once: a few seconds of work.
const QUEUE_MAX: usize = 64;

/// A password as it was typed. `Debug` does not print it.
#[derive(Clone)]
pub struct Password(String);

/// The reason why a text is not accepted as a new password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WeakPassword {
    #[error("The password must have at least {CHARS_MIN} characters.")]
    TooShort,
    #[error("The password must have at most {CHARS_MAX} characters.")]
    TooLong,
    #[error("The password must not be the email address.")]
    IsAddress,
    #[error("The password must have at least two different characters.")]
    OneCharacter,
    #[error("Too many people use this password, so it is easily guessed. Choose another one.")]
    Common,
}

/// The commonest passwords of at least eight characters, in lower case and sorted: the list that
/// Django ships (django/contrib/auth/common-passwords.txt.gz of 5.2.19, BSD-3-Clause, made by Royce
/// Williams), without the shorter ones.
static COMMON: LazyLock<Vec<&str>> = LazyLock::new(|| include_str!("common_passwords.txt").lines().collect());

/// Returns true if the text is one of the commonest passwords, in any spelling of its letters.
fn is_common(text: &str) -> bool {
    COMMON.binary_search(&text.nfkc().collect::<String>().trim().to_lowercase().as_str()).is_ok()
}

impl Password {
    /// Returns a new password for a user with this email address, or the reason why the
    /// text is not accepted.
    pub fn choose(text: &str, email: &str) -> Result<Self, WeakPassword> {
        let chars = text.chars().count();
        if chars < CHARS_MIN {
            return Err(WeakPassword::TooShort);
        }
        if chars > CHARS_MAX {
            return Err(WeakPassword::TooLong);
        }
        if text.trim().eq_ignore_ascii_case(email.trim()) {
            return Err(WeakPassword::IsAddress);
        }
        let mut letters = text.chars();
        let first = letters.next();
        if letters.all(|letter| Some(letter) == first) {
            return Err(WeakPassword::OneCharacter);
        }
        if is_common(text) {
            return Err(WeakPassword::Common);
        }
        Ok(Password::typed(text))
    }

    /// Returns the password that a user typed to sign in. A text that could never have been chosen
    /// is accepted all the same, so that its refusal takes as long as any other.
    pub fn typed(text: &str) -> Self {
        // The same letters typed on another system may arrive composed differently.
        Password(text.chars().take(CHARS_MAX + 1).nfkc().collect())
    }
}

impl std::fmt::Debug for Password {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Password")
    }
}

/// The stored form of a password, a PHC string. `Debug` does not print it.
#[derive(Clone)]
pub struct PasswordHash(String);

impl PasswordHash {
    pub fn from_stored(text: String) -> Self {
        PasswordHash(text)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PasswordHash")
    }
}

#[derive(Debug, thiserror::Error)]
pub enum HashingError {
    #[error("too many passwords wait to be hashed")]
    Busy,
    #[error("a password could not be hashed")]
    Failed,
}

/// Hashes and compares passwords, a few at a time. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Passwords {
    waiting: Arc<Semaphore>,
    running: Arc<Semaphore>,
}

impl Default for Passwords {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Passwords { waiting: Arc::new(Semaphore::new(QUEUE_MAX)), running: Arc::new(Semaphore::new(cores)) }
    }
}

impl Passwords {
    pub async fn hash(&self, password: Password) -> Result<PasswordHash, HashingError> {
        self.run(move || hash(&password)).await?
    }

    /// Returns true if the password matches the hash. Without a hash it takes as
    /// long and returns false.
    pub async fn verify(&self, password: Password, hash: Option<PasswordHash>) -> Result<bool, HashingError> {
        self.run(move || {
            let parse = |hash: &PasswordHash| phc::PasswordHash::new(&hash.0).ok();
            let own = hash.as_ref().and_then(parse);
            let is_own = own.is_some();
            let compared = own.or_else(|| NOBODYS.as_ref().and_then(parse));
            let fits = compared
                .is_some_and(|compared| Argon2::default().verify_password(password.0.as_bytes(), &compared).is_ok());
            fits && is_own
        })
        .await
    }

    async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, HashingError> {
        let place = self.waiting.clone().try_acquire_owned().map_err(|_| HashingError::Busy)?;
        // The semaphore is never closed.
        let core = self.running.clone().acquire_owned().await.ok();
        let work = move || {
            // The work itself holds the permits, because it goes on after its
            // caller has disconnected.
            let _held = (place, core);
            work()
        };
        tokio::task::spawn_blocking(work).await.map_err(|_| HashingError::Failed)
    }
}

/// A hash to compare with if there is no account, so that the answer takes as long.
static NOBODYS: LazyLock<Option<PasswordHash>> = LazyLock::new(|| hash(&Password("nobody's password".to_owned())).ok());

fn hash(password: &Password) -> Result<PasswordHash, HashingError> {
    let hashed = Argon2::default().hash_password(password.0.as_bytes()).map_err(|_| HashingError::Failed)?;
    Ok(PasswordHash(hashed.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_as_a_password() {
        let long = "ab".repeat(101);
        for (text, refused) in [
            ("correct horse", None),
            ("8 chars!", None),
            ("7 chars", Some(WeakPassword::TooShort)),
            (long.as_str(), Some(WeakPassword::TooLong)),
            (" Ada@Example.com", Some(WeakPassword::IsAddress)),
            ("aaaaaaaaaaaa", Some(WeakPassword::OneCharacter)),
            ("password", Some(WeakPassword::Common)),
            ("PassWord ", Some(WeakPassword::Common)),
            ("12345678", Some(WeakPassword::Common)),
            ("qwertyuiop", Some(WeakPassword::Common)),
            ("iloveyou1", Some(WeakPassword::Common)),
            ("\u{ff50}assword", Some(WeakPassword::Common)),
            ("password of a horse", None),
        ] {
            assert_eq!(Password::choose(text, "ada@example.com").err(), refused, "{text}");
        }
    }

    #[test]
    fn the_commonest_can_be_looked_up() {
        assert!(COMMON.len() > 5_000 && COMMON.is_sorted(), "{} passwords", COMMON.len());
        assert!(COMMON.iter().all(|common| common.chars().count() >= CHARS_MIN));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn work_that_nobody_waits_for_keeps_its_place() {
        let one = || Arc::new(Semaphore::new(1));
        let passwords = Passwords { waiting: one(), running: one() };
        let (begin, has_begun) = tokio::sync::oneshot::channel();
        let (end, may_end) = std::sync::mpsc::sync_channel::<()>(1);
        let hung_up = tokio::spawn({
            let passwords = passwords.clone();
            async move {
                let work = move || {
                    begin.send(()).expect("waited for");
                    may_end.recv().ok()
                };
                passwords.run(work).await
            }
        });
        has_begun.await.expect("begins");
        hung_up.abort();
        assert!(hung_up.await.is_err(), "nobody waits any more");
        let other = passwords.run(|| ()).await;
        assert!(matches!(other, Err(HashingError::Busy)), "the first one still runs: {other:?}");
        drop(end);
    }

    #[tokio::test]
    async fn only_the_password_itself_fits_its_hash() {
        let passwords = Passwords::default();
        let hash = passwords.hash(Password::typed("Zo\u{eb} rides 9")).await.expect("hashes");
        assert!(hash.as_str().starts_with("$argon2id$v=19$"), "the stored form names its own parameters");
        // The same letters, composed differently.
        for (text, fits) in
            [("Zo\u{eb} rides 9", true), ("Zoe\u{308} rides 9", true), ("zo\u{eb} rides 9", false), ("", false)]
        {
            let verified = passwords.verify(Password::typed(text), Some(hash.clone())).await.expect("compares");
            assert_eq!(verified, fits, "{text}");
        }
        for none in [None, Some(PasswordHash::from_stored("!".to_owned()))] {
            let nobodys = passwords.verify(Password::typed("nobody's password"), none).await.expect("compares");
            assert!(!nobodys, "what stands in for a missing hash opens nothing");
        }
        assert_eq!(format!("{:?} {hash:?}", Password::typed("x")), "Password PasswordHash");
    }
}
