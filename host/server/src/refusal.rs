//! Problem documents for requests that hyper refuses itself: an overlong URI or head, and a head
//! that is no HTTP. hyper answers them with an empty response before any service sees them, and
//! offers no hook. The stream below hyper therefore recognizes that response and replaces it.
//! A client that speaks HTTP/2, or sends no complete head in time, gets no response from hyper.

use http::{Response, StatusCode};
use std::future::{Pending, pending};
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Timeout, timeout};

/// Returns the response to a refused request of a client.
pub(crate) type RefuseRequest = Arc<dyn Fn(StatusCode, IpAddr) -> Response<Vec<u8>> + Send + Sync>;

/// Maximum length of hyper's own response: a status line and three short headers.
const OWN_RESPONSE_BYTES_MAX: usize = 256;

/// Bytes that a refused client may still send before the connection is reset.
const DRAIN_BYTES_MAX: usize = 8 << 20;
/// Time that a refused client has to read the response and close.
const DRAIN_TIME_MAX: Duration = Duration::from_secs(2);

type DrainTimeout = Pin<Box<Timeout<Pending<()>>>>;

/// A connection on which hyper's own responses are replaced.
pub(crate) struct RefusalStream<S> {
    stream: S,
    client: IpAddr,
    refuse: RefuseRequest,
    /// Bytes to write in place of those that hyper wrote, and the number that is written.
    replacement: Vec<u8>,
    written: usize,
    is_shut_down: bool,
    /// The end of the time to drain, and the bytes that are drained, once a request was refused.
    drain: Option<(DrainTimeout, usize)>,
}

impl<S> RefusalStream<S> {
    pub(crate) fn new(stream: S, client: IpAddr, refuse: RefuseRequest) -> Self {
        Self {
            stream,
            client,
            refuse,
            replacement: Vec::new(),
            written: 0,
            is_shut_down: false,
            drain: None,
        }
    }
}

impl<S: AsyncWrite + Unpin> RefusalStream<S> {
    /// Writes what is left of the replacement.
    fn poll_replacement(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while let Some(rest) = self.replacement.get(self.written..)
            && !rest.is_empty()
        {
            match ready!(Pin::new(&mut self.stream).poll_write(cx, rest))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                bytes => self.written = self.written.saturating_add(bytes),
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + Unpin> RefusalStream<S> {
    /// Reads and discards what a refused client still sends. Closing a connection with unread bytes
    /// resets it, and the client may then not see the response.
    fn poll_drain(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some((end, drained)) = &mut self.drain else {
            return Poll::Ready(());
        };
        let mut chunk = [0_u8; 4096];
        while *drained < DRAIN_BYTES_MAX && end.as_mut().poll(cx).is_pending() {
            let mut buffer = ReadBuf::new(&mut chunk);
            match ready!(Pin::new(&mut self.stream).poll_read(cx, &mut buffer)) {
                Ok(()) if !buffer.filled().is_empty() => {
                    *drained = drained.saturating_add(buffer.filled().len());
                }
                Ok(()) | Err(_) => break,
            }
        }
        Poll::Ready(())
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for RefusalStream<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        ready!(this.poll_replacement(cx))?;
        let Some((before, head)) = split_own_response(bytes) else {
            return Pin::new(&mut this.stream).poll_write(cx, bytes);
        };
        this.replacement = before.to_vec();
        let response = (this.refuse)(head.status, this.client);
        this.replacement.extend(render(&response, head.date));
        this.written = 0;
        this.drain = Some((Box::pin(timeout(DRAIN_TIME_MAX, pending())), 0));
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut filled = parts.iter().filter(|part| !part.is_empty());
        // hyper writes its own response alone, because it has no body.
        if let (Some(only), None) = (filled.next(), filled.next()) {
            return self.poll_write(cx, only);
        }
        let this = self.get_mut();
        ready!(this.poll_replacement(cx))?;
        Pin::new(&mut this.stream).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_replacement(cx))?;
        Pin::new(&mut this.stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_replacement(cx))?;
        if !this.is_shut_down {
            ready!(Pin::new(&mut this.stream).poll_shutdown(cx))?;
            this.is_shut_down = true;
        }
        this.poll_drain(cx).map(Ok)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for RefusalStream<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(cx, buffer)
    }
}

/// The head of a response that hyper made itself.
struct OwnResponse<'a> {
    status: StatusCode,
    date: &'a str,
}

/// Splits hyper's own response from the bytes before it, which belong to the response to an earlier
/// request. Returns `None` if the bytes do not end with one: it has no body and no headers but
/// these, while the routers give every error response a problem document.
fn split_own_response(bytes: &[u8]) -> Option<(&[u8], OwnResponse<'_>)> {
    let tail_at = bytes.len().saturating_sub(OWN_RESPONSE_BYTES_MAX);
    let tail = bytes.get(tail_at..)?;
    let head_at = tail
        .windows(STATUS_LINE.len())
        .rposition(|window| window == STATUS_LINE)?;
    let head = std::str::from_utf8(tail.get(head_at..)?).ok()?;
    let mut lines = head.strip_suffix("\r\n\r\n")?.split("\r\n");
    let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    if !OWN_STATUSES.contains(&status) {
        return None;
    }
    let (mut date, mut is_empty) = ("", false);
    for line in lines {
        let (name, value) = line.split_once(": ")?;
        match name.to_ascii_lowercase().as_str() {
            "date" => date = value,
            "content-length" => is_empty = value == "0",
            "connection" => {}
            _ => return None,
        }
    }
    let before = bytes.get(..tail_at.checked_add(head_at)?)?;
    is_empty.then_some((before, OwnResponse { status, date }))
}

/// Statuses of hyper's own responses.
const OWN_STATUSES: [StatusCode; 3] = [
    StatusCode::BAD_REQUEST,
    StatusCode::URI_TOO_LONG,
    StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
];

/// Begin of a response with a status from 400 to 499.
const STATUS_LINE: &[u8] = b"HTTP/1.1 4";

/// Returns a response as the last one of a connection.
fn render(response: &Response<Vec<u8>>, date: &str) -> Vec<u8> {
    let status = response.status();
    let reason = status.canonical_reason().unwrap_or_default();
    let mut bytes = format!("HTTP/1.1 {} {reason}\r\n", status.as_str()).into_bytes();
    for (name, value) in response.headers() {
        bytes.extend_from_slice(name.as_str().as_bytes());
        bytes.extend_from_slice(b": ");
        bytes.extend_from_slice(value.as_bytes());
        bytes.extend_from_slice(b"\r\n");
    }
    let length = response.body().len();
    let last = format!("content-length: {length}\r\nconnection: close\r\ndate: {date}\r\n\r\n");
    bytes.extend_from_slice(last.as_bytes());
    bytes.extend_from_slice(response.body());
    bytes
}
