//! The outermost middleware: request id, authentication, rate limit, and the form of the response.
//! Handlers do not deal with these.

use crate::accept;
use crate::capture::{Capture, is_recorded};
use crate::error_code::ErrorCode;
use crate::health;
use crate::ongoing_call::OngoingCall;
use crate::problem::{ApiError, ChangeOperation, Violation, ViolationLocation, take_error};
use crate::rate_limit::{RateLimitKey, RateLimitStatus, RateLimiter};
use crate::state::ApiState;
use axum::extract::{ConnectInfo, MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures::FutureExt;
use host_application::api_key::{ApiKeyAuthenticator, ApiKeyError};
use host_application::context::{AnonymousContext, ApiKeyScope, RequestContext};
use host_application::deadline::{Deadline, Stopwatch};
use host_application::id_generator;
use host_domain::owner::Owner;
use http::{Extensions, HeaderMap, HeaderName, HeaderValue};
use std::net::{IpAddr, SocketAddr};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const API_KEY: HeaderName = HeaderName::from_static("x-api-key");
const USER_ID: HeaderName = HeaderName::from_static("x-user-id");
const ORGANIZATION_ID: HeaderName = HeaderName::from_static("x-organization-id");

/// Time after its deadline in which a handler may still respond before the middleware does.
const HANDLER_GRACE_PERIOD: Duration = Duration::from_secs(5);

/// Reason why a request is not authenticated. Only operations that require a key return it.
#[derive(Clone)]
struct AuthenticationFailure(ApiError);

/// Who sends a request.
struct Identity {
    /// Context of a valid key, even if another header is refused: the call belongs to the organization
    /// of the key.
    context: Option<RequestContext>,
    /// Reason why the request may do nothing.
    refusal: Option<ApiError>,
}

impl Identity {
    const fn accepted(context: RequestContext) -> Self {
        Self {
            context: Some(context),
            refusal: None,
        }
    }

    fn unknown(error: impl Into<ApiError>) -> Self {
        Self {
            context: None,
            refusal: Some(error.into()),
        }
    }

    /// Makes the identity known to the handlers of a request, which get the context of an accepted one
    /// only.
    fn insert_into(&self, extensions: &mut Extensions) {
        match (&self.refusal, &self.context) {
            (Some(error), _) => drop(extensions.insert(AuthenticationFailure(error.clone()))),
            (None, Some(context)) => drop(extensions.insert(context.clone())),
            (None, None) => {}
        }
    }
}

/// The operation of a request, once it has begun and if it changes something. The handler does not
/// return it, because it may not end in time.
#[derive(Clone, Default)]
struct BegunOperation(Arc<OnceLock<ChangeOperation>>);

impl BegunOperation {
    /// Returns the error of a handler that did not end in time. Nobody knows what a change has sent
    /// or stored by then.
    fn timeout_error(&self) -> ApiError {
        let code = match self.0.get() {
            Some(_) => ErrorCode::ResultUnknown,
            None => ErrorCode::SupplierTimeout,
        };
        ApiError::from(code).with_cause(HandlerTimedOut)
    }

    /// Adds the next step to an error that says that the outcome is unknown.
    fn with_next_step(&self, error: ApiError) -> ApiError {
        match self.0.get() {
            Some(operation) => error.with_next_step(*operation),
            None => error,
        }
    }
}

/// Handles every request as the outermost middleware.
pub(crate) async fn request_middleware(
    State(state): State<ApiState>,
    mut request: Request,
    next: Next,
) -> Response {
    let stopwatch = Stopwatch::start();
    let request_id: Arc<str> = request_id(request.headers()).into();
    let deadline = Deadline::from_now(state.request_timeout);
    let api_keys = &state.application.api_keys;
    let address = client_address(&request);
    let identity = authenticate(api_keys, request.headers(), &request_id, deadline, address);
    let identity = identity.await;
    let key = rate_limit_key(&identity, address);
    let verdict = state.rate_limiter.check(&key);
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().cloned();
    request.extensions_mut().insert(AnonymousContext {
        request_id: Arc::clone(&request_id),
        deadline,
    });
    let change = BegunOperation::default();
    let extensions = request.extensions_mut();
    extensions.insert(change.clone());
    identity.insert_into(extensions);
    // Health probes are exempt from the rate limit: they carry no key, and behind a proxy they
    // share their address with all other clients.
    let path = route.as_ref().map(MatchedPath::as_str);
    let recorder = &state.application.recorder;
    let capture = is_recorded(recorder, path).then(|| Capture::begin(&mut request));
    let call = OngoingCall {
        state: &state,
        stopwatch,
        request_id: &request_id,
        method: &method,
        route: path,
        context: identity.context.as_ref(),
        capture,
        has_response: false,
    };
    let is_probe = path.is_some_and(|path| health::PROBE_PATHS.contains(&path));
    let mut response = match verdict.retry_after_s.filter(|_| !is_probe) {
        Some(seconds) => ApiError::from(ErrorCode::RateLimited)
            .with_retry_after(seconds)
            .into_response(),
        None => run_handler(request, next, deadline, &change).await,
    };
    let error = take_error(&mut response).map(|error| change.with_next_step(error));
    if let Some(error) = &error {
        error.write_response(&mut response, &state.error_docs_url(), &request_id);
    }
    insert_standard_headers(&state.rate_limiter, &mut response, &request_id, verdict);
    call.finish(&mut response, error.as_ref()).await;
    response
}

/// Runs the handler. Converts a panic or a missed deadline to an error response.
async fn run_handler(
    request: Request,
    next: Next,
    deadline: Deadline,
    change: &BegunOperation,
) -> Response {
    let work = AssertUnwindSafe(next.run(request)).catch_unwind();
    match tokio::time::timeout_at(deadline.instant() + HANDLER_GRACE_PERIOD, work).await {
        Ok(Ok(response)) => response,
        Ok(Err(_)) => ApiError::internal(HandlerPanicked).into_response(),
        Err(_) => change.timeout_error().into_response(),
    }
}

#[derive(Debug, thiserror::Error)]
#[error("a handler panicked")]
struct HandlerPanicked;

#[derive(Debug, thiserror::Error)]
#[error("a handler did not end in time")]
struct HandlerTimedOut;

fn insert_standard_headers(
    rate_limiter: &RateLimiter,
    response: &mut Response,
    request_id: &str,
    verdict: RateLimitStatus,
) {
    let headers = response.headers_mut();
    if let Ok(value) = HeaderValue::from_str(request_id) {
        headers.insert(REQUEST_ID, value);
    }
    rate_limiter.insert_headers(verdict, headers);
}

/// Returns the client's request id if its form is valid; otherwise generates one.
fn request_id(headers: &HeaderMap) -> String {
    let given = headers
        .get(REQUEST_ID)
        .and_then(|value| value.to_str().ok());
    let valid = given.filter(|id| is_valid_token(id, b"._-"));
    valid.map_or_else(id_generator::new_request_id, str::to_owned)
}

/// Returns whether a text has 1 to 128 ASCII letters, digits or characters of `others`.
fn is_valid_token(text: &str, others: &[u8]) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || others.contains(&byte);
    (1..=128).contains(&text.len()) && text.bytes().all(is_allowed)
}

