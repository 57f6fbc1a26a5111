//! The exported functions against scripted answers of Lodge. The fixtures are
//! answers as Lodge gave them.

mod booking;
mod cancellation;
mod description;
#[cfg(feature = "full")]
mod discovery;
mod ending;
mod lodge;
mod pricing;
