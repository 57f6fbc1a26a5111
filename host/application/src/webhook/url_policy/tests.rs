//! URLs with spellings and addresses that would lead elsewhere. Each is rejected with a reason,
//! even if plain http and loopback addresses are allowed.

use super::*;
use UrlRejection::*;
use std::io;

const LOOPBACK: UrlRejection = NonPublicAddress("loopback");
const PRIVATE: UrlRejection = NonPublicAddress("private");
const LINK_LOCAL: UrlRejection = NonPublicAddress("link-local");

/// URLs that are always rejected.
#[rustfmt::skip]
pub(super) const HOSTILE: [(&str, UrlRejection); 80] = [
    // The parser reads these hosts differently from their spelling.
    ("https://2130706433/", NonCanonicalHost), ("https://0x7f000001/", NonCanonicalHost),
    ("https://017700000001/", NonCanonicalHost), ("https://0177.0.0.1/", NonCanonicalHost),
    ("https://0x7f.1/", NonCanonicalHost), ("https://127.1/", NonCanonicalHost), ("https://127.0.1/", NonCanonicalHost),
    ("https://127.0.0.01/", NonCanonicalHost), ("https://10.0.0.010/", NonCanonicalHost),
    ("https://3232235777/", NonCanonicalHost), ("https://0xa9fea9fe/", NonCanonicalHost),
    ("https://127.0.0.1./", NonCanonicalHost), ("https://%31%32%37.0.0.1/", NonCanonicalHost),
    ("https://%6cocalhost/", NonCanonicalHost), ("https://exampl%65.com/", NonCanonicalHost),
    // The parser drops or replaces characters in these URLs, or cannot parse them.
    ("https://example.com\\@127.0.0.1/", Malformed), ("https://exa\tmple.com/", Malformed),
    ("https://example.com/\n", Malformed), (" https://example.com/", Malformed),
    ("https://ex\u{ad}ample.com/", Malformed), ("https://127。0。0。1/", Malformed),
    ("https://①②⑦.0.0.1/", Malformed), ("https:example.com", Malformed),
    ("https:/example.com", Malformed), ("//example.com", Malformed), ("", Malformed),
    ("https://", Malformed), ("https://exam ple.com", Malformed),
    ("https://example.{com}/", Malformed),
    // Credentials, fragments, ports and schemes.
    ("https://user@example.com/", Credentials), ("https://user:secret@example.com/", Credentials),
    ("https://@example.com/", Credentials), ("https://:@example.com/", Credentials),
    ("https://example.com@10.0.0.1/", Credentials), ("https://example.com/#part", Fragment),
    ("https://example.com/#", Fragment), ("https://example.com:0/", InvalidPort),
    ("ftp://example.com/", NotHttps), ("file:///etc/passwd", NotHttps),
    ("gopher://example.com/", NotHttps), ("ws://example.com/", NotHttps),
    ("unix:///run/docker.sock", NotHttps), ("javascript:alert(1)", NotHttps),
    // Invalid names.
    ("https://*.example.com/", InvalidHostname), ("https://-bad-.com/", InvalidHostname),
    ("https://-bad.example.com/", InvalidHostname), ("https://bad-.example.com/", InvalidHostname),
    ("https://example.-com/", InvalidHostname), ("https://exam!ple.com/", InvalidHostname),
    ("https://exa'mple.com/", InvalidHostname), ("https://*.localhost/", InvalidHostname),
    ("https://example.com%00/", Malformed), ("https://exam%2ap%00le.com/", Malformed),
    ("https://.localhost/", InvalidHostname), ("https://.example.com/", InvalidHostname),
    ("https://example..com/", InvalidHostname), ("https://example.com./", InvalidHostname),
    // Names that are valid in one network only.
    ("https://intranet/", NonPublicHostname),
    ("https://printer.local/", NonPublicHostname), ("https://metadata.google.internal/", NonPublicHostname),
    ("https://wiki.corp/", NonPublicHostname), ("https://1.0.0.127.in-addr.arpa/", NonPublicHostname),
    // Non-public addresses.
    ("https://10.0.0.1/", PRIVATE), ("https://172.16.0.1/", PRIVATE),
    ("https://192.168.0.1/", PRIVATE), ("https://169.254.169.254/", LINK_LOCAL),
    ("https://100.64.0.1/", NonPublicAddress("shared address space")),
    ("https://0.0.0.0/", NonPublicAddress("unspecified")), ("https://224.0.0.1/", NonPublicAddress("multicast")),
    ("https://255.255.255.255/", NonPublicAddress("broadcast")),
    ("https://198.51.100.7/", NonPublicAddress("documentation")), ("https://[::]/", NonPublicAddress("unspecified")),
    ("https://[::ffff:10.0.0.1]/", PRIVATE), ("https://[::ffff:a9fe:a9fe]/", LINK_LOCAL),
    ("https://[64:ff9b::7f00:1]/", NonPublicAddress("NAT64")), ("https://[2002:7f00:1::]/", NonPublicAddress("6to4")),
    ("https://[fd00::1]/", NonPublicAddress("unique local")), ("https://[fe80::1]/", LINK_LOCAL),
    ("https://[2001:db8::1]/", NonPublicAddress("documentation")),
    ("https://[::7f00:1]/", NonPublicAddress("IPv4-compatible")),
];

