//! HTTP/1.1 with minimal overhead, because the load generator shares the processor with what is
//! measured. It reads only messages that state their length.

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::fmt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A persistent connection.
pub(crate) struct HttpConnection {
    stream: TcpStream,
    message: Vec<u8>,
}

/// A complete message. The first line is without its line break.
pub(crate) struct Message<'a> {
    pub(crate) first_line: &'a str,
    pub(crate) body: &'a [u8],
}

impl Message<'_> {
    /// Returns the status of a response.
    pub(crate) fn status(&self) -> Option<u16> {
        self.first_line.split(' ').nth(1)?.parse().ok()
    }

    /// Returns this response if it has the status.
    pub(crate) fn expect(self, status: u16) -> Result<Self> {
        ensure!(self.status() == Some(status), "{self}");
        Ok(self)
    }

    pub(crate) fn json(&self) -> Result<Value> {
        Ok(serde_json::from_slice(self.body)?)
    }
}

impl fmt::Display for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let body = String::from_utf8_lossy(self.body);
        write!(f, "{}: {body}", self.first_line)
    }
}

impl HttpConnection {
    pub(crate) fn new(stream: TcpStream) -> Result<Self> {
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            message: Vec::with_capacity(16 << 10),
        })
    }

    /// Connects to `http://host:port`.
    pub(crate) async fn connect(base: &str) -> Result<Self> {
        let address = authority(base);
        let stream = TcpStream::connect(address).await;
        Self::new(stream.with_context(|| format!("{address} takes no connection"))?)
    }

    pub(crate) async fn send(&mut self, message: &[u8]) -> Result<()> {
        Ok(self.stream.write_all(message).await?)
    }

    /// Returns the next message, or `None` if the peer has closed the connection.
    pub(crate) async fn receive(&mut self) -> Result<Option<Message<'_>>> {
        self.message.clear();
        let (head, length) = loop {
            if let Some(head) = head_of(&self.message) {
                break head;
            }
            if self.stream.read_buf(&mut self.message).await? == 0 {
                if self.message.is_empty() {
                    return Ok(None);
                }
                bail!("the connection ended within a head");
            }
        };
        let body = length_of(self.message.get(..head).unwrap_or_default())?;
        while self.message.len() < length + body {
            if self.stream.read_buf(&mut self.message).await? == 0 {
                bail!("the connection ended within a body");
            }
        }
        let first_line = self
            .message
            .split(|byte| *byte == b'\r')
            .next()
            .unwrap_or_default();
        let body = self.message.get(length..length + body).unwrap_or_default();
        Ok(Some(Message {
            first_line: std::str::from_utf8(first_line)?,
            body,
        }))
    }

    /// Sends a request and waits for its response.
    pub(crate) async fn exchange(&mut self, request: &[u8]) -> Result<Message<'_>> {
        self.send(request).await?;
        self.receive()
            .await?
            .context("the server closed a kept connection")
    }
}

/// Returns an encoded API request.
pub(crate) fn request(
    method: &str,
    base: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: Option<&Value>,
) -> Vec<u8> {
    let mut text = format!(
        "{method} {path} HTTP/1.1\r\nhost: {}\r\naccept: application/json\r\n",
        authority(base)
    );
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    let body = body.map(Value::to_string);
    if let Some(body) = &body {
        text.push_str(&format!(
            "content-type: application/json\r\ncontent-length: {}\r\n",
            body.len()
        ));
    }
    text.push_str("\r\n");
    text.push_str(body.as_deref().unwrap_or_default());
    text.into_bytes()
}

fn authority(base: &str) -> &str {
    base.strip_prefix("http://").unwrap_or(base)
}

/// Returns the end of the head without and with the empty line, if the head is complete.
fn head_of(message: &[u8]) -> Option<(usize, usize)> {
    let end = message
        .windows(4)
        .position(|window| window == b"\r\n\r\n")?;
    Some((end, end + 4))
}

fn length_of(head: &[u8]) -> Result<usize> {
    let head = std::str::from_utf8(head)?;
    for line in head.split("\r\n").skip(1) {
        let Some((name, value)) = line.split_once(':') else {
            continue;
        };
        if name.eq_ignore_ascii_case("content-length") {
            return Ok(value.trim().parse()?);
        }
        if name.eq_ignore_ascii_case("transfer-encoding") {
            bail!(
                "the message has no content-length header: only messages that state their length can be read"
            );
        }
    }
    Ok(0)
}
