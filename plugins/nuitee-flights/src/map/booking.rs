//! Conversion of a Nuitee booking to the gateway's types.

use stopover_sdk::detailed_flight_booking::DetailedBooking;
use stopover_sdk::dropped::{DropReason, DroppedItems};
use stopover_sdk::json::{DecodeError, ensure};
use stopover_sdk::lenient::{Essential, Part, Single};
use stopover_sdk::money::MINOR_UNITS_MAX;
use stopover_sdk::types::flight::{CancellationAmounts, Journey, SupplierBooking};
use stopover_sdk::types::flight_details::{BookingDetails, JourneyDetails, PaymentStatus};
use stopover_sdk::types::{BookingStatus, Extensions, Money};

use crate::map::details::{DetailSources, journey_details};
use crate::map::journey::{Trip, check_segment_ids, journeys};
use crate::map::locator::order_references;
use crate::map::prebook::PrebookReference;
use crate::map::service::{booked_services, has_services};
use crate::map::trip::TripParts;
use crate::map::{PartReader, baggage, minor, price};
use crate::wire::booking::{Billing, Booking, Tags};

/// Converts a status. Returns `None` for an unknown status, because neither "booked" nor "not
/// booked" may be guessed. Nuitee keeps the old status while a cancellation waits for the airline.
pub(crate) fn status(text: &str, is_cancelling: bool) -> Option<BookingStatus> {
    let status = match text.to_ascii_uppercase().as_str() {
        "PENDING_CONFIRMATION" | "CREATED" | "PENDING" => BookingStatus::Pending,
        "CONFIRMED" | "TICKETED" => BookingStatus::Confirmed,
        "CANCELLED" | "CANCELED" => return Some(BookingStatus::Canceled),
        _ if states_charges(text) => return Some(BookingStatus::Canceled),
        _ => return None,
    };
    Some(if is_cancelling {
        BookingStatus::CancelPending
    } else {
        status
    })
}

/// Returns whether a status says that a booking was cancelled and that money was kept.
pub(crate) fn states_charges(status: &str) -> bool {
    let names = ["CANCELLED_WITH_CHARGES", "CANCELED_WITH_CHARGES"];
    names.iter().any(|name| status.eq_ignore_ascii_case(name))
}

/// Converts the booking at `pointer`. Its id, status and reference are read first; a part without
/// which the booking is usable is left out if it cannot be read. The journeys are included only if the
/// prebook is given: Nuitee's booking states neither the cabin of a flight nor the journey that it
/// belongs to.
///
/// # Errors
/// The booking has no id or an unknown status, it cannot be read whether it is being cancelled, it has
/// several tags, or neither it nor the prebook has a price.
pub(crate) fn supplier_booking(
    booking: Booking<'_>,
    bound: Option<&PrebookReference>,
    logo_url: &str,
    pointer: &str,
    dropped: &mut DroppedItems,
) -> Result<DetailedBooking, DecodeError> {
    let supplier_reference = booking.id.required("bookingId")?.as_str().to_owned();
    let reference_pointer = format!("{pointer}/order");
    let mut parts = PartReader {
        pointer,
        dropped: &mut *dropped,
    };
    let status = current_status(&booking)?;
    let has_charges = states_charges(booking.status.required("status")?.as_str());
    let tags = booking.custom_tags.optional("customTags")?.cloned();
    let tags = parts.read("customTags", tags.unwrap_or_default());
    let client_reference = tags.as_ref().map(client_reference).transpose()?.flatten();
    let client_reference = client_reference.map(str::to_owned);
    let bill = parts
        .read("pricing", booking.pricing.into_part())
        .unwrap_or_default();
    let order = parts.read("order", booking.order).unwrap_or_default();
    parts.pointer = &reference_pointer;
    let order = parts.read("reference", order.reference).unwrap_or_default();

    let references = order_references(booking.airline_locators, order, pointer, dropped);
    let airline_pnr = references.airline_locator();
    let trip = TripParts::read_part(booking.journey, &format!("{pointer}/journey"), dropped);
    let has_services = has_services(&booking.booked_services);
    let written = written_total(&bill, &trip, has_services);
    let total = match dropped.keep(format_args!("{pointer}/pricing"), written) {
        Some(total) => total,
        None => fallback_total(&trip, bound)?,
    };
    let services_total = minor(bill.services, &total.currency).unwrap_or(0);
    let ticket = total.amount.saturating_sub(services_total);
    let price = price::breakdown(trip.price.as_ref(), &total.currency, ticket);
    let dropped_before = dropped.count();
    let (services, service_details) =
        booked_services(booking.booked_services, &total.currency, pointer, dropped);
    let services_left_out = dropped.count() > dropped_before;
    let journeys = bound.map(|bound| booked_journeys(&trip, bound, logo_url));
    let journeys =
        journeys.and_then(|journeys| dropped.keep(format_args!("{pointer}/journey"), journeys));
    let (journeys, journey_details) = journeys.unwrap_or_default();
    // A booking states no amounts of its cancellation.
    let cancellation = has_charges.then(|| undecided_amounts(&total.currency));
    let payment_status = to_payment_status(booking.payment_status.as_str());
    let booking = SupplierBooking {
        status,
        supplier_reference,
        client_reference,
        airline_pnr,
        currency: total.currency,
        total: total.amount,
        fare: price.fare,
        fare_tax: price.fare_tax,
        journeys,
        services,
        changes: Vec::new(),
        cancellation,
        extensions: extensions([
            ("booking_ref", booking.reference.to_owned()),
            ("payment_status", booking.payment_status.to_owned()),
            ("environment", booking.environment.to_owned()),
            ("order_id", references.order_id),
        ]),
    };
    let details = BookingDetails {
        price,
        payment_status,
        record_locators: references.locators,
        documents: Vec::new(),
        journeys: journey_details,
        services: service_details,
        services_left_out,
    };
    Ok(DetailedBooking { booking, details })
}

