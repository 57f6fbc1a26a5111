//! localstripe as a process, and the layer between it and the adapter. The layer does the gateway's
//! part and adds what localstripe lacks.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use stopover_sdk::http::{Error, Method, Request, Response};
use stopover_sdk::testing::MockGateway;

/// Fields of every payment that localstripe rejects.
const UNKNOWN_FIELDS: [&str; 2] = ["description=", "error_on_requires_action="];
/// Timeout of a webhook delivery, which is far longer than a delivery takes.
const PATIENCE: Duration = Duration::from_secs(30);

/// A Stripe without data. Dropping it ends the process.
pub(super) struct LocalStripe {
    process: Child,
    url: String,
    key: &'static str,
}

impl Drop for LocalStripe {
    fn drop(&mut self) {
        let _gone_already = self.process.kill();
        let _status = self.process.wait();
    }
}

impl LocalStripe {
    pub(super) fn start() -> Self {
        let program =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/localstripe/bin/localstripe");
        let mut process = Command::new(&program)
            .args(["--from-scratch", "--port", "0"])
            .env("PYTHONUNBUFFERED", "1")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| {
                let program = program.display();
                panic!("{program} does not start ({error}): `cargo xtask test` installs it")
            });
        let mut output = BufReader::new(process.stdout.take().unwrap()).lines();
        let port = output.find_map(|line| {
            let line = line.unwrap();
            let (_, address) = line.split_once("http://")?;
            let (_, port) = address.split_whitespace().next()?.rsplit_once(':')?;
            Some(port.to_owned())
        });
        // Further output of the process must not meet a closed pipe.
        thread::spawn(move || output.for_each(drop));
        let port = port.unwrap_or_else(|| panic!("localstripe ended before it listened"));
        Self {
            process,
            url: format!("http://127.0.0.1:{port}"),
            key: "sk_test_made0up",
        }
    }

    pub(super) fn with_key(mut self, key: &'static str) -> Self {
        self.key = key;
        self
    }

    /// Runs the adapter with a mock gateway in front of this Stripe.
    pub(super) fn run<T>(&self, adapter: impl FnOnce() -> T) -> T {
        let settings = json!({"base_url": self.url}).to_string();
        let key = self.key;
        let gateway = MockGateway::new()
            .settings(&settings)
            .handle_requests(move |request| Ok(completed(send(key, reduced(request))?)));
        gateway.run(adapter)
    }

    /// Sends a request that does not come from the adapter.
    pub(super) fn post(&self, path: &str, form: &str) {
        let mut request = Request::post(format!("{}{path}", self.url))
            .header("content-type", "application/x-www-form-urlencoded");
        request.body = Some(form.as_bytes().to_vec());
        let response = send(self.key, request).unwrap();
        assert!(response.is_success(), "{path}: {}", response.status);
    }

    /// Registers a webhook, whose events of one kind are delivered to this program.
    pub(super) fn deliver(&self, kind: &str, secret: &str) -> Deliveries {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let form = format!("url=http://{address}/&secret={secret}&events[0]={kind}");
        self.post("/_config/webhooks/test", &form);
        let (sender, received) = channel();
        thread::spawn(move || {
            for stream in listener.incoming() {
                // The receiver may be gone after the last awaited delivery.
                let _ = sender.send(receive(stream.unwrap()));
            }
        });
        Deliveries(received)
    }
}

/// Received deliveries: the signature and the body.
pub(super) struct Deliveries(Receiver<(String, Vec<u8>)>);

impl Deliveries {
    pub(super) fn next(&self) -> (String, Vec<u8>) {
        self.0.recv_timeout(PATIENCE).unwrap()
    }
}

fn receive(stream: TcpStream) -> (String, Vec<u8>) {
    let mut reader = BufReader::new(stream);
    let (mut signature, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            if line.trim_end().is_empty() {
                break;
            }
            continue;
        };
        match name.to_ascii_lowercase().as_str() {
            "stripe-signature" => value.clone_into(&mut signature),
            "content-length" => length = value.parse().unwrap(),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let response = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    reader.into_inner().write_all(response).unwrap();
    (signature, body)
}

/// Removes the fields that localstripe does not know.
fn reduced(request: &Request) -> Request {
    let mut request = request.clone();
    if request.url.ends_with("/payment_intents")
        && let Some(body) = request.body.take()
    {
        let body = String::from_utf8(body).unwrap();
        let known = |field: &&str| !UNKNOWN_FIELDS.iter().any(|name| field.starts_with(name));
        let kept: Vec<&str> = body.split('&').filter(known).collect();
        request.body = Some(kept.join("&").into_bytes());
    }
    request
}

/// Adds what localstripe omits: the captured amount, and the code of a 404.
fn completed(mut response: Response) -> Response {
    let mut document: Value = serde_json::from_slice(&response.body).unwrap();
    if document["object"] == "list" {
        for item in document["data"].as_array_mut().unwrap() {
            with_received(item);
        }
    }
    with_received(&mut document);
    if response.status == 404 {
        document["error"]["code"] = json!("resource_missing");
    }
    response.body = document.to_string().into_bytes();
    response
}

fn with_received(document: &mut Value) {
    if document["object"] == "payment_intent" {
        let charge = &document["latest_charge"];
        let is_taken = charge["captured"] == true;
        let received = if is_taken {
            charge["amount"].clone()
        } else {
            json!(0)
        };
        document["amount_received"] = received;
    }
}

/// Sends a request over HTTP, with the key that the gateway adds.
#[expect(
    clippy::disallowed_methods,
    reason = "a native test cannot use the gateway's HTTP client"
)]
fn send(key: &str, request: Request) -> Result<Response, Error> {
    let cut = |error: reqwest::Error| Error::ConnectionLost(error.to_string());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let client = reqwest::Client::builder().no_proxy().build().map_err(cut)?;
        let method = match request.method {
            Method::Post => reqwest::Method::POST,
            _ => reqwest::Method::GET,
        };
        let mut sending = client.request(method, &request.url).bearer_auth(key);
        for header in &request.headers {
            sending = sending.header(&header.name, &header.value);
        }
        let body = request.body.unwrap_or_default();
        let response = sending.body(body).send().await.map_err(cut)?;
        Ok(Response {
            status: response.status().as_u16(),
            headers: Vec::new(),
            body: response.bytes().await.map_err(cut)?.to_vec(),
        })
    })
}
