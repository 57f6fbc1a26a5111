//! Conversion between Jetbridge's JSON and the interface, in pure functions.

use serde_json::{Value, json};
use stopover_sdk::flight_booking::{PrebookRequest, PrebookResponse};
use stopover_sdk::flight_pricing::{
    AppliedFilters, Filters, Offer, PassengerCounts, PriceRequest, PriceResponse, Sort,
};
use stopover_sdk::json::{DecodeError, ensure, non_empty};
use stopover_sdk::money::Decimal;
use stopover_sdk::types::flight::{
    AirlineChange, Cabin, ChangeType, Document, DocumentType, Gender, Journey, Passenger,
    PassengerType, Segment, SegmentPassenger, SupplierBooking,
};
use stopover_sdk::types::{BookingStatus, Checkout, Money};

use crate::common::{
    self, JourneyData, SupplierMoney, amount, conditions, convert_items, is_within_size_limit,
    without_nulls,
};
use crate::fault::booking_failure;
use crate::jetbridge::fault::ERRORS;
use crate::jetbridge::wire;

/// Jetbridge states the number of decimals of its units, which must match the currency's.
impl SupplierMoney for wire::Money {
    fn into_money(self) -> Result<Money, DecodeError> {
        let Self { units, scale, ccy } = self;
        let written: Decimal = format!("{units}e-{scale}")
            .parse()
            .map_err(|_| DecodeError::new("an amount in the data is out of range"))?;
        common::money(written, ccy)
    }
}

pub(crate) fn fares_request(request: &PriceRequest) -> Value {
    let passengers = &request.passengers;
    let legs = request.journeys.iter().map(
        |journey| json!({"org": journey.origin, "dst": journey.destination, "day": journey.date}),
    );
    without_nulls(json!({
        "legs": legs.collect::<Vec<_>>(),
        "pax": {
            "adt": passengers.adults,
            "chd": passengers.children,
            "inf": passengers.infants,
        },
        "ccy": request.currency,
        "filters": filters(&request.filters),
        "sort": match request.sort {
            Sort::TotalAmount => "PRICE",
            Sort::Duration => "DURATION",
            Sort::DepartureTime => "DEPARTURE",
        },
        "descending": request.descending,
        "limit": request.limit,
    }))
}

fn filters(filters: &Filters) -> Value {
    let listed = |airlines: &[String]| (!airlines.is_empty()).then(|| airlines.to_vec());
    without_nulls(json!({
        "cabin": filters.cabin.map(wanted_cabin),
        "maxStops": filters.max_stops,
        "airlines": listed(&filters.airlines),
        "notAirlines": listed(&filters.excluded_airlines),
        "departAfter": filters.departure_after,
        "departBefore": filters.departure_before,
        "arriveBefore": filters.arrival_before,
        "refundable": filters.refundable,
        "checkedBag": filters.checked_bag,
        // In minor units of the requested currency.
        "maxPrice": filters.max_total,
    }))
}

pub(crate) fn price_response(
    found: wire::Fares,
    request: &PriceRequest,
) -> Result<PriceResponse, DecodeError> {
    let passengers = PassengerCount::from_counts(&request.passengers);
    let (offers, surplus) = convert_items(found.fares, request.limit, |fare| {
        is_within_size_limit(&fare.fare_key)
            .then(|| offer(fare, request.currency.as_deref(), passengers))
            .transpose()
    })?;
    Ok(PriceResponse {
        offers,
        applied: AppliedFilters::all(),
        truncated: found.more || surplus,
    })
}

fn offer(
    fare: wire::Fare,
    currency: Option<&str>,
    passengers: PassengerCount,
) -> Result<Offer, DecodeError> {
    let total = fare.price.into_money()?;
    let currency = currency.unwrap_or(&total.currency).to_owned();
    Ok(Offer {
        supplier_offer: fare.fare_key,
        // A fare can be booked any number of times.
        exclusive_key: None,
        total: amount(total, &currency)?,
        currency,
        fare_family: non_empty(fare.family),
        refundable: fare.refundable,
        fare_conditions: conditions(fare.conditions)?,
        documents_required: fare.needs_document,
        checked_bag_included: fare.bags.checked,
        carry_on_included: fare.bags.cabin,
        journeys: journeys(fare.journeys, passengers)?,
        expires_at: Some(fare.valid_until),
    })
}

