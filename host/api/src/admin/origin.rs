//! Refuses requests to the admin listener that a web page may have caused. The listener requires no
//! key, so without this a page that the operator visits could settle a call: it may send simple
//! requests to every address, and with a name that it resolves to the loopback address ("DNS
//! rebinding") also read the responses.

use crate::admin::AdminState;
use crate::error_code::ErrorCode;
use crate::extract::json::is_json;
use crate::problem::ApiError;
use axum::body::HttpBody;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_TYPE, HOST, ORIGIN};
use http::uri::Authority;
use http::{HeaderMap, HeaderName, Uri};
use std::net::IpAddr;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Middleware of all routes of the admin listener.
pub(super) async fn refuse_foreign_requests(
    State(state): State<AdminState>,
    request: Request,
    next: Next,
) -> Response {
    match check(&request, &state.allowed_hosts) {
        Ok(()) => next.run(request).await,
        Err(code) => ApiError::from(code).into_response(),
    }
}

fn check(request: &Request, allowed_hosts: &[String]) -> Result<(), ErrorCode> {
    let headers = request.headers();
    let authority = requested_authority(request.uri(), headers);
    let authority = authority.filter(|authority| is_allowed(authority, allowed_hosts));
    let authority = authority.ok_or(ErrorCode::HostNotAllowed)?;
    if !is_same_origin(headers, &authority) {
        return Err(ErrorCode::OriginNotAllowed);
    }
    // A page may send text, forms and bodies without a type to other sites, but not JSON.
    let is_empty = request.body().is_end_stream() && !headers.contains_key(CONTENT_TYPE);
    if !request.method().is_safe() && !is_empty && !is_json(headers) {
        return Err(ErrorCode::UnsupportedMediaType);
    }
    Ok(())
}

/// Returns the host and port that the client addressed: those of an absolute target, or else the
/// only `Host`. Returns `None` if there is none, or one with a user name.
fn requested_authority(uri: &Uri, headers: &HeaderMap) -> Option<Authority> {
    let authority = match uri.authority() {
        Some(authority) => authority.clone(),
        None => single(headers, HOST)?.parse().ok()?,
    };
    (!authority.as_str().contains('@')).then_some(authority)
}

/// Returns the value of a header that is sent once.
fn single(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

fn is_allowed(authority: &Authority, allowed_hosts: &[String]) -> bool {
    let host = authority.host();
    let Some(address) = address_of(host) else {
        let is_host = |name: &str| name.eq_ignore_ascii_case(host);
        return is_host("localhost") || allowed_hosts.iter().any(|allowed| is_host(allowed));
    };
    let mut allowed = allowed_hosts.iter();
    address.is_loopback() || allowed.any(|allowed| address_of(allowed) == Some(address))
}

/// Returns the address that a host is, or `None` if the host is a name. An IPv6 address may be in
/// brackets. An IPv4-mapped IPv6 address is returned as the IPv4 address.
fn address_of(host: &str) -> Option<IpAddr> {
    let in_brackets = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    let address: IpAddr = in_brackets.unwrap_or(host).parse().ok()?;
    Some(address.to_canonical())
}

/// Returns whether the request comes from no page, or from a page of this listener. Only browsers
/// send these headers, and pages cannot change them.
fn is_same_origin(headers: &HeaderMap, authority: &Authority) -> bool {
    let is_own_origin = |origin: &str| {
        let host = origin.strip_prefix("http://");
        let host = host.or_else(|| origin.strip_prefix("https://"));
        host.is_some_and(|host| host.eq_ignore_ascii_case(authority.as_str()))
    };
    let is_own_site = |site: &str| matches!(site, "same-origin" | "none");
    let is_absent_or = |name: HeaderName, is_own: &dyn Fn(&str) -> bool| {
        !headers.contains_key(&name) || single(headers, name).is_some_and(is_own)
    };
    is_absent_or(ORIGIN, &is_own_origin) && is_absent_or(SEC_FETCH_SITE, &is_own_site)
}
