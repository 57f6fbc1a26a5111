//! Egress of all plugin requests. The steps are: parse the URL once, check the allow list, check
//! the address, add credentials, connect, enforce size limits, record. The module is independent of
//! guests. A request that is not certainly unsent counts as sent.

mod client;
mod request;

pub(crate) use request::UncheckedRequest;

use crate::address_policy::{self, AddressPolicy};
use crate::allow_list::{AllowList, DeniedTarget};
use crate::call_log::{CallSink, ExchangeOutcome, ExchangeRecord, redact_path, trace_exchange};
use crate::call_scope::{CallScope, TimeLimit};
use crate::cassette::{Recorder, Replayer};
use crate::exchange::{ExchangeError, OutboundRequest, UpstreamResponse};
use crate::guarded_client::DnsLookup;
use crate::limits::PluginLimits;
use client::Clients;
use host_domain::supplier::SupplierId;
use host_domain::time::Clock;
use http::{HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use std::time::Duration;
use tokio::time::Instant;
use url::Url;

/// A header that the host adds to requests to one host. Guests never see it.
#[derive(Debug, Clone)]
pub struct Credential {
    /// Exact host as `name` or `name:port`.
    pub host: String,
    /// Name of the header, e.g. `authorization`.
    pub header: String,
    /// Value of the header.
    pub value: SecretString,
}

/// A credential that is not a valid header.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the credential for {host} is not a valid header: invalid {part}")]
pub struct InvalidCredential {
    /// Host of the credential.
    pub host: String,
    /// Invalid part, e.g. `name` or `value`.
    pub part: &'static str,
}

pub(crate) enum EgressTarget {
    /// Requests go to the supplier.
    Live,
    /// Requests go to the supplier, and every exchange is recorded.
    Record(Recorder),
    /// Requests are answered from recorded exchanges, without any network.
    Replay(Replayer),
}

struct PreparedCredential {
    host: String,
    port: Option<u16>,
    header: HeaderName,
    value: HeaderValue,
}

impl PreparedCredential {
    fn new(credential: &Credential) -> Result<Self, InvalidCredential> {
        let invalid = |part| InvalidCredential {
            host: credential.host.clone(),
            part,
        };
        let header =
            HeaderName::from_bytes(credential.header.as_bytes()).map_err(|_| invalid("name"))?;
        let mut value = HeaderValue::from_str(credential.value.expose_secret())
            .map_err(|_| invalid("value"))?;
        value.set_sensitive(true);
        let (host, port) = match credential.host.rsplit_once(':') {
            Some((host, port)) if !host.ends_with(':') && !port.ends_with(']') => {
                (host, Some(port.parse().map_err(|_| invalid("host"))?))
            }
            _ => (credential.host.as_str(), None),
        };
        Ok(Self {
            host: host.to_ascii_lowercase(),
            port,
            header,
            value,
        })
    }

    fn is_for(&self, url: &Url) -> bool {
        url.host_str() == Some(self.host.as_str())
            && (self.port.is_none() || self.port == url.port_or_known_default())
    }
}

/// The plugin that sends a request: its identity, its limits, and the clock and sink of its records.
pub(crate) struct ExchangeContext<'a> {
    pub(crate) supplier: &'a SupplierId,
    pub(crate) digest: &'a str,
    pub(crate) limits: &'a PluginLimits,
    pub(crate) clock: &'a dyn Clock,
    pub(crate) sink: &'a dyn CallSink,
}

pub(crate) struct Egress {
    allowed: AllowList,
    credentials: Vec<PreparedCredential>,
    clients: Clients,
    route: EgressTarget,
}

impl Egress {
    pub(crate) fn new(
        allowed: AllowList,
        credentials: &[Credential],
        limits: &PluginLimits,
        route: EgressTarget,
    ) -> Result<Self, InvalidCredential> {
        let credentials = credentials
            .iter()
            .map(PreparedCredential::new)
            .collect::<Result<_, _>>()?;
        Ok(Self {
            allowed,
            credentials,
            clients: Clients::new(limits, DnsLookup::system()),
            route,
        })
    }

