//! Webhooks that suppliers send: receiving them, and applying them to bookings.

pub mod job;
pub mod service;
