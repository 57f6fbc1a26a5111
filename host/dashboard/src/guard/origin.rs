//! Refuses requests that a page of another site may have caused. A session's cookie is sent only
//! with requests from pages of the same site, and these rules hold even where it is not: a sign-in
//! needs no cookie, other ports of the host are the same site, and a name that resolves to the
//! dashboard's address ("DNS rebinding") could read the responses.

use crate::error::PageError;
use crate::form::BODY_BYTES_MAX;
use crate::state::{DashboardSettings, DashboardState};
use axum::body::HttpBody;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::header::{CONTENT_TYPE, HOST, ORIGIN};
use http::uri::Authority;
use http::{HeaderMap, HeaderName, Uri};
use std::net::IpAddr;
use url::Url;

pub(super) const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

const FORM: &str = "application/x-www-form-urlencoded";

/// Middleware: refuses foreign hosts, changes that another site may have caused, and bodies that
/// are no form.
pub(crate) async fn refuse_foreign_requests(
    State(state): State<DashboardState>,
    request: Request,
    next: Next,
) -> Result<Response, PageError> {
    check(&request, &state.settings)?;
    Ok(next.run(request).await)
}

fn check(request: &Request, settings: &DashboardSettings) -> Result<(), PageError> {
    let headers = request.headers();
    let authority = requested_authority(request.uri(), headers);
    let authority = authority.filter(|authority| is_own_host(authority.host(), settings));
    let authority = authority.ok_or(PageError::ForeignHost)?;
    if request.method().is_safe() {
        return Ok(());
    }
    if !is_from_own_page(headers, &authority, settings) {
        return Err(PageError::CrossSite);
    }
    let body = request.body();
    if body.size_hint().lower() > BODY_BYTES_MAX as u64 {
        return Err(PageError::BodyTooLarge);
    }
    let is_empty = body.is_end_stream() && !headers.contains_key(CONTENT_TYPE);
    if !is_empty && !is_form(headers) {
        return Err(PageError::UnsupportedMediaType);
    }
    Ok(())
}

/// Returns the host and port that the client addressed: those of an absolute target, or else the
/// only `Host`. Returns `None` if there is none, or one with a user name.
fn requested_authority(uri: &Uri, headers: &HeaderMap) -> Option<Authority> {
    let authority = match uri.authority() {
        Some(authority) => authority.clone(),
        None => single(headers, &HOST)?.parse().ok()?,
    };
    (!authority.as_str().contains('@')).then_some(authority)
}

/// Returns the value of a header that is sent once.
fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

/// Returns whether a host is the dashboard's: the one of its URL, or this machine's loopback. Other
/// machines cannot give themselves these names.
fn is_own_host(host: &str, settings: &DashboardSettings) -> bool {
    let public = Url::parse(&settings.base_url).ok();
    let public = public.as_ref().and_then(Url::host_str);
    is_loopback(host) || public.is_some_and(|public| public.eq_ignore_ascii_case(host))
}

fn is_loopback(host: &str) -> bool {
    let in_brackets = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    let address = in_brackets.unwrap_or(host).parse::<IpAddr>();
    host.eq_ignore_ascii_case("localhost")
        || address.is_ok_and(|address| address.to_canonical().is_loopback())
}

/// Returns whether a page of the dashboard caused the request. Browsers send at least one of the
/// two headers with every form, and pages cannot change them.
fn is_from_own_page(
    headers: &HeaderMap,
    authority: &Authority,
    settings: &DashboardSettings,
) -> bool {
    let is_own_origin = |origin: &str| {
        let is_direct = || {
            let host = origin.strip_prefix("http://");
            is_loopback(authority.host())
                && host.is_some_and(|host| host.eq_ignore_ascii_case(authority.as_str()))
        };
        origin.eq_ignore_ascii_case(&settings.base_url) || is_direct()
    };
    let has_site = headers.contains_key(SEC_FETCH_SITE);
    let has_origin = headers.contains_key(ORIGIN);
    let is_own_site =
        !has_site || single(headers, &SEC_FETCH_SITE).is_some_and(|site| site == "same-origin");
    let is_own_origin = !has_origin || single(headers, &ORIGIN).is_some_and(is_own_origin);
    (has_site || has_origin) && is_own_site && is_own_origin
}

