//! Fees and refunds of cancelled orders.

use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::flight_cancellation::AirlineQuote;
use stopover_sdk::json::{DecodeError, ensure, non_empty};
use stopover_sdk::time;
use stopover_sdk::types::Money;
use stopover_sdk::types::flight::CancellationAmounts;

use crate::map::{minor, optional_timestamp};
use crate::wire::cancellation::OrderCancellation;

/// Returns the amounts of a cancellation that was carried out, for an order of this total. If they are not
/// known, a refund in another currency or zeros take their place. These do not add up to what was paid, so
/// that an operator decides the refund, and not the terms of the fare.
pub(crate) fn stated_amounts(
    total: &Money,
    cancellation: &OrderCancellation,
    dropped: &mut DroppedItems,
) -> CancellationAmounts {
    let unknown = || DecodeError::new("the refund is not known in the order's currency");
    let amounts = amounts(total, cancellation).and_then(|amounts| amounts.ok_or_else(unknown));
    let amounts = dropped.keep(format_args!("/cancellation"), amounts);
    amounts.unwrap_or_else(|| {
        let undecided = undecided_amounts(&total.currency);
        let undecided = CancellationAmounts {
            supplier_reference: non_empty(cancellation.id().to_owned()),
            ..undecided
        };
        match foreign_refund(total, cancellation) {
            Some(refund) => CancellationAmounts {
                currency: refund.currency,
                refund: refund.amount,
                ..undecided
            },
            None => undecided,
        }
    })
}

/// Returns amounts of a cancellation that Duffel does not state. They do not add up to what was paid, so
/// that an operator decides the refund, and not the terms of the fare: the customer may not have cancelled.
pub(crate) fn undecided_amounts(currency: &str) -> CancellationAmounts {
    CancellationAmounts {
        currency: currency.to_owned(),
        fee: 0,
        refund: 0,
        supplier_reference: None,
    }
}

/// Returns the refund if it is stated in another currency than the order's.
fn foreign_refund(total: &Money, cancellation: &OrderCancellation) -> Option<Money> {
    let currency = cancellation.refund_currency();
    let refund = minor(*cancellation.refund_amount.value()?, currency).ok()?;
    (currency != total.currency).then(|| Money::new(refund, currency))
}

/// Returns the fee kept of the order's total and the refund in money. Duffel documents
/// `refund_amount` as the refund of the whole order, and states no fee. Returns `None` if the refund is in
/// another currency, or goes somewhere that is not known.
fn amounts(
    total: &Money,
    cancellation: &OrderCancellation,
) -> Result<Option<CancellationAmounts>, DecodeError> {
    let (total, currency) = (total.amount, total.currency.as_str());
    let (fee, refund) = match cancellation.refund_to() {
        "balance" | "arc_bsp_cash" | "card" | "original_form_of_payment" => {
            if cancellation.refund_currency() != currency {
                return Ok(None);
            }
            let refund = *cancellation.refund_amount.required("refund_amount")?;
            let refund = minor(refund, currency)?;
            (total.saturating_sub(refund).max(0), refund)
        }
        // The airline keeps the money and gives the passenger a credit for another flight.
        "airline_credits" | "voucher" => (total, 0),
        // The order was not paid.
        "awaiting_payment" => (0, 0),
        _ => return Ok(None),
    };
    Ok(Some(CancellationAmounts {
        currency: currency.to_owned(),
        fee,
        refund,
        supplier_reference: non_empty(cancellation.id().to_owned()),
    }))
}

/// Converts a cancellation to the airline's quote. Returns `None` in the same cases as [`amounts`].
pub(crate) fn quote(
    total: &Money,
    cancellation: &OrderCancellation,
) -> Result<Option<AirlineQuote>, DecodeError> {
    let amounts = amounts(total, cancellation)?;
    Ok(amounts.map(|amounts| AirlineQuote {
        currency: amounts.currency,
        fee: amounts.fee,
        refund: amounts.refund,
        expires_at: (cancellation.expires_at.as_deref()).and_then(time::parse_timestamp),
    }))
}

/// Returns the order's cancellation that was carried out. The others in the list are unconfirmed
/// quotes.
///
/// # Errors
/// No cancellation is known to be carried out, and it is unreadable for one whether it is.
pub(crate) fn find_confirmed(
    order_id: &str,
    cancellations: Vec<OrderCancellation>,
) -> Result<Option<OrderCancellation>, DecodeError> {
    let mut confirmed: Option<OrderCancellation> = None;
    let mut unreadable = None;
    for cancellation in cancellations {
        match is_confirmed(&cancellation, order_id) {
            Ok(true) => {
                let is_newer = |one: &OrderCancellation| {
                    one.created_at.as_str() <= cancellation.created_at.as_str()
                };
                if confirmed.as_ref().is_none_or(is_newer) {
                    confirmed = Some(cancellation);
                }
            }
            Ok(false) => {}
            Err(error) => unreadable = Some(error),
        }
    }
    match (confirmed, unreadable) {
        (None, Some(error)) => Err(error),
        (confirmed, _) => Ok(confirmed),
    }
}

/// Returns whether this is a cancellation of the order and was carried out.
///
/// # Errors
/// Its ids, or the time at which it was carried out, cannot be read.
pub(crate) fn is_confirmed(
    cancellation: &OrderCancellation,
    order_id: &str,
) -> Result<bool, DecodeError> {
    let stated = cancellation.order_id();
    let is_of_another = !stated.is_empty() && stated != order_id;
    if is_of_another {
        return Ok(false);
    }
    check(cancellation, order_id)?;
    let confirmed_at = cancellation.confirmed_at.optional("confirmed_at")?;
    Ok(optional_timestamp(confirmed_at.map(String::as_str))?.is_some())
}

/// Checks that this is a cancellation, or the quote of one, of the order.
///
/// # Errors
/// It has another id, or is about another order or none.
pub(crate) fn check(cancellation: &OrderCancellation, order_id: &str) -> Result<(), DecodeError> {
    let is_of_order = cancellation.id().starts_with("ore_") && cancellation.order_id() == order_id;
    ensure(
        is_of_order,
        "the response is about another order's cancellation",
    )
}
