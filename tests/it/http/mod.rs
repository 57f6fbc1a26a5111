//! One file a family of routes.

mod booking;
mod cancellation;
mod content;
mod convention;
mod flight_offer;
mod flight_reference;
mod flight_rows;
mod idempotency;
mod identity;
mod instrument;
mod offer;
mod payment;
mod place;
