//! A service that fails in the ways that a scenario sets.

use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

type Headers = BTreeMap<String, String>;

pub struct Upstream {
    pub url: String,
    /// Headers of each request so far.
    pub requests: Arc<Mutex<Vec<Headers>>>,
    serving: JoinHandle<()>,
}

impl Upstream {
    pub async fn start(answers: Vec<Value>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let noted = requests.clone();
        let serving = tokio::spawn(async move {
            // Serves one request for each connection, one after the other.
            while let Ok((connection, _)) = listener.accept().await {
                let _ = answer(connection, &answers, &noted).await;
            }
        });
        Upstream { url, requests, serving }
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn answer(connection: TcpStream, answers: &[Value], requests: &Mutex<Vec<Headers>>) -> std::io::Result<()> {
    let mut connection = BufReader::new(connection);
    let (mut headers, mut line) = (Headers::new(), String::new());
    connection.read_line(&mut line).await?;
    loop {
        line.clear();
        connection.read_line(&mut line).await?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.insert(name.to_lowercase(), value.to_owned());
    }
    let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    connection.read_exact(&mut vec![0; length]).await?;
    let answer = {
        let mut requests = requests.lock().unwrap();
        requests.push(headers);
        &answers[(requests.len() - 1).min(answers.len() - 1)]
    };
    if answer["broken"] == "before" {
        return Ok(());
    }
    let body = match (answer["text"].as_str(), &answer["body"]) {
        (Some(text), _) => text.to_owned(),
        (None, Value::Null) => "{}".to_owned(),
        (None, body) => body.to_string(),
    };
    let length = body.len() + if answer["broken"] == "amid" { 1000 } else { 0 };
    let mut head = format!("HTTP/1.1 {} Told\r\nconnection: close\r\n", answer["status"].as_u64().unwrap_or(200));
    for (name, value) in answer["headers"].as_object().into_iter().flatten() {
        head.push_str(&format!("{name}: {}\r\n", value.as_str().unwrap()));
    }
    connection.write_all(format!("{head}content-length: {length}\r\n\r\n{body}").as_bytes()).await?;
    connection.shutdown().await
}