/// Returns the booking's status. A booking that was cancelled may keep the intent.
fn current_status(booking: &Booking<'_>) -> Result<BookingStatus, DecodeError> {
    let status = listed_status(booking)?;
    if status == BookingStatus::Canceled {
        return Ok(status);
    }
    let intent = booking.cancel_intent_at.optional("cancelIntentAt")?;
    let is_cancelling = intent.is_some_and(|intent| !intent.trim().is_empty());
    Ok(if is_cancelling {
        BookingStatus::CancelPending
    } else {
        status
    })
}

/// Leaves out an intent to cancel that cannot be read, for a response in which it decides nothing.
pub(crate) fn leave_out_odd_intent(
    booking: &mut Booking<'_>,
    pointer: &str,
    dropped: &mut DroppedItems,
) {
    let intent = booking.cancel_intent_at.optional("cancelIntentAt");
    if let Err(error) = intent {
        let pointer = format_args!("{pointer}/cancelIntentAt");
        dropped.add(pointer, DropReason::Unreadable, error);
        booking.cancel_intent_at = Essential::default();
    }
}

/// Returns whether the booking names another client reference.
pub(crate) fn is_of_another(booking: &Booking<'_>, client_reference: &str) -> bool {
    listed_reference(booking).is_ok_and(|reference| reference != client_reference)
}

/// Returns the client reference in the tags of a booking, or `None` if it has none.
///
/// # Errors
/// The reference cannot be read, so that it may be another booking's.
fn client_reference(tags: &Tags) -> Result<Option<&str>, DecodeError> {
    let reference = tags.client_reference.optional("GW_REF")?;
    Ok(reference.map(String::as_str))
}

/// Returns the total of everything bought: that of the bill or, if nothing was added to the journey,
/// the price of the journey.
fn written_total(
    bill: &Billing<'_>,
    trip: &TripParts<'_>,
    has_services: bool,
) -> Result<Money, DecodeError> {
    billed(bill)
        .or_else(|| journey_price(trip).filter(|_| !has_services))
        .ok_or_else(unpriced)
}

/// Returns the prebooked total or, without a prebook, the price of the journey.
fn fallback_total(
    trip: &TripParts<'_>,
    bound: Option<&PrebookReference>,
) -> Result<Money, DecodeError> {
    let prebooked = bound.and_then(PrebookReference::total);
    prebooked
        .or_else(|| journey_price(trip))
        .ok_or_else(unpriced)
}

/// Returns amounts that stand for charges or stated amounts that cannot be used. They do not add up to
/// what was paid, so that an operator decides the refund, and not the terms of the fare.
pub(crate) fn undecided_amounts(currency: &str) -> CancellationAmounts {
    CancellationAmounts {
        fee: 0,
        refund: 0,
        currency: currency.to_owned(),
        supplier_reference: None,
    }
}

fn unpriced() -> DecodeError {
    DecodeError::missing("the booking has no readable price")
}

fn billed(bill: &Billing<'_>) -> Option<Money> {
    let currency = bill.currency.as_str();
    let total = match bill.total {
        Single::Repeated => None,
        total => minor(total, currency).or_else(|| {
            let services = match bill.services {
                Single::Missing => 0,
                services => minor(services, currency)?,
            };
            let sum = minor(bill.subtotal, currency)?.checked_add(services);
            sum.filter(|sum| *sum <= MINOR_UNITS_MAX)
        }),
    };
    Some(Money::new(total?, currency))
}

