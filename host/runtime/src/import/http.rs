//! Host imports `http` and `reads`, the guest's only ways to send requests. This module only converts
//! types; the egress makes all decisions.

use crate::bindings::stopover::host::http;
use crate::bindings::v1_1::stopover::host::reads;
use crate::call_scope::{CallScope, RequestEffect};
use crate::call_state::GuestState;
use crate::egress::UncheckedRequest;
use crate::exchange::{ExchangeError, UpstreamResponse};
use crate::plugin_env::PluginEnv;
use futures::StreamExt;
use std::time::Duration;

/// Maximum number of requests in one list. The limit of the call applies in addition.
const REQUESTS_A_LIST: usize = 64;

impl http::Host for GuestState {
    async fn send(
        &mut self,
        request: http::Request,
    ) -> wasmtime::Result<Result<http::Response, http::Error>> {
        Ok(send(&self.provision, &self.scope, request, None).await)
    }

    async fn send_many(
        &mut self,
        requests: Vec<http::Request>,
    ) -> wasmtime::Result<Vec<Result<http::Response, http::Error>>> {
        if requests.len() > REQUESTS_A_LIST {
            let refusal = || {
                Err(http::Error::Denied(format!(
                    "more than {REQUESTS_A_LIST} requests at once"
                )))
            };
            return Ok(requests.iter().map(|_| refusal()).collect());
        }
        let at_once = self.provision.limits.concurrent_requests_max.max(1);
        let (provision, scope) = (&*self.provision, &*self.scope);
        let responses = futures::stream::iter(requests)
            .map(|request| send(provision, scope, request, None))
            .buffered(at_once);
        Ok(responses.collect().await)
    }
}

impl reads::Host for GuestState {
    async fn send_read(
        &mut self,
        request: http::Request,
    ) -> wasmtime::Result<Result<http::Response, http::Error>> {
        let stated = Some(RequestEffect::StatedRead);
        Ok(send(&self.provision, &self.scope, request, stated).await)
    }
}

/// Sends a request. Its effect follows from its method, unless the guest states it.
async fn send(
    provision: &PluginEnv,
    scope: &CallScope,
    request: http::Request,
    stated_effect: Option<RequestEffect>,
) -> Result<http::Response, http::Error> {
    let method = method(request.method);
    let draft = UncheckedRequest {
        effect: stated_effect.unwrap_or_else(|| RequestEffect::of_method(&method)),
        method,
        url: request.url,
        headers: request
            .headers
            .into_iter()
            .map(|header| (header.name, header.value))
            .collect(),
        body: request.body,
        timeout: request
            .timeout_ms
            .map(|ms| Duration::from_millis(u64::from(ms))),
    };
    match provision
        .egress
        .send(&provision.exchange_context(), scope, draft)
        .await
    {
        Ok(incoming) => Ok(response(incoming)),
        Err(error) => Err(match error {
            ExchangeError::Denied(reason) => http::Error::Denied(reason),
            ExchangeError::NotSent(reason) => http::Error::NotSent(reason),
            ExchangeError::TimedOut(reason) => http::Error::TimedOut(reason),
            ExchangeError::ConnectionLost(reason) => http::Error::ConnectionLost(reason),
            ExchangeError::TooLarge { bytes_max, .. } => {
                http::Error::TooLarge(u64::try_from(bytes_max).unwrap_or(u64::MAX))
            }
        }),
    }
}

const fn method(method: http::Method) -> ::http::Method {
    match method {
        http::Method::Get => ::http::Method::GET,
        http::Method::Head => ::http::Method::HEAD,
        http::Method::Post => ::http::Method::POST,
        http::Method::Put => ::http::Method::PUT,
        http::Method::Patch => ::http::Method::PATCH,
        http::Method::Delete => ::http::Method::DELETE,
    }
}

fn response(incoming: UpstreamResponse) -> http::Response {
    let headers = incoming.headers.iter().map(|(name, value)| http::Header {
        name: name.as_str().to_owned(),
        value: String::from_utf8_lossy(value.as_bytes()).into_owned(),
    });
    http::Response {
        status: incoming.status,
        headers: headers.collect(),
        body: incoming.body,
    }
}
