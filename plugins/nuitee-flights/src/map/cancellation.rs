//! Conversion of cancellation quotes and of completed cancellations.

use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::flight_cancellation::{AirlineQuote, Quote};
use stopover_sdk::json::{DecodeError, ensure};
use stopover_sdk::lenient::{Essential, LenientAmount, NonEmptyText, Single};
use stopover_sdk::types::flight::{CancellationAmounts, SupplierBooking};
use stopover_sdk::types::{BookingStatus, MinorUnits, Money};

use crate::map::booking::{states_charges, status, undecided_amounts};
use crate::map::{minor, money};
use crate::wire::Pricing;
use crate::wire::booking::{Cancellation, Quote as Wire};

/// Where the airline's refund goes, as Nuitee documents it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Destination {
    /// To the original payment or to the agency's deposit.
    Money,
    Voucher,
    /// It is missing, or Nuitee does not document it.
    Unknown,
}

/// Reads where a refund goes.
///
/// # Errors
/// It cannot be read, or has several values.
fn destination(written: &Essential<NonEmptyText>) -> Result<Destination, DecodeError> {
    let written = written.optional("destination")?;
    let written = written.map(|text| text.as_str().to_ascii_lowercase());
    Ok(match written.as_deref() {
        Some("original_payment" | "agency_deposit") => Destination::Money,
        Some("voucher") => Destination::Voucher,
        Some(_) | None => Destination::Unknown,
    })
}

/// Converts the airline's quote, or returns why there is none. Nuitee's own estimate is rejected,
/// because it is no better than the fare's terms.
///
/// # Errors
/// The quote is about another booking, or does not tell how certain it is.
pub(crate) fn quote(wire: &Wire<'_>, supplier_reference: &str) -> Result<Quote, DecodeError> {
    check_booking(&wire.booking_id, supplier_reference)?;
    let unavailable = |why: &str| Ok(Quote::Unavailable(why.to_owned()));
    match wire.confidence.required("confidence")?.as_str() {
        "confirmed" | "estimated" => {}
        "heuristic" => return unavailable("Nuitee only estimates the airline's cancellation fee"),
        "unknown" => return unavailable("Nuitee does not know the airline's cancellation fee"),
        _ => return Err(DecodeError::new("the quote has an unknown confidence")),
    }
    let destination = destination(&wire.destination);
    if destination == Ok(Destination::Voucher) {
        return unavailable("the airline refunds vouchers instead of money");
    }
    match (display(&wire.refund), display(&wire.penalty)) {
        (Some(refund), Some(penalty)) if refund.currency == penalty.currency => {
            let is_refundable = wire.is_refundable.as_ref().optional("isRefundable");
            let denies = is_refundable.map_or(true, |written| {
                written.is_some_and(|written| written.0 == Some(false))
            });
            if denies && refund.amount > 0 {
                return unavailable("the airline's quote contradicts itself");
            }
            if destination != Ok(Destination::Money) && refund.amount > 0 {
                return unavailable("Nuitee does not say that the airline refunds money");
            }
            Ok(Quote::Quoted(AirlineQuote {
                currency: refund.currency,
                fee: penalty.amount,
                refund: refund.amount,
                expires_at: None,
            }))
        }
        _ => unavailable("the airline's quote has no readable amounts"),
    }
}

/// Returns an amount that is shown to customers, if it is stated once.
fn display(pricing: &Single<Pricing<'_>>) -> Option<Money> {
    let display = pricing.as_ref().value()?.display.as_ref().value();
    display.and_then(money)
}

/// Checks that a response is about this booking, which it need not name.
fn check_booking(
    booking_id: &Essential<NonEmptyText>,
    supplier_reference: &str,
) -> Result<(), DecodeError> {
    let booking_id = booking_id.optional("bookingId")?;
    let is_same = booking_id.is_none_or(|id| id.as_str() == supplier_reference);
    ensure(is_same, "the response is about another booking")
}

