//! Building and checking of responses, which both suppliers share, in pure functions.

use serde_json::Value;
use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::flight_cancellation::AirlineQuote;
use stopover_sdk::flight_reference::{Airline, Airport, AirportResponse};
use stopover_sdk::json::{DecodeError, ensure, non_empty};
use stopover_sdk::lenient::LenientList;
use stopover_sdk::money::Decimal;
use stopover_sdk::time;
use stopover_sdk::types::flight::{
    CancellationAmounts, ChangeType, Direction, FareCondition, FareConditions, Journey, Segment,
    Title,
};
use stopover_sdk::types::{LocalTime, MinorUnits, Money, TimestampMs};

use crate::wire;

/// Maximum size of an offer id that the gateway stores, in bytes.
const OFFER_BYTES_MAX: usize = 4 << 10;

/// The data of a journey that its supplier gives.
pub(crate) struct JourneyData {
    /// Supplier's id of the journey; empty if it has none.
    pub(crate) id: String,
    pub(crate) origin: String,
    pub(crate) destination: String,
    pub(crate) brand: String,
    pub(crate) minutes: u32,
    pub(crate) segments: Vec<Segment>,
}

/// Returns the journeys of a trip in their order.
pub(crate) fn journeys(journeys: Vec<JourneyData>) -> Result<Vec<Journey>, DecodeError> {
    let airports: Vec<_> = (journeys.iter())
        .map(|journey| (journey.origin.as_str(), journey.destination.as_str()))
        .collect();
    let directions = Direction::for_journeys(&airports);
    (journeys.into_iter().zip(directions))
        .map(|(data, direction)| journey(data, direction))
        .collect()
}

fn journey(data: JourneyData, direction: Direction) -> Result<Journey, DecodeError> {
    let (Some(first), Some(last)) = (data.segments.first(), data.segments.last()) else {
        return Err(DecodeError::new("a journey has no flights"));
    };
    let stops = u8::try_from(data.segments.len() - 1)
        .map_err(|_| DecodeError::new("a journey has too many flights"))?;
    Ok(Journey {
        departure_time: first.departure_time.clone(),
        arrival_time: last.arrival_time.clone(),
        supplier_journey_id: data.id,
        origin: data.origin,
        destination: data.destination,
        direction,
        fare_brand: non_empty(data.brand),
        duration_minutes: Some(data.minutes),
        stops,
        segments: data.segments,
    })
}

/// Removes the members of an object that are null. The suppliers expect that they are absent.
pub(crate) fn without_nulls(mut object: Value) -> Value {
    if let Some(members) = object.as_object_mut() {
        members.retain(|_, member| !member.is_null());
    }
    object
}

/// Returns a title in lower case.
pub(crate) fn title(title: Title) -> &'static str {
    match title {
        Title::Mr => "mr",
        Title::Mrs => "mrs",
        Title::Ms => "ms",
        Title::Miss => "miss",
        Title::Mx => "mx",
        Title::Dr => "dr",
    }
}

/// Returns the type of an airline-initiated change whose kind is unknown, derived from the
/// remaining flights.
pub(crate) fn unknown_change(added: &[Segment]) -> ChangeType {
    if added.is_empty() {
        ChangeType::Cancellation
    } else {
        ChangeType::Reroute
    }
}

/// Converts an amount. Both suppliers write exactly the decimals that the currency has.
pub(crate) fn money(amount: Decimal, currency: String) -> Result<Money, DecodeError> {
    let amount = amount
        .to_minor(&currency)
        .map_err(|error| DecodeError::new(format!("an amount is invalid: {error}")))?;
    Ok(Money { amount, currency })
}

/// Money in a supplier's form.
pub(crate) trait SupplierMoney {
    fn into_money(self) -> Result<Money, DecodeError>;
}

impl SupplierMoney for Money {
    fn into_money(self) -> Result<Money, DecodeError> {
        Ok(self)
    }
}

/// Returns an amount, which must be in this currency.
pub(crate) fn amount(money: impl SupplierMoney, currency: &str) -> Result<MinorUnits, DecodeError> {
    let money = money.into_money()?;
    ensure(
        money.currency == currency,
        "the amounts are in a currency other than the requested one",
    )?;
    Ok(money.amount)
}

