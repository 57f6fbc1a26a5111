//! The way to addresses that somebody else chose: suppliers' and subscribers'.
//! Names are resolved once, by a resolver that judges every address, and the
//! connection goes to exactly those; no redirects, no proxies, no cookies, no
//! repeats. A URL that holds an address is not resolved: judge that one with
//! [`crate::address::refusal`] before.

use crate::address::{self, AddressPolicy};
use futures::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, ClientBuilder};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// Names to addresses. Cheap to clone.
#[derive(Clone)]
pub struct DnsLookup(Arc<dyn Fn(String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> + Send + Sync>);

impl DnsLookup {
    /// As the machine resolves names.
    #[must_use]
    pub fn system() -> Self {
        Self::new(|name| async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }

    /// As a function says.
    pub fn new<F, A>(lookup: F) -> Self
    where
        F: Fn(String) -> A + Send + Sync + 'static,
        A: Future<Output = io::Result<Vec<IpAddr>>> + Send + 'static,
    {
        Self(Arc::new(move |name| Box::pin(lookup(name))))
    }

    /// Every address of a name.
    ///
    /// # Errors
    /// When it cannot be resolved.
    pub async fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        (self.0)(name.to_owned()).await
    }
}

impl std::fmt::Debug for DnsLookup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lookup").finish_non_exhaustive()
    }
}

/// A client that connects to nothing but what may be reached; its limits are the
/// caller's to add.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the guarded client that others are told to take"
)]
pub fn client_builder(lookup: DnsLookup, reach: AddressPolicy) -> ClientBuilder {
    Client::builder()
        .user_agent(concat!("stopover/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .no_proxy()
        .referer(false)
        .tcp_nodelay(true)
        .dns_resolver(GuardedResolver { lookup, reach })
}

/// Why the guard refused a request of such a client; none: it failed otherwise.
#[must_use]
pub fn blocked_address_reason(error: &reqwest::Error) -> Option<&'static str> {
    let refused = causes(error).find_map(|cause| cause.downcast_ref::<AddressBlocked>());
    refused.map(|AddressBlocked(reason)| *reason)
}

/// The innermost cause of a failure, which holds no URL and so nothing of its query.
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
                if let Some(reason) = address::denial_reason(*address, reach) {
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
