//! Rules for the URLs that events may be sent to. They are checked when a subscription is created
//! and at every attempt. The guard of [`host_runtime::guarded_client`] checks each address again
//! when it connects, because a name may resolve to another address by then.

use host_runtime::address_policy::{self, AddressPolicy};
use host_runtime::guarded_client::DnsLookup;
use std::net::IpAddr;
use std::time::Duration;
use url::{Host, Url};

/// Maximum length of a URL: common proxies and servers accept this much.
const URL_BYTES_MAX: usize = 2048;

/// Maximum length of a label of a name, and of a name.
const LABEL_BYTES_MAX: usize = 63;
const NAME_BYTES_MAX: usize = 253;

/// Time limit of a name lookup. A name not resolved in time is checked when it is connected to.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(2);

/// Suffixes of names that are valid in one network only.
const LOCAL_SUFFIXES: [&str; 7] = [
    ".local",
    ".internal",
    ".intranet",
    ".lan",
    ".home",
    ".corp",
    ".arpa",
];

/// Reasons why a URL may not receive events. They reveal nothing about what the URL points to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UrlRejection {
    #[error("it is longer than {URL_BYTES_MAX} bytes")]
    TooLong,
    #[error("it is not an absolute URL of printable ASCII characters")]
    Malformed,
    #[error("it must begin with https://")]
    NotHttps,
    #[error("it must not hold a user name or a password")]
    Credentials,
    #[error("it must not have a fragment")]
    Fragment,
    #[error("its port cannot be connected to")]
    InvalidPort,
    #[error("its host is not in the usual (canonical) spelling")]
    NonCanonicalHost,
    #[error(
        "its host is not a valid name: labels have up to {LABEL_BYTES_MAX} letters, digits and hyphens"
    )]
    InvalidHostname,
    #[error("its host is not a public name")]
    NonPublicHostname,
    #[error("its host is not a public address: {0}")]
    NonPublicAddress(&'static str),
}

pub const fn address_scope(insecure: bool) -> AddressPolicy {
    if insecure {
        AddressPolicy::AllowLoopback
    } else {
        AddressPolicy::PublicOnly
    }
}

/// Parses a URL and checks everything that does not need a name lookup. With `insecure`, plain http
/// and loopback addresses are allowed, too.
pub fn parse(text: &str, insecure: bool) -> Result<Url, UrlRejection> {
    if text.len() > URL_BYTES_MAX {
        return Err(UrlRejection::TooLong);
    }
    // A URL parser drops some characters and replaces others.
    let is_plain = |byte: u8| byte.is_ascii_graphic() && byte != b'\\';
    if !text.bytes().all(is_plain) {
        return Err(UrlRejection::Malformed);
    }
    let url = Url::parse(text).map_err(|_| UrlRejection::Malformed)?;
    match url.scheme() {
        "https" => {}
        "http" if insecure => {}
        _ => return Err(UrlRejection::NotHttps),
    }
    let (_, rest) = text.split_once("://").ok_or(UrlRejection::Malformed)?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err(UrlRejection::Credentials);
    }
    if url.fragment().is_some() {
        return Err(UrlRejection::Fragment);
    }
    if url.port() == Some(0) {
        return Err(UrlRejection::InvalidPort);
    }
    // The HTTP client parses the URL again and accepts fewer characters in a host.
    if url.as_str().parse::<http::Uri>().is_err() {
        return Err(UrlRejection::Malformed);
    }
    check_host(&url, authority, insecure)?;
    Ok(url)
}

fn check_host(url: &Url, authority: &str, insecure: bool) -> Result<(), UrlRejection> {
    match url.host() {
        None => Err(UrlRejection::Malformed),
        Some(Host::Ipv6(found)) => check_address(found.into(), insecure),
        Some(Host::Ipv4(found)) => {
            // 0x7f.1, 017700000001 and 2130706433 are spellings of the same address.
            check_canonical(authority, &found.to_string())?;
            check_address(found.into(), insecure)
        }
        Some(Host::Domain(name)) => {
            check_canonical(authority, name)?;
            let is_loopback = name == "localhost" || name.ends_with(".localhost");
            let is_local =
                !name.contains('.') || LOCAL_SUFFIXES.iter().any(|end| name.ends_with(end));
            match (is_loopback, insecure) {
                _ if !is_valid_hostname(name) => Err(UrlRejection::InvalidHostname),
                (true, true) => Ok(()),
                (true, false) => Err(UrlRejection::NonPublicAddress("loopback")),
                (false, _) if is_local => Err(UrlRejection::NonPublicHostname),
                (false, _) => Ok(()),
            }
        }
    }
}

/// Returns whether a resolver could resolve the name. Host names may not contain underscores by the
/// standard, but some do in practice.
fn is_valid_hostname(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let is_label = |label: &str| {
        (1..=LABEL_BYTES_MAX).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(is_plain)
    };
    name.len() <= NAME_BYTES_MAX && name.split('.').all(is_label)
}

fn check_canonical(authority: &str, host: &str) -> Result<(), UrlRejection> {
    let (written, _port) = authority.split_once(':').unwrap_or((authority, ""));
    if written.eq_ignore_ascii_case(host) {
        Ok(())
    } else {
        Err(UrlRejection::NonCanonicalHost)
    }
}

fn check_address(found: IpAddr, insecure: bool) -> Result<(), UrlRejection> {
    match address_policy::denial_reason(found, address_scope(insecure)) {
        Some(reason) => Err(UrlRejection::NonPublicAddress(reason)),
        None => Ok(()),
    }
}

/// Parses a URL and checks the addresses of its name. A name that does not resolve is accepted.
pub async fn validate(text: &str, insecure: bool, lookup: &DnsLookup) -> Result<(), UrlRejection> {
    let url = parse(text, insecure)?;
    let Some(Host::Domain(name)) = url.host() else {
        return Ok(());
    };
    let found = tokio::time::timeout(LOOKUP_TIMEOUT, lookup.addresses(name)).await;
    let Ok(Ok(addresses)) = found else {
        return Ok(());
    };
    let mut addresses = addresses.into_iter();
    addresses.try_for_each(|found| check_address(found, insecure))
}

#[cfg(test)]
mod fuzzed;
#[cfg(test)]
mod tests;
