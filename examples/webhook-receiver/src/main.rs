//! Receives webhooks: verifies each event, stores it in its own file, and then acknowledges it.
//! Other programs process the files, because a response is due within ten seconds.

use axum::{Router, body::Bytes, extract::State, http::HeaderMap, http::StatusCode, routing::post};
use hmac::{Hmac, KeyInit, Mac};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;
use tokio::sync::Mutex;

#[cfg(test)]
mod fuzzed;
#[cfg(test)]
mod tests;

const TOLERANCE_S: u64 = 300;

struct Receiver {
    /// The current secret and, during a rotation, the previous one.
    secrets: Vec<String>,
    /// The folder for events, used by one request at a time.
    folder: Mutex<PathBuf>,
}

/// Returns whether one of the secrets signed this exact body, not more than `TOLERANCE_S` ago.
fn is_genuine(secrets: &[String], header: &str, body: &[u8], now_s: u64) -> bool {
    let (mut time, mut signatures) = ("", Vec::new());
    for part in header.split(',') {
        match part.split_once('=') {
            Some(("t", value)) if time.is_empty() => time = value,
            Some(("v1", value)) => signatures.push(hex::decode(value).unwrap_or_default()),
            _ => return false,
        }
    }
    let signed_at = time.parse().unwrap_or(u64::MAX);
    if signed_at.abs_diff(now_s) > TOLERANCE_S || time.starts_with('+') {
        return false;
    }
    let message = [time.as_bytes(), b".", body].concat();
    let macs = secrets.iter().flat_map(|secret| {
        let mac = Hmac::<sha2::Sha256>::new_from_slice(secret.as_bytes());
        mac.map(|mac| mac.chain_update(&message))
    });
    let mut pairs = macs.flat_map(|mac| signatures.iter().map(move |one| (mac.clone(), one)));
    // The comparison takes constant time.
    pairs.any(|(mac, signature)| mac.verify_slice(signature).is_ok())
}

/// Stores an event once. When this returns, the file survives a crash.
fn keep(folder: &Path, id: &str, event: &[u8]) -> io::Result<()> {
    let kept = folder.join(id);
    if !kept.exists() {
        let half = folder.join("half-written");
        let mut file = File::create(&half)?;
        file.write_all(event)?;
        file.sync_all()?;
        fs::rename(half, kept)?;
    }
    File::open(folder)?.sync_all()
}

type Shared = State<Arc<Receiver>>;

async fn receive(State(receiver): Shared, headers: HeaderMap, body: Bytes) -> StatusCode {
    let header = headers.get("svc-signature").map(|value| value.to_str());
    let header = header.and_then(Result::ok).unwrap_or_default();
    let now_s = UNIX_EPOCH.elapsed().unwrap_or_default().as_secs();
    if !is_genuine(&receiver.secrets, header, &body, now_s) {
        return StatusCode::UNAUTHORIZED;
    }
    let event: serde_json::Value = serde_json::from_slice(&body).unwrap_or_default();
    let Some(id) = event.get("id").and_then(|id| id.as_str()) else {
        return StatusCode::BAD_REQUEST;
    };
    let folder = receiver.folder.lock().await;
    match tokio::task::block_in_place(|| keep(&folder, id, &body)) {
        Ok(()) => StatusCode::NO_CONTENT,
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR, // the gateway retries the delivery
    }
}

#[expect(clippy::print_stdout, reason = "prints its address")]
#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, address, secrets, folder] = arguments.as_slice() else {
        anyhow::bail!("usage: webhook-receiver ADDRESS FILE_OF_SECRETS FOLDER_OF_EVENTS");
    };
    let secrets = fs::read_to_string(secrets)?;
    let secrets = secrets.split_whitespace().map(str::to_owned).collect();
    let folder = Mutex::new(PathBuf::from(folder));
    let state = Arc::new(Receiver { secrets, folder });
    let listener = tokio::net::TcpListener::bind(address).await?;
    println!("http://{}/", listener.local_addr()?);
    let app = Router::new().route("/", post(receive)).with_state(state);
    Ok(axum::serve(listener, app).await?)
}
