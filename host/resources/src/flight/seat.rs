//! JSON resource of a seat. A value that the supplier does not state is absent.

use crate::value::same_variants;
use host_domain::flight;
use serde::Serialize;
use utoipa::ToSchema;

/// The position of a seat in its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum SeatPositionResource {
    Window,
    Middle,
    Aisle,
}

/// A seat of an aircraft.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct SeatResource {
    /// Row and column.
    #[schema(example = "14B")]
    designator: String,
    /// Name that the airline gives the seat.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false, example = "Exit row seat")]
    name: Option<String>,
    /// Position of the seat in its row.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    position: Option<SeatPositionResource>,
    /// Notes about the seat for the passenger. Absent if there is nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    disclosures: Vec<String>,
}

impl From<&flight::Seat> for SeatResource {
    fn from(seat: &flight::Seat) -> Self {
        Self {
            designator: seat.designator.clone(),
            name: seat.name.clone(),
            position: seat.position.map(SeatPositionResource::from),
            disclosures: seat.disclosures.clone(),
        }
    }
}

same_variants! { SeatPositionResource <= flight::SeatPosition: Window, Middle, Aisle }
