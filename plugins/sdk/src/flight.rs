//! What the flight capabilities tell of a trip and a supplier often does not.

use crate::types::flight::Direction;

impl Direction {
    /// The direction of every journey of a trip, from their airports, origin
    /// first. A journey alone is outbound; of two that lead back to where they
    /// began the second is inbound; any other trip is multi-city throughout.
    pub fn of_trip(journeys: &[(&str, &str)]) -> Vec<Self> {
        match journeys {
            [_] => vec![Self::Outbound],
            [out, back] if (out.0, out.1) == (back.1, back.0) => {
                vec![Self::Outbound, Self::Inbound]
            }
            other => vec![Self::MultiCity; other.len()],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_way_back_is_inbound() {
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
            assert_eq!(Direction::of_trip(journeys), expected, "{journeys:?}");
        }
    }
}
