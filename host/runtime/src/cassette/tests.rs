use super::*;
use crate::exchange::{ExchangeError, UpstreamResponse};
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use serde_json::json;
use std::fs;
use url::Url;

fn outgoing(method: Method, url: &str, body: &str) -> OutboundRequest {
    let form = !body.is_empty() && !body.starts_with(['{', '[']);
    let content_type = match form {
        true => "application/x-www-form-urlencoded",
        false => "application/json",
    };
    let headers = [
        (header::CONTENT_TYPE, content_type),
        (header::AUTHORIZATION, "Bearer s3cret"),
        (HeaderName::from_static("x-api-key"), "s3cret"),
    ];
    OutboundRequest {
        method,
        url: Url::parse(url).unwrap(),
        headers: header_map(headers),
        body: body.to_owned().into(),
    }
}

fn header_map<const N: usize>(headers: [(HeaderName, &'static str); N]) -> HeaderMap {
    let values = headers.map(|(name, value)| (name, HeaderValue::from_static(value)));
    values.into_iter().collect()
}

fn post(body: &str) -> OutboundRequest {
    outgoing(Method::POST, "https://api.example.com/v3/book", body)
}

fn incoming(status: u16, body: &str) -> UpstreamResponse {
    let headers = [
        (header::CONTENT_TYPE, "application/json"),
        (header::SET_COOKIE, "session=s3cret"),
    ];
    UpstreamResponse {
        status,
        headers: header_map(headers),
        body: body.as_bytes().to_vec(),
    }
}

fn kept_text(outgoing: &OutboundRequest, incoming: &UpstreamResponse) -> String {
    let folder = tempfile::tempdir().unwrap();
    let recorder = Recorder::open(folder.path()).unwrap();
    recorder.record(outgoing, incoming);
    let mut files = fs::read_dir(folder.path()).unwrap();
    let file = files.next().unwrap().unwrap().path();
    fs::read_to_string(file).unwrap()
}

fn assert_kept(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part} not in {text}");
    }
}

fn assert_redacted(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(!text.contains(part), "{part} in {text}");
    }
}

const PERSONAL: [&str; 12] = [
    "Ada",
    "Lovelace",
    "ada@example.com",
    "+4915112345678",
    "4242424242424242",
    "4242 4242 4242 4242",
    "1815-12-10",
    "C01X00T47",
    "s3cret",
    "Jane Roe",
    "Main Street 1",
    "eve@example.org",
];

#[test]
fn recorded_exchange_contains_no_personal_or_secret_data() {
    let request = json!({
        "holder": {"firstName": "Ada", "last_name": "Lovelace", "email": "ada@example.com", "phone": "+4915112345678", "name": "Jane Roe"},
        "guests": [{"occupancyNumber": 1, "firstName": "Ada", "lastName": "Lovelace", "dateOfBirth": "1815-12-10", "remarks": "call +4915112345678 or ada@example.com", "address": "Main Street 1"}],
        "payment": {"cardNumber": "4242424242424242", "note": "card 4242 4242 4242 4242 of eve@example.org", "token": "s3cret"},
        "passport_number": "C01X00T47",
    });
    let url = "https://api.example.com/v3/book?email=ada@example.com&apiKey=s3cret&hotelId=lp1897";
    let text = kept_text(
        &outgoing(Method::POST, url, &request.to_string()),
        &incoming(200, &request.to_string()),
    );
    assert_redacted(&text, &PERSONAL);
    let harmless = [
        "lp1897",
        "occupancyNumber",
        "\"status\": 200",
        "application/json",
    ];
    assert_kept(&text, &harmless);
}

#[test]
fn only_personal_parts_of_texts_are_masked() {
    let masked = |text: &str| {
        let response = json!({ "text": text }).to_string();
        kept_text(&post("{}"), &incoming(200, &response))
    };
    for personal in [
        "ada@example.com",
        "<ada@example.com>",
        "mailto:ada@example.com",
        "https://a.com/?to=ada@example.com&x=1",
        "ada%40example.com",
        "tel. +49 151 1234 5678",
        "4242-4242-4242-4242",
        "3782 822463 10005",
    ] {
        assert_redacted(&masked(personal), &["ada", "1234", "4242", "8224"]);
    }
    for harmless in [
        "2026-11-21 - 2026-11-24",
        "2026-11-21T10:00:00+01:00",
        "1795255200000",
        "1795255200000000",
        "Room 4242",
        "a@b",
        "41.90278,12.49636",
        "GU5XGNBVMDRYG4",
        "4242424242424243",
        "https://static.cupid.travel/hotels/516892733.jpg",
    ] {
        assert_kept(&masked(harmless), &[&json!(harmless).to_string()]);
    }
}

#[test]
fn forms_are_redacted_by_key() {
    let form = "amount=1200&payment_method_data[card][number]=4242424242424242&customer[name]=Jane+Roe&receipt_email=ada%40example.com&client_secret=s3cret";
    let text = kept_text(&post(form), &incoming(200, "{}"));
    assert_redacted(&text, &PERSONAL);
    assert_redacted(&text, &["Jane+Roe", "ada%40example.com"]);
    assert_kept(&text, &["amount=1200"]);
}

