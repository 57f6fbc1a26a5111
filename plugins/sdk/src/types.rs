//! The words that all capabilities share, and those of hotels and flights. What
//! only one capability uses stands in its module.

pub use crate::bindings::shared::stopover::supplier::types::*;

/// Shared by the hotel capabilities.
pub mod hotel {
    pub use crate::bindings::shared::stopover::supplier::hotel_types::*;
    // The generator keeps the plain name for traits.
    pub use crate::bindings::shared::stopover::supplier::hotel_types::Guest_ as Guest;
}

/// Shared by the flight capabilities.
pub mod flight {
    pub use crate::bindings::shared::stopover::supplier::flight_types::*;
}
