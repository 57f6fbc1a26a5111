//! Conversion of a Duffel order to the gateway's types.

use stopover_sdk::json::{DecodeError, ensure, non_empty};
use stopover_sdk::types::flight::SupplierBooking;
use stopover_sdk::types::{BookingStatus, MinorUnits};

use crate::map::cancellation::amounts;
use crate::map::change::airline_change;
use crate::map::itinerary::journeys;
use crate::map::passenger::PassengerIds;
use crate::map::service::booked_service;
use crate::map::{minor, optional_minor};
use crate::wire::cancellation::OrderCancellation;
use crate::wire::order::Order;

/// Maximum length of a metadata value of an order.
const METADATA_CHARS_MAX: usize = 500;

/// Converts an order to a booking state, with the cancellation that ended it.
///
/// # Errors
/// The order has no id, or an amount or a flight cannot be read.
pub(crate) fn supplier_booking(
    mut order: Order,
    cancellation: Option<&OrderCancellation>,
) -> Result<SupplierBooking, DecodeError> {
    ensure(!order.id.is_empty(), "the order has no id")?;
    let currency = order.total_currency.clone();
    let status = status(&order, cancellation.is_some());
    let ids = ids(&order);
    let cancellation = match cancellation {
        Some(cancellation) => amounts(&order, cancellation)?,
        None => None,
    };
    let mut services = Vec::with_capacity(order.services.len());
    let mut services_total: MinorUnits = 0;
    for service in std::mem::take(&mut order.services) {
        services_total = services_total.saturating_add(minor(service.total_amount, &currency)?);
        services.push(booked_service(service, &ids, &currency)?);
    }
    let changes = std::mem::take(&mut order.changes)
        .into_iter()
        .map(|change| airline_change(change, &ids))
        .collect::<Result<_, _>>()?;
    let total = minor(order.total_amount, &currency)?;
    let fare_tax = optional_minor(order.tax_amount, &order.tax_currency, &currency);
    let base = optional_minor(order.base_amount, &order.base_currency, &currency);
    Ok(SupplierBooking {
        status,
        supplier_reference: order.id,
        client_reference: order.metadata.gateway_booking_id,
        airline_pnr: non_empty(order.booking_reference),
        fare: base.map(|base| fare(base, fare_tax, services_total, total)),
        currency,
        total,
        fare_tax,
        journeys: journeys(order.slices, &ids)?,
        services,
        changes,
        cancellation,
        extensions: Vec::new(),
    })
}

/// Returns the state of an accepted order that is not created yet. It has no airline record locator
/// until then.
pub(crate) fn pending(
    order_id: String,
    client_reference: &str,
    total: MinorUnits,
    currency: &str,
) -> SupplierBooking {
    SupplierBooking {
        status: BookingStatus::Pending,
        supplier_reference: order_id,
        client_reference: Some(client_reference.to_owned()),
        airline_pnr: None,
        currency: currency.to_owned(),
        total,
        fare: None,
        fare_tax: None,
        journeys: Vec::new(),
        services: Vec::new(),
        changes: Vec::new(),
        cancellation: None,
        extensions: Vec::new(),
    }
}

/// Returns the order that has the gateway's reference. An active order takes precedence over a
/// cancelled one.
pub(crate) fn with_reference(orders: Vec<Order>, client_reference: &str) -> Option<Order> {
    orders
        .into_iter()
        .filter(|order| order.metadata.gateway_booking_id.as_deref() == Some(client_reference))
        .min_by_key(|order| order.cancelled_at.is_some())
}

/// Checks that the order belongs to the booking.
///
/// # Errors
/// The order has another id, or its metadata names another booking.
pub(crate) fn check_booking(
    order: &Order,
    order_id: Option<&str>,
    client_reference: &str,
) -> Result<(), DecodeError> {
    let is_order = order_id.is_none_or(|order_id| order_id == order.id);
    ensure(is_order, "the response is about another order")?;
    let reference = order.metadata.gateway_booking_id.as_deref();
    let is_ours = reference.is_none_or(|reference| reference == client_reference);
    ensure(is_ours, "the order belongs to another booking")
}

/// Returns the passengers' ids in the gateway's order, from the order's metadata. If the metadata
/// does not match the order's passengers, the order's list is used.
pub(crate) fn ids(order: &Order) -> PassengerIds {
    let listed: Vec<String> = order.passengers.iter().map(|one| one.id.clone()).collect();
    let label = order.metadata.gateway_passengers.as_deref();
    let labelled: Vec<String> = label
        .map(|label| label.split(',').map(str::to_owned).collect())
        .unwrap_or_default();
    let is_same_party =
        labelled.len() == listed.len() && listed.iter().all(|id| labelled.contains(id));
    PassengerIds(if is_same_party { labelled } else { listed })
}

/// Returns the metadata value that lists the passengers' ids. It is empty if the ids are too long,
/// which takes more passengers than an order allows.
pub(crate) fn passengers_label(ids: &[String]) -> String {
    let label = ids.join(",");
    if label.len() > METADATA_CHARS_MAX {
        return String::new();
    }
    label
}

/// Returns the booking's status. Missing documents do not matter: paid orders may have none.
fn status(order: &Order, is_canceled: bool) -> BookingStatus {
    if is_canceled || order.cancelled_at.is_some() {
        BookingStatus::Canceled
    } else if order.payment_status.awaiting_payment {
        BookingStatus::Pending
    } else {
        BookingStatus::Confirmed
    }
}

/// Returns the fare without taxes and services. If an order's base and taxes add up to its total,
/// the base includes the services; otherwise it does not.
fn fare(
    base: MinorUnits,
    tax: Option<MinorUnits>,
    services: MinorUnits,
    total: MinorUnits,
) -> MinorUnits {
    let is_all_in = base.checked_add(tax.unwrap_or(0)) == Some(total);
    if is_all_in && services <= base {
        base - services
    } else {
        base
    }
}