pub(crate) fn conditions<M: SupplierMoney>(
    conditions: wire::Conditions<M>,
) -> Result<FareConditions, DecodeError> {
    let condition = |condition: wire::Condition<M>| {
        Ok::<_, DecodeError>(FareCondition {
            allowed: condition.allowed,
            penalty: condition.penalty.map(M::into_money).transpose()?,
        })
    };
    Ok(FareConditions {
        refund: condition(conditions.refund)?,
        change: condition(conditions.change)?,
    })
}

/// Converts the cancellation of a booking in this currency.
pub(crate) fn cancellation(
    cancellation: Option<wire::Cancellation<impl SupplierMoney>>,
    currency: &str,
) -> Result<Option<CancellationAmounts>, DecodeError> {
    let Some(done) = cancellation else {
        return Ok(None);
    };
    Ok(Some(CancellationAmounts {
        fee: amount(done.fee, currency)?,
        refund: amount(done.refund, currency)?,
        currency: currency.to_owned(),
        supplier_reference: Some(done.r#ref),
    }))
}

pub(crate) fn quote<M: SupplierMoney>(
    fee: M,
    refund: M,
    expires_at: TimestampMs,
) -> Result<AirlineQuote, DecodeError> {
    let fee = fee.into_money()?;
    Ok(AirlineQuote {
        fee: fee.amount,
        refund: amount(refund, &fee.currency)?,
        expires_at: Some(expires_at),
        currency: fee.currency,
    })
}

/// Returns up to `limit` airports, and whether there are more. Those that cannot be read are left out.
///
/// # Errors
/// There is no list of airports, or none of them can be read.
pub(crate) fn airports(
    found: Option<LenientList<wire::Airport>>,
    more: bool,
    limit: u16,
) -> Result<AirportResponse, DecodeError> {
    let (airports, surplus) = convert_items(found, limit, |found| Ok(Some(airport(found))))?;
    Ok(AirportResponse {
        truncated: more || surplus,
        airports,
    })
}

/// Converts the items of a list up to a limit, and returns whether there are more. Items for which
/// `convert` returns nothing are skipped. Those that cannot be read are left out and counted.
///
/// # Errors
/// There is no list, or none of its items can be read.
pub(crate) fn convert_items<W, T>(
    found: Option<LenientList<W>>,
    limit: u16,
    convert: impl Fn(W) -> Result<Option<T>, DecodeError>,
) -> Result<(Vec<T>, bool), DecodeError> {
    let found = found.ok_or_else(|| DecodeError::missing("the response has no list of items"))?;
    let limit = usize::from(limit);
    let surplus = found.len() > limit;
    let mut dropped = DroppedItems::default();
    let items = dropped.convert(format_args!("/items"), found, limit, convert);
    dropped.check_remaining(!items.is_empty())?;
    Ok((items, surplus))
}

fn airport(airport: wire::Airport) -> Airport {
    Airport {
        supplier_airport_id: airport.id.unwrap_or_else(|| airport.iata.clone()),
        iata_code: airport.iata,
        icao_code: non_empty(airport.icao),
        name: airport.name,
        city: non_empty(airport.city),
        state: non_empty(airport.state),
        country: non_empty(airport.country),
        latitude: Some(airport.lat),
        longitude: Some(airport.lon),
        time_zone: non_empty(airport.zone),
    }
}

pub(crate) fn airline(airline: wire::Airline) -> Airline {
    Airline {
        supplier_airline_id: airline.id.unwrap_or_else(|| airline.iata.clone()),
        iata_code: airline.iata,
        icao_code: non_empty(airline.icao),
        name: airline.name,
        country: non_empty(airline.country),
        alliance: airline.alliance,
        logo_url: airline.logo,
        is_active: airline.active,
    }
}

pub(crate) fn local_time(text: &str) -> Result<LocalTime, DecodeError> {
    time::parse_local_time(text).ok_or_else(|| DecodeError::new("a local time cannot be read"))
}

pub(crate) fn check_client_reference(
    found: &str,
    client_reference: &str,
) -> Result<(), DecodeError> {
    ensure(
        found == client_reference,
        "the booking has a different client reference",
    )
}

pub(crate) fn is_within_size_limit(offer_id: &str) -> bool {
    let fits = offer_id.len() <= OFFER_BYTES_MAX;
    if !fits {
        stopover_sdk::warn!("left out an offer with an id of {} bytes", offer_id.len());
    }
    fits
}
