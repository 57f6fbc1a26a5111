//! Allow list of a plugin: the intersection of the hosts that its description requests and those
//! that the operator grants. This module checks URLs only. Resolved addresses are checked by the
//! resolver.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use url::{Host, Url};

/// The scheme by which a granted host may be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// Encrypted. A grant without a scheme means this.
    Https,
    /// Unencrypted. The operator must write `http://` explicitly.
    Http,
}

impl Scheme {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Https => "https",
            Self::Http => "http",
        }
    }

    const fn default_port(self) -> u16 {
        match self {
            Self::Https => 443,
            Self::Http => 80,
        }
    }
}

/// A host that a plugin may reach: `[https://|http://]host[:port]`, e.g. `api.example.com`,
/// `*.example.com`, `http://127.0.0.1:4010`.
///
/// A grant of an address or of `localhost` includes that address although it is not public. A grant
/// of a name includes only public addresses, unless `private` is set: `{ host =
/// "http://supplier.internal:8080", private = true }`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "GrantText", into = "GrantText")]
pub struct HostGrant {
    scheme: Scheme,
    host: HostPattern,
    port: u16,
    private: bool,
}

/// A text that is not a valid host for a grant or a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not of the form [https://|http://]host[:port]")]
pub struct InvalidHost(String);

#[derive(Deserialize, Serialize)]
#[serde(untagged)]
enum GrantText {
    Plain(String),
    Table {
        host: String,
        #[serde(default)]
        private: bool,
    },
}

impl TryFrom<GrantText> for HostGrant {
    type Error = InvalidHost;
    fn try_from(text: GrantText) -> Result<Self, InvalidHost> {
        match text {
            GrantText::Plain(host) => host.parse(),
            GrantText::Table { host, private } => {
                let mut grant: Self = host.parse()?;
                grant.private |= private;
                Ok(grant)
            }
        }
    }
}

impl From<HostGrant> for GrantText {
    fn from(grant: HostGrant) -> Self {
        Self::Table {
            host: grant.to_string(),
            private: grant.private,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum HostPattern {
    Any,
    /// A name in lower case, or an address in the form that `Url` prints.
    Exact(String),
    /// The suffix `.example.com` of the pattern `*.example.com`, which requires at least one more
    /// label.
    Subdomains(String),
}

impl HostPattern {
    fn parse(text: &str) -> Option<Self> {
        if text == "*" {
            return Some(Self::Any);
        }
        if let Some(rest) = text.strip_prefix("*.") {
            return match Host::parse(rest).ok()? {
                Host::Domain(name) if is_plain_name(&name) => {
                    Some(Self::Subdomains(format!(".{name}")))
                }
                Host::Domain(_) | Host::Ipv4(_) | Host::Ipv6(_) => None,
            };
        }
        match Host::parse(text).ok()? {
            Host::Domain(name) if !is_plain_name(&name) => None,
            host => Some(Self::Exact(host.to_string())),
        }
    }

    fn matches(&self, host: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Exact(name) => name == host,
            Self::Subdomains(suffix) => {
                host.len() > suffix.len() && host.ends_with(suffix.as_str())
            }
        }
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("*"),
            Self::Exact(host) => f.write_str(host),
            Self::Subdomains(suffix) => write!(f, "*{suffix}"),
        }
    }
}

fn is_plain_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('.')
        && !name.ends_with('.')
        && !name.contains('*')
        && name.len() <= 253
}

impl HostGrant {
    fn matches(&self, scheme: Scheme, host: &str, port: u16) -> bool {
        self.scheme == scheme && self.port == port && self.host.matches(host)
    }
}

impl FromStr for HostGrant {
    type Err = InvalidHost;
    fn from_str(text: &str) -> Result<Self, InvalidHost> {
        let invalid = || InvalidHost(text.to_owned());
        let (scheme, rest) = match text.split_once("://") {
            Some(("https", rest)) => (Scheme::Https, rest),
            Some(("http", rest)) => (Scheme::Http, rest),
            Some(_) => return Err(invalid()),
            None => (Scheme::Https, text),
        };
        let (host, port) = split_port(rest).ok_or_else(invalid)?;
        let host = HostPattern::parse(host)
            .filter(|pattern| *pattern != HostPattern::Any)
            .ok_or_else(invalid)?;
        let private = matches!(&host, HostPattern::Exact(name) if name == "localhost" || literal(name).is_some());
        Ok(Self {
            scheme,
            host,
            port: port.unwrap_or(scheme.default_port()),
            private,
        })
    }
}

/// Formats the canonical form, which is valid in the configuration.
impl fmt::Display for HostGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme.as_str(), self.host)?;
        if self.port == self.scheme.default_port() {
            Ok(())
        } else {
            write!(f, ":{}", self.port)
        }
    }
}

/// A host that a plugin's description requests: `name`, `name:port`, `*.name`, or `*` for every
/// host that the operator grants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RequestedHost {
    host: HostPattern,
    port: Option<u16>,
}

