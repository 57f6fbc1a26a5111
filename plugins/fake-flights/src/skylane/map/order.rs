//! Conversion of Skylane's orders and their cancellation, in pure functions.

use stopover_sdk::flight_booking::BookRequest;
use stopover_sdk::flight_cancellation::AirlineQuote;
use stopover_sdk::json::{DecodeError, ensure, non_empty};
use stopover_sdk::money::MoneyError;
use stopover_sdk::types::BookingStatus;
use stopover_sdk::types::flight::{
    AirlineChange, CancellationAmounts, ChangeType, SupplierBooking,
};

use crate::common;
use crate::fault::booking_failure;
use crate::skylane::fault::ERRORS;
use crate::skylane::map::bag::service;
use crate::skylane::map::itinerary::{journeys, segments};
use crate::skylane::map::traveller::traveller;
use crate::skylane::map::{amount, instant, money, payment};
use crate::skylane::wire;

/// Creates the body of an order.
///
/// # Errors
/// The amount cannot be represented in its currency. Nothing was sent yet.
pub(crate) fn order_request(request: &BookRequest) -> Result<wire::OrderRequest<'_>, MoneyError> {
    Ok(wire::OrderRequest {
        offer_id: &request.supplier_prebook,
        client_ref: &request.client_reference,
        pay: payment(request.total, &request.currency)?,
        contact: wire::Contact {
            email: &request.contact.email,
            phone: &request.contact.phone,
        },
        travellers: request.passengers.iter().map(traveller).collect(),
    })
}

/// Converts the response to a change that was paid in this currency.
pub(crate) fn booking_in_currency(
    order: wire::Order,
    currency: &str,
) -> Result<SupplierBooking, DecodeError> {
    let state = booking(order)?;
    let is_same_currency = state.currency == currency;
    ensure(
        is_same_currency,
        "the order is in a currency other than the payment's",
    )?;
    Ok(state)
}

pub(crate) fn booking(order: wire::Order) -> Result<SupplierBooking, DecodeError> {
    let status = status(&order);
    let total = money(order.total)?;
    let currency = total.currency;
    let cancellation = order.cancellation.map(|done| {
        Ok::<_, DecodeError>(CancellationAmounts {
            fee: amount(done.fee, &currency)?,
            refund: amount(done.refund, &currency)?,
            currency: currency.clone(),
            supplier_reference: Some(done.r#ref),
        })
    });
    let services = order.bags.into_iter().map(|bag| service(bag, &currency));
    Ok(SupplierBooking {
        status,
        supplier_reference: order.id,
        client_reference: Some(order.client_ref),
        airline_pnr: order.locator.and_then(non_empty),
        total: total.amount,
        fare: Some(amount(order.base, &currency)?),
        fare_tax: Some(amount(order.tax, &currency)?),
        journeys: journeys(order.slices)?,
        services: services.collect::<Result<_, _>>()?,
        changes: (order.changes.into_iter().map(change)).collect::<Result<_, _>>()?,
        cancellation: cancellation.transpose()?,
        extensions: Vec::new(),
        currency,
    })
}

fn status(order: &wire::Order) -> BookingStatus {
    match order.state {
        wire::OrderState::Pending => BookingStatus::Pending,
        wire::OrderState::Ticketed => BookingStatus::Confirmed,
        wire::OrderState::Cancelling => BookingStatus::CancelPending,
        wire::OrderState::Cancelled => BookingStatus::Canceled,
        wire::OrderState::Failed => {
            let code = order.failure.as_ref().map(|failure| failure.code.as_str());
            BookingStatus::Failed(booking_failure(&ERRORS, code))
        }
    }
}

fn change(change: wire::Change) -> Result<AirlineChange, DecodeError> {
    let removed_segments = segments(change.removed)?;
    let added_segments = segments(change.added)?;
    Ok(AirlineChange {
        change_type: match change.kind {
            wire::ChangeKind::ScheduleChange => ChangeType::ScheduleChange,
            wire::ChangeKind::Other => common::unknown_change(&added_segments),
        },
        supplier_change_id: change.id,
        detected_at: instant(&change.detected_at)?,
        action_required: change.needs_answer,
        removed_segments,
        added_segments,
        expires_at: change.answer_by.as_deref().map(instant).transpose()?,
        accepted_at: change.accepted_at.as_deref().map(instant).transpose()?,
    })
}

pub(crate) fn quote(quote: wire::Quote) -> Result<AirlineQuote, DecodeError> {
    let fee = money(quote.fee)?;
    Ok(AirlineQuote {
        fee: fee.amount,
        refund: amount(quote.refund, &fee.currency)?,
        expires_at: Some(instant(&quote.expires_at)?),
        currency: fee.currency,
    })
}
