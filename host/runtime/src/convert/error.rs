//! Conversion of errors, refusals and the status of a booking.

use super::text::operator_message;
use super::{ConvertResult, currency, invalid, money, optional, text};
use crate::bindings::stopover::supplier::types as wire;
use host_domain::supplier::{
    ChangeError, Checkout, ReadError, Refusal, RefusalReason, SupplierBookingStatus,
};
use url::{Host, Url};

/// Longest wait that a supplier's rate limit may impose: one day.
const RETRY_AFTER_S_MAX: u32 = 24 * 60 * 60;

pub(crate) fn read_error(error: wire::ReadError) -> ReadError {
    match error {
        wire::ReadError::NotFound(reason) => ReadError::NotFound(operator_message(reason)),
        wire::ReadError::Rejected(refused) => match refusal(refused) {
            Ok(refusal) => ReadError::Rejected(refusal),
            Err(invalid) => ReadError::InvalidResponse(invalid.to_string()),
        },
        wire::ReadError::RateLimited(seconds) => ReadError::RateLimited {
            retry_after_s: retry_after(seconds),
        },
        wire::ReadError::TimedOut(reason) => ReadError::TimedOut(operator_message(reason)),
        wire::ReadError::Unavailable(reason) => ReadError::Unavailable(operator_message(reason)),
        wire::ReadError::Failed(reason) => ReadError::Failed(operator_message(reason)),
        wire::ReadError::InvalidResponse(reason) => {
            ReadError::InvalidResponse(operator_message(reason))
        }
        wire::ReadError::Misconfigured(reason) => {
            ReadError::Misconfigured(operator_message(reason))
        }
    }
}

/// Converts an error of a change. An invalid refusal is not treated as definitive.
pub(crate) fn change_error(error: wire::ChangeError) -> ChangeError {
    match error {
        wire::ChangeError::Refused(refused) => match refusal(refused) {
            Ok(refusal) => ChangeError::Refused(refusal),
            Err(invalid) => {
                ChangeError::Unknown(format!("the refusal is not valid: {invalid}").into())
            }
        },
        wire::ChangeError::NotSent(reason) => ChangeError::NotSent(operator_message(reason).into()),
        wire::ChangeError::RateLimited(seconds) => ChangeError::RateLimited {
            retry_after_s: retry_after(seconds),
        },
        wire::ChangeError::Unknown(reason) => ChangeError::Unknown(operator_message(reason).into()),
    }
}

fn retry_after(seconds: Option<u32>) -> Option<u32> {
    seconds.map(|seconds| seconds.min(RETRY_AFTER_S_MAX))
}

fn refusal(refusal: wire::Refusal) -> ConvertResult<Refusal> {
    Ok(Refusal {
        reason: reason(refusal.reason)?,
        supplier_code: text::optional_display(refusal.supplier_code, text::LINE_CHARS),
        message: operator_message(refusal.message),
    })
}

fn reason(reason: wire::RefusalReason) -> ConvertResult<RefusalReason> {
    Ok(match reason {
        wire::RefusalReason::Unavailable => RefusalReason::Unavailable,
        wire::RefusalReason::Expired => RefusalReason::Expired,
        wire::RefusalReason::PriceChanged(now) => {
            let currency = currency("price-changed.currency", &now.currency)?;
            RefusalReason::PriceChanged(money("price-changed.amount", now.amount, currency)?)
        }
        wire::RefusalReason::TermsChanged => RefusalReason::TermsChanged,
        wire::RefusalReason::PaymentRequired => RefusalReason::PaymentRequired,
        wire::RefusalReason::PaymentDeclined => RefusalReason::PaymentDeclined,
        wire::RefusalReason::Invalid => RefusalReason::Invalid,
        wire::RefusalReason::Duplicate => RefusalReason::Duplicate,
        wire::RefusalReason::NotCancellable => RefusalReason::NotCancellable,
        wire::RefusalReason::Account => RefusalReason::Account,
        wire::RefusalReason::Other(other) => RefusalReason::Other(operator_message(other)),
    })
}

pub(super) fn booking_status(status: wire::BookingStatus) -> ConvertResult<SupplierBookingStatus> {
    Ok(match status {
        wire::BookingStatus::Pending => SupplierBookingStatus::Pending,
        wire::BookingStatus::Confirmed => SupplierBookingStatus::Confirmed,
        wire::BookingStatus::PartiallyCanceled => SupplierBookingStatus::PartiallyCanceled,
        wire::BookingStatus::CancelPending => SupplierBookingStatus::CancelPending,
        wire::BookingStatus::Canceled => SupplierBookingStatus::Canceled,
        wire::BookingStatus::Failed(refused) => SupplierBookingStatus::Failed(refusal(refused)?),
    })
}

/// Converts the checkout to which the end user is sent. Only a supplier that collects the payment
/// has one.
pub(super) fn optional_checkout(
    checkout: Option<wire::Checkout>,
    collects_payment: bool,
) -> ConvertResult<Option<Checkout>> {
    if checkout.is_some() && !collects_payment {
        return invalid("checkout", "the supplier does not collect the payment");
    }
    optional(checkout, self::checkout)
}

/// Converts a checkout. Its URL must be encrypted or refer to this machine.
pub(super) fn checkout(checkout: wire::Checkout) -> ConvertResult<Checkout> {
    let had_url = checkout.url.is_some();
    let url = text::url(checkout.url).filter(|url| is_checkout(url));
    if had_url && url.is_none() {
        return invalid("checkout.url", "not an https address");
    }
    Ok(Checkout {
        url,
        token: text::opaque("checkout.token", checkout.token)?,
    })
}

fn is_checkout(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| match url.host() {
        Some(Host::Ipv4(address)) => url.scheme() == "https" || address.is_loopback(),
        Some(Host::Ipv6(address)) => url.scheme() == "https" || address.is_loopback(),
        Some(Host::Domain(name)) => url.scheme() == "https" || name == "localhost",
        None => false,
    })
}