fn is_form(headers: &HeaderMap) -> bool {
    let value = single(headers, &CONTENT_TYPE).unwrap_or_default();
    let media_type = value.split(';').next().unwrap_or_default();
    media_type.trim().eq_ignore_ascii_case(FORM)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;
    use http::Method;

    const FORM_TYPE: (&str, &str) = ("content-type", FORM);
    const SAME_SITE: (&str, &str) = ("sec-fetch-site", "same-origin");

    fn outcome(
        base_url: &str,
        method: Method,
        headers: &[(&str, &str)],
        body: Body,
    ) -> Result<(), u16> {
        let settings = DashboardSettings {
            base_url: base_url.to_owned(),
            trusted_proxies: Vec::new(),
        };
        let mut request = Request::builder().method(method).uri("/");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(body).unwrap();
        check(&request, &settings).map_err(|error| error.status().as_u16())
    }

    #[test]
    fn host_must_be_the_public_one_or_loopback() {
        let public = "https://dash.example.com";
        for (host, is_own) in [
            ("dash.example.com", true),
            ("DASH.example.com:443", true),
            ("127.0.0.1:8082", true),
            ("localhost:8082", true),
            ("[::1]:8082", true),
            ("[::ffff:127.0.0.1]", true),
            ("evil.example", false),
            ("dash.example.com.evil.example", false),
            ("user@dash.example.com", false),
            ("10.0.0.1", false),
            ("", false),
        ] {
            let expected = if is_own { Ok(()) } else { Err(421) };
            let found = outcome(public, Method::GET, &[("host", host)], Body::empty());
            assert_eq!(found, expected, "{host}");
        }
        assert_eq!(outcome(public, Method::GET, &[], Body::empty()), Err(421));
        let twice = [("host", "dash.example.com"), ("host", "evil.example")];
        assert_eq!(
            outcome(public, Method::GET, &twice, Body::empty()),
            Err(421)
        );
    }

    #[test]
    fn change_must_come_from_a_page_of_the_dashboard() {
        let local = "http://127.0.0.1:8082";
        for (headers, expected) in [
            (vec![SAME_SITE], Ok(())),
            (vec![("origin", local)], Ok(())),
            (vec![SAME_SITE, ("origin", local)], Ok(())),
            (vec![], Err(403)),
            (vec![("sec-fetch-site", "cross-site")], Err(403)),
            (vec![("sec-fetch-site", "same-site")], Err(403)),
            (vec![("sec-fetch-site", "none")], Err(403)),
            (vec![SAME_SITE, ("sec-fetch-site", "same-origin")], Err(403)),
            (vec![("origin", "null")], Err(403)),
            (vec![("origin", "http://127.0.0.1:9999")], Err(403)),
            (vec![("origin", "https://127.0.0.1:8082")], Err(403)),
            (vec![("origin", "http://evil.example")], Err(403)),
            (vec![SAME_SITE, ("origin", "http://evil.example")], Err(403)),
            (
                vec![("sec-fetch-site", "cross-site"), ("origin", local)],
                Err(403),
            ),
        ] {
            let mut all = vec![("host", "127.0.0.1:8082"), FORM_TYPE];
            all.extend(&headers);
            let found = outcome(local, Method::POST, &all, Body::from("a=b"));
            assert_eq!(found, expected, "{headers:?}");
        }
    }

    #[test]
    fn origin_of_a_public_dashboard_is_its_https_url() {
        let public = "https://dash.example.com";
        for (origin, expected) in [
            (public, Ok(())),
            ("http://dash.example.com", Err(403)),
            ("https://other.example.com", Err(403)),
        ] {
            let headers = [("host", "dash.example.com"), FORM_TYPE, ("origin", origin)];
            let found = outcome(public, Method::POST, &headers, Body::from("a=b"));
            assert_eq!(found, expected, "{origin}");
        }
    }

    #[test]
    fn body_must_be_a_form_of_limited_size() {
        let local = "http://127.0.0.1:8082";
        for (content_type, bytes, expected) in [
            (Some(FORM), 3, Ok(())),
            (
                Some("application/x-www-form-urlencoded; charset=utf-8"),
                3,
                Ok(()),
            ),
            (None, 0, Ok(())),
            (None, 3, Err(415)),
            (Some("text/plain"), 3, Err(415)),
            (Some("application/json"), 3, Err(415)),
            (Some("multipart/form-data; boundary=x"), 3, Err(415)),
            (Some(FORM), BODY_BYTES_MAX, Ok(())),
            (Some(FORM), BODY_BYTES_MAX + 1, Err(413)),
        ] {
            let mut headers = vec![("host", "127.0.0.1:8082"), SAME_SITE];
            headers.extend(content_type.map(|value| ("content-type", value)));
            let body = Body::from("a".repeat(bytes));
            let found = outcome(local, Method::POST, &headers, body);
            assert_eq!(found, expected, "{content_type:?} {bytes}");
        }
    }
}
