//! Conversion of suggestions and their details to places.

use stopover_sdk::hotel_places::{Alternative, Place};
use stopover_sdk::html;

use crate::map;
use crate::map::content::country;
use crate::wire;
use crate::wire::Coordinates;
use crate::wire::place::Suggestion;
use stopover_sdk::lenient::LenientNumber;

const EARTH_RADIUS_M: f64 = 6_371_000.0;
/// Minimum radius of a place, in metres. It is used for places without an extent.
const SMALLEST_RADIUS_M: f64 = 500.0;

/// Converts a suggestion with its details; the other suggestions are its alternatives. Returns
/// `None` if the place has no location.
pub(crate) fn place(
    suggestion: &Suggestion,
    details: &wire::place::Place,
    all: &[Suggestion],
) -> Option<Place> {
    let at = details.location;
    let component = |kind: &str| {
        let components = &details.address_components.0;
        components
            .iter()
            .find(|component| component.types.0.iter().any(|found| found == kind))
    };
    let city = component("locality").or_else(|| component("postal_town"));
    let alternatives = all
        .iter()
        .filter(|other| other.place_id != suggestion.place_id)
        .map(|other| Alternative {
            name: html::plain(&other.display_name),
            address: html::plain(&other.formatted_address),
        });
    Some(Place {
        supplier_place_id: suggestion.place_id.clone(),
        name: html::plain(&suggestion.display_name),
        address: html::plain(&suggestion.formatted_address),
        location: map::location(
            LenientNumber(Some(at.latitude)),
            LenientNumber(Some(at.longitude)),
        )?,
        suggested_radius: details.viewport.as_ref().map(|viewport| {
            let corner = |corner: &Coordinates| distance_m(&details.location, corner);
            corner(&viewport.high)
                .max(corner(&viewport.low))
                .max(SMALLEST_RADIUS_M)
                .round()
        }),
        country: component("country").and_then(|component| country(&component.short_text)),
        city: city.map(|component| html::plain(&component.long_text)),
        types: suggestion.types.0.clone(),
        alternatives: alternatives.take(5).collect(),
    })
}

/// Returns the distance along the earth's surface in metres.
pub(crate) fn distance_m(from: &Coordinates, to: &Coordinates) -> f64 {
    let latitudes = (from.latitude.to_radians(), to.latitude.to_radians());
    let half_latitude = ((latitudes.1 - latitudes.0) / 2.0).sin();
    let half_longitude = ((to.longitude - from.longitude).to_radians() / 2.0).sin();
    let chord = half_latitude * half_latitude
        + latitudes.0.cos() * latitudes.1.cos() * half_longitude * half_longitude;
    2.0 * EARTH_RADIUS_M * chord.clamp(0.0, 1.0).sqrt().asin()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_follows_earth_surface() {
        let at = |latitude, longitude| Coordinates {
            latitude,
            longitude,
        };
        let cases = [
            (at(48.8566, 2.3522), at(51.5074, -0.1278), 343_560.0),
            (at(0.0, 179.5), at(0.0, -179.5), 111_195.0),
            (at(10.0, 10.0), at(10.0, 10.0), 0.0),
            (at(90.0, 0.0), at(-90.0, 0.0), 20_015_087.0),
        ];
        for (from, to, expected) in cases {
            let distance = distance_m(&from, &to);
            assert!((distance - expected).abs() < 100.0, "{distance} {expected}");
        }
    }
}
