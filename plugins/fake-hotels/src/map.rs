//! Conversion of Lodge's rates, bookings and cancellations, in pure functions.

use serde_json::{Value, json};
use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::hotel_booking::{BookRequest, BookingLookup, PrebookResponse};
use stopover_sdk::hotel_cancellation::{CancelRequest, Preview};
use stopover_sdk::hotel_pricing::{HotelOffers, Offer, PriceRequest, PriceResponse};
use stopover_sdk::html::plain;
use stopover_sdk::json::{self, DecodeError, ensure, non_empty, single, without_nulls};
use stopover_sdk::money::{Decimal, MoneyError};
use stopover_sdk::types::hotel::{
    CancellationAmounts, CancellationPolicy, Guest, GuestType, HotelSummary, Loyalty, Promotion,
    Restriction, RoomRate, Stay, SupplierBooking, SupplierRoom,
};
use stopover_sdk::types::{BookingStatus, Location, MinorUnits, Money, Penalty, TimestampMs};
use stopover_sdk::{Refusal, RefusalReason, time};

use crate::fault::ERRORS;
use crate::wire;

/// Maximum size of a rate id that the gateway stores, in bytes.
const OFFER_BYTES_MAX: usize = 4 << 10;

/// Adds a stay to the body of a request.
pub(crate) fn with_stay(mut body: Value, stay: &Stay) -> Value {
    let rooms = stay.occupancies.iter();
    let rooms = rooms.map(|room| json!({"adults": room.adults, "child_ages": room.children}));
    let stay = without_nulls(json!({
        "arrive": stay.check_in,
        "depart": stay.check_out,
        "rooms": rooms.collect::<Vec<_>>(),
        "nationality": stay.guest_nationality,
        "residence": stay.guest_residence,
        "currency": stay.currency,
    }));
    if let (Some(body), Value::Object(stay)) = (body.as_object_mut(), stay) {
        body.extend(stay);
    }
    body
}

pub(crate) fn rates_request(request: &PriceRequest, includes_packages: bool) -> Value {
    let body = without_nulls(json!({
        "hotels": request.supplier_hotel_ids,
        "max_rates": request.max_offers_per_hotel,
        "packages": includes_packages.then_some(true),
    }));
    with_stay(body, &request.stay)
}

/// Returns the requested hotels, in their order. Hotels and rates that cannot be read are left out.
pub(crate) fn price_response(
    rates: wire::Rates,
    request: &PriceRequest,
) -> Result<PriceResponse, DecodeError> {
    let hotel_ids = &request.supplier_hotel_ids;
    check_currency(&rates.currency, &request.stay.currency)?;
    let mut dropped = DroppedItems::default();
    let found = rates.hotels.ok_or_else(lacks_list)?;
    let found = dropped.readable(format_args!("/hotels"), found).collect();
    let found = in_requested_order(found, hotel_ids, |(_, found)| &found.hotel.id);
    let limit = usize::from(request.max_offers_per_hotel);
    let mut hotels = Vec::with_capacity(found.len());
    for (at, found) in found {
        let rates = found.rates.ok_or_else(lacks_list);
        let Some(rates) = dropped.keep(format_args!("/hotels/{at}"), rates) else {
            continue;
        };
        let pointer = format_args!("/hotels/{at}/rates");
        let offers = dropped.convert(pointer, rates, limit, |rate| {
            is_within_size_limit(&rate.rate_id)
                .then(|| offer(rate, &request.stay))
                .transpose()
        });
        hotels.push(HotelOffers {
            offers,
            hotel: hotel(found.hotel),
        });
    }
    let has_offers = hotels.iter().any(|found| !found.offers.is_empty());
    dropped.check_remaining(has_offers)?;
    Ok(PriceResponse {
        hotels,
        currency: rates.currency,
    })
}

/// Returns the error of a response without a list that every such response has.
pub(crate) fn lacks_list() -> DecodeError {
    DecodeError::missing("the response has no list of items")
}

