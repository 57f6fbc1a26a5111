//! Delivery attempts against every kind of receiver.

use super::*;
use host_domain::webhook::DeliveryResult;
use std::io;
use std::net::IpAddr;
use std::sync::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const NOW: Timestamp = Timestamp(784_111_777_000);
/// A minute after [`NOW`].
const RETRY_DATE: &str = "retry-after: Sun, 06 Nov 1994 08:50:37 GMT";
const TIME_MAX: Duration = Duration::from_secs(1);

/// The behaviour of a receiver after it has read the request.
enum Manner {
    Responds(String),
    /// Accepts the request and sends nothing.
    Hangs,
    /// Sends the begin of a response, and no more.
    Stalls(String),
    Cuts,
}

/// Serves one connection. Returns its port, and the request that it received.
async fn receiver(manner: Manner) -> (u16, tokio::task::JoinHandle<String>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let served = serve(listener, manner);
    (port, in_background(served))
}

#[expect(
    clippy::disallowed_methods,
    reason = "the test serves the other side of the connection"
)]
fn in_background<T: Send + 'static>(
    task: impl Future<Output = T> + Send + 'static,
) -> tokio::task::JoinHandle<T> {
    tokio::spawn(task)
}

async fn serve(listener: TcpListener, manner: Manner) -> String {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut seen = Vec::new();
    while !seen.ends_with(b"}") {
        assert_ne!(stream.read_buf(&mut seen).await.unwrap(), 0);
    }
    match manner {
        Manner::Responds(response) => {
            // The write may fail, because a sender that has read enough closes the connection.
            let _ = stream.write_all(response.as_bytes()).await;
            let _ = stream.shutdown().await;
        }
        Manner::Hangs => {}
        Manner::Stalls(begin) => stream.write_all(begin.as_bytes()).await.unwrap(),
        Manner::Cuts => return String::from_utf8(seen).unwrap(),
    }
    // The read ends when the sender closes the connection.
    let _ = stream.read(&mut [0; 16]).await;
    String::from_utf8(seen).unwrap()
}

fn respond(status: &str, header: &str, body: &str) -> Manner {
    let line = if header.is_empty() { "" } else { "\r\n" };
    let length = body.len();
    Manner::Responds(format!(
        "HTTP/1.1 {status}\r\ncontent-length: {length}\r\n{header}{line}\r\n{body}"
    ))
}

fn sender() -> HttpSender {
    HttpSender::new(DnsLookup::system(), TIME_MAX)
}

fn request(url: &str) -> DeliveryRequest<'_> {
    let mut headers = HeaderMap::new();
    headers.insert("svc-event-id", HeaderValue::from_static("evt_1"));
    DeliveryRequest {
        url,
        allow_insecure: true,
        honors_gone: true,
        headers,
        body: r#"{"id":"evt_1"}"#.to_owned(),
    }
}

async fn send_to(manner: Manner) -> AttemptResult {
    send_with(&sender(), manner).await
}

async fn send_with(sender: &HttpSender, manner: Manner) -> AttemptResult {
    let (port, _served) = receiver(manner).await;
    let url = format!("http://127.0.0.1:{port}/hook?a=b");
    sender.send(request(&url), NOW).await
}

fn not_taken(retry_after_s: Option<i64>) -> DeliveryResult {
    DeliveryResult::Failed { retry_after_s }
}

#[tokio::test]
async fn body_is_posted_unchanged() {
    let (port, served) = receiver(respond("204 No Content", "", "")).await;
    let url = format!("http://127.0.0.1:{port}/hook?a=b");
    let attempted = sender().send(request(&url), NOW).await;
    assert_eq!(attempted.outcome, DeliveryResult::Accepted);
    let request = served.await.unwrap();
    let line = "POST /hook?a=b HTTP/1.1\r\n";
    assert!(request.starts_with(line), "{request}");
    assert!(request.ends_with("\r\n\r\n{\"id\":\"evt_1\"}"), "{request}");
    for header in ["content-type: application/json", "svc-event-id: evt_1"] {
        assert!(request.contains(&format!("\r\n{header}\r\n")), "{request}");
    }
}

