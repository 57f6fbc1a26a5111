//! What airlines change about booked flights.

use crate::api::value::IsoDateTime;
use crate::render::flight::itinerary::SegmentFlight;
use host_domain::flight::booking::BookedChange;
use host_domain::flight::itinerary::{ChangeType as Type, Segment};
use serde::Serialize;
use utoipa::ToSchema;

/// What an airline changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum ChangeType {
    /// Other times.
    ScheduleChange,
    /// Not flown any more.
    Cancellation,
    /// Another way.
    Reroute,
    /// Another aircraft.
    Equipment,
}

/// A change by the airline to booked flights.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct AirlineInitiatedChange {
    #[schema(
        pattern = "^aic_[a-zA-Z0-9-]+$",
        example = "aic_01976f3e4a5b7c8d9e0f112233445566"
    )]
    id: String,
    /// When the supplier learned of it.
    detected_at: IsoDateTime,
    /// What changed.
    #[serde(rename = "type")]
    change_type: ChangeType,
    /// The passenger has to answer the airline.
    action_required: bool,
    /// As they were; not flown any more.
    removed_segments: Vec<SegmentFlight>,
    /// Flown instead.
    added_segments: Vec<SegmentFlight>,
    /// Until when to answer; null: nothing to answer, or not told.
    #[schema(required)]
    expires_at: Option<IsoDateTime>,
    /// When it was accepted.
    #[schema(required)]
    accepted_at: Option<IsoDateTime>,
}

/// A change by the airline.
pub(crate) fn change(booked: &BookedChange) -> AirlineInitiatedChange {
    let change = &booked.change;
    AirlineInitiatedChange {
        id: booked.id.to_string(),
        detected_at: change.detected_at.into(),
        change_type: match change.change_type {
            Type::ScheduleChange => ChangeType::ScheduleChange,
            Type::Cancellation => ChangeType::Cancellation,
            Type::Reroute => ChangeType::Reroute,
            Type::Equipment => ChangeType::Equipment,
        },
        action_required: change.action_required,
        removed_segments: segments(&change.removed_segments),
        added_segments: segments(&change.added_segments),
        expires_at: change.expires_at.map(IsoDateTime::from),
        accepted_at: change.accepted_at.map(IsoDateTime::from),
    }
}

fn segments(segments: &[Segment]) -> Vec<SegmentFlight> {
    segments.iter().map(SegmentFlight::from).collect()
}
