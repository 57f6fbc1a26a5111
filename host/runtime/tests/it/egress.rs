//! Tests of the egress, from a guest's request to an upstream that misbehaves.

use crate::support::guest::Guest;
use crate::support::upstream::{Behaviour, Upstream};
use crate::support::{Bench, context, within};
use host_domain::supplier::ReadError;
use host_runtime::{Credential, ExchangeOutcome, Supplier};
use std::time::Duration;

const GET: u16 = 0;
const POST: u16 = 2;

/// Values that the guest returns instead of a status, one for each error.
const DENIED: u32 = 1000;
const NOT_SENT: u32 = 1001;
const TIMED_OUT: u32 = 1002;
const CUT: u32 = 1003;
const TOO_LARGE: u32 = 1004;

async fn send(supplier: &Supplier, method: u16, url: &str) -> u32 {
    supplier
        .read_hotel_reviews(&context(), url.to_owned(), method)
        .await
        .unwrap()
        .count
}

#[tokio::test]
async fn response_is_returned_and_recorded_without_query() {
    let bench = Bench::new();
    let upstream =
        Upstream::responding_with("HTTP/1.1 201 Made\r\ncontent-length: 5\r\n\r\nhello").await;
    let supplier = bench.load(&Guest::default(), &[&upstream.origin()]).await;
    assert_eq!(
        send(
            &supplier,
            POST,
            &format!("{}/v1/rates?key=secret#part", upstream.origin())
        )
        .await,
        201
    );
    let exchange = bench.sink.last_exchange();
    assert_eq!(
        (
            exchange.line.as_str(),
            exchange.status,
            exchange.response_bytes
        ),
        ("POST /v1/rates", Some(201), 5)
    );
    assert_eq!(bench.sink.last_call().exchanges, 1);
    assert!(
        upstream.requests()[0].starts_with("post /v1/rates?key=secret http/1.1"),
        "{:?}",
        upstream.requests()
    );
}

#[tokio::test]
async fn credentials_are_set_for_their_host_only() {
    let bench = Bench::new();
    let (granted, other) = tokio::join!(
        Upstream::with_status("200 OK"),
        Upstream::with_status("200 OK")
    );
    let grants = [&*granted.origin(), &*other.origin()];
    let mut spec = bench.granted_spec(&Guest::default(), &grants);
    spec.credentials = vec![Credential {
        host: format!("127.0.0.1:{}", granted.port),
        header: "X-Api-Key".to_owned(),
        value: "s3cret".to_owned().into(),
    }];
    let supplier = bench.load_spec(spec).await;
    assert_eq!(send(&supplier, GET, &granted.origin()).await, 200);
    assert_eq!(send(&supplier, GET, &other.origin()).await, 200);
    assert!(
        granted.requests()[0].contains("x-api-key: s3cret"),
        "{:?}",
        granted.requests()
    );
    assert!(
        !other.requests()[0].contains("s3cret"),
        "{:?}",
        other.requests()
    );
}

#[tokio::test]
async fn redirects_are_returned_and_not_followed() {
    let bench = Bench::new();
    let target = Upstream::with_status("200 OK").await;
    let redirect = format!(
        "HTTP/1.1 302 Found\r\nlocation: {}/\r\ncontent-length: 0\r\n\r\n",
        target.origin()
    );
    let upstream = Upstream::responding_with(&redirect).await;
    let supplier = bench
        .load(&Guest::default(), &[&upstream.origin(), &target.origin()])
        .await;
    assert_eq!(send(&supplier, GET, &upstream.origin()).await, 302);
    assert_eq!(target.requests().len(), 0);
}

#[tokio::test]
async fn ungranted_host_is_denied_with_grant_to_add() {
    let bench = Bench::new();
    let upstream = Upstream::with_status("200 OK").await;
    let supplier = bench.load(&Guest::default(), &[&upstream.origin()]).await;
    for url in [
        "https://api.example.com/",
        "http://169.254.169.254/latest/meta-data",
        "http://localhost:1/",
        "http://0x7f.1/",
    ] {
        assert_eq!(send(&supplier, GET, url).await, DENIED, "{url}");
    }
    assert_eq!(
        send(
            &supplier,
            GET,
            &format!("https://127.0.0.1:{}/", upstream.port)
        )
        .await,
        DENIED
    );
    let exchange = bench.sink.last_exchange();
    assert!(
        exchange.detail.contains(&format!(
            "add \"https://127.0.0.1:{}\" to `hosts` of SUPPLIER_A",
            upstream.port
        )),
        "{}",
        exchange.detail
    );
    for url in [
        "",
        "not a url",
        "ftp://127.0.0.1/",
        &upstream.origin().replace("//", "//user:pw@"),
    ] {
        assert_eq!(send(&supplier, GET, url).await, NOT_SENT, "{url}");
    }
    assert_eq!(upstream.requests().len(), 0);
}

