//! Conversion of a Nuitee booking to the gateway's types.

use stopover_sdk::json::DecodeError;
use stopover_sdk::types::flight::{
    Baggage, BaggageType, Journey, Service, ServiceType, SupplierBooking,
};
use stopover_sdk::types::{BookingStatus, Currency, Extensions, MinorUnits};

use crate::map::journey::{Trip, journeys};
use crate::map::prebook::PrebookReference;
use crate::map::{baggage, minor, money};
use crate::wire::Price;
use crate::wire::booking::{BookedJourney, BookedService, Booking};

/// Converts a status. Returns `None` for an unknown status, because neither "booked" nor "not
/// booked" may be guessed. Nuitee keeps the old status while a cancellation waits for the airline.
pub(crate) fn status(text: &str, is_cancelling: bool) -> Option<BookingStatus> {
    let status = match text.to_ascii_uppercase().as_str() {
        "PENDING_CONFIRMATION" | "CREATED" | "PENDING" => BookingStatus::Pending,
        "CONFIRMED" | "TICKETED" => BookingStatus::Confirmed,
        "CANCELLED" | "CANCELED" | "CANCELLED_WITH_CHARGES" | "CANCELED_WITH_CHARGES" => {
            return Some(BookingStatus::Canceled);
        }
        _ => return None,
    };
    Some(if is_cancelling {
        BookingStatus::CancelPending
    } else {
        status
    })
}

/// Converts a booking. The journeys are included only if the prebook is given: Nuitee's booking
/// states neither the cabin of a flight nor the journey that it belongs to.
///
/// # Errors
/// The booking has no id, an unknown status, or no readable price.
pub(crate) fn supplier_booking(
    booking: &Booking<'_>,
    bound: Option<&PrebookReference>,
    logo_url: &str,
) -> Result<SupplierBooking, DecodeError> {
    let supplier_reference = booking
        .id
        .to_owned()
        .ok_or_else(|| DecodeError::new("the booking has no id"))?;
    let is_cancelling = booking.cancel_intent_at.0.is_some();
    let status = status(booking.status.as_str(), is_cancelling)
        .ok_or_else(|| DecodeError::new("the booking has an unknown status"))?;
    let (total, currency) =
        total(booking).ok_or_else(|| DecodeError::new("the booking has no readable price"))?;
    let services_total = minor(booking.pricing.services, &currency).unwrap_or(0);
    let fare = fare(
        &booking.journey,
        &currency,
        total.saturating_sub(services_total),
    );
    Ok(SupplierBooking {
        status,
        supplier_reference,
        client_reference: booking.custom_tags.client_reference.to_owned(),
        airline_pnr: locator(booking),
        total,
        fare: fare.map(|(fare, _)| fare),
        fare_tax: fare.map(|(_, tax)| tax),
        journeys: bound.map_or_else(Vec::new, |bound| {
            journeys_of_booking(booking, bound, logo_url)
        }),
        services: services(booking, &currency),
        currency,
        changes: Vec::new(),
        cancellation: None,
        extensions: extensions(booking),
    })
}

/// Returns the total of everything bought. Without a bill, the price of the journey is the total,
/// because nothing was added to it.
fn total(booking: &Booking<'_>) -> Option<(MinorUnits, Currency)> {
    let bill = &booking.pricing;
    let currency = bill.currency.as_str();
    let billed = minor(bill.total, currency).or_else(|| {
        let services = minor(bill.services, currency).unwrap_or(0);
        minor(bill.subtotal, currency)?.checked_add(services)
    });
    let of_journey = || {
        let price = price(&booking.journey)?;
        let currency = price.currency.as_str();
        Some((minor(price.total, currency)?, currency.to_owned()))
    };
    billed
        .map(|total| (total, currency.to_owned()))
        .or_else(of_journey)
}

/// Returns the price of the journey, which is in one of two fields.
fn price<'j, 'a>(journey: &'j BookedJourney<'a>) -> Option<&'j Price<'a>> {
    journey.pricing.display.as_ref().or(journey.price.as_ref())
}

