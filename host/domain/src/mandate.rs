//! A mandate: what may be bought in a user's name, for how much at most, with which
//! instrument and until when. It is good for one purchase.

use crate::id::{BookingId, HotelId, InstrumentId, MandateId, WatchId};
use crate::money::Money;
use crate::owner::Owner;
use crate::time::{Date, Timestamp};
use serde::{Deserialize, Serialize};

/// What may be bought.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MandateScope {
    /// Anything.
    Any,
    /// What a watch waits for: one stay at one hotel.
    HotelWatch {
        /// The watch.
        watch_id: WatchId,
        /// Where.
        hotel_id: HotelId,
        /// First night.
        check_in: Date,
        /// Day of departure.
        check_out: Date,
    },
}

/// What a mandate says. This is what is signed, and it never changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MandateTerms {
    /// The mandate's id.
    pub id: MandateId,
    /// In whose name is bought.
    pub owner: Owner,
    /// The most that may be paid.
    pub amount: Money,
    /// What pays.
    pub instrument: InstrumentId,
    /// What may be bought.
    pub scope: MandateScope,
    /// When it was made.
    pub created_at: Timestamp,
    /// From then on it is good for nothing.
    pub expires_at: Timestamp,
}

/// A purchase that wants to use a mandate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MandateUsage {
    /// In whose name is bought.
    pub owner: Owner,
    /// What is to be paid now.
    pub amount: Money,
    /// What pays.
    pub instrument: InstrumentId,
    /// What is bought; nothing but [`MandateScope::Any`] covers a purchase of `Any`.
    pub scope: MandateScope,
    /// The booking that is paid.
    pub booking: BookingId,
}

/// What became of a mandate. That its time is over is not stored: see [`Mandate::status`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MandateState {
    /// Nothing.
    Active,
    /// It was used.
    Consumed {
        /// For this booking.
        booking: BookingId,
        /// The signed record of the use: a closed payment mandate.
        jws: String,
    },
    /// Its user does not want it any more.
    Revoked,
}

/// Where a mandate stands at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MandateStatus {
    /// It can be used.
    Active,
    /// It was used.
    Consumed,
    /// It was taken back.
    Revoked,
    /// Its time is over.
    Expired,
}

impl MandateStatus {
    /// Every status.
    pub const ALL: [Self; 4] = [Self::Active, Self::Consumed, Self::Revoked, Self::Expired];

    /// The name in the API, e.g. `ACTIVE`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "ACTIVE",
            Self::Consumed => "CONSUMED",
            Self::Revoked => "REVOKED",
            Self::Expired => "EXPIRED",
        }
    }

    /// The status of this name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|status| status.as_str() == text)
    }
}

/// Why a mandate cannot be used, or not be moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum MandateRejection {
    /// It was taken back.
    #[error("the mandate is revoked")]
    Revoked,
    /// Its time is over.
    #[error("the mandate has expired")]
    Expired,
    /// It was used before.
    #[error("the mandate is used up")]
    Consumed,
    /// It costs more.
    #[error("the mandate does not go up to this amount")]
    CapExceeded,
    /// It is for another currency.
    #[error("the mandate is for another currency")]
    CurrencyMismatch,
    /// It is another's.
    #[error("the mandate is another user's")]
    OwnerMismatch,
    /// It is for another instrument.
    #[error("the mandate is for another payment instrument")]
    InstrumentMismatch,
    /// It is for another purchase.
    #[error("the mandate is for something else")]
    ScopeMismatch,
    /// What is stored is not what was signed. The domain cannot tell; whoever
    /// verifies signatures does.
    #[error("the mandate's signature does not fit")]
    InvalidSignature,
}

impl MandateRejection {
    /// The word for it, e.g. `cap_exceeded`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Revoked => "revoked",
            Self::Expired => "expired",
            Self::Consumed => "consumed",
            Self::CapExceeded => "cap_exceeded",
            Self::CurrencyMismatch => "other_currency",
            Self::OwnerMismatch => "other_user",
            Self::InstrumentMismatch => "other_instrument",
            Self::ScopeMismatch => "other_scope",
            Self::InvalidSignature => "bad_signature",
        }
    }
}

/// What happens to a mandate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MandateEvent {
    /// A purchase uses it.
    Consumed {
        /// Which.
        usage: MandateUsage,
        /// The signed record of it.
        jws: String,
    },
    /// The purchase promised nothing to anybody: it may be used again.
    Released,
    /// Its user takes it back.
    Revoked,
}

impl MandateEvent {
    /// Its name in logs and in the table of the machine.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Consumed { .. } => "consumed",
            Self::Released => "released",
            Self::Revoked => "revoked",
        }
    }
}

/// A mandate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mandate {
    /// What it says.
    pub terms: MandateTerms,
    /// The terms, signed: an open payment mandate.
    pub jws: String,
    /// What became of it.
    pub state: MandateState,
    /// Counts its changes.
    pub version: i64,
}

impl MandateTerms {
    /// Whether a purchase keeps to the terms.
    ///
    /// # Errors
    /// The first term that it does not keep to.
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
    /// A new mandate, ACTIVE.
    #[must_use]
    pub const fn new(terms: MandateTerms, jws: String) -> Self {
        Self {
            terms,
            jws,
            state: MandateState::Active,
            version: 1,
        }
    }

    /// Where it stands.
    #[must_use]
    pub fn status(&self, now: Timestamp) -> MandateStatus {
        match self.state {
            MandateState::Active if now >= self.terms.expires_at => MandateStatus::Expired,
            MandateState::Active => MandateStatus::Active,
            MandateState::Consumed { .. } => MandateStatus::Consumed,
            MandateState::Revoked => MandateStatus::Revoked,
        }
    }

    /// Whether a purchase may use it now.
    ///
    /// # Errors
    /// Why not.
    pub fn check_usage(&self, usage: &MandateUsage, now: Timestamp) -> Result<(), MandateRejection> {
        match self.status(now) {
            MandateStatus::Active => self.terms.check_usage(usage),
            MandateStatus::Consumed => Err(MandateRejection::Consumed),
            MandateStatus::Revoked => Err(MandateRejection::Revoked),
            MandateStatus::Expired => Err(MandateRejection::Expired),
        }
    }

    /// Moves it. None: it is so already, so that asking twice is as good as asking once.
    ///
    /// # Errors
    /// Why it cannot be.
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
