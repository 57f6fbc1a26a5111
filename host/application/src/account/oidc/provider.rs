//! The HTTP interface of an OpenID Connect provider: discovery, keys and the token endpoint.

use crate::config::oidc::{OidcConfig, is_protected};
use host_domain::time::Timestamp;
use host_runtime::address_policy::AddressPolicy;
use host_runtime::guarded_client::{DnsLookup, client_builder};
use jsonwebtoken::jwk::JwkSet;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{RequestBuilder, StatusCode};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use url::{Url, form_urlencoded};

const TIMEOUT: Duration = Duration::from_secs(10);
const RESPONSE_BYTES_MAX: usize = 256 * 1024;
/// Time for which metadata and keys are used.
const METADATA_TTL_MS: i64 = 10 * 60 * 1000;
/// Time after which they are read again because a key is unknown.
const METADATA_REREAD_MS: i64 = 10 * 1000;

#[derive(Debug, thiserror::Error)]
pub(super) enum ProviderError {
    #[error("the provider cannot be reached")]
    Http(#[from] reqwest::Error),
    #[error("the provider responded with status {0}")]
    Status(StatusCode),
    #[error("the response of the provider is longer than {RESPONSE_BYTES_MAX} bytes")]
    TooLong,
    #[error("the response of the provider cannot be read")]
    Unreadable(#[from] serde_json::Error),
    #[error("the discovery document is of another issuer")]
    OtherIssuer,
    #[error("the endpoint {0} is neither https nor on a loopback address")]
    Unprotected(String),
}

/// The members of a discovery document that the gateway uses.
#[derive(Debug, Deserialize)]
pub(super) struct Metadata {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    jwks_uri: String,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
}

/// Metadata with the keys that sign identity tokens.
#[derive(Debug)]
pub(super) struct Provider {
    pub(super) metadata: Metadata,
    pub(super) keys: JwkSet,
    read_at: Timestamp,
}

/// A client of the provider.
pub(super) struct ProviderClient {
    config: OidcConfig,
    http: reqwest::Client,
    provider: Mutex<Option<Arc<Provider>>>,
}

#[derive(Deserialize)]
struct TokenResponse {
    id_token: String,
}

impl ProviderClient {
    /// # Errors
    /// The HTTP client cannot be built.
    pub(super) fn new(config: OidcConfig) -> Result<Self, reqwest::Error> {
        // An operator has chosen the provider, which may be in a private network.
        let builder = client_builder(DnsLookup::system(), AddressPolicy::AllowPrivate);
        Ok(Self {
            config,
            http: builder.timeout(TIMEOUT).build()?,
            provider: Mutex::default(),
        })
    }

    /// Returns metadata and keys, which are read at most every ten minutes.
    pub(super) async fn provider(&self, now: Timestamp) -> Result<Arc<Provider>, ProviderError> {
        self.read_within(METADATA_TTL_MS, now).await
    }

    /// Returns metadata and keys for a token whose key is unknown.
    pub(super) async fn renewed_provider(
        &self,
        now: Timestamp,
    ) -> Result<Arc<Provider>, ProviderError> {
        self.read_within(METADATA_REREAD_MS, now).await
    }

    async fn read_within(
        &self,
        ttl_ms: i64,
        now: Timestamp,
    ) -> Result<Arc<Provider>, ProviderError> {
        // Requests at the same time wait for one read.
        let mut known = self.provider.lock().await;
        let fresh = known
            .as_ref()
            .filter(|known| now.since(known.read_at) < ttl_ms);
        if let Some(provider) = fresh {
            return Ok(Arc::clone(provider));
        }
        let provider = Arc::new(self.read_provider(now).await?);
        *known = Some(Arc::clone(&provider));
        Ok(provider)
    }

    async fn read_provider(&self, now: Timestamp) -> Result<Provider, ProviderError> {
        let issuer = &self.config.issuer;
        let base = issuer.trim_end_matches('/');
        let url = format!("{base}/.well-known/openid-configuration");
        let metadata: Metadata = read_json(self.http.get(url)).await?;
        if metadata.issuer != *issuer {
            return Err(ProviderError::OtherIssuer);
        }
        let endpoints = [
            &metadata.authorization_endpoint,
            &metadata.token_endpoint,
            &metadata.jwks_uri,
        ];
        if let Some(url) = endpoints.into_iter().find(|url| !is_protected(url)) {
            return Err(ProviderError::Unprotected(url.clone()));
        }
        let keys = read_json(self.http.get(&metadata.jwks_uri)).await?;
        Ok(Provider {
            metadata,
            keys,
            read_at: now,
        })
    }

    /// Exchanges an authorization code for an identity token.
    pub(super) async fn exchange(
        &self,
        provider: &Provider,
        code: &str,
        verifier: &str,
        redirect_uri: &str,
    ) -> Result<String, ProviderError> {
        let metadata = &provider.metadata;
        let (id, secret) = (&self.config.client_id, self.config.client_secret.expose());
        let mut fields = vec![
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", redirect_uri),
            ("code_verifier", verifier),
        ];
        let mut request = self.http.post(&metadata.token_endpoint);
        if secret.is_empty() {
            fields.push(("client_id", id));
        } else if metadata.takes_secret_in_body() {
            fields.extend([("client_id", id.as_str()), ("client_secret", secret)]);
        } else {
            request = request.basic_auth(url_encode(id), Some(url_encode(secret)));
        }
        let form = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(fields)
            .finish();
        let request = request
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(form);
        let response: TokenResponse = read_json(request).await?;
        Ok(response.id_token)
    }
}

impl Metadata {
    /// Returns the address to which browsers are sent.
    ///
    /// # Errors
    /// [`ProviderError::Unprotected`] if it is no URL.
    pub(super) fn authorization_url(&self) -> Result<Url, ProviderError> {
        let endpoint = &self.authorization_endpoint;
        Url::parse(endpoint).map_err(|_| ProviderError::Unprotected(endpoint.clone()))
    }

    /// Returns whether the provider accepts a secret only as a field of the form. Without a list of
    /// methods, the header `Authorization` is the default.
    fn takes_secret_in_body(&self) -> bool {
        let methods = self.token_endpoint_auth_methods_supported.as_deref();
        let has = |name: &str| methods.is_some_and(|known| known.iter().any(|one| one == name));
        has("client_secret_post") && !has("client_secret_basic")
    }
}

/// Encodes a part of the header `Authorization` as RFC 6749 requires.
fn url_encode(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

async fn read_json<T: DeserializeOwned>(request: RequestBuilder) -> Result<T, ProviderError> {
    let mut response = request.header(ACCEPT, "application/json").send().await?;
    if !response.status().is_success() {
        return Err(ProviderError::Status(response.status()));
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        body.extend_from_slice(&chunk);
        if body.len() > RESPONSE_BYTES_MAX {
            return Err(ProviderError::TooLong);
        }
    }
    Ok(serde_json::from_slice(&body)?)
}