fn journey_price(trip: &TripParts<'_>) -> Option<Money> {
    let price = trip.price.as_ref()?;
    let currency = price.currency.as_str();
    Some(Money::new(minor(price.total, currency)?, currency))
}

/// Converts the journeys. They are whole or left out: the gateway replaces its own by them, and keeps
/// its own if there are none.
fn booked_journeys(
    parts: &TripParts<'_>,
    bound: &PrebookReference,
    logo_url: &str,
) -> Result<(Vec<Journey>, Vec<JourneyDetails>), DecodeError> {
    let Some(segments) = &parts.segments else {
        return Ok(Default::default());
    };
    let trip = Trip {
        key: parts.key.as_str(),
        segments,
        segment_counts: &bound.segment_counts,
        logo_url,
    };
    let passengers = bound.passenger_types();
    let pieces = baggage::pieces(&parts.baggage, &passengers);
    let journeys = journeys(trip, &bound.cabins, &pieces)?;
    check_segment_ids(&journeys)?;
    let sources = DetailSources {
        fares: &parts.segment_fares,
        amenities: &[],
        baggage: &parts.baggage,
        passengers: &passengers,
    };
    Ok((journeys, journey_details(trip, &sources)))
}

fn to_payment_status(status: &str) -> Option<PaymentStatus> {
    let awaiting_payment = match status {
        "pending" => true,
        "completed" | "not_required" => false,
        _ => return None,
    };
    Some(PaymentStatus {
        awaiting_payment,
        payment_required_by: None,
        price_guaranteed_until: None,
    })
}

fn extensions(words: [(&str, Option<String>); 4]) -> Extensions {
    let words = words.into_iter();
    words
        .filter_map(|(name, word)| Some((name.to_owned(), word?)))
        .collect()
}

/// Returns the booking with the client reference, and its JSON pointer. An active booking takes
/// precedence over a cancelled one. Nuitee compares references case-insensitively; this function
/// compares them exactly. `unreadable` is the error of a listed booking that cannot be read.
///
/// # Errors
/// Several active bookings have the reference, or no active one has it and a listed booking or its
/// reference cannot be read. If none has it, one that differs not only in case shows that Nuitee did
/// not filter the list, which then proves nothing.
pub(crate) fn with_reference<'a>(
    bookings: impl IntoIterator<Item = (String, Booking<'a>)>,
    client_reference: &str,
    mut unreadable: Option<DecodeError>,
) -> Result<Option<(String, Booking<'a>)>, DecodeError> {
    let (mut active, mut canceled, mut is_filtered) = (None, None, true);
    for (pointer, booking) in bookings {
        let status = match listed_reference(&booking) {
            Ok(reference) if reference == client_reference => listed_status(&booking),
            Ok(reference) => {
                is_filtered &= reference.eq_ignore_ascii_case(client_reference);
                continue;
            }
            Err(error) => Err(error),
        };
        match status {
            Ok(BookingStatus::Canceled) => {
                canceled.get_or_insert((pointer, booking));
            }
            Ok(_) => {
                let is_only = active.replace((pointer, booking)).is_none();
                ensure(is_only, "several bookings have the client reference")?;
            }
            Err(error) => unreadable = Some(error),
        }
    }
    match (active, unreadable) {
        (Some(active), _) => Ok(Some(active)),
        (None, Some(error)) => Err(error),
        (None, None) => {
            let is_answer = canceled.is_some() || is_filtered;
            ensure(is_answer, "the list has bookings with other references")?;
            Ok(canceled)
        }
    }
}

/// Returns the client reference of a listed booking.
fn listed_reference<'b>(booking: &'b Booking<'_>) -> Result<&'b str, DecodeError> {
    let tags = match booking.custom_tags.optional("customTags")? {
        Some(Part::Unreadable(error)) => return Err(error.clone()),
        tags => tags.and_then(Part::as_decoded),
    };
    let reference = tags.map(self::client_reference).transpose()?.flatten();
    let lacks_reference = || DecodeError::missing("a listed booking has no client reference");
    reference.ok_or_else(lacks_reference)
}

fn listed_status(booking: &Booking<'_>) -> Result<BookingStatus, DecodeError> {
    let written = booking.status.required("status")?.as_str();
    status(written, false).ok_or_else(unknown_status)
}

fn unknown_status() -> DecodeError {
    DecodeError::new("the booking has an unknown status")
}
