//! Calls from walkers to the supplier and the processor, and their responses.

use super::supplier::Order;
use host_domain::money::Money;
use host_domain::payment::{PaymentError, ProcessorPayment};
use host_domain::supplier::{ChangeError, ReadError};

/// An outgoing call.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Request {
    Prebook,
    Book {
        reference: String,
    },
    FindBooking,
    Cancel {
        reference: String,
        rooms: Vec<usize>,
    },
    Buy {
        reference: String,
    },
    Authorize {
        reference: String,
        amount: Money,
    },
    Capture {
        reference: String,
        charge: String,
    },
    Void {
        reference: String,
        charge: String,
    },
    FindPayment {
        reference: String,
    },
    Refund {
        reference: String,
        charge: String,
        amount: Money,
    },
    FindRefund {
        reference: String,
    },
}

/// The response to a call.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Reply {
    Bound(Result<Money, ChangeError>),
    Changed(Result<Order, ChangeError>),
    Found(Result<Option<Order>, ReadError>),
    Paid(Result<ProcessorPayment, PaymentError>),
    FoundPayment(Result<Option<ProcessorPayment>, ReadError>),
    Refunded(Result<String, PaymentError>),
    FoundRefund(Result<bool, ReadError>),
}

/// The outcome of a call without a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Silence {
    /// The call was certainly not sent.
    NotSent,
    /// The call was rejected by a rate limit and had no effect.
    RateLimited,
    /// The outcome is unknown.
    Unknown,
}

impl Request {
    /// Returns the client reference of a call that may change something.
    pub(super) fn reference(&self) -> Option<&str> {
        match self {
            Self::Book { reference }
            | Self::Cancel { reference, .. }
            | Self::Buy { reference }
            | Self::Authorize { reference, .. }
            | Self::Capture { reference, .. }
            | Self::Void { reference, .. }
            | Self::Refund { reference, .. } => Some(reference),
            Self::Prebook
            | Self::FindBooking
            | Self::FindPayment { .. }
            | Self::FindRefund { .. } => None,
        }
    }

    pub(super) fn silence(&self, silence: Silence) -> Reply {
        let why = || "no answer".to_owned();
        let change = || match silence {
            Silence::NotSent => ChangeError::NotSent(why()),
            Silence::RateLimited => ChangeError::RateLimited {
                retry_after_s: None,
            },
            Silence::Unknown => ChangeError::Unknown(why()),
        };
        let pay = || match silence {
            Silence::NotSent | Silence::RateLimited => PaymentError::NotSent(why()),
            Silence::Unknown => PaymentError::Unknown(why()),
        };
        let read = || ReadError::TimedOut(why());
        match self {
            Self::Prebook => Reply::Bound(Err(change())),
            Self::Book { .. } | Self::Cancel { .. } | Self::Buy { .. } => {
                Reply::Changed(Err(change()))
            }
            Self::FindBooking => Reply::Found(Err(read())),
            Self::Authorize { .. } | Self::Capture { .. } | Self::Void { .. } => {
                Reply::Paid(Err(pay()))
            }
            Self::FindPayment { .. } => Reply::FoundPayment(Err(read())),
            Self::Refund { .. } => Reply::Refunded(Err(pay())),
            Self::FindRefund { .. } => Reply::FoundRefund(Err(read())),
        }
    }

    pub(super) fn is_of_processor(&self) -> bool {
        match self {
            Self::Prebook
            | Self::Book { .. }
            | Self::FindBooking
            | Self::Cancel { .. }
            | Self::Buy { .. } => false,
            Self::Authorize { .. }
            | Self::Capture { .. }
            | Self::Void { .. }
            | Self::FindPayment { .. }
            | Self::Refund { .. }
            | Self::FindRefund { .. } => true,
        }
    }
}
