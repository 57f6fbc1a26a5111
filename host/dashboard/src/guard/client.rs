//! The client of a request, whose failed sign-ins are counted.

use crate::state::{DashboardSettings, DashboardState};
use axum::extract::{ConnectInfo, FromRequestParts};
use host_application::account::viewer::ClientInfo;
use http::header::USER_AGENT;
use http::request::Parts;
use http::{Extensions, HeaderMap, HeaderName};
use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const USER_AGENT_CHARS_MAX: usize = 200;

/// Extracts [`ClientInfo`].
#[derive(Debug)]
pub(crate) struct Client(pub(crate) ClientInfo);

impl FromRequestParts<DashboardState> for Client {
    type Rejection = Infallible;

    async fn from_request_parts(
        parts: &mut Parts,
        state: &DashboardState,
    ) -> Result<Self, Infallible> {
        let user_agent = parts.headers.get(USER_AGENT);
        let user_agent = user_agent.and_then(|value| value.to_str().ok());
        let user_agent = user_agent.unwrap_or_default().chars();
        Ok(Self(ClientInfo {
            address: client_address(&parts.extensions, &parts.headers, &state.settings),
            user_agent: user_agent.take(USER_AGENT_CHARS_MAX).collect(),
        }))
    }
}

/// Returns the address of the client of a request.
pub(crate) fn client_address(
    extensions: &Extensions,
    headers: &HeaderMap,
    settings: &DashboardSettings,
) -> IpAddr {
    let peer = extensions.get::<ConnectInfo<SocketAddr>>();
    let peer = peer.map_or(Ipv4Addr::UNSPECIFIED.into(), |peer| peer.0.ip());
    last_untrusted_address(peer, headers, settings)
}

/// Returns the last address on the way to the gateway that is not a trusted proxy's. Everything
/// before it in the header may be invented, and everything before an unreadable part is unknown.
fn last_untrusted_address(
    peer: IpAddr,
    headers: &HeaderMap,
    settings: &DashboardSettings,
) -> IpAddr {
    let is_trusted = |address: IpAddr| {
        let mut proxies = settings.trusted_proxies.iter();
        proxies.any(|proxy| proxy.contains(address))
    };
    let mut address = peer.to_canonical();
    let lines = headers.get_all(FORWARDED_FOR).iter().rev();
    let hops = lines
        .map_while(|line| line.to_str().ok())
        .flat_map(|line| line.rsplit(','));
    for hop in hops {
        if !is_trusted(address) {
            break;
        }
        let Ok(earlier) = hop.trim().parse::<IpAddr>() else {
            break;
        };
        address = earlier.to_canonical();
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn forwarded_address_counts_only_behind_trusted_proxies() {
        let settings = DashboardSettings {
            base_url: String::new(),
            trusted_proxies: vec!["10.0.0.0/8".parse().unwrap(), "127.0.0.1".parse().unwrap()],
        };
        for (peer, lines, expected) in [
            ("203.0.113.9", vec!["198.51.100.1"], "203.0.113.9"),
            ("10.0.0.1", vec![], "10.0.0.1"),
            ("10.0.0.1", vec!["198.51.100.1"], "198.51.100.1"),
            ("::ffff:10.0.0.1", vec!["198.51.100.1"], "198.51.100.1"),
            ("10.0.0.1", vec!["1.1.1.1, 198.51.100.1"], "198.51.100.1"),
            ("10.0.0.1", vec!["1.1.1.1", "198.51.100.1"], "198.51.100.1"),
            (
                "10.0.0.1",
                vec!["1.1.1.1, 198.51.100.1, 10.0.0.2"],
                "198.51.100.1",
            ),
            ("127.0.0.1", vec!["2001:db8::1"], "2001:db8::1"),
            ("10.0.0.1", vec!["198.51.100.1, unknown"], "10.0.0.1"),
            ("10.0.0.1", vec!["198.51.100.1", "ä"], "10.0.0.1"),
            ("10.0.0.1", vec!["ä", "198.51.100.1"], "198.51.100.1"),
        ] {
            let mut headers = HeaderMap::new();
            for line in &lines {
                let line = HeaderValue::from_bytes(line.as_bytes()).unwrap();
                headers.append(FORWARDED_FOR, line);
            }
            let found = last_untrusted_address(peer.parse().unwrap(), &headers, &settings);
            assert_eq!(found.to_string(), expected, "{peer} {lines:?}");
        }
    }
}
