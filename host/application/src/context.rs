//! The context of a request: its id, its deadline, and the owner if it is authenticated.

use crate::deadline::Deadline;
use host_domain::id::KeyId;
use host_domain::owner::Owner;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ApiKeyScope {
    /// All GET requests, searches, offers and places.
    Read,
    /// Prebook, book and cancel; payment instruments, mandates and watches.
    Book,
    /// Webhook subscriptions and the watcher webhook.
    Webhooks,
    /// Reserved.
    Admin,
}

impl ApiKeyScope {
    pub const ALL: [Self; 4] = [Self::Read, Self::Book, Self::Webhooks, Self::Admin];
    /// Scopes of a new key unless others are given.
    pub const DEFAULT: [Self; 3] = [Self::Read, Self::Book, Self::Webhooks];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Book => "book",
            Self::Webhooks => "webhooks",
            Self::Admin => "admin",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == name)
    }
}

/// Context of an authenticated request, extracted on routes with a scope.
#[derive(Debug, Clone)]
pub struct RequestContext {
    pub request_id: Arc<str>,
    pub owner: Owner,
    pub key_id: KeyId,
    pub scopes: Arc<[ApiKeyScope]>,
    pub deadline: Deadline,
}

impl RequestContext {
    /// Returns a hash of the request id, so that a repeated request is routed the same way.
    pub fn routing_hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.request_id.hash(&mut hasher);
        hasher.finish()
    }
}

/// Context of any request, authenticated or not. It is an extractor.
#[derive(Debug, Clone)]
pub struct AnonymousContext {
    pub request_id: Arc<str>,
    pub deadline: Deadline,
}
