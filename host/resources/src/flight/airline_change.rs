//! JSON resources of changes that airlines make to booked flights.

use crate::flight::itinerary::SegmentFlightResource;
use crate::value::{IsoDateTime, same_variants};
use host_domain::flight::booking::BookedChange;
use host_domain::flight::itinerary::{ChangeType, Segment};
use serde::Serialize;
use utoipa::ToSchema;

/// The type of an airline-initiated change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ChangeTypeResource {
    ScheduleChange,
    Cancellation,
    Reroute,
    Equipment,
}

/// A change that the airline made to booked flights.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct AirlineInitiatedChangeResource {
    #[schema(pattern = "^aic_[a-zA-Z0-9-]+$")]
    id: String,
    /// Time at which the supplier detected the change.
    detected_at: IsoDateTime,
    /// Type of the change.
    #[serde(rename = "type")]
    change_type: ChangeTypeResource,
    /// Whether the passenger must respond to the airline.
    action_required: bool,
    /// Original segments that are no longer flown.
    removed_segments: Vec<SegmentFlightResource>,
    /// Segments flown instead.
    added_segments: Vec<SegmentFlightResource>,
    /// Deadline for a response. Null if none is required or the deadline is not known.
    #[schema(required)]
    expires_at: Option<IsoDateTime>,
    /// Time at which the change was accepted.
    #[schema(required)]
    accepted_at: Option<IsoDateTime>,
}

pub fn change(booked: &BookedChange) -> AirlineInitiatedChangeResource {
    let change = &booked.change;
    AirlineInitiatedChangeResource {
        id: booked.id.to_string(),
        detected_at: change.detected_at.into(),
        change_type: change.change_type.into(),
        action_required: change.action_required,
        removed_segments: segments(&change.removed_segments),
        added_segments: segments(&change.added_segments),
        expires_at: change.expires_at.map(IsoDateTime::from),
        accepted_at: change.accepted_at.map(IsoDateTime::from),
    }
}

fn segments(segments: &[Segment]) -> Vec<SegmentFlightResource> {
    segments.iter().map(SegmentFlightResource::from).collect()
}

same_variants! {
    ChangeTypeResource <= ChangeType: ScheduleChange, Cancellation, Reroute, Equipment
}
