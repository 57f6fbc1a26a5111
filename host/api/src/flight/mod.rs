//! Flight operations: requests, responses and handlers, one file for each resource.

pub(crate) mod booking;
pub(crate) mod cancellation;
pub(crate) mod filter;
pub(crate) mod offer;
pub(crate) mod passenger;
pub(crate) mod prebook;
pub(crate) mod reference;
pub(crate) mod service;
pub(crate) mod trip;

use serde::Deserialize;
use utoipa::ToSchema;

/// IATA code of an airline.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize, ToSchema)]
#[schema(pattern = "^[A-Z0-9]{2}$", example = "BA")]
pub(crate) struct AirlineCode(pub(crate) String);

/// Sort direction of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SortOrder {
    /// Ascending.
    Asc,
    /// Descending.
    Desc,
}

impl SortOrder {
    pub(crate) const fn is_descending(self) -> bool {
        matches!(self, Self::Desc)
    }
}
