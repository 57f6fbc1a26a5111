//! Identifiers in bodies and queries, each with its required form.

use host_domain::id::{EventId, HotelId, InstrumentId, PlaceId, RoomId, ServiceId};
use host_domain::money::{Money, MoneyError};
use host_domain::supplier::SupplierId;
use serde::Deserialize;
use std::collections::HashSet;
use std::hash::Hash;
use utoipa::ToSchema;

use crate::extract::Violations;

/// Id of a hotel in the gateway.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize, ToSchema)]
#[schema(value_type = String, pattern = "^htl_[a-zA-Z0-9-]+$", max_length = 128, example = "htl_01976f3e4a5b7c8d9e0f112233445566")]
#[schema(as = HotelIdText)]
pub(crate) struct HotelIdParam(pub(crate) HotelId);

/// Id of a saved place.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize, ToSchema)]
#[schema(value_type = String, pattern = "^plc_[a-zA-Z0-9-]+$", max_length = 128, example = "plc_01976f3e4a5b7c8d9e0f112233445566")]
#[schema(as = PlaceIdText)]
pub(crate) struct PlaceIdParam(pub(crate) PlaceId);

/// Id of a room of a booking.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize, ToSchema)]
#[schema(value_type = String, pattern = "^room_[a-zA-Z0-9-]+$", max_length = 128, example = "room_01976f3e4a5b7c8d9e0f112233445566")]
#[schema(as = RoomIdText)]
pub(crate) struct RoomIdParam(pub(crate) RoomId);

/// Id of a stored payment instrument.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize, ToSchema)]
#[schema(value_type = String, pattern = "^inst_[a-zA-Z0-9-]+$", max_length = 128, example = "inst_01976f3e4a5b7c8d9e0f112233445566")]
#[schema(as = InstrumentIdText)]
pub(crate) struct InstrumentIdParam(pub(crate) InstrumentId);

/// Id of a service that can be purchased for a ticket.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize, ToSchema)]
#[schema(value_type = String, pattern = "^svc_[a-zA-Z0-9-]+$", max_length = 128, example = "svc_01976f3e4a5b7c8d9e0f112233445566")]
#[schema(as = ServiceIdText)]
pub(crate) struct ServiceIdParam(pub(crate) ServiceId);

/// Id of an event.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize, ToSchema)]
#[schema(value_type = String, pattern = "^evt_[a-zA-Z0-9-]+$", max_length = 128, example = "evt_01976f3e4a5b7c8d9e0f112233445566")]
#[schema(as = EventIdText)]
pub(crate) struct EventIdParam(pub(crate) EventId);

/// Id of a supplier as configured by the operator; `GET /v1/suppliers` lists them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize, ToSchema)]
#[schema(value_type = String, pattern = "^[A-Z][A-Z0-9_]{0,63}$", example = "SANDBOX_HOTELS")]
#[schema(as = SupplierIdText)]
pub(crate) struct SupplierIdParam(pub(crate) SupplierId);

/// Id of a hotel at the supplier.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize, ToSchema)]
#[schema(
    min_length = 1,
    max_length = 128,
    pattern = r"^[^\x00-\x1F\x7F-\x9F]*$",
    example = "lp1897"
)]
#[schema(as = SupplierHotelIdText)]
pub(crate) struct SupplierHotelIdParam(pub(crate) String);

/// Adds a violation for a maximum total that its currency does not allow, or that is not positive.
pub(crate) fn validate_max_total(
    max_total: Option<Result<Money, MoneyError>>,
    found: &mut Violations<'_>,
) {
    let pointer = "/filters/max_total";
    if !found.are_valid(&[pointer, "/currency"]) {
        return;
    }
    match max_total {
        Some(Err(error)) => found.push(pointer, "not_allowed", error.to_string()),
        Some(Ok(total)) if total.minor <= 0 => {
            found.push(pointer, "too_small", "must be more than 0");
        }
        Some(Ok(_)) | None => {}
    }
}

/// Adds a violation for each list item that occurs earlier in the list.
pub(crate) fn check_distinct<T: Eq + Hash>(
    list: Option<&[T]>,
    pointer: &str,
    found: &mut Violations<'_>,
) {
    let mut seen = HashSet::new();
    for (index, item) in list.unwrap_or_default().iter().enumerate() {
        let pointer = format!("{pointer}/{index}");
        if found.are_valid(&[&pointer]) && !seen.insert(item) {
            found.push(pointer, "duplicate", "occurs earlier in the list");
        }
    }
}