#[tokio::test]
async fn response_status_determines_the_result() {
    for (status, header, outcome, class) in [
        ("200 OK", "", DeliveryResult::Accepted, "2xx"),
        ("202 Accepted", "", DeliveryResult::Accepted, "2xx"),
        (
            "301 Moved",
            "location: http://127.0.0.1:1/",
            not_taken(None),
            "3xx",
        ),
        (
            "307 Moved",
            "location: https://example.com/",
            not_taken(None),
            "3xx",
        ),
        ("400 Bad", "", not_taken(None), "4xx"),
        ("410 Gone", "", DeliveryResult::Gone, "4xx"),
        ("429 Slow", "retry-after: 120", not_taken(Some(120)), "4xx"),
        ("500 Broken", "retry-after: soon", not_taken(None), "5xx"),
        ("503 Down", RETRY_DATE, not_taken(Some(60)), "5xx"),
    ] {
        let attempted = send_to(respond(status, header, "response body")).await;
        assert_eq!(attempted.outcome, outcome, "{status}");
        assert_eq!(attempted.outcome_label(), class, "{status}");
        assert_eq!(attempted.body.as_deref(), Some("response body"), "{status}");
        assert_eq!(attempted.error, None, "{status}");
    }
}

#[tokio::test]
async fn gone_is_a_failure_if_410_is_not_honored() {
    let (port, _served) = receiver(respond("410 Gone", "retry-after: 120", "")).await;
    let url = format!("http://127.0.0.1:{port}/");
    let mut request = request(&url);
    request.honors_gone = false;
    let attempted = sender().send(request, NOW).await;
    assert_eq!(attempted.outcome, not_taken(Some(120)));
}

#[tokio::test]
async fn attempt_without_response_has_an_error() {
    for (manner, error) in [
        (Manner::Hangs, "timeout"),
        (Manner::Stalls("HTTP/1.1 200 O".to_owned()), "timeout"),
        (Manner::Cuts, "cut"),
        (Manner::Responds("HTTP/1.1 200 O".to_owned()), "cut"),
        (Manner::Responds("nonsense\r\n\r\n".to_owned()), "cut"),
    ] {
        let attempted = send_to(manner).await;
        assert_eq!(attempted.error, Some(error));
        assert_eq!(attempted.outcome, not_taken(None));
        assert_eq!((attempted.status, attempted.body), (None, None));
    }
    let attempted = sender().send(request("http://127.0.0.1:1/"), NOW).await;
    assert_eq!(attempted.error, Some("connect"));
    let cause = attempted.cause.unwrap();
    assert!(!cause.is_empty() && !cause.contains("127.0.0.1"), "{cause}");
}

/// The receiver has the event, whatever becomes of the rest of its response.
#[tokio::test]
async fn status_decides_if_the_body_is_cut_off_or_stalls() {
    let sender = sender();
    // The first attempt loads the certificates, which takes long.
    send_with(&sender, respond("204 No Content", "", "")).await;
    let long = "x".repeat(RESPONSE_BODY_BYTES_MAX / 2);
    let mut attempts = Vec::new();
    for (status, outcome) in [
        (200, DeliveryResult::Accepted),
        (204, DeliveryResult::Accepted),
        (410, DeliveryResult::Gone),
        (503, not_taken(Some(7))),
    ] {
        for body in ["", ".", &long] {
            let chunk = match body.len() {
                0 => String::new(),
                length => format!("{length:x}\r\n{body}"),
            };
            for (framing, sent) in [
                ("content-length: 9000", body),
                ("transfer-encoding: chunked", &chunk),
            ] {
                let head = format!("HTTP/1.1 {status} X\r\nretry-after: 7\r\n{framing}\r\n");
                let begin = format!("{head}\r\n{sent}");
                let kept = if status == 204 { "" } else { body };
                for manner in [Manner::Responds(begin.clone()), Manner::Stalls(begin)] {
                    let (sender, head) = (&sender, head.clone());
                    attempts.push(async move {
                        let attempted = send_with(sender, manner).await;
                        assert_eq!(attempted.outcome, outcome, "{head}");
                        assert_eq!(attempted.status, Some(status), "{head}");
                        assert_eq!(attempted.body.as_deref(), Some(kept), "{head}");
                        assert_eq!(attempted.error, None, "{head}");
                    });
                }
            }
        }
    }
    futures::future::join_all(attempts).await;
}

