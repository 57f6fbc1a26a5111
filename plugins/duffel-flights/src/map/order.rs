//! Conversion of a Duffel order to the gateway's types.

use std::collections::HashSet;

use stopover_sdk::detailed_flight_booking::DetailedBooking;
use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::json::{DecodeError, ensure};
use stopover_sdk::lenient::{Essential, LenientList};
use stopover_sdk::types::flight::{AirlineChange, Journey, Service, SupplierBooking};
use stopover_sdk::types::flight_details::{BookingDetails, JourneyDetails, ServiceDetails};
use stopover_sdk::types::{BookingStatus, MinorUnits, Money};

use crate::map::cancellation::{stated_amounts, undecided_amounts};
use crate::map::change::airline_change;
use crate::map::itinerary::journeys;
use crate::map::passenger::{PassengerIds, is_same_party};
use crate::map::service::booked_service;
use crate::map::{self, details};
use crate::map::{minor, optional_minor, optional_timestamp};
use crate::wire::Part;
use crate::wire::cancellation::OrderCancellation;
use crate::wire::itinerary::Slice;
use crate::wire::order::{self, Order, client_reference};
use crate::wire::service;

/// The start of an order's id. Other objects, such as offers, have other ones.
pub(crate) const ORDER_ID: &str = "ord_";
/// Maximum length of a metadata value of an order.
const METADATA_CHARS_MAX: usize = 500;

/// Converts an order to a booking state, with the cancellation that ended it. A cancelled order without
/// one was cancelled by the airline, and its amounts are undecided. Parts without which the booking is
/// usable are left out if they cannot be read. So is the total if the booking's `agreed` total is known,
/// which then takes its place.
///
/// # Errors
/// The order's id or status cannot be read, or its total is not known.
pub(crate) fn supplier_booking(
    order: Order,
    cancellation: Option<&OrderCancellation>,
    agreed: Option<Money>,
    dropped: &mut DroppedItems,
) -> Result<DetailedBooking, DecodeError> {
    check_order(&order)?;
    let total = match (total(&order), agreed) {
        (Err(error), Some(agreed)) => {
            dropped.leave_out(format_args!("/total_amount"), error);
            agreed
        }
        (total, _) => total?,
    };
    let is_canceled = is_canceled(&order)?;
    let cancellation = match cancellation {
        Some(cancellation) => Some(stated_amounts(&total, cancellation, dropped)),
        None => is_canceled.then(|| undecided_amounts(&total.currency)),
    };
    let Money {
        amount: total,
        currency,
    } = total;
    let supplier_reference = order.id().to_owned();
    let client_reference = client_reference(&order.metadata)?.map(str::to_owned);
    let status = status(&order, cancellation.is_some())?;
    let ids = ids(&order);
    let booked = booked_services(order.services, &ids, &currency, dropped);
    let tax = optional_minor(*order.tax_amount, order.tax_currency.as_str(), &currency);
    let base = optional_minor(*order.base_amount, order.base_currency.as_str(), &currency);
    let (journeys, journey_details) = booked_journeys(order.slices, &ids, dropped);
    let payment_status = order.payment_status.value();
    let details = BookingDetails {
        payment_status: payment_status.map(details::payment_status),
        record_locators: details::record_locators(&order.booking_reference, order.owner),
        documents: details::documents(order.documents, &ids, dropped),
        journeys: journey_details,
        services: booked.details,
        services_left_out: booked.total.is_none(),
        ..BookingDetails::default()
    };
    let booking = SupplierBooking {
        status,
        supplier_reference,
        client_reference,
        airline_pnr: order.booking_reference.0.into_option(),
        fare: base.and_then(|base| fare(base, tax, booked.total, total)),
        fare_tax: tax,
        journeys,
        services: booked.services,
        changes: airline_changes(order.changes, &ids, dropped),
        cancellation,
        currency,
        total,
        extensions: Vec::new(),
    };
    Ok(DetailedBooking { booking, details })
}

/// Returns the state of an accepted order that is not created yet. It has no airline record locator
/// until then.
pub(crate) fn pending(
    order_id: String,
    client_reference: &str,
    total: MinorUnits,
    currency: &str,
) -> DetailedBooking {
    let booking = SupplierBooking {
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
    };
    DetailedBooking {
        booking,
        details: BookingDetails::default(),
    }
}