/// URLs that are rejected unless plain http and loopback addresses are allowed.
#[rustfmt::skip]
pub(super) const INSECURE: [(&str, UrlRejection); 11] = [
    ("http://example.com/", NotHttps), ("http://127.0.0.1:9000/hook", NotHttps),
    ("https://127.0.0.1/", LOOPBACK), ("https://127.255.0.1/", LOOPBACK),
    ("https://[::1]/", LOOPBACK), ("https://[0:0:0:0:0:0:0:1]/", LOOPBACK),
    ("https://[::ffff:127.0.0.1]/", LOOPBACK), ("https://[::ffff:7f00:1]/", LOOPBACK),
    ("https://localhost/", LOOPBACK), ("https://LOCALHOST:8443/", LOOPBACK),
    ("https://a.localhost/", LOOPBACK),
];

pub(super) const PUBLIC: [&str; 10] = [
    "https://example.com",
    "https://example.com/hooks?for=me&x=%20",
    "https://EXAMPLE.com:8443/",
    "https://xn--bcher-kva.example/",
    "https://1.1.1.1/",
    "https://[2606:4700:4700::1111]/",
    "https://[2606:4700:4700:0:0:0:0:1111]:444/",
    "https://internal.example.com/",
    "https://10.0.0.1.example.com/",
    "https://web_hooks.a--b.3.example.com/",
];

#[test]
fn hostile_url_is_rejected() {
    for (url, refusal) in HOSTILE {
        assert_eq!(parse(url, false), Err(refusal), "{url}");
        assert_eq!(parse(url, true), Err(refusal), "{url}, insecure");
    }
}

#[test]
fn insecure_url_is_accepted_only_if_allowed() {
    for (url, refusal) in INSECURE {
        assert_eq!(parse(url, false), Err(refusal), "{url}");
        assert!(parse(url, true).is_ok(), "{url}");
    }
}

#[test]
fn public_url_is_accepted() {
    for url in PUBLIC {
        assert!(parse(url, false).is_ok(), "{url}");
        assert!(parse(url, true).is_ok(), "{url}");
    }
}

#[test]
fn url_over_the_maximum_length_is_rejected() {
    let long = |bytes: usize| format!("https://example.com/{}", "a".repeat(bytes - 20));
    assert!(parse(&long(URL_BYTES_MAX), false).is_ok());
    assert_eq!(parse(&long(URL_BYTES_MAX + 1), false), Err(TooLong));
}

#[test]
fn name_or_label_over_the_maximum_length_is_rejected() {
    let of = |labels: &[usize]| {
        let labels = labels.iter().map(|bytes| "a".repeat(*bytes));
        let name = labels.collect::<Vec<_>>().join(".");
        parse(&format!("https://{name}/"), false).err()
    };
    assert_eq!(of(&[63, 3]), None);
    assert_eq!(of(&[64, 3]), Some(InvalidHostname));
    assert_eq!(of(&[63, 63, 63, 61]), None, "253 bytes");
    assert_eq!(of(&[63, 63, 63, 62]), Some(InvalidHostname), "254 bytes");
}

fn resolving_to(addresses: &[&str]) -> DnsLookup {
    let addresses: Vec<IpAddr> = addresses.iter().map(|text| text.parse().unwrap()).collect();
    DnsLookup::new(move |_| {
        let addresses = addresses.clone();
        async move { Ok(addresses) }
    })
}

#[tokio::test]
async fn every_address_of_a_name_is_checked() {
    for (addresses, insecure, expected) in [
        (&["1.1.1.1"][..], false, Ok(())),
        (&["1.1.1.1", "10.0.0.1"], false, Err(PRIVATE)),
        (&["169.254.169.254"], true, Err(LINK_LOCAL)),
        (&["127.0.0.1"], false, Err(LOOPBACK)),
        (&["127.0.0.1"], true, Ok(())),
        (&[], false, Ok(())),
    ] {
        let lookup = resolving_to(addresses);
        let checked = validate("https://hooks.example.com/", insecure, &lookup).await;
        assert_eq!(checked, expected, "{addresses:?}");
    }
}

#[tokio::test]
async fn name_that_does_not_resolve_is_accepted() {
    let lookup = DnsLookup::new(|_| async { Err(io::Error::from(io::ErrorKind::NotFound)) });
    let checked = validate("https://hooks.example.com/", false, &lookup).await;
    assert_eq!(checked, Ok(()));
}
