//! HTTP client for URLs that an outside party chose, such as suppliers and webhook receivers. A
//! name is resolved once by a resolver that checks every address, and the connection uses exactly
//! these addresses. There are no redirects, proxies, cookies or retries. A URL that contains an
//! address is not resolved; check such an address with [`crate::address_policy::denial_reason`]
//! first.

use crate::address_policy::{self, AddressPolicy};
use futures::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, ClientBuilder};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// Name of the program in the header `User-Agent` of every request.
pub const USER_AGENT: &str = concat!("stopover/", env!("CARGO_PKG_VERSION"));

/// A function that resolves names to addresses. Clones are cheap.
#[derive(Clone)]
pub struct DnsLookup(
    Arc<dyn Fn(String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> + Send + Sync>,
);

impl DnsLookup {
    /// Creates a lookup that uses the system's resolver.
    #[must_use]
    pub fn system() -> Self {
        Self::new(|name| async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }

    /// Creates a lookup that uses the given function.
    pub fn new<F, A>(lookup: F) -> Self
    where
        F: Fn(String) -> A + Send + Sync + 'static,
        A: Future<Output = io::Result<Vec<IpAddr>>> + Send + 'static,
    {
        Self(Arc::new(move |name| Box::pin(lookup(name))))
    }

    /// Returns all addresses of a name.
    ///
    /// # Errors
    /// Returns an error if the name cannot be resolved.
    pub async fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        (self.0)(name.to_owned()).await
    }
}

impl std::fmt::Debug for DnsLookup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lookup").finish_non_exhaustive()
    }
}

/// Returns a builder of clients that only connect to addresses that the policy allows. The caller
/// adds its own limits.
#[expect(
    clippy::disallowed_methods,
    reason = "this function builds the guarded client that other code must use"
)]
pub fn client_builder(lookup: DnsLookup, reach: AddressPolicy) -> ClientBuilder {
    Client::builder()
        .user_agent(USER_AGENT)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .no_proxy()
        .referer(false)
        .tcp_nodelay(true)
        .dns_resolver(GuardedResolver { lookup, reach })
}

/// Returns why the client blocked an address, or `None` if the request failed for another reason.
#[must_use]
pub fn blocked_address_reason(error: &reqwest::Error) -> Option<&'static str> {
    let refused = causes(error).find_map(|cause| cause.downcast_ref::<AddressBlocked>());
    refused.map(|AddressBlocked(reason)| *reason)
}

/// Returns the innermost cause of a failure. It contains no URL and thus no query.
#[must_use]
pub fn root_cause(error: &reqwest::Error) -> String {
    let innermost = causes(error).skip(1).last();
    let text = innermost.map_or_else(|| "the request failed".to_owned(), ToString::to_string);
    text.chars().take(200).collect()
}

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct AddressBlocked(&'static str);

struct GuardedResolver {
    lookup: DnsLookup,
    reach: AddressPolicy,
}

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (lookup, reach) = (self.lookup.clone(), self.reach);
        Box::pin(async move {
            let addresses = lookup.addresses(name.as_str()).await?;
            for address in &addresses {
                if let Some(reason) = address_policy::denial_reason(*address, reach) {
                    return Err(AddressBlocked(reason).into());
                }
            }
            Ok(Box::new(
                addresses
                    .into_iter()
                    .map(|address| SocketAddr::new(address, 0)),
            ) as Addrs)
        })
    }
}

fn causes<'a>(
    error: &'a (dyn std::error::Error + 'static),
) -> impl Iterator<Item = &'a (dyn std::error::Error + 'static)> {
    std::iter::successors(Some(error), |error| error.source())
}