/// The time limit covers the whole exchange, including the name lookup before the connection.
#[tokio::test]
async fn lookup_that_never_ends_times_out() {
    let lookup = DnsLookup::new(|_| std::future::pending::<io::Result<Vec<IpAddr>>>());
    let sender = HttpSender::new(lookup, TIME_MAX);
    let request = request("http://silent.example.com/");
    let attempted = sender.send(request, NOW).await;
    assert_eq!(attempted.error, Some("timeout"));
    assert_eq!(attempted.outcome, not_taken(None));
}

#[tokio::test]
async fn response_body_is_truncated() {
    let body = "ä".repeat(100_000);
    let attempted = send_to(respond("200 OK", "", &body)).await;
    assert_eq!(attempted.outcome, DeliveryResult::Accepted);
    assert_eq!(attempted.body.unwrap().len(), RESPONSE_BODY_BYTES_MAX);
    let odd = format!("a{body}");
    let attempted = send_to(respond("200 OK", "", &odd)).await;
    // An incomplete character is cut off.
    assert_eq!(attempted.body.unwrap().len(), RESPONSE_BODY_BYTES_MAX - 1);
}

#[tokio::test]
async fn endless_response_is_read_only_up_to_the_limit() {
    let endless = format!("HTTP/1.1 200 OK\r\n\r\n{}", "x".repeat(4 << 20));
    let attempted = send_to(Manner::Responds(endless)).await;
    assert_eq!(attempted.outcome, DeliveryResult::Accepted);
    assert_eq!(attempted.body.unwrap().len(), RESPONSE_BODY_BYTES_MAX);
}

/// The name resolves to a public address at the check, and to another one at the connection.
#[tokio::test]
async fn name_that_resolves_differently_at_connect_is_rejected() {
    for second in [
        "127.0.0.1",
        "10.0.0.1",
        "169.254.169.254",
        "::ffff:192.168.0.1",
        "fd00::1",
    ] {
        let lookups = Mutex::new(vec![second, "1.1.1.1"]);
        let lookup = DnsLookup::new(move |_| {
            let next = lookups.lock().unwrap().pop();
            let found = next.map(|text| vec![text.parse::<IpAddr>().unwrap()]);
            async move { found.ok_or_else(|| io::Error::other("the name was looked up a third time")) }
        });
        let url = "https://rebinding.example.com/";
        assert_eq!(url_policy::validate(url, false, &lookup).await, Ok(()));
        let sender = HttpSender::new(lookup, TIME_MAX);
        let mut request = request(url);
        request.allow_insecure = false;
        let attempted = sender.send(request, NOW).await;
        assert_eq!(attempted.outcome, DeliveryResult::UrlNotAllowed, "{second}");
        assert_eq!(attempted.error, Some("url_not_allowed"));
    }
}

#[tokio::test]
async fn url_is_checked_again_at_every_attempt() {
    let (port, served) = receiver(respond("200 OK", "", "")).await;
    for url in [
        format!("http://127.0.0.1:{port}/"),
        format!("https://127.0.0.1:{port}/"),
        "http://example.com/".to_owned(),
    ] {
        let mut request = request(&url);
        request.allow_insecure = false;
        let attempted = sender().send(request, NOW).await;
        assert_eq!(attempted.outcome, DeliveryResult::UrlNotAllowed, "{url}");
    }
    assert!(!served.is_finished(), "nobody connected");
}