/// Returns the booking's order among those of its offer: it has the gateway's reference or, without any,
/// the passengers of the offer. An active order takes precedence over a cancelled one.
///
/// # Errors
/// Several active orders are the booking's, it cannot be read whether one is cancelled, or none is and an
/// item of the list is no order or belongs to nobody known.
pub(crate) fn with_reference(
    orders: Vec<Order>,
    client_reference: &str,
    passengers: &[String],
) -> Result<Option<Order>, DecodeError> {
    let (mut active, mut cancelled) = (None, None);
    let mut are_known = true;
    for order in orders {
        let is_order = order.id().starts_with(ORDER_ID);
        let is_ours = match self::client_reference(&order.metadata) {
            Ok(Some(reference)) => Some(reference == client_reference),
            Ok(None) if has_passengers(&order, passengers) => Some(true),
            Ok(None) | Err(_) => None,
        };
        are_known &= is_order && is_ours.is_some();
        if is_ours != Some(true) {
            continue;
        }
        if is_canceled(&order)? {
            cancelled.get_or_insert(order);
        } else {
            let is_only = active.replace(order).is_none();
            ensure(is_only, "several orders are the booking's")?;
        }
    }
    let found = active.or(cancelled);
    ensure(
        are_known || found.is_some(),
        "an item of the list of orders is no order, or it is not known whose it is",
    )?;
    Ok(found)
}

/// Checks that this is an order, and the booking's.
///
/// # Errors
/// The order's id or payment cannot be read, it has another id, or its metadata names another booking.
pub(crate) fn check_booking(
    order: &Order,
    order_id: Option<&str>,
    client_reference: &str,
) -> Result<(), DecodeError> {
    check_order(order)?;
    let is_order = order_id.is_none_or(|order_id| order_id == order.id());
    ensure(is_order, "the response is about another order")?;
    check_reference(&order.metadata, client_reference)
}

/// Checks that this is the order that a request created: it names the booking, or else has the
/// passengers of the offer, whose ids occur in no other search.
///
/// # Errors
/// The order has neither, or is not the booking's for a reason of [`check_booking`].
pub(crate) fn check_created(
    order: &Order,
    client_reference: &str,
    passengers: &[String],
) -> Result<(), DecodeError> {
    check_booking(order, None, client_reference)?;
    let is_named = self::client_reference(&order.metadata)?.is_some();
    let is_created = is_named || has_passengers(order, passengers);
    ensure(
        is_created,
        "the order names neither the booking nor its passengers",
    )
}

/// Returns whether the order has the passengers of an offer.
fn has_passengers(order: &Order, passengers: &[String]) -> bool {
    let listed = listed_ids(order).unwrap_or_default();
    !listed.is_empty() && is_same_party(&listed, passengers)
}

/// Checks that the metadata of an order do not name another booking.
///
/// # Errors
/// They name another booking, or several ones.
pub(crate) fn check_reference(
    metadata: &Essential<order::Metadata>,
    client_reference: &str,
) -> Result<(), DecodeError> {
    let reference = self::client_reference(metadata)?;
    let is_ours = reference.is_none_or(|reference| reference == client_reference);
    ensure(is_ours, "the order belongs to another booking")
}

/// Checks that this is an order whose payment can be read.
fn check_order(order: &Order) -> Result<(), DecodeError> {
    let is_order = order.id().starts_with(ORDER_ID);
    ensure(is_order, "the response has no id of an order")?;
    is_awaiting_payment(order)?;
    Ok(())
}

/// Returns the total of an order.
///
/// # Errors
/// The amount or the currency is missing, ambiguous or invalid.
pub(crate) fn total(order: &Order) -> Result<Money, DecodeError> {
    let (total, currency) = map::total(&order.total_amount, &order.total_currency)?;
    Ok(Money::new(total, currency))
}

/// Returns whether the order is cancelled.
///
/// # Errors
/// The time of its cancellation cannot be read.
pub(crate) fn is_canceled(order: &Order) -> Result<bool, DecodeError> {
    let cancelled_at = order.cancelled_at.optional("cancelled_at")?;
    Ok(optional_timestamp(cancelled_at.map(String::as_str))?.is_some())
}

/// Returns the passengers' ids in the gateway's order, from the order's metadata. If the metadata
/// lists another number of passengers, or none of the order's, the order's list is used.
pub(crate) fn ids(order: &Order) -> PassengerIds {
    let metadata = order.metadata.value();
    let label = metadata.and_then(|metadata| metadata.gateway_passengers.as_deref());
    let labelled: Vec<String> = label
        .map(|label| label.split(',').map(str::to_owned).collect())
        .unwrap_or_default();
    let Some(listed) = listed_ids(order) else {
        return PassengerIds(labelled);
    };
    let known: HashSet<&String> = listed.iter().collect();
    let mut named = labelled.iter().filter(|id| !id.is_empty());
    let is_same = labelled.len() == listed.len() && named.any(|id| known.contains(id));
    PassengerIds(if is_same { labelled } else { listed })
}

