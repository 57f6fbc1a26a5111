//! Conversion of Jetbridge's journeys, in pure functions.

use stopover_sdk::flight_pricing::PassengerCounts;
use stopover_sdk::json::{DecodeError, non_empty};
use stopover_sdk::types::flight::{Cabin, Journey, Passenger, Segment, SegmentPassenger};

use crate::common::{self, JourneyData};
use crate::jetbridge::wire;

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

pub(crate) fn journeys(
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

pub(crate) fn segments(
    legs: Vec<wire::Leg>,
    passengers: PassengerCount,
) -> Result<Vec<Segment>, DecodeError> {
    legs.into_iter()
        .map(|leg| segment(leg, passengers))
        .collect()
}

fn segment(leg: wire::Leg, passengers: PassengerCount) -> Result<Segment, DecodeError> {
    let cabin = cabin(leg.cabin);
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

fn cabin(cabin: wire::Cabin) -> Cabin {
    match cabin {
        wire::Cabin::Economy => Cabin::Economy,
        wire::Cabin::PremiumEconomy => Cabin::PremiumEconomy,
        wire::Cabin::Business => Cabin::Business,
        wire::Cabin::First => Cabin::First,
    }
}

pub(crate) fn wanted_cabin(cabin: Cabin) -> wire::Cabin {
    match cabin {
        Cabin::Economy => wire::Cabin::Economy,
        Cabin::PremiumEconomy => wire::Cabin::PremiumEconomy,
        Cabin::Business => wire::Cabin::Business,
        Cabin::First => wire::Cabin::First,
    }
}