/// Returns the rate limit key of a request. Requests without a valid API key share the bucket of
/// their address, which slows down guessing.
fn rate_limit_key(identity: &Identity, address: Option<IpAddr>) -> RateLimitKey {
    let context = identity.context.as_ref();
    match context.and_then(|context| context.key_id.clone()) {
        Some(key) => RateLimitKey::ApiKey(key),
        None => RateLimitKey::ClientAddress(address),
    }
}

fn client_address(request: &Request) -> Option<IpAddr> {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
    peer.map(|peer| peer.0.ip())
}

async fn authenticate(
    api_keys: &ApiKeyAuthenticator,
    headers: &HeaderMap,
    request_id: &Arc<str>,
    deadline: Deadline,
    address: Option<IpAddr>,
) -> Identity {
    let key = match api_key(headers) {
        Ok(key) => key,
        Err(error) => return Identity::unknown(error),
    };
    let context = api_keys.authenticate(key, Arc::clone(request_id), deadline, address);
    let mut context = match context.await {
        Ok(context) => context,
        Err(ApiKeyError::Invalid) => return Identity::unknown(ErrorCode::InvalidApiKey),
        Err(ApiKeyError::Database(error)) => {
            return Identity::unknown(ApiError::from_storage(error));
        }
    };
    match user_in_organization(headers, &context.owner.tenant.organization) {
        Ok(user) => {
            context.owner.user = user;
            Identity::accepted(context)
        }
        Err(error) => {
            // The request names no user, or one who cannot be told.
            context.owner.user = String::new();
            Identity {
                context: Some(context),
                refusal: Some(error),
            }
        }
    }
}

