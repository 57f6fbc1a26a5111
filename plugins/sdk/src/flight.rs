//! Flight data that many suppliers do not return and that the SDK derives, and an empty filter.

use crate::flight_pricing::Filters;
use crate::time;
use crate::types::flight::{Direction, Segment};

impl Default for Filters {
    /// Creates filters that exclude nothing.
    fn default() -> Self {
        Self {
            cabin: None,
            max_stops: None,
            airlines: Vec::new(),
            excluded_airlines: Vec::new(),
            departure_after: None,
            departure_before: None,
            arrival_before: None,
            refundable: None,
            checked_bag: None,
            max_total: None,
        }
    }
}

impl Direction {
    /// Returns the direction of each journey of a trip, given as (origin, destination) airports. A
    /// single journey is outbound. If a second of two journeys returns to the origin of the first,
    /// it is inbound. All journeys of any other trip are multi-city.
    pub fn for_journeys(journeys: &[(&str, &str)]) -> Vec<Self> {
        match journeys {
            [_] => vec![Self::Outbound],
            [out, back] if (out.0, out.1) == (back.1, back.0) => {
                vec![Self::Outbound, Self::Inbound]
            }
            other => vec![Self::MultiCity; other.len()],
        }
    }
}

/// Returns the minutes of all flights and connections, or `None` if one of them is unknown. Both
/// times of a connection are in the same time zone.
pub fn elapsed_minutes(segments: &[Segment]) -> Option<u32> {
    let flown = segments.iter().map(|segment| segment.duration_minutes);
    let connections = segments.iter().zip(segments.iter().skip(1));
    let waited = connections
        .map(|(before, after)| time::minutes_between(&before.arrival_time, &after.departure_time));
    flown
        .chain(waited)
        .try_fold(0_u32, |total, minutes| total.checked_add(minutes?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_return_journey_is_inbound() {
        use Direction::{Inbound, MultiCity, Outbound};
        type Case<'a> = (&'a [(&'a str, &'a str)], &'a [Direction]);
        let cases: [Case<'_>; 5] = [
            (&[], &[]),
            (&[("LHR", "JFK")], &[Outbound]),
            (&[("LHR", "JFK"), ("JFK", "LHR")], &[Outbound, Inbound]),
            (&[("LHR", "JFK"), ("JFK", "LGW")], &[MultiCity, MultiCity]),
            (
                &[("LHR", "JFK"), ("JFK", "LHR"), ("LHR", "CDG")],
                &[MultiCity, MultiCity, MultiCity],
            ),
        ];
        for (journeys, expected) in cases {
            assert_eq!(Direction::for_journeys(journeys), expected, "{journeys:?}");
        }
    }
}
