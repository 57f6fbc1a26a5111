//! The rules of Stopover: what a booking is, how it moves, what money may do.
//!
//! Pure: no I/O, no clock, no randomness; time, ids and random numbers come in
//! as arguments. Nobody's wire format: rows, WIT and JSON are converted at
//! their own boundaries. Serde is here only because a record is stored whole.
#![warn(missing_docs)]

pub mod booking;
pub mod event;
pub mod flight;
pub mod hotel;
pub mod id;
pub mod leg;
pub mod mandate;
pub mod money;
pub mod owner;
pub mod payment;
pub mod routing;
pub mod supplier;
pub mod supplier_event;
pub mod time;
pub mod watch;
pub mod webhook;
