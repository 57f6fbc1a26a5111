//! A mandate: a user's permission for one purchase. It limits what may be bought, the amount, the
//! instrument and the time.

use crate::id::{BookingId, HotelId, InstrumentId, MandateId, WatchId};
use crate::money::Money;
use crate::named_enum::named_enum;
use crate::owner::Owner;
use crate::time::{Date, Timestamp};
use serde::{Deserialize, Serialize};

/// The purchases that a mandate covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MandateScope {
    Any,
    /// The purchase of a watch: one stay at one hotel.
    HotelWatch {
        watch_id: WatchId,
        hotel_id: HotelId,
        check_in: Date,
        check_out: Date,
    },
}

/// The terms of a mandate. They are signed and never change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MandateTerms {
    pub id: MandateId,
    /// The owner on whose behalf the purchase is made.
    pub owner: Owner,
    /// The maximum amount that may be paid.
    pub amount: Money,
    pub instrument: InstrumentId,
    pub scope: MandateScope,
    pub created_at: Timestamp,
    /// Time from which the mandate can no longer be used.
    pub expires_at: Timestamp,
}

/// A purchase that is to use a mandate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MandateUsage {
    pub owner: Owner,
    /// The amount to pay now.
    pub amount: Money,
    pub instrument: InstrumentId,
    /// The kind of purchase. Only a mandate with [`MandateScope::Any`] covers a purchase of `Any`.
    pub scope: MandateScope,
    pub booking: BookingId,
}

/// The stored state of a mandate. Expiry is not stored; see [`Mandate::status`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MandateState {
    Active,
    Consumed {
        booking: BookingId,
        /// The signed record of the use: a closed payment mandate.
        jws: String,
    },
    Revoked,
}

named_enum! {
    /// The status of a mandate at a point in time.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum MandateStatus {
        Active = "ACTIVE",
        Consumed = "CONSUMED",
        Revoked = "REVOKED",
        Expired = "EXPIRED",
    }
}

named_enum! {
    /// The reason why a mandate cannot be used or changed.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
    pub enum MandateRejection {
        #[error("the mandate is revoked")]
        Revoked = "revoked",
        #[error("the mandate has expired")]
        Expired = "expired",
        #[error("the mandate was already used")]
        Consumed = "consumed",
        #[error("the amount exceeds the limit of the mandate")]
        CapExceeded = "cap_exceeded",
        #[error("the currency differs from that of the mandate")]
        CurrencyMismatch = "other_currency",
        #[error("the mandate belongs to another user")]
        OwnerMismatch = "other_user",
        #[error("the mandate is for another payment instrument")]
        InstrumentMismatch = "other_instrument",
        #[error("the mandate covers a different purchase")]
        ScopeMismatch = "other_scope",
        /// The stored terms differ from the signed ones. The domain cannot detect this; the code
        /// that verifies signatures reports it.
        #[error("the signature of the mandate is invalid")]
        InvalidSignature = "bad_signature",
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MandateEvent {
    Consumed {
        usage: MandateUsage,
        jws: String,
    },
    /// The purchase made no commitment, so the mandate may be used again.
    Released,
    Revoked,
}

/// A mandate with its signed terms and state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mandate {
    pub terms: MandateTerms,
    /// The signed terms: an open payment mandate.
    pub jws: String,
    pub state: MandateState,
    pub version: i64,
}

impl MandateTerms {
    /// Checks whether a purchase conforms to the terms.
    ///
    /// # Errors
    /// Returns the first term that the purchase violates.
    pub fn check_usage(&self, usage: &MandateUsage) -> Result<(), MandateRejection> {
        if usage.owner != self.owner {
            return Err(MandateRejection::OwnerMismatch);
        }
        if usage.instrument != self.instrument {
            return Err(MandateRejection::InstrumentMismatch);
        }
        if self.scope != MandateScope::Any && usage.scope != self.scope {
            return Err(MandateRejection::ScopeMismatch);
        }
        if usage.amount.currency != self.amount.currency {
            return Err(MandateRejection::CurrencyMismatch);
        }
        if usage.amount.minor > self.amount.minor {
            return Err(MandateRejection::CapExceeded);
        }
        Ok(())
    }
}

impl Mandate {
    pub const fn new(terms: MandateTerms, jws: String) -> Self {
        Self {
            terms,
            jws,
            state: MandateState::Active,
            version: 1,
        }
    }

    pub fn status(&self, now: Timestamp) -> MandateStatus {
        match self.state {
            MandateState::Active if now >= self.terms.expires_at => MandateStatus::Expired,
            MandateState::Active => MandateStatus::Active,
            MandateState::Consumed { .. } => MandateStatus::Consumed,
            MandateState::Revoked => MandateStatus::Revoked,
        }
    }

    /// Checks whether a purchase may use the mandate now.
    ///
    /// # Errors
    /// Returns the reason if it may not.
    pub fn check_usage(
        &self,
        usage: &MandateUsage,
        now: Timestamp,
    ) -> Result<(), MandateRejection> {
        match self.status(now) {
            MandateStatus::Active => self.terms.check_usage(usage),
            MandateStatus::Consumed => Err(MandateRejection::Consumed),
            MandateStatus::Revoked => Err(MandateRejection::Revoked),
            MandateStatus::Expired => Err(MandateRejection::Expired),
        }
    }

    /// Applies an event. Returns `None` if nothing changes; this is not an error, so requests are
    /// idempotent.
    ///
    /// # Errors
    /// Returns the reason if the event does not fit the mandate.
    pub fn apply(
        self,
        event: MandateEvent,
        now: Timestamp,
    ) -> Result<Option<Self>, MandateRejection> {
        let state = match (self.status(now), event) {
            (MandateStatus::Active, MandateEvent::Consumed { usage, jws }) => {
                self.terms.check_usage(&usage)?;
                let booking = usage.booking;
                MandateState::Consumed { booking, jws }
            }
            (MandateStatus::Active, MandateEvent::Revoked) => MandateState::Revoked,
            (MandateStatus::Consumed, MandateEvent::Released) => MandateState::Active,
            (MandateStatus::Active | MandateStatus::Expired, MandateEvent::Released)
            | (MandateStatus::Revoked, MandateEvent::Revoked) => return Ok(None),
            (MandateStatus::Consumed, MandateEvent::Consumed { .. } | MandateEvent::Revoked) => {
                return Err(MandateRejection::Consumed);
            }
            (MandateStatus::Revoked, MandateEvent::Consumed { .. } | MandateEvent::Released) => {
                return Err(MandateRejection::Revoked);
            }
            (MandateStatus::Expired, MandateEvent::Consumed { .. } | MandateEvent::Revoked) => {
                return Err(MandateRejection::Expired);
            }
        };
        Ok(Some(Self {
            state,
            version: self.version + 1,
            ..self
        }))
    }
}

#[cfg(test)]
mod tests;