/// Returns the booking's state after a cancellation: the cancellation's response takes precedence
/// over the booking that was read afterwards. Without that read, only a final response has enough
/// data.
///
/// # Errors
/// The response is about another booking or has an unexpected status, or neither source gives the
/// current state.
pub(crate) fn canceled_booking(
    supplier_reference: &str,
    client_reference: &str,
    is_accepted_only: bool,
    cancellation: &Cancellation<'_>,
    read: Option<SupplierBooking>,
    dropped: &mut DroppedItems,
) -> Result<SupplierBooking, DecodeError> {
    check_booking(&cancellation.booking_id, supplier_reference)?;
    let written = cancellation.status.required("status")?;
    match status(written.as_str(), true) {
        Some(BookingStatus::Canceled) => {
            let has_charges = states_charges(written.as_str());
            let total = read
                .as_ref()
                .map(|state| (state.total, state.currency.as_str()));
            let amounts = amounts(cancellation, has_charges, total);
            let amounts = dropped.keep(format_args!("/data"), amounts);
            let currency = || cancellation.currency.as_str();
            let mut state = match (read, &amounts) {
                (Some(state), _) => state,
                (None, Some(Some(amounts))) => {
                    unread_booking(supplier_reference, client_reference, amounts)
                }
                (None, None) if !currency().is_empty() => {
                    let undecided = undecided_amounts(currency());
                    unread_booking(supplier_reference, client_reference, &undecided)
                }
                (None, _) => {
                    return Err(DecodeError::new("the cancellation has no readable amounts"));
                }
            };
            let undecided = undecided_amounts(&state.currency);
            let stated = amounts.unwrap_or(Some(undecided));
            state.cancellation = stated.or(state.cancellation.take());
            Ok(completed(state, cancellation))
        }
        // The airline has not responded yet, so the booking is unchanged.
        Some(_) if is_accepted_only => {
            let mut state =
                read.ok_or_else(|| DecodeError::new("the cancelled booking could not be read"))?;
            if state.status != BookingStatus::Canceled {
                state.status = BookingStatus::CancelPending;
            }
            Ok(state)
        }
        _ => Err(DecodeError::new(
            "the response to the cancellation has an unexpected status",
        )),
    }
}

/// Returns what a cancellation tells about a booking that could not be read.
fn unread_booking(
    supplier_reference: &str,
    client_reference: &str,
    amounts: &CancellationAmounts,
) -> SupplierBooking {
    SupplierBooking {
        status: BookingStatus::Canceled,
        supplier_reference: supplier_reference.to_owned(),
        client_reference: Some(client_reference.to_owned()),
        airline_pnr: None,
        currency: amounts.currency.clone(),
        total: amounts.fee.saturating_add(amounts.refund),
        fare: None,
        fare_tax: None,
        journeys: Vec::new(),
        services: Vec::new(),
        changes: Vec::new(),
        cancellation: None,
        extensions: Vec::new(),
    }
}

/// Returns the booking after its cancellation, with the destination of the refund.
fn completed(mut state: SupplierBooking, cancellation: &Cancellation<'_>) -> SupplierBooking {
    state.status = BookingStatus::Canceled;
    if let Some(destination) = cancellation.destination.value() {
        let name = "refund_destination".to_owned();
        let destination = destination.as_str().to_owned();
        state.extensions.push((name, destination));
    }
    state
}

/// Returns the fee and the refund, or `None` if neither is stated. Nuitee states both for the whole
/// booking; if one is missing, it is the rest of the total. A voucher counts as no refund: its value is
/// money that the airline keeps.
///
/// # Errors
/// One of them cannot be read, charges are not stated, the total that a missing one needs is not known,
/// or Nuitee does not say that the refund is money or a voucher.
fn amounts(
    cancellation: &Cancellation<'_>,
    has_charges: bool,
    total: Option<(MinorUnits, &str)>,
) -> Result<Option<CancellationAmounts>, DecodeError> {
    let unreadable = || DecodeError::new("the amounts of the cancellation cannot be read");
    let destination = destination(&cancellation.destination)?;
    let currency = cancellation.currency.as_str();
    let amount = |stated: Single<LenientAmount>| minor(stated, currency).ok_or_else(unreadable);
    let rest_without = |amount: MinorUnits| {
        let total = total.filter(|(_, of_booking)| *of_booking == currency);
        let rest = total.map(|(total, _)| total.saturating_sub(amount));
        rest.filter(|rest| *rest >= 0).ok_or_else(unreadable)
    };
    let (fee, refund) = match (cancellation.fee, cancellation.refund) {
        (Single::Missing, Single::Missing) if has_charges => return Err(unreadable()),
        (Single::Missing, Single::Missing) => return Ok(None),
        (fee, Single::Missing) => {
            let fee = amount(fee)?;
            (fee, rest_without(fee)?)
        }
        (Single::Missing, refund) => {
            let refund = amount(refund)?;
            (rest_without(refund)?, refund)
        }
        (fee, refund) => (amount(fee)?, amount(refund)?),
    };
    let (fee, refund) = match destination {
        Destination::Voucher => (fee.checked_add(refund).ok_or_else(unreadable)?, 0),
        Destination::Money => (fee, refund),
        Destination::Unknown if refund == 0 => (fee, refund),
        Destination::Unknown => {
            let text = "it is not known whether the refund is money";
            return Err(DecodeError::new(text));
        }
    };
    Ok(Some(CancellationAmounts {
        fee,
        refund,
        currency: currency.to_owned(),
        supplier_reference: None,
    }))
}
