use super::*;
use http::{HeaderMap, Method};
use std::net::IpAddr;
use url::Url;

fn resolving_to(addresses: &[&str]) -> DnsLookup {
    let addresses: Vec<IpAddr> = addresses.iter().map(|text| text.parse().unwrap()).collect();
    DnsLookup::new(move |_| {
        let addresses = addresses.clone();
        async move { Ok(addresses) }
    })
}

async fn get(addresses: &[&str], private: bool) -> ExchangeError {
    let limits = PluginLimits::default();
    let clients = Clients::new(&limits, resolving_to(addresses));
    let url = Url::parse("http://supplier.example.com:1/").unwrap();
    let outgoing = OutboundRequest {
        method: Method::GET,
        url,
        headers: HeaderMap::new(),
        body: bytes::Bytes::new(),
    };
    let deadline = Instant::now() + Duration::from_secs(5);
    clients
        .exchange(private, outgoing, deadline, &limits)
        .await
        .unwrap_err()
}

#[tokio::test]
async fn a_name_that_resolves_to_a_special_address_is_denied() {
    for (address, reason) in [
        ("127.0.0.1", "loopback"),
        ("10.0.0.1", "private"),
        ("169.254.169.254", "link-local"),
        ("::1", "loopback"),
        ("::ffff:127.0.0.1", "loopback"),
        ("64:ff9b::7f00:1", "NAT64"),
        ("2002:7f00:1::", "6to4"),
        ("fd00::1", "unique local"),
        ("0.0.0.0", "unspecified"),
    ] {
        assert_eq!(
            get(&[address], false).await,
            ExchangeError::Denied(reason.to_owned()),
            "{address}"
        );
    }
}

#[tokio::test]
async fn one_special_address_denies_all_addresses_of_a_name() {
    assert_eq!(
        get(&["1.1.1.1", "127.0.0.1"], false).await,
        ExchangeError::Denied("loopback".to_owned())
    );
}

#[tokio::test]
async fn private_grant_allows_private_addresses_only() {
    assert!(
        matches!(get(&["127.0.0.1"], true).await, ExchangeError::NotSent(_)),
        "no server listens on this port"
    );
    assert_eq!(
        get(&["169.254.169.254"], true).await,
        ExchangeError::Denied("link-local".to_owned())
    );
}

#[tokio::test]
async fn a_name_without_addresses_is_not_sent() {
    assert!(matches!(get(&[], false).await, ExchangeError::NotSent(_)));
}
