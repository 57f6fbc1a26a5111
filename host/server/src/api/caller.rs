//! Who is calling, and what every call carries.

use crate::api::code::Code;
use crate::api::problem::ApiError;
use crate::time::Deadline;
use axum::extract::FromRequestParts;
use host_domain::id::KeyId;
use host_domain::owner::Owner;
use http::request::Parts;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// What a key may be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ApiKeyScope {
    /// Every GET, searches, offers, places.
    Read,
    /// Prebook, book, cancel, instruments, mandates, watches.
    Book,
    /// Webhook subscriptions and the watcher's webhook.
    Webhooks,
    /// Reserved.
    Admin,
}

impl ApiKeyScope {
    /// Every scope.
    pub const ALL: [Self; 4] = [Self::Read, Self::Book, Self::Webhooks, Self::Admin];
    /// What a key may do unless it says otherwise.
    pub const DEFAULT: [Self; 3] = [Self::Read, Self::Book, Self::Webhooks];

    /// Its name, e.g. `read`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Book => "book",
            Self::Webhooks => "webhooks",
            Self::Admin => "admin",
        }
    }

    /// The scope of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == name)
    }
}

/// An authenticated call: its request id, whose it is, and until when it must be
/// answered. Arrives as an extractor; routes outside a scope have none.
#[derive(Debug, Clone)]
pub struct RequestContext {
    /// `x-request-id`, the caller's or ours.
    pub request_id: Arc<str>,
    /// Organization, mode and user.
    pub owner: Owner,
    /// The key that was used.
    pub key_id: KeyId,
    /// What that key may do.
    pub scopes: Arc<[ApiKeyScope]>,
    /// When the answer must be there.
    pub deadline: Deadline,
}

impl RequestContext {
    /// A hash of the request id: a replayed request is routed the same way.
    #[must_use]
    pub fn routing_hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.request_id.hash(&mut hasher);
        hasher.finish()
    }
}

/// Any call, also of somebody without a key. Arrives as an extractor.
#[derive(Debug, Clone)]
pub struct AnonymousContext {
    /// `x-request-id`, the caller's or ours.
    pub request_id: Arc<str>,
    /// When the answer must be there.
    pub deadline: Deadline,
}

impl<S: Sync> FromRequestParts<S> for AnonymousContext {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let visit = parts.extensions.get::<Self>().cloned();
        visit.ok_or_else(|| ApiError::from(Code::InternalError))
    }
}

impl<S: Sync> FromRequestParts<S> for RequestContext {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let caller = parts.extensions.get::<Self>().cloned();
        caller.ok_or_else(|| ApiError::from(Code::MissingApiKey))
    }
}