/// Returns the passengers' ids in the order's list, if that can be read.
fn listed_ids(order: &Order) -> Option<Vec<String>> {
    let passengers = order.passengers.as_decoded()?.iter();
    let id = |one: &order::OrderPassenger| one.id.as_ref().value().cloned().unwrap_or_default();
    Some(passengers.map(id).collect())
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

/// Returns whether the order is held without payment.
///
/// # Errors
/// The status of its payment cannot be read.
fn is_awaiting_payment(order: &Order) -> Result<bool, DecodeError> {
    let Some(status) = order.payment_status.optional("payment_status")? else {
        return Ok(false);
    };
    let is_awaited = status.awaiting_payment.optional("awaiting_payment")?;
    Ok(is_awaited == Some(&true))
}

/// Returns the booking's status. Missing documents do not matter: paid orders may have none.
fn status(order: &Order, is_canceled: bool) -> Result<BookingStatus, DecodeError> {
    Ok(if is_canceled {
        BookingStatus::Canceled
    } else if is_awaiting_payment(order)? {
        BookingStatus::Pending
    } else {
        BookingStatus::Confirmed
    })
}

/// The services of an order that can be read.
struct BookedServices {
    services: Vec<Service>,
    details: Vec<ServiceDetails>,
    /// Price of all services of the order; `None` if one of them cannot be read.
    total: Option<MinorUnits>,
}

fn booked_services(
    written: Part<LenientList<service::Service>>,
    ids: &PassengerIds,
    currency: &str,
    dropped: &mut DroppedItems,
) -> BookedServices {
    let dropped_before = dropped.count();
    let written = dropped.readable_part(format_args!("/services"), written);
    let written = dropped.readable(format_args!("/services"), written.unwrap_or_default());
    let (mut services, mut details) = (Vec::new(), Vec::new());
    let mut total: MinorUnits = 0;
    for (at, service) in written {
        let price = service.total_amount.required("total_amount");
        let price = price.and_then(|amount| minor(amount, currency));
        let described = details::service(&service);
        let booked = booked_service(service, ids, currency);
        let priced = price.and_then(|price| Ok((price, booked?)));
        if let Some((price, service)) = dropped.keep(format_args!("/services/{at}"), priced) {
            total = total.saturating_add(price);
            services.push(service);
            details.extend(described);
        }
    }
    let is_whole = dropped.count() == dropped_before;
    BookedServices {
        services,
        details,
        total: is_whole.then_some(total),
    }
}

/// Converts the journeys of an order and their details. They are whole or left out: the gateway
/// replaces its own by them, and keeps its own if there are none.
fn booked_journeys(
    slices: Part<Vec<Slice>>,
    ids: &PassengerIds,
    dropped: &mut DroppedItems,
) -> (Vec<Journey>, Vec<JourneyDetails>) {
    let slices = dropped.readable_part(format_args!("/slices"), slices);
    let slices = slices.unwrap_or_default();
    let details = details::journeys(&slices, ids);
    let journeys = journeys(slices, ids).and_then(|journeys| {
        let segments = journeys.iter().flat_map(|journey| &journey.segments);
        let ids = segments.map(|segment| segment.supplier_segment_id.as_str());
        let mut named = ids.filter(|id| !id.is_empty());
        let mut known = HashSet::new();
        let are_unique = named.all(|id| known.insert(id));
        ensure(are_unique, "two segments have the same id")?;
        Ok(journeys)
    });
    let journeys = dropped.keep(format_args!("/slices"), journeys);
    journeys.map_or_else(Default::default, |journeys| (journeys, details))
}

fn airline_changes(
    written: Part<LenientList<order::AirlineChange>>,
    ids: &PassengerIds,
    dropped: &mut DroppedItems,
) -> Vec<AirlineChange> {
    const POINTER: &str = "/airline_initiated_changes";
    let written = dropped.readable_part(format_args!("{POINTER}"), written);
    let written = dropped.readable(format_args!("{POINTER}"), written.unwrap_or_default());
    let mut changes: Vec<AirlineChange> = Vec::new();
    let mut known = HashSet::new();
    for (at, change) in written {
        let change = airline_change(change, ids).and_then(|change| {
            let is_new = known.insert(change.supplier_change_id.clone());
            ensure(is_new, "two changes have the same id")?;
            Ok(change)
        });
        changes.extend(dropped.keep(format_args!("{POINTER}/{at}"), change));
    }
    changes
}

/// Returns the fare without taxes and services. If an order's base and taxes add up to its total,
/// the base includes the services; otherwise it does not. Returns `None` if the base includes
/// services whose price cannot be read.
fn fare(
    base: MinorUnits,
    tax: Option<MinorUnits>,
    services: Option<MinorUnits>,
    total: MinorUnits,
) -> Option<MinorUnits> {
    let is_all_in = base.checked_add(tax.unwrap_or(0)) == Some(total);
    if !is_all_in {
        return Some(base);
    }
    let services = services?;
    Some(if services <= base {
        base - services
    } else {
        base
    })
}