/// Returns the requested ones of the found hotels, in the order of the request.
pub(crate) fn in_requested_order<T>(
    mut found: Vec<T>,
    hotel_ids: &[String],
    id: fn(&T) -> &String,
) -> Vec<T> {
    found.retain(|hotel| hotel_ids.contains(id(hotel)));
    found.sort_by_cached_key(|hotel| hotel_ids.iter().position(|wanted| wanted == id(hotel)));
    found
}

fn is_within_size_limit(rate_id: &str) -> bool {
    let fits = rate_id.len() <= OFFER_BYTES_MAX;
    if !fits {
        stopover_sdk::warn!("left out a rate with an id of {} bytes", rate_id.len());
    }
    fits
}

fn offer(rate: wire::Rate, stay: &Stay) -> Result<Offer, DecodeError> {
    let currency = &stay.currency;
    Ok(Offer {
        total: amount(rate.total, currency)?,
        rooms: rooms(rate.rooms, stay)?,
        policy: policy(rate.terms, currency)?,
        promotions: promotions(rate.promotions, currency)?,
        loyalty: rate.rewards.map(loyalty),
        expires_at: Some(instant(&rate.expires_at)?),
        supplier_offer: rate.rate_id,
    })
}

pub(crate) fn prebook_response(
    prebook: wire::Prebook,
    stay: &Stay,
) -> Result<PrebookResponse, DecodeError> {
    let currency = prebook.currency;
    check_currency(&currency, &stay.currency)?;
    Ok(PrebookResponse {
        supplier_prebook: prebook.prebook_id,
        total: amount(prebook.total, &currency)?,
        hotel: hotel(prebook.hotel),
        rooms: rooms(prebook.rooms, stay)?,
        policy: policy(prebook.terms, &currency)?,
        promotions: promotions(prebook.promotions, &currency)?,
        loyalty: prebook.rewards.map(loyalty),
        expires_at: Some(instant(&prebook.expires_at)?),
        checkout: None,
        currency,
    })
}

fn hotel(hotel: wire::Hotel) -> HotelSummary {
    HotelSummary {
        supplier_hotel_id: hotel.id,
        name: hotel.name,
        address: hotel.address,
        location: Some(Location {
            latitude: hotel.lat,
            longitude: hotel.lng,
        }),
        time_zone: Some(hotel.zone),
    }
}

/// Converts the rooms, one per requested occupancy.
fn rooms(rooms: Vec<wire::Room>, stay: &Stay) -> Result<Vec<RoomRate>, DecodeError> {
    let is_one_per_occupancy = rooms.len() == stay.occupancies.len();
    ensure(is_one_per_occupancy, "the number of rooms does not match")?;
    rooms
        .into_iter()
        .map(|room| {
            Ok(RoomRate {
                name: room.name,
                board: room.board,
                board_name: room.board_text,
                total: amount(room.total, &stay.currency)?,
                due_at_property: room.due_at_hotel.map(due_at_property).transpose()?,
                policy: policy(room.terms, &stay.currency)?,
            })
        })
        .collect()
}

fn due_at_property(due: wire::DueAtHotel) -> Result<Money, DecodeError> {
    Ok(Money {
        amount: amount(due.amount, &due.currency)?,
        currency: due.currency,
    })
}

fn policy(terms: wire::Terms, currency: &str) -> Result<CancellationPolicy, DecodeError> {
    let penalties = terms.charges.into_iter().map(|charge| {
        Ok(Penalty {
            start: instant(&charge.from)?,
            amount: amount(charge.amount, currency)?,
            currency: currency.to_owned(),
        })
    });
    let mut penalties = penalties.collect::<Result<Vec<_>, DecodeError>>()?;
    penalties.sort_by_key(|penalty| penalty.start);
    let restrictions = terms.restrictions.into_iter().map(|restriction| {
        Ok(Restriction {
            code: restriction.code,
            description: restriction.text,
            active_from: optional_instant(restriction.from)?,
            active_until: optional_instant(restriction.until)?,
        })
    });
    Ok(CancellationPolicy {
        refundable: terms.refundable,
        free_until: optional_instant(terms.free_until)?,
        penalties,
        restrictions: restrictions.collect::<Result<_, DecodeError>>()?,
    })
}

