//! Conversion of suggestions and their details to places.

use std::fmt;

use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::hotel_places::{Alternative, Place};
use stopover_sdk::html;
use stopover_sdk::json::DecodeError;
use stopover_sdk::lenient::{LenientList, Part};
use stopover_sdk::types::Location;

use crate::map;
use crate::map::content::country;
use crate::wire;
use crate::wire::Reference;
use crate::wire::place::{AddressComponent, Viewport};

const EARTH_RADIUS_M: f64 = 6_371_000.0;
/// Minimum radius of a place, in metres. It is used for places without an extent.
const SMALLEST_RADIUS_M: f64 = 500.0;

/// JSON pointer of a place's address components.
const COMPONENTS: &str = "/data/addressComponents";

/// A place that Nuitee suggests for a text.
pub(crate) struct Suggestion {
    pub(crate) id: String,
    name: String,
    address: String,
    types: Vec<String>,
}

/// Returns the readable suggestions.
///
/// # Errors
/// The response has suggestions, and none of them can be used.
pub(crate) fn suggestions(
    written: LenientList<wire::place::Suggestion>,
    dropped: &mut DroppedItems,
) -> Result<Vec<Suggestion>, DecodeError> {
    let mut suggestions = Vec::new();
    for (position, suggestion) in dropped.readable(format_args!("/data"), written) {
        let id = suggestion.place_id.required("placeId");
        let id = id.map(|id| id.as_str().to_owned());
        let Some(id) = dropped.keep(format_args!("/data/{position}"), id) else {
            continue;
        };
        let types = format_args!("/data/{position}/types");
        suggestions.push(Suggestion {
            id,
            name: plain(&suggestion.display_name),
            address: plain(&suggestion.formatted_address),
            types: texts(types, suggestion.types, dropped),
        });
    }
    dropped.check_remaining(!suggestions.is_empty())?;
    Ok(suggestions)
}

/// Converts a suggestion with its details; the other suggestions are its alternatives.
///
/// # Errors
/// The place has no location.
pub(crate) fn place(
    suggestion: &Suggestion,
    details: wire::place::Place,
    all: &[Suggestion],
    dropped: &mut DroppedItems,
) -> Result<Place, DecodeError> {
    let location = map::place(details.location.required("location")?)?;
    let viewport = dropped.readable_part(format_args!("/data/viewport"), details.viewport);
    let radius_m = viewport.map(|viewport| radius_m(&location, &viewport));
    let radius_m =
        radius_m.and_then(|radius_m| dropped.keep(format_args!("/data/viewport"), radius_m));
    let components = details.address_components;
    let components = dropped.readable_part(format_args!("{COMPONENTS}"), components);
    let components = components.unwrap_or_default();
    let mut by_type: Vec<(Vec<String>, AddressComponent)> = Vec::new();
    for (position, mut component) in dropped.readable(format_args!("{COMPONENTS}"), components) {
        let types = std::mem::take(&mut component.types);
        let pointer = format_args!("{COMPONENTS}/{position}/types");
        by_type.push((texts(pointer, types, dropped), component));
    }
    let component = |kind: &str| {
        let mut components = by_type.iter();
        let found = components.find(|(types, _)| types.iter().any(|found| found == kind));
        found.map(|(_, component)| component)
    };
    let city = component("locality").or_else(|| component("postal_town"));
    let others = all.iter().filter(|other| other.id != suggestion.id);
    let alternatives = others.map(|other| Alternative {
        name: other.name.clone(),
        address: other.address.clone(),
    });
    Ok(Place {
        supplier_place_id: suggestion.id.clone(),
        name: suggestion.name.clone(),
        address: suggestion.address.clone(),
        location,
        suggested_radius: radius_m,
        country: component("country")
            .and_then(|component| country(component.short_text.as_deref()?)),
        city: city.map(|component| plain(&component.long_text)),
        types: suggestion.types.clone(),
        alternatives: alternatives.take(5).collect(),
    })
}

fn plain(text: &Reference) -> String {
    html::plain(text.as_deref().unwrap_or_default())
}

fn texts(
    pointer: fmt::Arguments<'_>,
    list: Part<LenientList<String>>,
    dropped: &mut DroppedItems,
) -> Vec<String> {
    let list = dropped.readable_part(pointer, list).unwrap_or_default();
    dropped
        .readable(pointer, list)
        .map(|(_, text)| text)
        .collect()
}

/// Returns the radius of the circle around a viewport, in metres.
fn radius_m(center: &Location, viewport: &Viewport) -> Result<f64, DecodeError> {
    let high = map::place(viewport.high.required("high")?)?;
    let low = map::place(viewport.low.required("low")?)?;
    let radius_m = distance_m(center, &high).max(distance_m(center, &low));
    Ok(radius_m.max(SMALLEST_RADIUS_M).round())
}

/// Returns the distance along the earth's surface in metres.
pub(crate) fn distance_m(from: &Location, to: &Location) -> f64 {
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
        let at = |latitude, longitude| Location {
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
