//! JSON resource of details of a segment. A value that the supplier does not state is absent.

use host_domain::flight;
use serde::Serialize;
use utoipa::ToSchema;

/// A technical stop within a segment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct TechnicalStopResource {
    /// IATA code of the airport.
    #[schema(example = "KEF")]
    airport: String,
    /// Local time of the landing, without a UTC offset.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    arrival_time: Option<String>,
    /// Local time of the take-off, without a UTC offset.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    departure_time: Option<String>,
}

/// Terminals, operating flight and aircraft of a segment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct SegmentDetailsResource {
    /// Terminal at the origin airport.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false, example = "5")]
    origin_terminal: Option<String>,
    /// Terminal at the destination airport.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false, example = "8")]
    destination_terminal: Option<String>,
    /// IATA code of the airline that operates the flight.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(
        required = false,
        nullable = false,
        pattern = "^[A-Z0-9]{2}$",
        example = "AA"
    )]
    operating_carrier_code: Option<String>,
    /// Carrier code and flight number of the airline that operates the flight.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false, example = "AA6132")]
    operating_flight: Option<String>,
    /// Type of aircraft.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false, example = "Airbus A380")]
    aircraft: Option<String>,
    /// IATA code of the type of aircraft.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false, example = "380")]
    aircraft_code: Option<String>,
    /// Technical stops of the flight, in order. Absent if none is known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    technical_stops: Vec<TechnicalStopResource>,
}

impl From<&flight::TechnicalStop> for TechnicalStopResource {
    fn from(stop: &flight::TechnicalStop) -> Self {
        Self {
            airport: stop.airport.clone(),
            arrival_time: stop.arrival_time.as_deref().map(local_time),
            departure_time: stop.departure_time.as_deref().map(local_time),
        }
    }
}

impl From<&flight::SegmentDetails> for SegmentDetailsResource {
    fn from(details: &flight::SegmentDetails) -> Self {
        let stops = details.technical_stops.iter();
        Self {
            origin_terminal: details.origin_terminal.clone(),
            destination_terminal: details.destination_terminal.clone(),
            operating_carrier_code: details.operating_carrier_code.clone(),
            operating_flight: details.operating_flight.clone(),
            aircraft: details.aircraft.clone(),
            aircraft_code: details.aircraft_code.clone(),
            technical_stops: stops.map(TechnicalStopResource::from).collect(),
        }
    }
}

/// Appends seconds to a local time (`2026-11-21T10:00` becomes `2026-11-21T10:00:00`), because many
/// ISO 8601 parsers require them.
pub fn local_time(minutes: &str) -> String {
    format!("{minutes}:00")
}
