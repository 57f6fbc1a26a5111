//! HTTP clients of plugins, built on the guarded client. Each plugin has its own connection pools,
//! so connections are never shared between credentials.

use crate::address_policy::AddressPolicy;
use crate::exchange::{ExchangeError, OutboundRequest, UpstreamResponse};
use crate::guarded_client::{self, DnsLookup, root_cause};
use crate::limits::PluginLimits;
use http::header;
use reqwest::{Client, Response};
use std::sync::OnceLock;
use std::time::Duration;
use tokio::time::Instant;

/// Maximum time to connect; a host that takes longer counts as unreachable. It is shorter than a
/// call, so that a failed connection is known as unsent.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(4);
/// Idle time of a connection. It is shorter than the time for which servers commonly keep idle
/// connections.
const IDLE_TIME_MAX: Duration = Duration::from_secs(20);
const IDLE_CONNECTIONS_A_HOST: usize = 64;

/// The HTTP clients of one plugin: one for public hosts and one for granted private hosts. They are
/// created on first use, because most of a client's cost is loading the system's certificates.
pub(super) struct Clients {
    public: OnceLock<Client>,
    private: OnceLock<Client>,
    lookup: DnsLookup,
    headers_max: usize,
    header_bytes_max: usize,
}

impl Clients {
    pub(super) fn new(limits: &PluginLimits, lookup: DnsLookup) -> Self {
        Self {
            public: OnceLock::new(),
            private: OnceLock::new(),
            lookup,
            headers_max: limits.response_headers_max,
            header_bytes_max: limits.response_header_bytes_max,
        }
    }

    /// Sends an allowed request and reads the complete response.
    pub(super) async fn exchange(
        &self,
        private: bool,
        outgoing: OutboundRequest,
        deadline: Instant,
        limits: &PluginLimits,
    ) -> Result<UpstreamResponse, ExchangeError> {
        let client = self.client(private)?;
        let mut request = reqwest::Request::new(outgoing.method, outgoing.url);
        *request.headers_mut() = outgoing.headers;
        if !outgoing.body.is_empty() {
            *request.body_mut() = Some(outgoing.body.into());
        }
        let exchange = async {
            let response = client.execute(request).await;
            read(response.map_err(|error| failure(&error))?, limits).await
        };
        let in_time = tokio::time::timeout_at(deadline, exchange).await;
        in_time.unwrap_or_else(|_| {
            Err(ExchangeError::TimedOut(
                "no complete response before the deadline".to_owned(),
            ))
        })
    }

    fn client(&self, private: bool) -> Result<&Client, ExchangeError> {
        let (cell, reach) = if private {
            (&self.private, AddressPolicy::AllowPrivate)
        } else {
            (&self.public, AddressPolicy::PublicOnly)
        };
        if let Some(client) = cell.get() {
            return Ok(client);
        }
        let built = guarded_client::client_builder(self.lookup.clone(), reach)
            .gzip(true)
            .connect_timeout(CONNECT_TIME_MAX)
            .pool_idle_timeout(IDLE_TIME_MAX)
            .pool_max_idle_per_host(IDLE_CONNECTIONS_A_HOST)
            .http1_max_headers(self.headers_max.saturating_mul(2))
            .http2_max_header_list_size(u32::try_from(self.header_bytes_max).unwrap_or(u32::MAX))
            .build()
            .map_err(|error| {
                ExchangeError::NotSent(format!("no HTTP client: {}", root_cause(&error)))
            })?;
        Ok(cell.get_or_init(|| built))
    }
}

async fn read(
    mut response: Response,
    limits: &PluginLimits,
) -> Result<UpstreamResponse, ExchangeError> {
    let status = response.status().as_u16();
    let mut headers = std::mem::take(response.headers_mut());
    let header_bytes: usize = headers
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len())
        .sum();
    if headers.len() > limits.response_headers_max
        || header_bytes > limits.response_header_bytes_max
    {
        return Err(ExchangeError::TooLarge {
            bytes_max: limits.response_header_bytes_max,
            setting: "limits.response_header_bytes_max, or limits.response_headers_max headers",
        });
    }
    let bytes_max = limits.response_bytes_max;
    let too_large = ExchangeError::TooLarge {
        bytes_max,
        setting: "limits.response_bytes_max",
    };
    let announced = response
        .content_length()
        .and_then(|length| usize::try_from(length).ok())
        .unwrap_or(0);
    if announced > bytes_max {
        return Err(too_large);
    }
    // The announced length can be reserved safely, because memory that was never written to is not
    // used yet.
    let mut body = Vec::with_capacity(announced);
    while let Some(chunk) = response.chunk().await.map_err(|error| failure(&error))? {
        if body.len() + chunk.len() > bytes_max {
            return Err(too_large);
        }
        body.extend_from_slice(&chunk);
    }
    for name in [
        header::CONNECTION,
        header::TRANSFER_ENCODING,
        header::UPGRADE,
        header::TRAILER,
    ] {
        headers.remove(name);
    }
    Ok(UpstreamResponse {
        status,
        headers,
        body,
    })
}

fn failure(error: &reqwest::Error) -> ExchangeError {
    if let Some(reason) = guarded_client::blocked_address_reason(error) {
        return ExchangeError::Denied(reason.to_owned());
    }
    let text = root_cause(error);
    if error.is_builder() || error.is_connect() {
        return ExchangeError::NotSent(text);
    }
    if error.is_timeout() {
        ExchangeError::TimedOut(text)
    } else {
        ExchangeError::ConnectionLost(text)
    }
}

#[cfg(test)]
mod tests;
