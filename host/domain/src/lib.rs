//! The domain rules of Stopover: bookings, their state transitions, and payments.
//!
//! This crate is pure: it has no I/O, no clock and no randomness. Time, ids and random numbers are
//! passed as arguments. It contains no wire format: rows, WIT and JSON are converted at their own
//! boundaries. Serde is used only because a record is stored as a whole.

pub mod account;
pub mod audit;
pub mod booking;
pub mod console;
pub mod event;
pub mod flight;
pub mod hotel;
pub mod id;
pub mod mandate;
pub mod money;
mod named_enum;
pub mod owner;
pub mod page;
pub mod payment;
pub mod personal;
pub mod remote_call;
pub mod request_log;
pub mod routing;
pub mod settlement;
pub mod statistics;
pub mod supplier;
pub mod supplier_event;
pub mod time;
pub mod watch;
pub mod webhook;
pub mod workflow;
