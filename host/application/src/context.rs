//! The context of a request: its id, its deadline, and the owner if it is authenticated.

use crate::deadline::Deadline;
use crate::id_generator::new_request_id;
use host_domain::audit::Actor;
use host_domain::id::KeyId;
use host_domain::owner::{Owner, Tenant};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

/// Time for a change that a person or an operator makes. It is shorter than the time after which the
/// dashboard gives up a request.
const CHANGE_TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ApiKeyScope {
    /// All GET requests, searches, offers and places.
    Read,
    /// Prebook, book and cancel; payment instruments, mandates and watches.
    Book,
    /// Webhook subscriptions and the endpoint of watches.
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
    /// The person or program that the audit log names.
    pub actor: Arc<Actor>,
    /// The API key of the request. `None` if a person or a background task acts.
    pub key_id: Option<KeyId>,
    pub scopes: Arc<[ApiKeyScope]>,
    pub deadline: Deadline,
}

impl RequestContext {
    /// Builds the context of an actor without an API key, e.g. of a person.
    pub fn for_actor(
        actor: Arc<Actor>,
        owner: Owner,
        request_id: Arc<str>,
        deadline: Deadline,
    ) -> Self {
        Self {
            request_id,
            owner,
            actor,
            key_id: None,
            scopes: Arc::default(),
            deadline,
        }
    }

    /// Builds the context of a change that an actor without an API key makes for a tenant.
    pub fn for_change(actor: Actor, tenant: Tenant) -> Self {
        let owner = Owner {
            tenant,
            user: Owner::ORGANIZATION_USER.to_owned(),
        };
        let deadline = Deadline::from_now(CHANGE_TIMEOUT);
        Self::for_actor(Arc::new(actor), owner, new_request_id().into(), deadline)
    }

    /// Builds the context of background work for an organization.
    pub fn for_background(tenant: &Tenant, request_id: &str, deadline: Deadline) -> Self {
        let owner = Owner {
            tenant: tenant.clone(),
            user: Owner::ORGANIZATION_USER.to_owned(),
        };
        let actor = Arc::new(Actor::system());
        Self::for_actor(actor, owner, Arc::from(request_id), deadline)
    }

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
