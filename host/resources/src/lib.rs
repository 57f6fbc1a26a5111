//! JSON form of API resources and webhook payloads. Responses and events use the same conversions,
//! so a resource looks the same in both. The crate only converts; it reads no data and makes no
//! decisions.
//!
//! A resource's type name ends in `Resource`, so that it differs from the domain type that it shows.
//! The published name, which clients may have in generated code, is the name without `Resource`, or
//! that of `#[schema(as = …)]`. Types of single values, such as amounts and dates, have no suffix.

pub mod event;
pub mod failure;
pub mod flight;
pub mod hotel;
pub mod mandate;
pub mod payment;
pub mod place;
pub mod value;
pub mod watch_event;
pub mod watch_event_log;
pub mod webhook;

#[cfg(test)]
mod tests;
