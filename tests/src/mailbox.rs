//! A mail server (the part of RFC 5321 that a client needs) that keeps the emails sent to it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Result, bail};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

pub struct Mailbox {
    pub smtp_url: String,
    letters: Arc<Mutex<Vec<Letter>>>,
}

#[derive(Debug, Clone)]
pub struct Letter {
    pub to: String,
    /// Headers and text, without the soft line breaks of quoted-printable.
    pub text: String,
}

impl Letter {
    /// The first URL in the text that begins with `start`.
    pub fn link(&self, start: &str) -> Option<String> {
        let at = self.text.find(start)?;
        Some(self.text[at..].split_whitespace().next()?.to_owned())
    }
}

impl Mailbox {
    pub async fn open() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let smtp_url = format!("smtp://{}", listener.local_addr()?);
        let letters = Arc::new(Mutex::new(Vec::new()));
        let kept = letters.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, kept.clone()));
            }
        });
        Ok(Mailbox { smtp_url, letters })
    }

    pub fn letters(&self) -> Vec<Letter> {
        self.letters.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone()
    }

    /// Waits until there are `count` emails, and returns all of them.
    pub async fn wait_for(&self, count: usize) -> Result<Vec<Letter>> {
        for _ in 0..200 {
            let letters = self.letters();
            if letters.len() >= count {
                return Ok(letters);
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        bail!("{} letters in ten seconds, not {count}", self.letters().len())
    }
}

async fn serve(stream: TcpStream, letters: Arc<Mutex<Vec<Letter>>>) -> Result<()> {
    let (reader, mut writer) = stream.into_split();
    let mut lines = BufReader::new(reader).lines();
    writer.write_all(b"220 mailbox\r\n").await?;
    let mut to = String::new();
    while let Some(line) = lines.next_line().await? {
        let verb = line.split([' ', ':']).next().unwrap_or_default().to_ascii_uppercase();
        let answer = match verb.as_str() {
            "EHLO" | "HELO" => "250-mailbox\r\n250 8BITMIME\r\n",
            "RCPT" => {
                to = line.split(['<', '>']).nth(1).unwrap_or_default().to_owned();
                "250 ok\r\n"
            }
            "DATA" => {
                writer.write_all(b"354 go on\r\n").await?;
                let mut text = String::new();
                while let Some(line) = lines.next_line().await? {
                    if line == "." {
                        break;
                    }
                    match line.strip_suffix('=') {
                        Some(part) => text.push_str(part),
                        None => text.extend([&line, "\n"]),
                    }
                }
                let letter = Letter { to: to.clone(), text: text.replace("=3D", "=") };
                letters.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(letter);
                "250 kept\r\n"
            }
            "QUIT" => {
                writer.write_all(b"221 bye\r\n").await?;
                return Ok(());
            }
            _ => "250 ok\r\n",
        };
        writer.write_all(answer.as_bytes()).await?;
    }
    Ok(())
}