#[test]
fn body_that_cannot_be_redacted_is_omitted() {
    let text = kept_text(&post("{}"), &incoming(500, "<guest>Ada Lovelace</guest>"));
    assert_redacted(&text, &["Ada"]);
    assert_kept(&text, &["omitted"]);
}

#[test]
fn hotel_names_and_prices_are_not_redacted() {
    let response = json!({"hotels": [{"id": "lp1897", "name": "Grand Hotel", "rates": [{"price": 1234.56, "offerId": "GU5XGNBVMDRYG4"}], "bookedAt": "2026-11-21T10:00:00+0100", "count": 4_111_111_111_111_111_u64}]});
    let text = kept_text(&post("{}"), &incoming(200, &response.to_string()));
    let harmless = [
        "Grand Hotel",
        "1234.56",
        "GU5XGNBVMDRYG4",
        "2026-11-21T10:00:00+0100",
    ];
    assert_kept(&text, &harmless);
    assert_redacted(&text, &["4111111111111111"]);
}

fn replay(exchanges: &[(OutboundRequest, UpstreamResponse)]) -> (tempfile::TempDir, Replayer) {
    let folder = tempfile::tempdir().unwrap();
    let recorder = Recorder::open(folder.path()).unwrap();
    for (outgoing, incoming) in exchanges {
        recorder.record(outgoing, incoming);
    }
    let replayer = Replayer::open(folder.path()).unwrap();
    (folder, replayer)
}

fn body(replayer: &Replayer, outgoing: &OutboundRequest) -> serde_json::Value {
    serde_json::from_slice(&replayer.replay(outgoing).unwrap().body).unwrap()
}

#[test]
fn equal_requests_replay_in_order_and_repeat_last_response() {
    let request = outgoing(Method::GET, "https://api.example.com/v3/bookings/1", "");
    let responses = [1, 1, 2].map(|number| (request.clone(), incoming(200, &number.to_string())));
    let (_folder, replayer) = replay(&responses);
    for number in [1, 1, 2, 2, 2] {
        assert_eq!(body(&replayer, &request), json!(number));
    }
}

#[test]
fn match_ignores_host_and_order_of_members_and_query() {
    let recorded = outgoing(
        Method::POST,
        "https://api.example.com/v3/rates?a=1&b=2",
        r#"{"x": 1, "y": [2, 3]}"#,
    );
    let (_folder, replayer) = replay(&[(recorded, incoming(200, r#"{"ok": true}"#))]);
    let request = outgoing(
        Method::POST,
        "http://127.0.0.1:4010/v3/rates?b=2&a=1",
        r#"{"y":[2,3],"x":1}"#,
    );
    assert_eq!(body(&replayer, &request), json!({"ok": true}));
}

#[test]
fn missing_exchange_error_names_the_request() {
    let (_folder, replayer) = replay(&[(post(r#"{"x":1}"#), incoming(200, "{}"))]);
    for request in [
        post(r#"{"x":2}"#),
        outgoing(Method::PUT, "https://api.example.com/v3/book", r#"{"x":1}"#),
        outgoing(
            Method::POST,
            "https://api.example.com/v3/books",
            r#"{"x":1}"#,
        ),
    ] {
        let Err(ExchangeError::NotSent(message)) = replayer.replay(&request) else {
            panic!("the request was answered")
        };
        assert!(
            message.contains(request.method.as_str())
                && message.contains(request.url.path())
                && message.contains("\"x\":"),
            "{message}"
        );
    }
}

#[test]
fn gateway_ids_are_replaced_in_replay() {
    let old = "hbk_0123456789abcdef0123456789abcdef";
    let new = "hbk_fedcba9876543210fedcba9876543210";
    let request = |id: &str| post(&json!({"clientReference": id, "room": 1}).to_string());
    let (_folder, replayer) = replay(&[(
        request(old),
        incoming(
            200,
            &json!({"clientReference": old, "id": "b1"}).to_string(),
        ),
    )]);
    assert_eq!(
        body(&replayer, &request(new)),
        json!({"clientReference": new, "id": "b1"})
    );
}

#[test]
fn handwritten_file_is_accepted_and_invalid_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let hand_made = json!({"request": {"method": "GET", "path": "/down"}, "response": {"status": 502, "body": {"text": "<h1>Bad Gateway</h1>"}}});
    fs::write(folder.path().join("down.json"), hand_made.to_string()).unwrap();
    fs::write(folder.path().join("README.md"), "not an exchange").unwrap();
    let response = Replayer::open(folder.path())
        .unwrap()
        .replay(&outgoing(Method::GET, "https://a.com/down", ""))
        .unwrap();
    assert_eq!(
        (response.status, response.body.as_slice()),
        (502, &b"<h1>Bad Gateway</h1>"[..])
    );
    fs::write(folder.path().join("wrong.json"), "{}").unwrap();
    let Err(CassetteError::File(file, _)) = Replayer::open(folder.path()) else {
        panic!("the file was accepted")
    };
    assert!(file.ends_with("wrong.json"));
}