#[tokio::test]
async fn a_granted_link_local_address_is_still_denied() {
    let bench = Bench::new();
    let supplier = bench
        .load(&Guest::default(), &["http://169.254.169.254"])
        .await;
    assert_eq!(
        send(&supplier, GET, "http://169.254.169.254/latest/meta-data").await,
        DENIED
    );
    assert!(bench.sink.last_exchange().detail.contains("link-local"));
}

#[tokio::test]
async fn grant_of_localhost_includes_loopback_address() {
    let bench = Bench::new();
    let upstream = Upstream::with_status("200 OK").await;
    let by_name = format!("http://localhost:{}", upstream.port);
    let supplier = bench.load(&Guest::default(), &[&by_name]).await;
    assert_eq!(send(&supplier, GET, &by_name).await, 200);
}

#[tokio::test]
async fn oversized_body_is_rejected_with_or_without_content_length() {
    let bench = Bench::new();
    let body = "x".repeat(3_000);
    let announced = Upstream::responding_with(&format!(
        "HTTP/1.1 200 OK\r\ncontent-length: 3000\r\n\r\n{body}"
    ))
    .await;
    let unannounced = Upstream::responding_with(&format!(
        "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{body}"
    ))
    .await;
    let grants = [&*announced.origin(), &*unannounced.origin()];
    let mut spec = bench.granted_spec(&Guest::default(), &grants);
    spec.limits.response_bytes_max = 2_999;
    let supplier = bench.load_spec(spec.clone()).await;
    assert_eq!(send(&supplier, GET, &announced.origin()).await, TOO_LARGE);
    assert_eq!(send(&supplier, GET, &unannounced.origin()).await, TOO_LARGE);
    spec.limits.response_bytes_max = 3_000;
    let supplier = bench.load_spec(spec).await;
    assert_eq!(send(&supplier, GET, &announced.origin()).await, 200);
    assert_eq!(send(&supplier, GET, &unannounced.origin()).await, 200);
}

/// Builds 1 MiB of zeros in gzip. Stored DEFLATE blocks would not compress, so the fixed-code run
/// that a compressor produces is built by hand.
fn bomb() -> Vec<u8> {
    let mut bits = Bits::default();
    bits.push(1, 1);
    bits.push(1, 2);
    bits.push_reversed(0x30, 8);
    let mut length = 1;
    while length < 1 << 20 {
        bits.push_reversed(0b1100_0101, 8);
        bits.push_reversed(0, 5);
        length += 258;
    }
    bits.push_reversed(0, 7);
    let mut gzip = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    gzip.extend(bits.bytes());
    gzip.extend([0; 8]);
    gzip
}

#[derive(Default)]
struct Bits(Vec<bool>);

impl Bits {
    fn push(&mut self, value: u32, count: u32) {
        self.0.extend((0..count).map(|bit| value >> bit & 1 == 1));
    }

    fn push_reversed(&mut self, code: u32, count: u32) {
        self.0
            .extend((0..count).rev().map(|bit| code >> bit & 1 == 1));
    }

    fn bytes(&self) -> Vec<u8> {
        self.0
            .chunks(8)
            .map(|byte| {
                byte.iter()
                    .enumerate()
                    .fold(0, |sum, (at, bit)| sum | u8::from(*bit) << at)
            })
            .collect()
    }
}