    /// Performs one exchange with all checks and records it.
    pub(crate) async fn send(
        &self,
        context: &ExchangeContext<'_>,
        scope: &CallScope,
        draft: UncheckedRequest,
    ) -> Result<UpstreamResponse, ExchangeError> {
        let began = Instant::now();
        let started_at = context.clock.now();
        let effect = draft.effect;
        let (method, request_bytes) = (
            draft.method.clone(),
            draft.body.as_ref().map_or(0, Vec::len),
        );
        let url = request::parse_url(&draft.url);
        let result = match &url {
            Ok(url) => self.execute(context.limits, scope, url, draft).await,
            Err(refusal) => Err(ExchangeError::NotSent((*refusal).to_owned())),
        };
        scope.sent.record_result(effect, &result);
        let Some(capability) = scope.capability else {
            return result;
        };
        let (origin, path) = match &url {
            Ok(url) => {
                let path = redact_path(url.path(), &scope.origin.personal);
                (url.origin().ascii_serialization(), path)
            }
            Err(_) => (String::new(), String::new()),
        };
        let detail = result.as_ref().err().map(ToString::to_string);
        let detail = detail.as_deref();
        let detail = detail.map(|detail| scope.origin.personal.mask(detail));
        let record = ExchangeRecord {
            supplier: context.supplier,
            digest: context.digest,
            capability,
            request_id: &scope.origin.request_id,
            organization: &scope.origin.organization,
            mode: scope.origin.mode,
            booking: scope.origin.booking.as_deref(),
            method: method.as_str(),
            origin: &origin,
            path: &path,
            status: result.as_ref().ok().map(|incoming| incoming.status),
            request_bytes,
            response_bytes: result.as_ref().map_or(0, |incoming| incoming.body.len()),
            started_at,
            duration: began.elapsed(),
            outcome: result
                .as_ref()
                .map_or_else(ExchangeError::outcome, |_| ExchangeOutcome::Completed),
            detail: detail.as_deref(),
        };
        trace_exchange(&record);
        context.sink.record_exchange(&record);
        result
    }

    async fn execute(
        &self,
        limits: &PluginLimits,
        scope: &CallScope,
        url: &Url,
        draft: UncheckedRequest,
    ) -> Result<UpstreamResponse, ExchangeError> {
        if !scope.sent.try_reserve(limits.requests_max) {
            return Err(ExchangeError::Denied(format!(
                "more than {} requests in one call (limits.requests_max)",
                limits.requests_max
            )));
        }
        let timeout = draft.timeout.unwrap_or(Duration::MAX);
        let private = self.check_target(url)?;
        let effect = draft.effect;
        let mut outgoing = draft.into_outbound(url.clone())?;
        let limit = Instant::now().checked_add(timeout);
        let deadline = limit.map_or(scope.deadline, |limit| limit.min(scope.deadline));

        if !scope.sent.try_begin(effect) {
            return Err(ExchangeError::NotSent("the call is over".to_owned()));
        }
        let result = match &self.route {
            EgressTarget::Replay(replayer) => replayer.replay(&outgoing),
            EgressTarget::Live => {
                self.add_credentials(&mut outgoing);
                self.clients
                    .exchange(private, outgoing, deadline, limits)
                    .await
            }
            EgressTarget::Record(recorder) => {
                let mut authorized = outgoing.clone();
                self.add_credentials(&mut authorized);
                let result = self
                    .clients
                    .exchange(private, authorized, deadline, limits)
                    .await;
                if let Ok(incoming) = &result {
                    recorder.record(&outgoing, incoming);
                }
                result
            }
        };
        match result {
            Err(error) => {
                if error.is_unsent() {
                    scope.sent.mark_unsent(effect);
                }
                let error = match error {
                    ExchangeError::TimedOut(reason) if Instant::now() >= deadline => {
                        let is_adapters = deadline < scope.deadline;
                        timed_out(&reason, is_adapters.then_some(timeout), scope.time_limit)
                    }
                    error => error,
                };
                Err(self.with_grant_suggestion(url, error))
            }
            response => response,
        }
    }

    /// Checks scheme, host and port, and the address if the URL contains one. Returns whether
    /// private addresses are granted.
    fn check_target(&self, url: &Url) -> Result<bool, ExchangeError> {
        let private = self.allowed.check(url).map_err(|denied| match denied {
            DeniedTarget::Malformed(reason) => ExchangeError::NotSent(reason.to_owned()),
            DeniedTarget::NotGranted(reason) => ExchangeError::Denied(reason),
        })?;
        let literal = match url.host() {
            Some(url::Host::Ipv4(address)) => Some(address.into()),
            Some(url::Host::Ipv6(address)) => Some(address.into()),
            Some(url::Host::Domain(_)) | None => None,
        };
        let reach = if private {
            AddressPolicy::AllowPrivate
        } else {
            AddressPolicy::PublicOnly
        };
        match literal.and_then(|address| address_policy::denial_reason(address, reach)) {
            Some(reason) => Err(ExchangeError::Denied(
                self.allowed.private_address_message(url, reason),
            )),
            None => Ok(private),
        }
    }

    fn add_credentials(&self, outgoing: &mut OutboundRequest) {
        for credential in self
            .credentials
            .iter()
            .filter(|credential| credential.is_for(&outgoing.url))
        {
            outgoing
                .headers
                .insert(credential.header.clone(), credential.value.clone());
        }
    }

    fn with_grant_suggestion(&self, url: &Url, error: ExchangeError) -> ExchangeError {
        match error {
            ExchangeError::Denied(reason) => {
                ExchangeError::Denied(self.allowed.private_address_message(url, &reason))
            }
            error => error,
        }
    }
}

/// Names what ended the wait for a response: the time that the adapter waits, or the limit of the
/// call.
fn timed_out(reason: &str, adapters: Option<Duration>, of_call: TimeLimit) -> ExchangeError {
    ExchangeError::TimedOut(match adapters {
        Some(wait) => format!("{reason}: the adapter waits {} ms", wait.as_millis()),
        None => format!("{reason}: {of_call}"),
    })
}