fn api_key(headers: &HeaderMap) -> Result<&str, ErrorCode> {
    let mut keys = headers.get_all(API_KEY).iter();
    let key = keys.next().ok_or(ErrorCode::MissingApiKey)?;
    let key = key.to_str().ok().filter(|_| keys.next().is_none());
    key.ok_or(ErrorCode::InvalidApiKey)
}

/// Returns the user of a request with a key of this organization.
fn user_in_organization(headers: &HeaderMap, organization: &str) -> Result<String, ApiError> {
    let mut named = headers.get_all(ORGANIZATION_ID).iter();
    if named.any(|header| header.as_bytes() != organization.as_bytes()) {
        return Err(ErrorCode::OrganizationMismatch.into());
    }
    user_id(headers)
}

fn user_id(headers: &HeaderMap) -> Result<String, ApiError> {
    let mut users = headers.get_all(USER_ID).iter();
    let Some(user) = users.next() else {
        return Ok(Owner::ORGANIZATION_USER.to_owned());
    };
    let user = user.to_str().ok().filter(|_| users.next().is_none());
    let user = user.filter(|user| is_valid_token(user, b"._:@-"));
    user.map(str::to_owned).ok_or_else(|| {
        let detail = "must be sent once and have 1 to 128 of [A-Za-z0-9._:@-]";
        let violation = Violation::at(ViolationLocation::Header, "/x-user-id", "pattern", detail);
        ApiError::violations(vec![violation])
    })
}

/// Middleware of every operation that requires an API key with a scope.
pub(crate) async fn require_scope(
    State(scope): State<ApiKeyScope>,
    request: Request,
    next: Next,
) -> Response {
    if let Some(AuthenticationFailure(error)) = request.extensions().get() {
        return error.clone().into_response();
    }
    let context = request.extensions().get::<RequestContext>();
    if !context.is_some_and(|context| context.scopes.contains(&scope)) {
        let detail = format!("the key lacks the scope `{}`", scope.as_str());
        let error = ApiError::from(ErrorCode::InsufficientScope);
        return error.with_detail(detail).into_response();
    }
    if accept::quality(request.headers(), "application/json") <= 0.0 {
        return ApiError::from(ErrorCode::NotAcceptable).into_response();
    }
    next.run(request).await
}

/// Middleware of every operation that changes something.
pub(crate) async fn begin_change(
    State(operation): State<ChangeOperation>,
    request: Request,
    next: Next,
) -> Response {
    if let Some(BegunOperation(begun)) = request.extensions().get() {
        begun.get_or_init(|| operation);
    }
    next.run(request).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_request_ids_are_replaced() {
        let returned = |given: &str| {
            let given = HeaderValue::from_str(given).unwrap();
            request_id(&HeaderMap::from_iter([(REQUEST_ID, given)]))
        };
        assert_eq!(returned("abc-1.2_3"), "abc-1.2_3");
        for invalid in ["", "a b", "ä", &"a".repeat(129)] {
            assert!(returned(invalid).starts_with("req_"), "{invalid}");
        }
    }
}