fn promotions(
    promotions: Vec<wire::Promotion>,
    currency: &str,
) -> Result<Vec<Promotion>, DecodeError> {
    promotions
        .into_iter()
        .map(|promotion| {
            Ok(Promotion {
                name: promotion.name,
                description: non_empty(promotion.text),
                amount: Some(amount(promotion.off, currency)?),
                room_positions: promotion.rooms,
            })
        })
        .collect()
}

fn loyalty(rewards: wire::Rewards) -> Loyalty {
    Loyalty {
        program: rewards.program,
        membership_number: rewards.member_no,
        points_estimate: Some(rewards.points),
    }
}

/// Creates the body of a booking.
///
/// # Errors
/// The amount cannot be represented in its currency. Nothing was sent yet.
pub(crate) fn book_request(request: &BookRequest) -> Result<Value, MoneyError> {
    let (contact, rooms) = (&request.contact, request.rooms.iter());
    let rooms = rooms.map(|room| {
        let guests: Vec<_> = room.guests.iter().map(guest).collect();
        json!({ "guests": guests })
    });
    Ok(json!({
        "prebook_id": request.supplier_prebook,
        "client_ref": request.client_reference,
        "expected_total": Decimal::from_minor(request.total, &request.currency)?.to_string(),
        "holder": {
            "first": contact.first_name,
            "last": contact.last_name,
            "email": contact.email,
            "phone": contact.phone,
        },
        "rooms": rooms.collect::<Vec<_>>(),
    }))
}

fn guest(guest: &Guest) -> Value {
    without_nulls(json!({
        "first": guest.first_name,
        "last": guest.last_name,
        "kind": match guest.guest_type {
            GuestType::Adult => "adult",
            GuestType::Child => "child",
        },
        "age": guest.age,
        "lead": guest.is_lead,
    }))
}

