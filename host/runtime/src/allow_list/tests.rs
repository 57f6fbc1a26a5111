use super::*;

fn list(requested: &[&str], grants: &[&str]) -> AllowList {
    let requested = requested.iter().map(|text| text.parse().unwrap()).collect();
    let grants = grants.iter().map(|text| text.parse().unwrap()).collect();
    AllowList::new("SUPPLIER_A", requested, grants)
}

fn check(list: &AllowList, url: &str) -> Result<bool, DeniedTarget> {
    list.check(&Url::parse(url).unwrap())
}

fn assert_allowed(list: &AllowList, url: &str, private: bool) {
    assert_eq!(check(list, url), Ok(private), "{url}");
}

/// Requested hosts, granted hosts, allowed URLs and denied URLs.
type Case = (
    &'static [&'static str],
    &'static [&'static str],
    &'static [&'static str],
    &'static [&'static str],
);

#[rustfmt::skip]
const CASES: [Case; 4] = [
    // A host must be both requested and granted.
    (
        &["api.example.com", "other.example.com"], &["api.example.com", "third.example.com"],
        &["https://api.example.com/v1?x=1", "https://API.EXAMPLE.COM:443/"],
        &["https://other.example.com/", "https://third.example.com/", "https://example.com/", "https://1.1.1.1/"],
    ),
    // Scheme and port are part of the grant.
    (
        &["api.example.com"], &["api.example.com", "http://api.example.com:8080"],
        &["http://api.example.com:8080/"],
        &["http://api.example.com/", "https://api.example.com:8080/", "http://api.example.com:443/"],
    ),
    // A requested port must match.
    (
        &["api.example.com:8443"], &["api.example.com", "api.example.com:8443"],
        &["https://api.example.com:8443/"],
        &["https://api.example.com/"],
    ),
    // A wildcard requires an extra label and does not match lookalikes.
    (
        &["*.example.com"], &["*.example.com"],
        &["https://a.example.com/", "https://a.b.example.com/"],
        &["https://example.com/", "https://evilexample.com/", "https://a.example.com.evil.org/", "https://a.example.com./"],
    ),
];

#[test]
fn only_requested_and_granted_urls_are_allowed() {
    for (requested, grants, allowed, denied) in CASES {
        let list = list(requested, grants);
        for url in allowed {
            assert_allowed(&list, url, false);
        }
        for url in denied {
            let denial = check(&list, url);
            assert!(matches!(denial, Err(DeniedTarget::NotGranted(_))), "{url}");
        }
    }
}

#[test]
fn denial_names_the_grant_to_add() {
    let list = list(&["*"], &[]);
    let Err(DeniedTarget::NotGranted(message)) =
        check(&list, "http://api.example.com:8080/a?secret=1")
    else {
        panic!("the URL was allowed");
    };
    assert!(
        message.contains("add \"http://api.example.com:8080\" to `hosts` of SUPPLIER_A"),
        "{message}"
    );
    assert!(!message.contains("secret"), "{message}");
}

#[test]
fn urls_with_credentials_or_other_schemes_are_rejected() {
    let list = list(&["*"], &["api.example.com"]);
    for url in [
        "https://user@api.example.com/",
        "https://user:pw@api.example.com/",
        "ftp://api.example.com/",
        "file:///etc/passwd",
        "data:,x",
    ] {
        let denial = check(&list, url);
        assert!(matches!(denial, Err(DeniedTarget::Malformed(_))), "{url}");
    }
}

#[test]
fn alternative_notations_of_an_address_are_equal() {
    let granted = list(&["*"], &["http://127.0.0.1:4010"]);
    for url in [
        "http://127.0.0.1:4010/",
        "http://2130706433:4010/",
        "http://0x7f.1:4010/",
        "http://0177.0.0.1:4010/",
    ] {
        assert_allowed(&granted, url, true);
    }
    let other = list(&["*"], &["api.example.com"]);
    for url in [
        "http://2130706433/",
        "https://0x7f.1/",
        "https://[::1]/",
        "https://[::ffff:7f00:1]/",
        "https://127.1/",
    ] {
        assert!(check(&other, url).is_err(), "{url}");
    }
}

#[test]
fn name_grants_private_addresses_only_if_private_is_set() {
    let localhost = list(&["*"], &["http://localhost:1"]);
    assert_allowed(&localhost, "http://localhost:1/", true);
    let named = list(&["*"], &["http://a.internal"]);
    assert_allowed(&named, "http://a.internal/", false);
    let grant: HostGrant =
        serde_json::from_str(r#"{"host": "http://a.internal", "private": true}"#).unwrap();
    let private = AllowList::new("A", vec!["*".parse().unwrap()], vec![grant]);
    assert_allowed(&private, "http://a.internal/", true);
}

#[test]
fn requested_hosts_without_grant_are_listed_as_grants() {
    let list = list(
        &["api.example.com", "book.example.com:8443", "*"],
        &["api.example.com"],
    );
    assert_eq!(list.missing_grants(), ["https://book.example.com:8443"]);
}

#[test]
fn invalid_hosts_are_rejected() {
    for text in [
        "",
        "*",
        "ftp://a.com",
        "a.com:0",
        "a.com:99999",
        "a.com/path",
        "a b",
        "https://",
        ".a.com",
        "a.com.",
        "*.*.com",
        "*.1.2.3.4",
    ] {
        assert!(text.parse::<HostGrant>().is_err(), "{text}");
    }
    for (text, printed) in [
        ("a.com", "https://a.com"),
        ("A.com:8443", "https://a.com:8443"),
        ("http://[::1]:90", "http://[::1]:90"),
        ("*.a.com", "https://*.a.com"),
    ] {
        assert_eq!(text.parse::<HostGrant>().unwrap().to_string(), printed);
    }
}
