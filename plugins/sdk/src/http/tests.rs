use super::*;
use crate::testing::MockGateway;

fn response(status: u16, headers: &[(&str, &str)]) -> Response {
    Response {
        status,
        headers: headers
            .iter()
            .map(|(name, value)| Header {
                name: (*name).to_owned(),
                value: (*value).to_owned(),
            })
            .collect(),
        body: Vec::new(),
    }
}

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
fn change_error_is_not_sent_only_if_nothing_was_sent() {
    use crate::http::Error;
    let cases = [
        (
            Error::Denied("host".into()),
            ChangeError::NotSent("host".into()),
        ),
        (
            Error::NotSent("dns".into()),
            ChangeError::NotSent("dns".into()),
        ),
        (
            Error::TimedOut("slow".into()),
            ChangeError::Unknown("slow".into()),
        ),
        (
            Error::ConnectionLost("reset".into()),
            ChangeError::Unknown("reset".into()),
        ),
        (
            Error::TooLarge(8),
            ChangeError::Unknown("a response of over 8 bytes".into()),
        ),
    ];
    for (error, expected) in cases {
        assert_eq!(ChangeError::from(error), expected);
    }
}

#[test]
fn read_error_matches_http_error() {
    use crate::http::Error;
    let cases = [
        (
            Error::Denied("host".into()),
            ReadError::Misconfigured("host".into()),
        ),
        (
            Error::NotSent("dns".into()),
            ReadError::Unavailable("dns".into()),
        ),
        (
            Error::TimedOut("slow".into()),
            ReadError::TimedOut("slow".into()),
        ),
        (
            Error::ConnectionLost("reset".into()),
            ReadError::Unavailable("reset".into()),
        ),
        (
            Error::TooLarge(8),
            ReadError::InvalidResponse("a response of over 8 bytes".into()),
        ),
    ];
    for (error, expected) in cases {
        assert_eq!(ReadError::from(error), expected);
    }
}

#[test]
fn change_error_of_any_status_is_unknown() {
    for status in 300..600 {
        let error = response(status, &[]).to_change_error();
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
        (404, ReadError::NotFound(text(404))),
        (429, ReadError::RateLimited(None)),
        (503, ReadError::Unavailable(text(503))),
        (504, ReadError::TimedOut(text(504))),
        (302, ReadError::InvalidResponse(text(302))),
    ];
    for (status, expected) in cases {
        assert_eq!(response(status, &[]).to_read_error(), expected);
    }
    assert!(matches!(
        response(422, &[]).to_read_error(),
        ReadError::Rejected(_)
    ));
}

#[test]
fn retry_after_accepts_number_and_date() {
    let gateway = MockGateway::new().now_ms(784_111_770_500);
    gateway.run(|| {
        assert_eq!(
            response(429, &[("Retry-After", "7")]).retry_after_s(),
            Some(7)
        );
        let date = [("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")];
        assert_eq!(response(429, &date).retry_after_s(), Some(7));
        assert_eq!(
            response(429, &[("retry-after", "soon")]).retry_after_s(),
            None
        );
    });
}
