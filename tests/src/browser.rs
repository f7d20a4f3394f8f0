//! A browser without a screen or scripts, for tests: it keeps cookies, reads pages, and sends their
//! forms.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use reqwest::header::{HeaderMap, LOCATION, SET_COOKIE};
use reqwest::{Method, RequestBuilder, StatusCode};

use crate::{Service, secrets};

pub struct Browser {
    http: reqwest::Client,
    base_url: String,
    pub cookies: BTreeMap<String, String>,
    /// Headers that are sent with every request.
    pub headers: Vec<(&'static str, String)>,
}

/// The answer to a request.
#[derive(Debug)]
pub struct Page {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub html: String,
}

impl Page {
    /// The address that a redirect leads to.
    pub fn location(&self) -> &str {
        self.headers.get(LOCATION).and_then(|location| location.to_str().ok()).unwrap_or_default()
    }

    /// The text of the page without its tags, in one line.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut is_tag = false;
        for letter in self.html.chars() {
            match letter {
                '<' => is_tag = true,
                '>' => {
                    is_tag = false;
                    text.push(' ');
                }
                letter if !is_tag => text.push(letter),
                _ => {}
            }
        }
        let text = text.replace("&#x27;", "'").replace("&#x2f;", "/").replace("&quot;", "\"").replace("&amp;", "&");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The value of a field of the page, as it would be sent.
    pub fn field(&self, name: &str) -> Option<String> {
        let tag = self.html.split("<input").skip(1).map(|rest| rest.split('>').next().unwrap_or_default());
        let tag = tag.into_iter().find(|tag| tag.contains(&format!("name=\"{name}\"")))?;
        let value = tag.split("value=\"").nth(1)?.split('"').next()?;
        Some(value.replace("&#x2f;", "/").replace("&amp;", "&"))
    }
}

impl Browser {
    pub fn new(service: &Service) -> Self {
        Browser {
            http: service.http.clone(),
            base_url: service.base_url.clone(),
            cookies: BTreeMap::new(),
            headers: vec![("accept", "text/html".to_owned())],
        }
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let address = if path.starts_with("http") { path.to_owned() } else { format!("{}{path}", self.base_url) };
        let mut request = self.http.request(method, address);
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let cookies: Vec<String> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if !cookies.is_empty() {
            request = request.header("cookie", cookies.join("; "));
        }
        request
    }

    async fn send(&mut self, request: RequestBuilder) -> Result<Page> {
        let answer = request.send().await?;
        for cookie in answer.headers().get_all(SET_COOKIE) {
            let cookie = cookie.to_str()?;
            let (name, value) =
                cookie.split(';').next().and_then(|pair| pair.split_once('=')).context("a cookie without a name")?;
            if cookie.contains("Max-Age=0") {
                self.cookies.remove(name);
            } else {
                // The cookie is enough to act as its owner, so it must not be in any log.
                secrets::note(value);
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        Ok(Page { status: answer.status(), headers: answer.headers().clone(), html: answer.text().await? })
    }

    pub async fn get(&mut self, path: &str) -> Result<Page> {
        self.send(self.request(Method::GET, path)).await
    }

    /// Sends a form with exactly these fields.
    pub async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Result<Page> {
        self.send(self.request(Method::POST, path).form(fields)).await
    }

    /// Opens a page and sends its form with the values that it has already and these fields.
    pub async fn submit(&mut self, page: &str, action: &str, fields: &[(&str, &str)]) -> Result<Page> {
        let opened = self.get(page).await?;
        ensure!(opened.status.is_success(), "{page}: {} {}", opened.status, opened.text());
        let hidden: Vec<(&str, String)> =
            ["csrf", "next", "user_code"].into_iter().filter_map(|name| Some((name, opened.field(name)?))).collect();
        let mut sent: Vec<(&str, &str)> = hidden.iter().map(|(name, value)| (*name, value.as_str())).collect();
        sent.retain(|(name, _)| !fields.iter().any(|(own, _)| own == name));
        sent.extend(fields);
        self.post(action, &sent).await
    }

    pub async fn sign_up(&mut self, email: &str, password: &str) -> Result<Page> {
        secrets::note(password);
        self.submit("/sign-up", "/sign-up", &[("email", email), ("password", password)]).await
    }

    pub async fn sign_in(&mut self, email: &str, password: &str) -> Result<Page> {
        secrets::note(password);
        self.submit("/sign-in", "/sign-in", &[("email", email), ("password", password)]).await
    }

    pub async fn is_signed_in(&mut self) -> Result<bool> {
        let page = self.get("/sign-in").await?;
        Ok(page.status == StatusCode::SEE_OTHER)
    }
}
