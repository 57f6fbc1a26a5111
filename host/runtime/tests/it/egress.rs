//! Tests of the egress, from a guest's request to an upstream that misbehaves.

use crate::support::guest::Guest;
use crate::support::upstream::{Behaviour, Upstream};
use crate::support::{Bench, review_count, within};
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
    review_count(supplier, url, method).await.unwrap()
}

#[tokio::test]
async fn response_is_returned_and_recorded_without_query() {
    let bench = Bench::new();
    let upstream =
        Upstream::responding_with("HTTP/1.1 201 Made\r\ncontent-length: 5\r\n\r\nhello").await;
    let supplier = bench.load_for(&upstream).await;
    let url = format!("{}/v1/rates?key=secret#part", upstream.origin());
    assert_eq!(send(&supplier, POST, &url).await, 201);
    let exchange = bench.sink.last_exchange();
    assert_eq!(exchange.line, "POST /v1/rates");
    assert_eq!((exchange.status, exchange.response_bytes), (Some(201), 5));
    assert_eq!(bench.sink.last_call().exchanges, 1);
    let request = &upstream.requests()[0];
    assert!(
        request.starts_with("post /v1/rates?key=secret http/1.1"),
        "{request}"
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
    assert!(granted.requests()[0].contains("x-api-key: s3cret"));
    assert!(!other.requests()[0].contains("s3cret"));
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
    let supplier = bench.load_for(&upstream).await;
    for url in [
        "https://api.example.com/",
        "http://169.254.169.254/latest/meta-data",
        "http://localhost:1/",
        "http://0x7f.1/",
    ] {
        assert_eq!(send(&supplier, GET, url).await, DENIED, "{url}");
    }
    let encrypted = format!("https://127.0.0.1:{}", upstream.port);
    assert_eq!(send(&supplier, GET, &format!("{encrypted}/")).await, DENIED);
    let detail = bench.sink.last_exchange().detail;
    let grant = format!("add \"{encrypted}\" to `hosts` of SUPPLIER_A");
    assert!(detail.contains(&grant), "{detail}");
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
    let metadata = "http://169.254.169.254";
    let supplier = bench.load(&Guest::default(), &[metadata]).await;
    let url = format!("{metadata}/latest/meta-data");
    assert_eq!(send(&supplier, GET, &url).await, DENIED);
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
    let responding = async |header: &str| {
        let response = format!("HTTP/1.1 200 OK\r\n{header}\r\n\r\n{body}");
        Upstream::responding_with(&response).await
    };
    let announced = responding("content-length: 3000").await;
    let unannounced = responding("connection: close").await;
    let grants = [&*announced.origin(), &*unannounced.origin()];
    let mut spec = bench.granted_spec(&Guest::default(), &grants);
    for (response_bytes_max, expected) in [(2_999, TOO_LARGE), (3_000, 200)] {
        spec.limits.response_bytes_max = response_bytes_max;
        let supplier = bench.load_spec(spec.clone()).await;
        for url in grants {
            assert_eq!(send(&supplier, GET, url).await, expected, "{url}");
            let detail = match expected {
                TOO_LARGE => {
                    "the response is larger than its limit of 2999 bytes (limits.response_bytes_max)"
                }
                _ => "",
            };
            assert_eq!(bench.sink.last_exchange().detail, detail);
        }
    }
}

/// Builds 1 MiB of zeros in gzip: a zero, then references to it that each stand for 258 zeros. Eight
/// references of 13 bits take 13 bytes.
fn bomb() -> Vec<u8> {
    const START: &[u8] = b"\x1f\x8b\x08\0\0\0\0\0\0\xff\x63\x18\x05";
    const REFERENCES: &[u8] = b"\xa3\x60\x14\x8c\x82\x51\x30\x0a\x46\xc1\x28\x18\x05";
    [START, &REFERENCES.repeat(508), &[0; 9]].concat()
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
    assert!(upstream.requests()[0].contains("accept-encoding: gzip"));
}

#[tokio::test]
async fn too_many_or_too_long_headers_are_rejected() {
    let bench = Bench::new();
    let many: String = (0..90).map(|number| format!("\r\nx-{number}: 1")).collect();
    let many = Upstream::with_status(&format!("200 OK{many}")).await;
    let long = format!("200 OK\r\nx-long: {}", "y".repeat(70_000));
    let long = Upstream::with_status(&long).await;
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
        let supplier = bench.load_for(&upstream).await;
        let status = send(&supplier, GET, &upstream.origin()).await;
        assert_eq!(status, CUT, "{response:?}");
        let outcome = bench.sink.last_exchange().outcome;
        assert_eq!(outcome, ExchangeOutcome::ConnectionLost);
    }
}

#[tokio::test]
async fn a_refused_connection_and_an_unknown_name_are_not_sent() {
    let bench = Bench::new();
    let closed = Upstream::closed_origin().await;
    let unreachable = [&*closed, "https://does-not-exist.invalid"];
    let supplier = bench.load(&Guest::default(), &unreachable).await;
    for url in unreachable {
        assert_eq!(send(&supplier, GET, url).await, NOT_SENT, "{url}");
    }
}

#[tokio::test]
async fn silent_upstream_times_out_at_deadline() {
    let bench = Bench::new();
    let upstream = Upstream::start(Behaviour::Silence).await;
    let supplier = bench.load_for(&upstream).await;
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
    let detail = bench.sink.last_exchange().detail;
    assert_eq!(
        detail,
        "more than 0 requests in one call (limits.requests_max)"
    );
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
