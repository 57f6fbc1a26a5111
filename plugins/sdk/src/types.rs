//! Types shared by all capabilities, and those of hotels and flights. A type that only one
//! capability uses is in that capability's module.

pub use crate::bindings::shared::stopover::supplier::types::*;

/// Types shared by the hotel capabilities.
pub mod hotel {
    pub use crate::bindings::shared::stopover::supplier::hotel_types::*;
    // The generator reserves the name `Guest` for traits.
    pub use crate::bindings::shared::stopover::supplier::hotel_types::Guest_ as Guest;
}

/// Types shared by the flight capabilities.
pub mod flight {
    pub use crate::bindings::shared::stopover::supplier::flight_types::*;
}

/// Details of hotels, which version 1.1 adds.
pub mod hotel_details {
    pub use crate::bindings::shared_v1_1::stopover::supplier1_1_0::hotel_details::*;
}

/// Details of flights, which version 1.1 adds.
pub mod flight_details {
    pub use crate::bindings::shared_v1_1::stopover::supplier1_1_0::flight_details::*;
}

impl Money {
    pub fn new(amount: MinorUnits, currency: impl Into<String>) -> Self {
        Self {
            amount,
            currency: currency.into(),
        }
    }
}