#[tokio::test]
async fn body_limit_counts_decompressed_bytes() {
    let bench = Bench::new();
    let bomb = bomb();
    assert!(bomb.len() < 10_000);
    let mut response = format!(
        "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
        bomb.len()
    )
    .into_bytes();
    response.extend(bomb);
    let upstream = Upstream::start(Behaviour::Respond(response)).await;
    let mut spec = bench.granted_spec(&Guest::default(), &[&upstream.origin()]);
    spec.limits.response_bytes_max = 100_000;
    let supplier = bench.load_spec(spec).await;
    assert_eq!(send(&supplier, GET, &upstream.origin()).await, TOO_LARGE);
    assert!(
        upstream.requests()[0].contains("accept-encoding: gzip"),
        "{:?}",
        upstream.requests()
    );
}

#[tokio::test]
async fn too_many_or_too_long_headers_are_rejected() {
    let bench = Bench::new();
    let many: String = (0..90).map(|number| format!("x-{number}: 1\r\n")).collect();
    let many = Upstream::responding_with(&format!(
        "HTTP/1.1 200 OK\r\n{many}content-length: 0\r\n\r\n"
    ))
    .await;
    let long = Upstream::responding_with(&format!(
        "HTTP/1.1 200 OK\r\nx-long: {}\r\ncontent-length: 0\r\n\r\n",
        "y".repeat(70_000)
    ))
    .await;
    let grants = [&*many.origin(), &*long.origin()];
    let mut spec = bench.granted_spec(&Guest::default(), &grants);
    let supplier = bench.load_spec(spec.clone()).await;
    assert_eq!(send(&supplier, GET, &many.origin()).await, 200);
    assert_eq!(send(&supplier, GET, &long.origin()).await, TOO_LARGE);
    spec.limits.response_headers_max = 90;
    let supplier = bench.load_spec(spec).await;
    assert_eq!(send(&supplier, GET, &many.origin()).await, TOO_LARGE);
}

#[tokio::test]
async fn broken_response_is_connection_loss_and_counts_as_sent() {
    let bench = Bench::new();
    for response in [
        "",
        "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf",
        "garbage\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\nnope",
    ] {
        let upstream = Upstream::responding_with(response).await;
        let supplier = bench.load(&Guest::default(), &[&upstream.origin()]).await;
        assert_eq!(
            send(&supplier, GET, &upstream.origin()).await,
            CUT,
            "{response:?}"
        );
        assert_eq!(
            bench.sink.last_exchange().outcome,
            ExchangeOutcome::ConnectionLost
        );
    }
}

#[tokio::test]
async fn a_refused_connection_and_an_unknown_name_are_not_sent() {
    let bench = Bench::new();
    let origin = Upstream::closed_origin().await;
    let supplier = bench
        .load(
            &Guest::default(),
            &[&origin, "https://does-not-exist.invalid"],
        )
        .await;
    assert_eq!(send(&supplier, GET, &origin).await, NOT_SENT);
    assert_eq!(
        send(&supplier, GET, "https://does-not-exist.invalid/").await,
        NOT_SENT
    );
}

#[tokio::test]
async fn silent_upstream_times_out_at_deadline() {
    let bench = Bench::new();
    let upstream = Upstream::start(Behaviour::Silence).await;
    let supplier = bench.load(&Guest::default(), &[&upstream.origin()]).await;
    let response = supplier
        .read_hotel_reviews(&within(Duration::from_millis(200)), upstream.origin(), GET)
        .await;
    match response {
        Err(ReadError::TimedOut(_)) => {}
        Ok(reviews) => assert_eq!(reviews.count, TIMED_OUT),
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test]
async fn requests_of_one_call_are_limited() {
    let bench = Bench::new();
    let upstream = Upstream::with_status("200 OK").await;
    let mut spec = bench.granted_spec(&Guest::default(), &[&upstream.origin()]);
    spec.limits.requests_max = 0;
    let supplier = bench.load_spec(spec).await;
    assert_eq!(send(&supplier, GET, &upstream.origin()).await, DENIED);
}

#[tokio::test]
async fn host_must_be_both_requested_and_granted() {
    let bench = Bench::new();
    let upstream = Upstream::with_status("200 OK").await;
    let asks_for_another = Guest {
        hosts: "api.example.com",
        ..Guest::default()
    };
    let supplier = bench.load(&asks_for_another, &[&upstream.origin()]).await;
    assert_eq!(send(&supplier, GET, &upstream.origin()).await, DENIED);
    assert_eq!(supplier.info().missing_grants, ["https://api.example.com"]);
}
