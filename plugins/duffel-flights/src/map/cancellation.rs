//! Fees and refunds of cancelled orders.

use stopover_sdk::flight_cancellation::AirlineQuote;
use stopover_sdk::json::{DecodeError, non_empty};
use stopover_sdk::types::flight::CancellationAmounts;

use crate::map::{minor, timestamp};
use crate::wire;
use crate::wire::cancellation::OrderCancellation;

/// Returns the fee kept of the order's price and the refund in money. Returns `None` if Duffel's
/// data does not determine them; the gateway then refunds nothing until an operator decides.
pub(crate) fn amounts(
    order: &wire::order::Order,
    cancellation: &OrderCancellation,
) -> Result<Option<CancellationAmounts>, DecodeError> {
    let currency = order.total_currency.as_str();
    let total = minor(order.total_amount, currency)?;
    let (fee, refund) = match cancellation.refund_to.as_str() {
        "balance" | "arc_bsp_cash" | "card" | "original_form_of_payment" => {
            if cancellation.refund_currency != currency {
                return Ok(None);
            }
            let refund = minor(cancellation.refund_amount, currency)?;
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
        supplier_reference: non_empty(cancellation.id.clone()),
    }))
}

/// Converts a cancellation to the airline's quote. Returns `None` in the same cases as [`amounts`].
pub(crate) fn quote(
    order: &wire::order::Order,
    cancellation: &OrderCancellation,
) -> Result<Option<AirlineQuote>, DecodeError> {
    let amounts = amounts(order, cancellation)?;
    Ok(amounts.map(|amounts| AirlineQuote {
        currency: amounts.currency,
        fee: amounts.fee,
        refund: amounts.refund,
        expires_at: timestamp(cancellation.expires_at.as_deref()),
    }))
}

/// Returns the order's cancellation that was carried out. The others in the list are unconfirmed
/// quotes.
pub(crate) fn find_confirmed(
    order_id: &str,
    cancellations: Vec<OrderCancellation>,
) -> Option<OrderCancellation> {
    cancellations
        .into_iter()
        .filter(|one| one.order_id == order_id && one.confirmed_at.is_some())
        .max_by(|left, right| left.created_at.cmp(&right.created_at))
}
