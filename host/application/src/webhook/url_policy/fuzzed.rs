//! Fuzz tests of webhook URLs, compared with an independent list of non-public networks and an
//! independent URL parser.

use super::tests::{HOSTILE, INSECURE, PUBLIC};
use super::*;
use std::net::{Ipv4Addr, Ipv6Addr};

const TOKENS: &[&str] = &[
    "https://",
    "http://",
    "//",
    "/",
    "\\",
    "@",
    ":",
    "#",
    "?",
    ".",
    "[",
    "]",
    "::",
    "::ffff:",
    "127.0.0.1",
    "10.0.0.1",
    "169.254.169.254",
    "0x7f",
    "0177",
    "2130706433",
    "%2e",
    "%31",
    "xn--",
    "localhost",
    ".localhost",
    ".local",
    ":443",
    ":0",
    ":65536",
    "64:ff9b::",
    "fe80::1%25eth0",
    "*.",
    "-",
    "_",
];

/// The networks of the IPv4 special-purpose address registries, each as an address and a prefix
/// length.
#[rustfmt::skip]
const SPECIAL_V4: [(&str, u32); 18] = [
    ("0.0.0.0", 8), ("10.0.0.0", 8), ("100.64.0.0", 10), ("127.0.0.0", 8), ("169.254.0.0", 16),
    ("172.16.0.0", 12), ("192.0.0.0", 24), ("192.0.2.0", 24), ("192.31.196.0", 24),
    ("192.52.193.0", 24), ("192.88.99.0", 24), ("192.168.0.0", 16), ("192.175.48.0", 24),
    ("198.18.0.0", 15), ("198.51.100.0", 24), ("203.0.113.0", 24), ("224.0.0.0", 4),
    ("240.0.0.0", 4),
];

/// The networks of the IPv6 special-purpose address registry inside the global unicast range.
#[rustfmt::skip]
const SPECIAL_V6: [(&str, u32); 4] = [
    ("2001::", 23), ("2001:db8::", 32), ("2002::", 16), ("3fff::", 20),
];

fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => !SPECIAL_V4.iter().any(|(network, bits)| {
            let network = network.parse::<Ipv4Addr>().unwrap().to_bits();
            (network ^ address.to_bits()) >> (32 - bits) == 0
        }),
        IpAddr::V6(address) => match address.to_ipv4_mapped() {
            Some(inner) => is_public(inner.into()),
            None => {
                let is_in = |(network, bits): &(&str, u32)| {
                    let network = network.parse::<Ipv6Addr>().unwrap().to_bits();
                    (network ^ address.to_bits()) >> (128 - bits) == 0
                };
                is_in(&("2000::", 3)) && !SPECIAL_V6.iter().any(is_in)
            }
        },
    }
}

/// Returns whether a resolver would take the name for an IPv4 address in another spelling, because
/// its last label is a number.
fn looks_like_an_address(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or_default();
    let digits = last.strip_prefix("0x").unwrap_or(last);
    last.bytes().all(|byte| byte.is_ascii_digit())
        || (last.starts_with("0x") && digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Returns whether the label consists of letters, digits and underscores, with hyphens only between
/// them.
fn is_label(label: &str) -> bool {
    let mut parts = label.split('-').peekable();
    let is_part = |part: &str| part.chars().all(|one| one.is_alphanumeric() || one == '_');
    let is_closed = parts.peek().is_some_and(|first| !first.is_empty()) && !label.ends_with('-');
    is_closed && label.len() < 64 && parts.all(is_part)
}

fn judge_accepted(text: &str, url: &Url, insecure: bool) {
    assert!(text.len() <= 2048 && url.as_str().is_ascii(), "{text}");
    assert!(url.scheme() == "https" || (insecure && url.scheme() == "http"));
    let has_user = !url.username().is_empty() || url.password().is_some();
    assert!(!has_user, "{url}");
    assert_ne!(url.port(), Some(0), "{url}");
    let again = Url::parse(url.as_str());
    assert_eq!(again.as_ref(), Ok(url), "parsed again");
    // The HTTP client parses the URL again with another parser.
    let uri: http::Uri = url.as_str().parse().unwrap();
    let host = url.host_str().unwrap();
    assert_eq!(uri.host(), Some(host), "{text}");
    assert_eq!(uri.port_u16(), url.port(), "{text}");
    match host.trim_matches(['[', ']']).parse::<IpAddr>() {
        Ok(address) => {
            let is_open = insecure && address.to_canonical().is_loopback();
            assert!(is_public(address) || is_open, "{text} leads to {address}");
        }
        Err(_) => {
            assert!(!looks_like_an_address(host), "{text}");
            let is_local = host == "localhost" || host.ends_with(".localhost");
            let is_open = if is_local {
                insecure
            } else {
                host.contains('.')
            };
            let is_named = host.split('.').all(is_label) && !host.ends_with(".internal");
            assert!(is_open && is_named, "{text}");
        }
    }
}

#[test]
fn accepted_url_never_points_to_a_non_public_address() {
    let seeds = PUBLIC.into_iter();
    let seeds = seeds.chain(HOSTILE.iter().chain(&INSECURE).map(|(url, _)| *url));
    let documents = fuzz::documents("webhook-url").tokens(TOKENS);
    let documents = seeds.fold(documents, fuzz::Documents::seed);
    documents.check(6_000, |document| {
        let Ok(text) = std::str::from_utf8(document) else {
            return;
        };
        for insecure in [false, true] {
            if let Ok(url) = parse(text, insecure) {
                judge_accepted(text, &url, insecure);
            }
        }
        let [secure, insecure] = [false, true].map(|insecure| parse(text, insecure));
        assert!(secure.is_err() || insecure.is_ok(), "{text}");
    });
}

#[test]
fn address_check_agrees_with_the_registries() {
    fuzz::values("webhook-address", 6_000, |choice| {
        let near = |choice: &mut fuzz::Choice<'_>| {
            let (network, bits) = choice.pick(&SPECIAL_V4);
            let start = network.parse::<Ipv4Addr>().unwrap().to_bits();
            let edge = start.wrapping_add(choice.pick(&[0, u32::MAX >> bits]));
            edge.wrapping_add(choice.pick(&[0, 1, u32::MAX]))
        };
        let address: IpAddr = match choice.below(5) {
            0 => Ipv4Addr::from(std::array::from_fn::<u8, 4, _>(|_| choice.byte())).into(),
            1 => Ipv4Addr::from_bits(near(choice)).into(),
            2 => Ipv4Addr::from_bits(near(choice)).to_ipv6_mapped().into(),
            3 => {
                let (network, bits) = choice.pick(&SPECIAL_V6);
                let start = network.parse::<Ipv6Addr>().unwrap().to_bits();
                let edge = start.wrapping_add(choice.pick(&[0, u128::MAX >> bits]));
                let near = edge.wrapping_add(choice.pick(&[0, 1, u128::MAX]));
                Ipv6Addr::from_bits(near).into()
            }
            _ => Ipv6Addr::from(std::array::from_fn::<u8, 16, _>(|_| choice.byte())).into(),
        };
        let refusal = address_policy::denial_reason(address, AddressPolicy::PublicOnly);
        let is_allowed = refusal.is_none();
        assert_eq!(is_allowed, is_public(address), "{address}: {refusal:?}");
    });
}
