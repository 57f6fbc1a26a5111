//! Prefixed identifiers. Each entity has its own type, so that a room's id cannot be passed where a
//! booking's id is expected.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Error for text that is not an identifier of the expected entity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not an identifier of the form {prefix}…")]
pub struct InvalidId {
    pub prefix: &'static str,
}

/// Maximum length of an identifier from outside, prefix included.
pub const ID_CHARS_MAX: usize = 128;

/// Implements what the newtypes of checked text share: they print as their text, and are converted
/// from and to `String`.
macro_rules! text_newtype {
    ($name:ident, $error:ty) => {
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
            type Error = $error;
            fn try_from(text: String) -> Result<Self, $error> {
                Self::parse(&text)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.0
            }
        }
    };
}

pub(crate) use text_newtype;

macro_rules! prefixed_id {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            pub const PREFIX: &'static str = $prefix;

            /// Creates an identifier from 128 random or time-ordered bits.
            pub fn from_bits(bits: u128) -> Self {
                Self(format!("{}{bits:032x}", $prefix))
            }

            /// Creates the identifier of the `n`th such part of a booking.
            pub fn of(booking: &str, n: u32) -> Self {
                let rest = booking.split_once('_').map_or(booking, |(_, rest)| rest);
                Self(format!("{}{rest}-{n}", $prefix))
            }

            /// Parses an identifier: the prefix, then one or more of `[A-Za-z0-9-]`.
            ///
            /// # Errors
            /// Returns [`InvalidId`] if the text has another form or is longer than
            /// [`ID_CHARS_MAX`].
            pub fn parse(text: &str) -> Result<Self, InvalidId> {
                let rest = text.strip_prefix($prefix).filter(|rest| {
                    !rest.is_empty()
                        && text.len() <= ID_CHARS_MAX
                        && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
                });
                rest.map(|_| Self(text.to_owned())).ok_or(InvalidId { prefix: $prefix })
            }

            /// Returns the whole text, prefix included.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        text_newtype!($name, InvalidId);
    )*};
}

prefixed_id! {
    /// The id of a hotel or flight booking.
    BookingId = "bkg_";
    /// The gateway's id of a hotel, the same for all suppliers.
    HotelId = "htl_";
    /// The id of a saved place resolution.
    PlaceId = "plc_";
    PaymentId = "pay_";
    RefundId = "rfd_";
    RoomId = "room_";
    GuestId = "guest_";
    PassengerId = "psg_";
    JourneyId = "jrn_";
    SegmentId = "seg_";
    /// The id of a service bought with or for a ticket.
    ServiceId = "svc_";
    PurchaseId = "pur_";
    AirlineChangeId = "aic_";
    AirportId = "apt_";
    AirlineId = "arl_";
    /// The id of a cancellation of a booking or of rooms.
    CancellationId = "cxl_";
    InstrumentId = "inst_";
    EventId = "evt_";
    /// The id of a recorded call to a supplier or processor that may change something.
    AttemptId = "att_";
    /// The id of an operator's decision about such a call.
    SettlementId = "stl_";
    /// The id of an API key. It is not the key itself.
    KeyId = "key_";
    SubscriptionId = "whs_";
    /// The id of a delivery of an event to a subscription.
    DeliveryId = "dlv_";
    /// The id of a connection of `stopover listen`.
    ListenSessionId = "lsn_";
    /// The id of a replay of all deliveries that match a filter.
    BulkReplayId = "blk_";
    WatchId = "wtc_";
    MandateId = "mnd_";
    /// The id of a price check at suppliers, shared by all watches with the same query.
    PriceCheckId = "chk_";
    JobId = "job_";
    /// The id of a person's account.
    AccountId = "acc_";
    /// The id of a session of the dashboard. It is not the session's cookie.
    SessionId = "ses_";
    /// The id of an API call in the request log. Clients choose the ids of their calls and may use
    /// one twice.
    RequestLogId = "rql_";
    /// The id of a recorded call of a plugin, or of a recorded HTTP request of one.
    CallLogId = "cll_";
    /// The id of a change that is not in the chain of the audit log yet.
    AuditEntryId = "adt_";
}

impl PaymentId {
    /// Returns the id of the booking of which this is the id of a payment.
    pub fn booking(&self) -> Option<BookingId> {
        let (rest, _) = self.0.strip_prefix(Self::PREFIX)?.rsplit_once('-')?;
        BookingId::parse(&format!("{}{rest}", BookingId::PREFIX)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifier_round_trips_through_text() {
        let id = BookingId::from_bits(42);
        assert_eq!(BookingId::parse(id.as_str()).unwrap(), id);
        assert_eq!(id.as_str().len(), 36);
    }

    #[test]
    fn payment_names_its_booking() {
        let booking = BookingId::from_bits(42);
        assert_eq!(PaymentId::of(booking.as_str(), 3).booking(), Some(booking));
        assert_eq!(PaymentId::from_bits(1).booking(), None);
    }

    #[test]
    fn text_of_another_form_is_rejected() {
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
