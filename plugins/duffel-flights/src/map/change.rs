//! Airline-initiated changes.

use stopover_sdk::json::{DecodeError, ensure};
use stopover_sdk::time;
use stopover_sdk::types::flight::{AirlineChange, Cabin, ChangeType};

use crate::map::itinerary::segments;
use crate::map::passenger::PassengerIds;
use crate::wire::itinerary::{Segment, Slice};
use crate::wire::order;

/// Class of a flight for which a change states none. A change sells nothing, and must not be lost because
/// of its class.
const DEFAULT_CABIN: Option<Cabin> = Some(Cabin::Economy);

/// Converts an airline's change of an order's flights. Duffel gives no deadline for accepting it.
///
/// # Errors
/// The change has no id, no date or no list of flights, or a flight cannot be read.
pub(crate) fn airline_change(
    written: order::AirlineChange,
    ids: &PassengerIds,
) -> Result<AirlineChange, DecodeError> {
    ensure(
        !written.id.trim().is_empty(),
        "a change of the airline has no id",
    )?;
    let detected_at = time::parse_timestamp(&written.created_at)
        .ok_or_else(|| DecodeError::new("a change of the airline has no date"))?;
    let action = written.action_taken.as_deref();
    let action_required = action.is_none() && !written.available_actions.is_empty();
    let accepted_at = match action {
        Some("accepted") => written.action_taken_at.as_deref(),
        _ => None,
    };
    let (removed, added) = (segments_of(written.removed)?, segments_of(written.added)?);
    Ok(AirlineChange {
        supplier_change_id: written.id,
        detected_at,
        change_type: change_type(&removed, &added),
        action_required,
        expires_at: None,
        accepted_at: accepted_at.and_then(time::parse_timestamp),
        removed_segments: segments(removed, ids, DEFAULT_CABIN)?,
        added_segments: segments(added, ids, DEFAULT_CABIN)?,
    })
}

/// Returns the flights of a list. A missing list is not an empty one, which would mean that the
/// airline cancels the flights.
fn segments_of(slices: Option<Vec<Slice>>) -> Result<Vec<Segment>, DecodeError> {
    let slices = slices
        .ok_or_else(|| DecodeError::new("a change of the airline does not list its flights"))?;
    Ok(slices
        .into_iter()
        .flat_map(|slice| slice.segments)
        .collect())
}

/// Derives the kind of change from the flights, because Duffel does not state it.
fn change_type(removed: &[Segment], added: &[Segment]) -> ChangeType {
    let pairs = || removed.iter().zip(added);
    let is_one_to_one = removed.len() == added.len();
    if added.is_empty() {
        ChangeType::Cancellation
    } else if !is_one_to_one || !pairs().all(|(before, after)| is_same_route(before, after)) {
        ChangeType::Reroute
    } else if !pairs().all(|(before, after)| is_same_flight(before, after)) {
        ChangeType::ScheduleChange
    } else {
        ChangeType::Equipment
    }
}

fn is_same_route(before: &Segment, after: &Segment) -> bool {
    before.origin.iata_code == after.origin.iata_code
        && before.destination.iata_code == after.destination.iata_code
}

fn is_same_flight(before: &Segment, after: &Segment) -> bool {
    before.departing_at() == after.departing_at()
        && before.arriving_at() == after.arriving_at()
        && before.marketing_carrier.iata_code == after.marketing_carrier.iata_code
        && before.marketing_carrier_flight_number == after.marketing_carrier_flight_number
}
