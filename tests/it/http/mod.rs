//! One file a family of routes.

mod booking;
mod cancellation;
mod content;
mod convention;
mod idempotency;
mod identity;
mod instrument;
mod offer;
mod payment;
mod place;
