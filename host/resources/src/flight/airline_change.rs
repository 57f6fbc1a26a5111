//! JSON resources of changes that airlines make to booked flights.

use crate::flight::itinerary::SegmentFlight;
use crate::value::IsoDateTime;
use host_domain::flight::booking::BookedChange;
use host_domain::flight::itinerary::{ChangeType as Type, Segment};
use serde::Serialize;
use utoipa::ToSchema;

/// The type of an airline-initiated change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ChangeType {
    /// The times changed.
    ScheduleChange,
    /// The flight was cancelled.
    Cancellation,
    /// The route changed.
    Reroute,
    /// The aircraft changed.
    Equipment,
}

/// A change that the airline made to booked flights.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct AirlineInitiatedChange {
    #[schema(
        pattern = "^aic_[a-zA-Z0-9-]+$",
        example = "aic_01976f3e4a5b7c8d9e0f112233445566"
    )]
    id: String,
    /// Time at which the supplier detected the change.
    detected_at: IsoDateTime,
    /// Type of the change.
    #[serde(rename = "type")]
    change_type: ChangeType,
    /// Whether the passenger must respond to the airline.
    action_required: bool,
    /// Original segments that are no longer flown.
    removed_segments: Vec<SegmentFlight>,
    /// Segments flown instead.
    added_segments: Vec<SegmentFlight>,
    /// Deadline for a response. Null if none is required or the deadline is not known.
    #[schema(required)]
    expires_at: Option<IsoDateTime>,
    /// Time at which the change was accepted.
    #[schema(required)]
    accepted_at: Option<IsoDateTime>,
}

/// Builds the resource of an airline-initiated change.
pub fn change(booked: &BookedChange) -> AirlineInitiatedChange {
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
