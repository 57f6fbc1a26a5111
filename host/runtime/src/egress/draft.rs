//! A request as a guest wrote it, and what becomes of it: checked once, part by
//! part, before anything else looks at it.

use crate::egress::ExchangeError;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use std::time::Duration;
use url::Url;

const URL_BYTES_MAX: usize = 8 << 10;
const HEADERS_MAX: usize = 64;
const HEADER_BYTES_MAX: usize = 16 << 10;

/// Headers that belong to the connection, which is the gateway's.
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

/// What the guest wrote; nothing is checked.
pub(crate) struct UncheckedRequest {
    pub(crate) method: Method,
    pub(crate) url: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Option<Vec<u8>>,
    pub(crate) timeout: Option<Duration>,
}

/// A request that may be sent.
#[derive(Debug, Clone)]
pub(crate) struct OutboundRequest {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl OutboundRequest {
    /// Whether it may change something at the supplier.
    pub(crate) fn is_mutating(&self) -> bool {
        self.method != Method::GET && self.method != Method::HEAD
    }
}

/// Reads the URL, for the first and only time.
pub(crate) fn parse_url(text: &str) -> Result<Url, &'static str> {
    if text.len() > URL_BYTES_MAX {
        return Err("the URL is too long");
    }
    let mut url = Url::parse(text).map_err(|_| "the URL cannot be read")?;
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
            .map_err(|_| format!("the name of header {position} is not one"))?;
        if RESERVED_HEADERS.contains(&name) || name.as_str().starts_with("proxy-") {
            return Err(format!("the header {name} is the gateway's to set"));
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
            .map_err(|_| format!("the value of header {name} is not one"))?;
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
    fn ordinary_headers_pass_and_may_repeat() {
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
    fn headers_of_the_connection_are_refused() {
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
    fn what_the_guest_accepts_as_encoding_is_the_gateways_choice() {
        assert_eq!(read("accept-encoding", "br").unwrap().len(), 0);
    }

    #[test]
    fn too_much_of_anything_is_refused() {
        assert!(read_headers(vec![("a".to_owned(), "b".to_owned()); HEADERS_MAX + 1]).is_err());
        assert!(read("a", &"b".repeat(HEADER_BYTES_MAX)).is_err());
        assert!(parse_url(&format!("https://a.com/{}", "x".repeat(URL_BYTES_MAX))).is_err());
    }

    #[test]
    fn fragments_are_dropped_and_nonsense_is_refused() {
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
