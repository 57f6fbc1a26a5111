//! Calls from executors to the supplier and the processor, and their responses.

use super::order::Order;
use host_domain::money::Money;
use host_domain::payment::{PaymentError, ProcessorPayment};
use host_domain::supplier::{ChangeError, ReadError};

/// An outgoing call.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Request {
    /// Client reference of the call or, of a read, of what is read.
    pub(super) reference: String,
    pub(super) call: Call,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Call {
    Prebook,
    Book,
    FindBooking,
    /// Reads a booking that is confirmed.
    Refresh,
    /// Cancels these rooms, or all if the list is empty.
    Cancel(Vec<usize>),
    BuyBags,
    Authorize(Money),
    /// Captures the charge with this id.
    Capture(String),
    Void(String),
    FindPayment,
    Refund(String, Money),
    FindRefund,
}

/// The response to a call.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Reply {
    Prebooked(Result<Money, ChangeError>),
    Changed(Result<Order, ChangeError>),
    Found(Result<Option<Order>, ReadError>),
    PaymentChanged(Result<ProcessorPayment, PaymentError>),
    FoundPayment(Result<Option<ProcessorPayment>, ReadError>),
    Refunded(Result<String, PaymentError>),
    FoundRefund(Result<bool, ReadError>),
}

/// The outcome of a call without a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MissingResponse {
    /// The call was certainly not sent.
    NotSent,
    /// The call was rejected by a rate limit and had no effect.
    RateLimited,
    /// The outcome is unknown.
    Unknown,
}

impl Request {
    /// Returns the client reference of a call that may change something.
    pub(super) fn change_reference(&self) -> Option<&str> {
        let is_change = !matches!(
            self.call,
            Call::Prebook
                | Call::FindBooking
                | Call::Refresh
                | Call::FindPayment
                | Call::FindRefund
        );
        is_change.then_some(self.reference.as_str())
    }

    pub(super) fn without_response(&self, missing: MissingResponse) -> Reply {
        let reason = || "no answer".to_owned();
        let change = || match missing {
            MissingResponse::NotSent => ChangeError::NotSent(reason().into()),
            MissingResponse::RateLimited => ChangeError::RateLimited {
                retry_after_s: None,
            },
            MissingResponse::Unknown => ChangeError::Unknown(reason().into()),
        };
        let pay = || match missing {
            MissingResponse::NotSent | MissingResponse::RateLimited => {
                PaymentError::NotSent(reason().into())
            }
            MissingResponse::Unknown => PaymentError::Unknown(reason().into()),
        };
        let read = || ReadError::TimedOut(reason());
        match self.call {
            Call::Prebook => Reply::Prebooked(Err(change())),
            Call::Book | Call::Cancel(_) | Call::BuyBags => Reply::Changed(Err(change())),
            Call::FindBooking | Call::Refresh => Reply::Found(Err(read())),
            Call::Authorize(_) | Call::Capture(_) | Call::Void(_) => {
                Reply::PaymentChanged(Err(pay()))
            }
            Call::FindPayment => Reply::FoundPayment(Err(read())),
            Call::Refund(..) => Reply::Refunded(Err(pay())),
            Call::FindRefund => Reply::FoundRefund(Err(read())),
        }
    }

    pub(super) const fn is_of_processor(&self) -> bool {
        !matches!(
            self.call,
            Call::Prebook
                | Call::Book
                | Call::FindBooking
                | Call::Refresh
                | Call::Cancel(_)
                | Call::BuyBags
        )
    }
}
