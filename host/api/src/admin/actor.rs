//! The caller of the admin listener as the audit log names it.

use axum::extract::{ConnectInfo, FromRequestParts};
use host_domain::audit::Actor;
use http::request::Parts;
use std::convert::Infallible;
use std::net::SocketAddr;

/// The caller. It is an extractor.
pub(super) struct AdminActor(pub(super) Actor);

impl<S: Send + Sync> FromRequestParts<S> for AdminActor {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
        let address = peer.map(|peer| peer.0.ip().to_canonical());
        Ok(Self(Actor::admin_listener(address)))
    }
}
