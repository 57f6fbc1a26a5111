//! Log messages. The gateway associates them with the request that caused them, truncates long ones
//! and drops those over its limit. Never log personal data.

pub use crate::bindings::shared::stopover::host::log::Level;

use crate::host;

/// Writes one message. The macros [`debug!`](crate::debug), [`info!`](crate::info),
/// [`warn!`](crate::warn!) and [`error!`](crate::error!) format it.
pub fn log(level: Level, message: &str) {
    host::log(level, message);
}

/// Formats and logs a message for developers.
#[macro_export]
macro_rules! debug {
    ($($argument:tt)+) => { $crate::log::log($crate::log::Level::Debug, &format!($($argument)+)) };
}

/// Formats and logs a message about normal operation.
#[macro_export]
macro_rules! info {
    ($($argument:tt)+) => { $crate::log::log($crate::log::Level::Info, &format!($($argument)+)) };
}

/// Formats and logs a message about an unusual situation that was handled.
#[macro_export]
macro_rules! warn {
    ($($argument:tt)+) => { $crate::log::log($crate::log::Level::Warn, &format!($($argument)+)) };
}

/// Formats and logs a message that needs an operator's attention.
#[macro_export]
macro_rules! error {
    ($($argument:tt)+) => { $crate::log::log($crate::log::Level::Error, &format!($($argument)+)) };
}