/// The number of passengers. Jetbridge states the allowance per passenger of each leg, but not the
/// number of passengers.
#[derive(Clone, Copy)]
pub(crate) struct PassengerCount(u8);

impl PassengerCount {
    /// Unknown number of passengers; segments then list none.
    pub(crate) const UNKNOWN: Self = Self(0);

    pub(crate) fn from_counts(passengers: &PassengerCounts) -> Self {
        let children = u8::try_from(passengers.children.len()).unwrap_or(u8::MAX);
        let grown = passengers.adults.saturating_add(children);
        Self(grown.saturating_add(passengers.infants))
    }

    pub(crate) fn of(passengers: &[Passenger]) -> Self {
        Self(u8::try_from(passengers.len()).unwrap_or(u8::MAX))
    }
}

fn journeys(
    journeys: Vec<wire::Journey>,
    passengers: PassengerCount,
) -> Result<Vec<Journey>, DecodeError> {
    let journeys_data = journeys.into_iter().map(|journey| {
        Ok(JourneyData {
            id: String::new(),
            segments: segments(journey.legs, passengers)?,
            origin: journey.org,
            destination: journey.dst,
            brand: journey.family,
            minutes: journey.minutes,
        })
    });
    common::journeys(journeys_data.collect::<Result<_, DecodeError>>()?)
}

fn segments(legs: Vec<wire::Leg>, passengers: PassengerCount) -> Result<Vec<Segment>, DecodeError> {
    legs.into_iter()
        .map(|leg| segment(leg, passengers))
        .collect()
}

fn segment(leg: wire::Leg, passengers: PassengerCount) -> Result<Segment, DecodeError> {
    let cabin = leg.cabin;
    let passenger = |passenger| SegmentPassenger {
        passenger,
        cabin,
        cabin_name: non_empty(leg.cabin_name.clone()),
        checked_bags: Some(leg.checked),
        carry_on_bags: Some(leg.cabin_bags),
    };
    Ok(Segment {
        supplier_segment_id: String::new(),
        departure_time: common::local_time(&leg.dep)?,
        arrival_time: common::local_time(&leg.arr)?,
        duration_minutes: Some(leg.minutes),
        cabin,
        passengers: (0..passengers.0).map(passenger).collect(),
        origin: leg.org,
        destination: leg.dst,
        origin_time_zone: non_empty(leg.org_tz),
        destination_time_zone: non_empty(leg.dst_tz),
        marketing_flight: format!("{}{}", leg.mkt.code, leg.no),
        marketing_carrier: leg.mkt.name,
        marketing_carrier_code: leg.mkt.code,
        marketing_carrier_logo_url: leg.mkt.logo,
        operating_carrier_logo_url: leg.opr.as_ref().and_then(|carrier| carrier.logo.clone()),
        operating_carrier: leg.opr.map(|carrier| carrier.name),
    })
}

fn wanted_cabin(cabin: Cabin) -> &'static str {
    match cabin {
        Cabin::Economy => "Y",
        Cabin::PremiumEconomy => "W",
        Cabin::Business => "C",
        Cabin::First => "F",
    }
}

pub(crate) fn prebook_request(request: &PrebookRequest) -> Value {
    let (contact, passengers) = (&request.contact, request.passengers.iter());
    json!({
        "fareKey": request.supplier_offer,
        "clientRef": request.client_reference,
        "contact": {"mail": contact.email, "phone": contact.phone},
        "pax": passengers.map(passenger).collect::<Vec<_>>(),
    })
}

