use serde_json::Value;

use super::*;
use crate::testing::MockGateway;

#[test]
fn query_parameters_are_encoded_and_appended() {
    let request = Request::get("https://api.example/places")
        .query("q", "Sal\u{e9} & Rabat/2")
        .query("limit", 5);
    assert_eq!(
        request.url,
        "https://api.example/places?q=Sal%C3%A9%20%26%20Rabat%2F2&limit=5"
    );
    assert_eq!(percent_encode("../a"), "..%2Fa");
}

#[test]
fn error_is_converted_for_reads_and_changes() {
    use crate::http::Error;
    type Case = (
        fn(String) -> Error,
        fn(String) -> ReadError,
        fn(String) -> ChangeError,
    );
    // A change is "not sent" only if nothing was sent.
    let cases: [Case; 4] = [
        (
            Error::Denied,
            ReadError::Misconfigured,
            ChangeError::NotSent,
        ),
        (Error::NotSent, ReadError::Unavailable, ChangeError::NotSent),
        (Error::TimedOut, ReadError::TimedOut, ChangeError::Unknown),
        (
            Error::ConnectionLost,
            ReadError::Unavailable,
            ChangeError::Unknown,
        ),
    ];
    let text = || "cause".to_owned();
    for (error, read_error, change_error) in cases {
        assert_eq!(ReadError::from(error(text())), read_error(text()));
        assert_eq!(ChangeError::from(error(text())), change_error(text()));
    }
    let text = || "a response of over 8 bytes".to_owned();
    let (read_error, change_error) = (Error::TooLarge(8).into(), Error::TooLarge(8).into());
    assert_eq!(ReadError::InvalidResponse(text()), read_error);
    assert_eq!(ChangeError::Unknown(text()), change_error);
}

#[test]
fn change_error_of_any_status_is_unknown() {
    for status in 300..600 {
        let error = Response::new(status, "").to_change_error();
        assert!(
            matches!(error, ChangeError::Unknown(_)),
            "{status}: {error:?}"
        );
    }
}

#[test]
fn read_error_matches_status() {
    let text = |status| format!("the supplier returned HTTP {status}");
    let cases = [
        (401, ReadError::Misconfigured(text(401))),
        (404, ReadError::InvalidResponse(text(404))),
        (422, ReadError::InvalidResponse(text(422))),
        (429, ReadError::RateLimited(None)),
        (503, ReadError::Unavailable(text(503))),
        (504, ReadError::TimedOut(text(504))),
        (302, ReadError::InvalidResponse(text(302))),
    ];
    for (status, expected) in cases {
        assert_eq!(Response::new(status, "").to_read_error(), expected);
    }
}

#[test]
fn not_found_requires_status_and_body_of_the_supplier() {
    let says_so = |response: &Response| {
        let body: Result<Value, _> = response.json();
        body.is_ok_and(|body| body["code"] == "no_such_hotel")
    };
    let own = r#"{"code": "no_such_hotel"}"#;
    for (status, body, is_not_found) in [
        (404, own, true),
        (404, r#"{"code": "no_route"}"#, false),
        (404, "<html>Not Found</html>", false),
        (404, "", false),
        (400, own, false),
        (502, own, false),
    ] {
        let error = Response::new(status, body).to_read_error_or_not_found(404, says_so);
        let actual = matches!(error, ReadError::NotFound(_));
        assert_eq!(actual, is_not_found, "{status} {body}");
    }
}

#[test]
fn retry_after_accepts_number_and_date() {
    let gateway = MockGateway::new().now_ms(784_111_770_500);
    let cases = [
        ("Retry-After", "7", Some(7)),
        ("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT", Some(7)),
        ("retry-after", "soon", None),
    ];
    for (name, value, expected) in cases {
        let response = Response::new(429, "").with_header(name, value);
        assert_eq!(
            gateway.run(|| response.retry_after_s()),
            expected,
            "{value}"
        );
    }
}