pub(crate) fn booking(booking: wire::Booking) -> Result<SupplierBooking, DecodeError> {
    let policy = booked_policy(&booking);
    let status = status(&booking);
    let separable = booking.rooms_separable;
    let currency = booking.currency;
    let rooms = booking.rooms.into_iter().map(|room| {
        let position = room.no.checked_sub(1);
        Ok(SupplierRoom {
            position: position.ok_or_else(|| DecodeError::new("a room has the number 0"))?,
            // A reference tells the gateway that the room can be cancelled alone.
            supplier_room_reference: separable.then_some(room.r#ref),
            hotel_confirmation_code: room.confirmation_no.and_then(non_empty),
            canceled: room.cancelled,
        })
    });
    let rooms = rooms.collect::<Result<_, DecodeError>>()?;
    // Lodge documents `cancellation` as the sum of all cancellations so far, as the interface does.
    let cancellation = booking.cancellation.map(|done| {
        Ok::<_, DecodeError>(CancellationAmounts {
            fee: amount(done.fee, &currency)?,
            refund: Some(amount(done.refund, &currency)?),
            currency: currency.clone(),
            supplier_reference: Some(done.r#ref),
        })
    });
    Ok(SupplierBooking {
        status,
        supplier_reference: booking.id,
        client_reference: Some(booking.client_ref),
        total: amount(booking.total, &currency)?,
        hotel_confirmation_code: booking.confirmation_no.and_then(non_empty),
        remarks: booking.remarks.and_then(|html| non_empty(plain(&html))),
        rooms,
        policy,
        cancellation: cancellation.transpose()?,
        extensions: Vec::new(),
        currency,
    })
}

fn status(booking: &wire::Booking) -> BookingStatus {
    match booking.state {
        wire::BookingState::Pending => BookingStatus::Pending,
        wire::BookingState::Confirmed => BookingStatus::Confirmed,
        wire::BookingState::PartCancelled => BookingStatus::PartiallyCanceled,
        wire::BookingState::Cancelling => BookingStatus::CancelPending,
        wire::BookingState::Cancelled => BookingStatus::Canceled,
        wire::BookingState::Rejected => BookingStatus::Failed(rejection(booking)),
    }
}

/// Returns the refusal of a rejected booking. It is definite, whatever the reason.
fn rejection(booking: &wire::Booking) -> Refusal {
    let code = (booking.reject_reason.as_ref()).map(|reason| reason.code.as_str());
    let rejected = || {
        let reason = RefusalReason::Other("rejected".to_owned());
        Refusal::new(reason, "Lodge rejected the booking.")
    };
    match code {
        Some(code) => (ERRORS.refusal(code)).unwrap_or_else(|| rejected().with_code(code)),
        None => rejected(),
    }
}

/// Returns the terms of a booking, or `None` if they are missing or unreadable.
pub(crate) fn booked_policy(booking: &wire::Booking) -> Option<CancellationPolicy> {
    let written = booking.terms.as_ref()?.get();
    let read = json::decode(written.as_bytes()).and_then(|terms| policy(terms, &booking.currency));
    if read.is_err() {
        stopover_sdk::warn!("the terms of a booking cannot be read");
    }
    read.ok()
}

/// Returns the booking with the client reference among those found.
pub(crate) fn booking_lookup(
    found: wire::Bookings,
    client_reference: &str,
) -> Result<BookingLookup, DecodeError> {
    let Some(found) = single(found.bookings)? else {
        return Ok(BookingLookup::NotFound);
    };
    check_client_reference(&found, client_reference)?;
    Ok(BookingLookup::Found(booking(found)?))
}

pub(crate) fn check_client_reference(
    booking: &wire::Booking,
    client_reference: &str,
) -> Result<(), DecodeError> {
    ensure(
        booking.client_ref == client_reference,
        "the booking has a different client reference",
    )
}

pub(crate) fn check_currency(actual: &str, expected: &str) -> Result<(), DecodeError> {
    ensure(
        actual == expected,
        "the amounts are in a currency other than the requested one",
    )
}

/// Creates the body of a cancellation. Lodge counts the rooms from 1, and cancels all rooms if none
/// is listed.
pub(crate) fn cancel_request(request: &CancelRequest) -> Value {
    let numbers = (request.rooms.iter()).map(|room| u16::from(room.position) + 1);
    let numbers: Vec<_> = numbers.collect();
    without_nulls(json!({
        "client_ref": request.client_reference,
        "rooms": (!numbers.is_empty()).then_some(numbers),
    }))
}

pub(crate) fn preview(preview: wire::Preview) -> Result<Preview, DecodeError> {
    Ok(Preview {
        fee: amount(preview.fee, &preview.currency)?,
        refund: Some(amount(preview.refund, &preview.currency)?),
        free_until: optional_instant(preview.free_until)?,
        currency: preview.currency,
    })
}

/// Converts an amount. Lodge writes exactly the decimals that the currency has.
pub(crate) fn amount(decimal: Decimal, currency: &str) -> Result<MinorUnits, DecodeError> {
    decimal
        .to_minor(currency)
        .map_err(|error| DecodeError::new(format!("an amount is invalid: {error}")))
}

pub(crate) fn instant(text: &str) -> Result<TimestampMs, DecodeError> {
    time::parse_timestamp(text).ok_or_else(|| DecodeError::new("an instant cannot be read"))
}

fn optional_instant(text: Option<String>) -> Result<Option<TimestampMs>, DecodeError> {
    text.as_deref().map(instant).transpose()
}