fn passenger(passenger: &Passenger) -> Value {
    let accounts = passenger.loyalty_accounts.iter().map(
        |account| json!({"airline": account.airline_iata_code, "no": account.membership_number}),
    );
    without_nulls(json!({
        "type": match passenger.passenger_type {
            PassengerType::Adult => "ADT",
            PassengerType::Child => "CHD",
            PassengerType::Infant => "INF",
        },
        "title": passenger.title.map(|title| common::title(title).to_uppercase()),
        "first": passenger.first_name,
        "last": passenger.last_name,
        "birth": passenger.date_of_birth,
        "sex": match passenger.gender {
            Gender::Female => "F",
            Gender::Male => "M",
            Gender::Unspecified => "X",
        },
        "nation": passenger.nationality,
        "doc": passenger.document.as_ref().map(document),
        "ffp": accounts.collect::<Vec<_>>(),
    }))
}

fn document(document: &Document) -> Value {
    json!({
        "type": match document.document_type {
            DocumentType::Passport => "P",
            DocumentType::IdentityCard => "I",
        },
        "no": document.number,
        "country": document.issuing_country,
        "expiry": document.expires_on,
    })
}

pub(crate) fn prebook_response(
    prebook: wire::Prebook,
    request: &PrebookRequest,
) -> Result<PrebookResponse, DecodeError> {
    let currency = request.currency.clone();
    let seats = PassengerCount::of(&request.passengers);
    Ok(PrebookResponse {
        supplier_prebook: prebook.prebook_id,
        total: amount(prebook.price, &currency)?,
        fare: Some(amount(prebook.fare, &currency)?),
        fare_tax: Some(amount(prebook.tax, &currency)?),
        fare_conditions: conditions(prebook.conditions)?,
        documents_required: prebook.needs_document,
        journeys: journeys(prebook.journeys, seats)?,
        expires_at: Some(prebook.valid_until),
        checkout: Some(Checkout {
            url: non_empty(prebook.checkout.url),
            token: prebook.checkout.token,
        }),
        currency,
    })
}

/// Checks the currency of the response to a change.
pub(crate) fn check_currency(booking: &wire::Booking, currency: &str) -> Result<(), DecodeError> {
    ensure(
        booking.price.ccy == currency,
        "the booking is in another currency",
    )
}

pub(crate) fn booking(
    booking: wire::Booking,
    passengers: PassengerCount,
) -> Result<SupplierBooking, DecodeError> {
    let status = status(&booking);
    let total = booking.price.into_money()?;
    let currency = total.currency;
    let changes = (booking.changes.into_iter()).map(|found| change(found, passengers));
    Ok(SupplierBooking {
        status,
        supplier_reference: booking.booking_id,
        client_reference: Some(booking.client_ref),
        airline_pnr: non_empty(booking.pnr),
        total: total.amount,
        fare: Some(amount(booking.fare, &currency)?),
        fare_tax: Some(amount(booking.tax, &currency)?),
        journeys: journeys(booking.journeys, passengers)?,
        services: Vec::new(),
        changes: changes.collect::<Result<_, _>>()?,
        cancellation: common::cancellation(booking.cancellation, &currency)?,
        extensions: Vec::new(),
        currency,
    })
}

fn status(booking: &wire::Booking) -> BookingStatus {
    match booking.status {
        wire::Status::Processing => BookingStatus::Pending,
        wire::Status::Ticketed => BookingStatus::Confirmed,
        wire::Status::CancelRequested => BookingStatus::CancelPending,
        wire::Status::Cancelled => BookingStatus::Canceled,
        wire::Status::Failed => {
            let number = (booking.failure.as_ref()).map(|failure| failure.no.to_string());
            BookingStatus::Failed(booking_failure(&ERRORS, number.as_deref()))
        }
    }
}

fn change(change: wire::Change, passengers: PassengerCount) -> Result<AirlineChange, DecodeError> {
    let removed_segments = segments(change.old, passengers)?;
    let added_segments = segments(change.new, passengers)?;
    Ok(AirlineChange {
        change_type: match change.r#type {
            wire::ChangeType::Schedule => ChangeType::ScheduleChange,
            wire::ChangeType::Other => common::unknown_change(&added_segments),
        },
        supplier_change_id: change.change_id,
        detected_at: change.at,
        action_required: change.must_answer,
        removed_segments,
        added_segments,
        expires_at: change.answer_by,
        accepted_at: change.accepted_at,
    })
}
