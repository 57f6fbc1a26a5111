//! A client of the WebDriver protocol (<https://www.w3.org/TR/webdriver2/>) with Chromium's
//! additions, as far as the tests use it.
//!
//! The crates for it are not used. They turn on features of shared crates, such as the order of
//! JSON maps, and the gateway under test would then differ from the one that is shipped.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use serde_json::{Value, json};
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// Key of an element's id, a constant of the protocol.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// Why a command failed: the error's code and its message.
pub(crate) type CommandError = String;

/// A session of chromedriver: one browser with one window.
pub(crate) struct WebDriver {
    http: reqwest::Client,
    /// URL of the session.
    session: String,
    _chromedriver: Child,
}

/// An element of a page.
pub(crate) struct Element<'a> {
    driver: &'a WebDriver,
    id: String,
}

/// Method that finds elements.
#[derive(Clone, Copy)]
pub(crate) enum Locator<'a> {
    XPath(&'a str),
    Css(&'a str),
}

impl WebDriver {
    /// Starts chromedriver and a browser.
    pub(crate) async fn start(capabilities: &Value) -> Self {
        let (chromedriver, url) = start_chromedriver().await;
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        let mut driver = Self {
            http,
            session: url.clone(),
            _chromedriver: chromedriver,
        };
        let capabilities = json!({ "capabilities": { "alwaysMatch": capabilities } });
        let session = driver.post("/session", &capabilities).await.unwrap();
        let id = session["sessionId"].as_str().unwrap();
        driver.session = format!("{url}/session/{id}");
        driver
    }

    /// Closes the browser.
    pub(crate) async fn quit(&self) {
        let closed = self.send(Method::DELETE, "", None).await;
        closed.unwrap();
    }

    /// Opens a URL and waits until the page is loaded.
    pub(crate) async fn open(&self, url: &str) {
        self.post("/url", &json!({ "url": url })).await.unwrap();
    }

    /// Goes back to the previous page.
    pub(crate) async fn back(&self) {
        self.post("/back", &json!({})).await.unwrap();
    }

    pub(crate) async fn url(&self) -> String {
        self.get_text("/url").await
    }

    pub(crate) async fn title(&self) -> String {
        self.get_text("/title").await
    }

    pub(crate) async fn source(&self) -> String {
        self.get_text("/source").await
    }

    /// Returns a picture of the window, as PNG.
    pub(crate) async fn screenshot(&self) -> Vec<u8> {
        STANDARD.decode(self.get_text("/screenshot").await).unwrap()
    }

    /// Returns all elements of the page that match.
    pub(crate) async fn find_all(&self, locator: Locator<'_>) -> Vec<Element<'_>> {
        let (using, value) = match locator {
            Locator::XPath(path) => ("xpath", path),
            Locator::Css(selector) => ("css selector", selector),
        };
        let query = json!({ "using": using, "value": value });
        let found = self.post("/elements", &query).await.unwrap();
        let found = found.as_array().unwrap().iter();
        let element = |element: &Value| Element {
            driver: self,
            id: element[ELEMENT].as_str().unwrap().to_owned(),
        };
        found.map(element).collect()
    }

    /// Runs the body of a JavaScript function and returns its value.
    pub(crate) async fn run(&self, body: &str) -> Value {
        let script = json!({ "script": body, "args": [] });
        self.post("/execute/sync", &script).await.unwrap()
    }

    /// Runs the body of a JavaScript function and returns the value with which it calls back its
    /// last argument.
    pub(crate) async fn run_with_callback(&self, body: &str) -> Value {
        let script = json!({ "script": body, "args": [] });
        self.post("/execute/async", &script).await.unwrap()
    }

    /// Presses keys one after another, wherever the focus is. [`TAB`] and [`ENTER`] are keys too.
    pub(crate) async fn press_keys(&self, keys: &str) {
        let press = |key: char| {
            [
                json!({ "type": "keyDown", "value": key }),
                json!({ "type": "keyUp", "value": key }),
            ]
        };
        let presses: Vec<Value> = keys.chars().flat_map(press).collect();
        let keyboard = json!({ "type": "key", "id": "keyboard", "actions": presses });
        let actions = json!({ "actions": [keyboard] });
        self.post("/actions", &actions).await.unwrap();
    }

    /// Returns the entries of a log since the last call.
    pub(crate) async fn log(&self, name: &str) -> Vec<Value> {
        let log = self.post("/se/log", &json!({ "type": name })).await;
        log.unwrap().as_array().unwrap().clone()
    }

    /// Sends a command of Chromium's DevTools protocol and returns its result.
    pub(crate) async fn devtools(&self, command: &str, parameters: Value) -> Value {
        let call = json!({ "cmd": command, "params": parameters });
        let sent = self.post("/goog/cdp/execute", &call).await;
        sent.unwrap_or_else(|error| panic!("{command}: {error}"))
    }

    async fn get_text(&self, path: &str) -> String {
        let value = self.send(Method::GET, path, None).await.unwrap();
        value.as_str().unwrap().to_owned()
    }

    async fn post(&self, path: &str, body: &Value) -> Result<Value, CommandError> {
        self.send(Method::POST, path, Some(body)).await
    }

    /// Sends a command and returns its value.
    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value, CommandError> {
        let mut request = self.http.request(method, format!("{}{path}", self.session));
        if let Some(body) = body {
            request = request.json(body);
        }
        let response = request.send().await.expect("chromedriver responds");
        let is_success = response.status().is_success();
        let mut reply: Value = response.json().await.expect("chromedriver sends JSON");
        let value = reply["value"].take();
        if is_success {
            Ok(value)
        } else {
            Err(format!("{path}: {} {}", value["error"], value["message"]))
        }
    }
}

impl Element<'_> {
    /// Clicks as a person does: the element must be in reach of the mouse.
    pub(crate) async fn click(&self) {
        self.post("/click", &json!({})).await;
    }

    /// Removes the value of a field.
    pub(crate) async fn clear(&self) {
        self.post("/clear", &json!({})).await;
    }

    /// Types a text into a field.
    pub(crate) async fn type_text(&self, text: &str) {
        self.post("/value", &json!({ "text": text })).await;
    }

    /// Returns the text that the page shows in the element.
    pub(crate) async fn text(&self) -> String {
        self.try_text().await.unwrap()
    }

    /// Returns the text, or `None` if another page has replaced the element's page.
    pub(crate) async fn try_text(&self) -> Option<String> {
        let text = self.get("/text").await.ok()?;
        text.as_str().map(str::to_owned)
    }

    pub(crate) async fn attribute(&self, name: &str) -> Option<String> {
        let value = self.get(&format!("/attribute/{name}")).await.unwrap();
        value.as_str().map(str::to_owned)
    }

    /// Returns whether a person can see the element. It is not displayed if the page has changed.
    pub(crate) async fn is_displayed(&self) -> bool {
        self.get("/displayed").await == Ok(Value::Bool(true))
    }

    async fn get(&self, command: &str) -> Result<Value, CommandError> {
        let path = format!("/element/{}{command}", self.id);
        self.driver.send(Method::GET, &path, None).await
    }

    async fn post(&self, command: &str, body: &Value) {
        let path = format!("/element/{}{command}", self.id);
        self.driver.post(&path, body).await.unwrap();
    }
}

/// Keys of the keyboard, constants of the protocol.
pub(crate) const TAB: char = '\u{E004}';
pub(crate) const ENTER: char = '\u{E007}';
pub(crate) const ESCAPE: char = '\u{E00C}';

const CHROMEDRIVER_STARTS_MAX: usize = 3;

/// Starts chromedriver on a free port and returns its URL. Another process may take the port before
/// chromedriver does, which then ends and is started again.
async fn start_chromedriver() -> (Child, String) {
    for _ in 0..CHROMEDRIVER_STARTS_MAX {
        let mut process = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap_or_else(|error| {
                panic!("chromedriver does not start ({error}): `cargo xtask test` installs it")
            });
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        while let Some(line) = lines.next_line().await.unwrap() {
            if let Some((_, port)) = line.split_once("started successfully on port ") {
                let url = format!("http://127.0.0.1:{}", port.trim_end_matches('.'));
                // The output is read on, because a full pipe would block the process.
                tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
                return (process, url);
            }
        }
    }
    panic!("chromedriver ended {CHROMEDRIVER_STARTS_MAX} times before it was ready");
}
