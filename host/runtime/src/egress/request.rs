//! Requests as guests write them, and their conversion into requests that may be sent. Every part
//! is checked once, before any other code uses it.

use crate::call_scope::RequestEffect;
use crate::exchange::{ExchangeError, OutboundRequest};
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use std::time::Duration;
use url::Url;

const URL_BYTES_MAX: usize = 8 << 10;
const HEADERS_MAX: usize = 64;
const HEADER_BYTES_MAX: usize = 16 << 10;

/// Headers that the gateway sets itself because they concern the connection.
const RESERVED_HEADERS: [HeaderName; 10] = [
    header::HOST,
    header::CONTENT_LENGTH,
    header::CONNECTION,
    header::TRANSFER_ENCODING,
    header::TE,
    header::TRAILER,
    header::UPGRADE,
    header::EXPECT,
    header::PROXY_AUTHORIZATION,
    HeaderName::from_static("keep-alive"),
];

/// A request as the guest wrote it, without any checks.
pub(crate) struct UncheckedRequest {
    pub(crate) effect: RequestEffect,
    pub(crate) method: Method,
    pub(crate) url: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Option<Vec<u8>>,
    pub(crate) timeout: Option<Duration>,
}

/// Parses the URL. This is the only place where it is parsed.
pub(crate) fn parse_url(text: &str) -> Result<Url, &'static str> {
    if text.len() > URL_BYTES_MAX {
        return Err("the URL is too long");
    }
    let mut url = Url::parse(text).map_err(|_| "the URL cannot be parsed")?;
    url.set_fragment(None);
    Ok(url)
}

impl UncheckedRequest {
    pub(crate) fn into_outbound(self, url: Url) -> Result<OutboundRequest, ExchangeError> {
        let headers = read_headers(self.headers).map_err(ExchangeError::NotSent)?;
        Ok(OutboundRequest {
            method: self.method,
            url,
            headers,
            body: self.body.unwrap_or_default().into(),
        })
    }
}

fn read_headers(drafts: Vec<(String, String)>) -> Result<HeaderMap, String> {
    if drafts.len() > HEADERS_MAX {
        return Err(format!("more than {HEADERS_MAX} headers"));
    }
    let bytes: usize = drafts
        .iter()
        .map(|(name, value)| name.len() + value.len())
        .sum();
    if bytes > HEADER_BYTES_MAX {
        return Err(format!("more than {HEADER_BYTES_MAX} bytes of headers"));
    }
    let mut headers = HeaderMap::with_capacity(drafts.len());
    for (position, (name, value)) in drafts.into_iter().enumerate() {
        let name = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| format!("header {position} has an invalid name"))?;
        if RESERVED_HEADERS.contains(&name) || name.as_str().starts_with("proxy-") {
            return Err(format!("the header {name} may only be set by the gateway"));
        }
        if name == header::ACCEPT_ENCODING {
            continue;
        }
        if !value
            .bytes()
            .all(|byte| byte == b'\t' || (b' '..=b'~').contains(&byte))
        {
            return Err(format!("the value of header {name} is not visible ASCII"));
        }
        let value = HeaderValue::try_from(value)
            .map_err(|_| format!("the header {name} has an invalid value"))?;
        headers.append(name, value);
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, value: &str) -> Result<HeaderMap, String> {
        read_headers(vec![(name.to_owned(), value.to_owned())])
    }

    #[test]
    fn normal_headers_are_accepted_and_may_repeat() {
        let twice = vec![
            ("X-A".to_owned(), "1".to_owned()),
            ("x-a".to_owned(), "2".to_owned()),
        ];
        assert_eq!(
            read_headers(twice).unwrap().get_all("x-a").iter().count(),
            2
        );
    }

    #[test]
    fn headers_cannot_be_injected() {
        for value in ["a\r\nx-b: c", "a\nb", "a\rb", "a\0b", "ä", "a\u{7f}"] {
            assert!(read("x-a", value).is_err(), "{value:?}");
        }
        for name in ["", "x a", "x-a:", "x-a\r\nb", "ä", "x\0"] {
            assert!(read(name, "1").is_err(), "{name:?}");
        }
    }

    #[test]
    fn connection_headers_are_rejected() {
        for name in [
            "Host",
            "content-length",
            "Transfer-Encoding",
            "connection",
            "TE",
            "upgrade",
            "proxy-authorization",
            "proxy-foo",
            "Keep-Alive",
            "expect",
            "trailer",
        ] {
            assert!(read(name, "1").is_err(), "{name}");
        }
    }

    #[test]
    fn accept_encoding_header_of_guest_is_dropped() {
        assert_eq!(read("accept-encoding", "br").unwrap().len(), 0);
    }

    #[test]
    fn oversized_headers_and_urls_are_rejected() {
        assert!(read_headers(vec![("a".to_owned(), "b".to_owned()); HEADERS_MAX + 1]).is_err());
        assert!(read("a", &"b".repeat(HEADER_BYTES_MAX)).is_err());
        assert!(parse_url(&format!("https://a.com/{}", "x".repeat(URL_BYTES_MAX))).is_err());
    }

    #[test]
    fn url_fragment_is_dropped_and_invalid_url_is_rejected() {
        assert_eq!(
            parse_url("https://a.com/b#c").unwrap().as_str(),
            "https://a.com/b"
        );
        for text in [
            "",
            "/b",
            "a.com",
            "https://",
            "https://a b",
            "https://[::1",
            "https://a.com:99999",
        ] {
            assert!(parse_url(text).is_err(), "{text}");
        }
    }
}
