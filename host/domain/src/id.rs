//! Prefixed identifiers. One type a noun, so that a room's id cannot be passed
//! where a booking's is wanted.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Text that is not an identifier of the wanted noun.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not an identifier of the form {prefix}…")]
pub struct InvalidId {
    /// The prefix that the noun has.
    pub prefix: &'static str,
}

/// Longest identifier accepted from outside, prefix included.
pub const ID_CHARS_MAX: usize = 128;

macro_rules! prefixed_id {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// What every identifier of this noun begins with.
            pub const PREFIX: &'static str = $prefix;

            /// Makes the identifier from 128 random or time-ordered bits.
            #[must_use]
            pub fn from_bits(bits: u128) -> Self {
                Self(format!("{}{bits:032x}", $prefix))
            }

            /// Makes the identifier of the `n`th such part of a booking.
            #[must_use]
            pub fn of(booking: &str, n: u32) -> Self {
                let rest = booking.split_once('_').map_or(booking, |(_, rest)| rest);
                Self(format!("{}{rest}-{n}", $prefix))
            }

            /// Reads an identifier: the prefix, then 1 or more of `[A-Za-z0-9-]`.
            ///
            /// # Errors
            /// When the text has another form or is longer than [`ID_CHARS_MAX`].
            pub fn parse(text: &str) -> Result<Self, InvalidId> {
                let rest = text.strip_prefix($prefix).filter(|rest| {
                    !rest.is_empty()
                        && text.len() <= ID_CHARS_MAX
                        && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
                });
                rest.map(|_| Self(text.to_owned())).ok_or(InvalidId { prefix: $prefix })
            }

            /// The whole text, prefix included.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidId;
            fn try_from(text: String) -> Result<Self, InvalidId> {
                Self::parse(&text)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.0
            }
        }
    )*};
}

prefixed_id! {
    /// A booking of a hotel or of flights.
    BookingId = "bkg_";
    /// A hotel, as the gateway names it across suppliers.
    HotelId = "htl_";
    /// A saved place resolution.
    PlaceId = "plc_";
    /// A payment of a booking.
    PaymentId = "pay_";
    /// A refund of a payment.
    RefundId = "rfd_";
    /// A room of a hotel booking.
    RoomId = "room_";
    /// A guest of a room.
    GuestId = "guest_";
    /// A passenger of a flight booking.
    PassengerId = "psg_";
    /// A journey of a flight booking.
    JourneyId = "jrn_";
    /// A segment of a journey.
    SegmentId = "seg_";
    /// Something bought with or for a ticket.
    ServiceId = "svc_";
    /// A purchase of services.
    PurchaseId = "pur_";
    /// A change by the airline to booked flights.
    AirlineChangeId = "aic_";
    /// An airport.
    AirportId = "apt_";
    /// An airline.
    AirlineId = "arl_";
    /// A cancellation of a booking or of rooms.
    CancellationId = "cxl_";
    /// A stored payment instrument.
    InstrumentId = "inst_";
    /// A published event.
    EventId = "evt_";
    /// A recorded call to a supplier or processor that may change something.
    AttemptId = "att_";
    /// An API key, not the key itself.
    KeyId = "key_";
    /// A subscription to events.
    SubscriptionId = "whs_";
    /// An event on its way to a subscription.
    DeliveryId = "dlv_";
    /// A watch on a price.
    WatchId = "wtc_";
    /// A mandate.
    MandateId = "mnd_";
    /// What watches ask suppliers, once for all that ask the same.
    AskId = "ask_";
    /// A unit of background work.
    JobId = "job_";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identifier_survives_a_round_trip() {
        let id = BookingId::from_bits(42);
        assert_eq!(BookingId::parse(id.as_str()).unwrap(), id);
        assert_eq!(id.as_str().len(), 36);
    }

    #[test]
    fn text_of_another_form_is_refused() {
        for text in [
            "",
            "bkg_",
            "room_1",
            "bkg_ä",
            "bkg_a b",
            &format!("bkg_{}", "a".repeat(125)),
        ] {
            assert!(BookingId::parse(text).is_err(), "{text}");
        }
    }
}