impl FromStr for RequestedHost {
    type Err = InvalidHost;
    fn from_str(text: &str) -> Result<Self, InvalidHost> {
        let invalid = || InvalidHost(text.to_owned());
        let (host, port) = split_port(text).ok_or_else(invalid)?;
        Ok(Self {
            host: HostPattern::parse(host).ok_or_else(invalid)?,
            port,
        })
    }
}

impl RequestedHost {
    fn covers(&self, host: &str, port: u16) -> bool {
        self.host.matches(host) && self.port.is_none_or(|requested| requested == port)
    }

    /// Returns the grant that the operator has to add, or `None` if a grant covers this host.
    fn missing_grant(&self, grants: &[HostGrant]) -> Option<String> {
        let is_covered_by = |grant: &HostGrant| match (&self.host, &grant.host) {
            (HostPattern::Any, _) => true,
            (requested, HostPattern::Exact(host)) => {
                requested.matches(host) && self.port.is_none_or(|port| port == grant.port)
            }
            (requested, granted) => requested == granted,
        };
        if self.host == HostPattern::Any || grants.iter().any(is_covered_by) {
            return None;
        }
        let port = self
            .port
            .filter(|port| *port != Scheme::Https.default_port());
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        Some(format!("https://{}{port}", self.host))
    }
}

fn split_port(text: &str) -> Option<(&str, Option<u16>)> {
    let bracketed_end = if text.starts_with('[') {
        text.find(']')?
    } else {
        0
    };
    match text.rfind(':').filter(|colon| *colon > bracketed_end) {
        Some(colon) => {
            let port = text
                .get(colon + 1..)?
                .parse()
                .ok()
                .filter(|port| *port != 0)?;
            Some((text.get(..colon)?, Some(port)))
        }
        None => Some((text, None)),
    }
}

/// Returns the address that a host in the form of `Url` represents, or `None` if it is a name.
fn literal(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[')
        .trim_end_matches(']')
        .parse()
        .ok()
}

/// The hosts that one plugin requests and those that it is granted.
#[derive(Debug, Clone)]
pub(crate) struct AllowList {
    supplier: String,
    requested: Vec<RequestedHost>,
    grants: Vec<HostGrant>,
}

/// The reason why a URL may not be requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DeniedTarget {
    /// The URL can never be requested.
    Malformed(&'static str),
    /// The URL is not granted. The text names the grant to add.
    NotGranted(String),
}

impl AllowList {
    pub(crate) fn new(
        supplier: &str,
        requested: Vec<RequestedHost>,
        grants: Vec<HostGrant>,
    ) -> Self {
        Self {
            supplier: supplier.to_owned(),
            requested,
            grants,
        }
    }

    /// Returns the grants that the operator has to add for all requested hosts.
    pub(crate) fn missing_grants(&self) -> Vec<String> {
        self.requested
            .iter()
            .filter_map(|host| host.missing_grant(&self.grants))
            .collect()
    }

    /// Checks scheme, host and port, and returns whether private addresses are granted. Addresses
    /// are checked after name resolution.
    pub(crate) fn check(&self, url: &Url) -> Result<bool, DeniedTarget> {
        let scheme = match url.scheme() {
            "https" => Scheme::Https,
            "http" => Scheme::Http,
            _ => return Err(DeniedTarget::Malformed("the scheme is not http or https")),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(DeniedTarget::Malformed(
                "the URL holds a user name or password",
            ));
        }
        let host = url
            .host_str()
            .filter(|host| !host.is_empty())
            .ok_or(DeniedTarget::Malformed("the URL names no host"))?;
        let port = url
            .port_or_known_default()
            .ok_or(DeniedTarget::Malformed("the URL names no port"))?;
        if !self
            .requested
            .iter()
            .any(|requested| requested.covers(host, port))
        {
            let message = format!(
                "the description of {} does not request {host}:{port}",
                self.supplier
            );
            return Err(DeniedTarget::NotGranted(message));
        }
        let mut granted = self
            .grants
            .iter()
            .filter(|grant| grant.matches(scheme, host, port))
            .peekable();
        if granted.peek().is_none() {
            let line = HostGrant {
                scheme,
                host: HostPattern::Exact(host.to_owned()),
                port,
                private: false,
            };
            let message = format!(
                "not granted; to allow it, add \"{line}\" to `hosts` of {}",
                self.supplier
            );
            return Err(DeniedTarget::NotGranted(message));
        }
        Ok(granted.any(|grant| grant.private))
    }

    /// Builds the error message for a granted name that resolved to a non-public address.
    pub(crate) fn private_address_message(&self, url: &Url, reason: &str) -> String {
        let host = url.origin().ascii_serialization();
        format!(
            "{host} stands for a {reason} address; to allow it, write {{ host = \"{host}\", private = true }} in `hosts` of {}",
            self.supplier
        )
    }
}

#[cfg(test)]
mod tests;
