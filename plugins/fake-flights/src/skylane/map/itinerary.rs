//! Conversion of Skylane's slices to journeys, in pure functions.

use stopover_sdk::json::{DecodeError, non_empty};
use stopover_sdk::time;
use stopover_sdk::types::flight::{Cabin, Journey, Segment, SegmentPassenger};

use crate::common::{self, JourneyData};
use crate::skylane::wire;

pub(crate) fn journeys(slices: Vec<wire::Slice>) -> Result<Vec<Journey>, DecodeError> {
    let journeys_data = slices.into_iter().map(|slice| {
        Ok(JourneyData {
            minutes: minutes(&slice.duration)?,
            segments: segments(slice.segments)?,
            id: slice.id,
            origin: slice.from,
            destination: slice.to,
            brand: slice.brand,
        })
    });
    common::journeys(journeys_data.collect::<Result<_, DecodeError>>()?)
}

pub(crate) fn segments(segments: Vec<wire::Segment>) -> Result<Vec<Segment>, DecodeError> {
    segments.into_iter().map(segment).collect()
}

fn segment(segment: wire::Segment) -> Result<Segment, DecodeError> {
    let seat = segment.travellers.first();
    let cabin = seat.map(|seat| cabin(seat.cabin));
    let operator = segment.operator;
    Ok(Segment {
        cabin: cabin.ok_or_else(|| DecodeError::new("a flight has no passengers"))?,
        departure_time: common::local_time(&segment.departs)?,
        arrival_time: common::local_time(&segment.arrives)?,
        duration_minutes: Some(minutes(&segment.duration)?),
        supplier_segment_id: segment.id,
        origin: segment.from,
        destination: segment.to,
        origin_time_zone: non_empty(segment.from_zone),
        destination_time_zone: non_empty(segment.to_zone),
        marketing_flight: format!("{}{}", segment.carrier.code, segment.flight_no),
        marketing_carrier: segment.carrier.name,
        marketing_carrier_code: segment.carrier.code,
        marketing_carrier_logo_url: segment.carrier.logo,
        operating_carrier_logo_url: operator.as_ref().and_then(|carrier| carrier.logo.clone()),
        operating_carrier: operator.map(|carrier| carrier.name),
        passengers: segment.travellers.into_iter().map(passenger).collect(),
    })
}

fn passenger(seat: wire::Seat) -> SegmentPassenger {
    SegmentPassenger {
        passenger: seat.index,
        cabin: cabin(seat.cabin),
        cabin_name: non_empty(seat.cabin_name),
        checked_bags: Some(seat.checked),
        carry_on_bags: Some(seat.carry_on),
    }
}

fn cabin(cabin: wire::Cabin) -> Cabin {
    match cabin {
        wire::Cabin::Economy => Cabin::Economy,
        wire::Cabin::Premium => Cabin::PremiumEconomy,
        wire::Cabin::Business => Cabin::Business,
        wire::Cabin::First => Cabin::First,
    }
}

pub(crate) fn wanted_cabin(cabin: Cabin) -> wire::Cabin {
    match cabin {
        Cabin::Economy => wire::Cabin::Economy,
        Cabin::PremiumEconomy => wire::Cabin::Premium,
        Cabin::Business => wire::Cabin::Business,
        Cabin::First => wire::Cabin::First,
    }
}

fn minutes(duration: &str) -> Result<u32, DecodeError> {
    time::parse_duration_minutes(duration)
        .ok_or_else(|| DecodeError::new("a duration cannot be read"))
}