/// Splits the price of the ticket into fare and taxes. Nuitee's fees and the account's markup count
/// as fare. Returns `None` if the parts do not belong to this price.
pub(crate) fn fare(
    journey: &BookedJourney<'_>,
    currency: &str,
    ticket: MinorUnits,
) -> Option<(MinorUnits, MinorUnits)> {
    let price = price(journey)?;
    if price.currency.as_str() != currency || minor(price.total, currency)? != ticket {
        return None;
    }
    let tax = minor(price.taxes, currency)?;
    Some((ticket.checked_sub(tax).filter(|fare| *fare >= 0)?, tax))
}

/// Returns the airline's record locator. `bookingRef` and the provider's reference are not record
/// locators.
fn locator(booking: &Booking<'_>) -> Option<String> {
    let listed = booking.airline_locators.0.iter();
    let ordered = booking.order.reference.airline_bookings.0.iter();
    let mut locators = listed
        .chain(ordered)
        .flat_map(|locator| [&locator.airline_pnr, &locator.pnr]);
    locators.find_map(|locator| locator.to_owned())
}

fn journeys_of_booking(
    booking: &Booking<'_>,
    bound: &PrebookReference,
    logo_url: &str,
) -> Vec<Journey> {
    let trip = Trip {
        key: booking.journey.key.as_str(),
        segments: &booking.journey.segments.0,
        segment_counts: &bound.segment_counts,
        logo_url,
    };
    let pieces = baggage::pieces(&booking.journey.baggage, &bound.passenger_types());
    journeys(trip, &bound.cabins, &pieces).unwrap_or_default()
}

/// Returns the seats and bags that were added before the booking was confirmed.
fn services(booking: &Booking<'_>, currency: &str) -> Vec<Service> {
    let services = booking.booked_services.0.iter();
    services
        .filter_map(|service| to_service(service, currency))
        .collect()
}

fn to_service(service: &BookedService<'_>, currency: &str) -> Option<Service> {
    let price = money(service.pricing.display.as_ref()?)?;
    let bag = service.metadata.baggage.as_ref();
    (price.currency == currency).then(|| Service {
        supplier_service_id: service.id.as_str().to_owned(),
        service_type: match service.category.as_str() {
            "baggage" => ServiceType::Baggage,
            "seat" => ServiceType::Seat,
            "meal" => ServiceType::Meal,
            _ => ServiceType::Other,
        },
        passenger: service
            .passenger
            .0
            .and_then(|index| u8::try_from(index).ok()),
        supplier_segment_ids: service.segment_key.to_owned().into_iter().collect(),
        baggage: bag.map(|bag| Baggage {
            baggage_type: match bag.bag_type.as_str() {
                "cabin" => BaggageType::CarryOn,
                _ => BaggageType::Checked,
            },
            max_weight_kg: bag.weight_kg.0,
        }),
        quantity: service
            .quantity
            .0
            .and_then(|quantity| u8::try_from(quantity).ok())
            .unwrap_or(1),
        unit_amount: price.amount,
    })
}

fn extensions(booking: &Booking<'_>) -> Extensions {
    let words = [
        ("booking_ref", &booking.reference),
        ("payment_status", &booking.payment_status),
        ("environment", &booking.environment),
    ];
    let words = words.into_iter();
    words
        .filter_map(|(name, word)| Some((name.to_owned(), word.to_owned()?)))
        .collect()
}

/// Returns the booking with the client reference; an active booking takes precedence over a
/// cancelled one. Nuitee compares references case-insensitively; this function compares them
/// exactly.
pub(crate) fn with_reference<'b, 'a>(
    bookings: &'b [Booking<'a>],
    client_reference: &str,
) -> Option<&'b Booking<'a>> {
    let ours = bookings.iter().filter(|booking| {
        booking.custom_tags.client_reference.as_deref() == Some(client_reference)
    });
    ours.min_by_key(|booking| {
        status(booking.status.as_str(), false) == Some(BookingStatus::Canceled)
    })
}
