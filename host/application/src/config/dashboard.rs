//! The configuration of the dashboard.

use crate::config::oidc::OidcConfig;
use crate::config::reachable_address;
use ipnet::IpNet;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use url::{Host, Url};

/// The section `[dashboard]`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DashboardConfig {
    /// Address of the listener; `None`, written as an empty text, if there is none.
    #[serde(serialize_with = "write_address", deserialize_with = "read_address")]
    pub listen: Option<SocketAddr>,
    pub public_url: String,
    pub trusted_proxies: Vec<TrustedProxy>,
    pub oidc: OidcConfig,
}

impl DashboardConfig {
    /// Returns the URL that browsers use, without a trailing slash: [`Self::public_origin`], or
    /// else `http://` and `address`, which the listener is bound to.
    pub fn base_url(&self, address: SocketAddr) -> String {
        let origin = self.public_origin();
        origin.unwrap_or_else(|| format!("http://{}", reachable_address(address)))
    }

    /// Returns the origin of the public URL in the form of the header `Origin`: in lower case,
    /// with an ASCII host, without the default port and a trailing slash. Returns `None` if there
    /// is no public URL.
    pub fn public_origin(&self) -> Option<String> {
        let url = Url::parse(&self.public_url).ok()?;
        Some(url.origin().ascii_serialization())
    }

    /// Returns whether a listener on this address keeps passwords off the network in clear text:
    /// the address is loopback, or browsers use a public URL.
    pub fn protects_passwords_on(&self, address: IpAddr) -> bool {
        address.to_canonical().is_loopback() || !self.public_url.is_empty()
    }

    /// Returns whether the URL is empty, https, or http on a loopback address, and has no path. On
    /// other hosts http would send cookies and passwords in clear text.
    pub fn has_valid_public_url(&self) -> bool {
        if self.public_url.is_empty() {
            return true;
        }
        let Ok(url) = Url::parse(&self.public_url) else {
            return false;
        };
        let is_loopback = match url.host() {
            Some(Host::Domain(name)) => name == "localhost",
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        };
        let has_origin_only = url.path() == "/"
            && url.query().is_none()
            && url.fragment().is_none()
            && url.username().is_empty()
            && url.password().is_none();
        has_origin_only && (url.scheme() == "https" || (url.scheme() == "http" && is_loopback))
    }
}

fn write_address<S: Serializer>(
    address: &Option<SocketAddr>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match address {
        Some(address) => address.serialize(serializer),
        None => serializer.serialize_str(""),
    }
}

fn read_address<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<SocketAddr>, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.is_empty() {
        return Ok(None);
    }
    let parsed = text.parse().map(Some);
    parsed.map_err(|_| serde::de::Error::custom("dashboard.listen must be ADDRESS:PORT or empty"))
}

/// An address or a network, written as in `10.0.0.1` and `10.0.0.0/8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TrustedProxy(IpNet);

impl TrustedProxy {
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.contains(&address.to_canonical())
    }
}

impl FromStr for TrustedProxy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let address = text.parse::<IpAddr>().map(IpNet::from);
        let network = address.or_else(|_| text.parse::<IpNet>());
        let network = network.map(|network| Self(network.trunc()));
        network.map_err(|_| format!("{text} is no address and no network such as 10.0.0.0/8"))
    }
}

impl TryFrom<String> for TrustedProxy {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<TrustedProxy> for String {
    fn from(proxy: TrustedProxy) -> Self {
        proxy.0.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(public_url: &str) -> DashboardConfig {
        DashboardConfig {
            listen: None,
            public_url: public_url.to_owned(),
            trusted_proxies: Vec::new(),
            oidc: OidcConfig::default(),
        }
    }

    #[test]
    fn base_url_is_the_origin_of_the_public_url_or_the_listener() {
        let address = "0.0.0.0:8082".parse().unwrap();
        for (public_url, expected) in [
            ("", "http://127.0.0.1:8082"),
            ("https://dash.example.com/", "https://dash.example.com"),
            ("HTTPS://Dash.Example.com", "https://dash.example.com"),
            (" https://dash.example.com", "https://dash.example.com"),
            ("https://dash.example.com:443", "https://dash.example.com"),
            (
                "https://bücher.example:8443/",
                "https://xn--bcher-kva.example:8443",
            ),
            ("http://[::1]:8082", "http://[::1]:8082"),
        ] {
            let config = config(public_url);
            assert!(config.has_valid_public_url(), "{public_url}");
            assert_eq!(config.base_url(address), expected, "{public_url}");
        }
    }

    #[test]
    fn listener_without_public_url_must_be_loopback() {
        for (public_url, address, is_protected) in [
            ("", "127.0.0.1", true),
            ("", "127.1.2.3", true),
            ("", "::1", true),
            ("", "::ffff:127.0.0.1", true),
            ("", "0.0.0.0", false),
            ("", "::", false),
            ("", "10.0.0.1", false),
            ("https://dash.example.com", "0.0.0.0", true),
        ] {
            let found = config(public_url).protects_passwords_on(address.parse().unwrap());
            assert_eq!(found, is_protected, "{public_url} {address}");
        }
    }

    #[test]
    fn public_url_must_protect_cookies() {
        for (public_url, is_valid) in [
            ("", true),
            ("https://stopover.example.com", true),
            ("https://stopover.example.com:8443/", true),
            ("http://127.0.0.1:8082", true),
            ("http://localhost:8082", true),
            ("http://[::1]:8082", true),
            ("http://stopover.example.com", false),
            ("http://10.0.0.1", false),
            ("https://stopover.example.com/dashboard", false),
            ("https://stopover.example.com/?a", false),
            ("https://user@stopover.example.com", false),
            ("ftp://stopover.example.com", false),
            ("stopover.example.com", false),
        ] {
            let found = config(public_url).has_valid_public_url();
            assert_eq!(found, is_valid, "{public_url}");
        }
    }

    #[test]
    fn trusted_proxy_is_an_address_or_a_network() {
        let network: TrustedProxy = "10.1.2.3/8".parse().unwrap();
        let address: TrustedProxy = "::1".parse().unwrap();
        assert!(network.contains("10.200.0.1".parse().unwrap()));
        assert!(network.contains("::ffff:10.200.0.1".parse().unwrap()));
        assert!(!network.contains("11.0.0.1".parse().unwrap()));
        assert!(address.contains("::1".parse().unwrap()));
        assert!(!address.contains("::2".parse().unwrap()));
        assert!("10.0.0.0/33".parse::<TrustedProxy>().is_err());
        assert!("proxy".parse::<TrustedProxy>().is_err());
    }
}
