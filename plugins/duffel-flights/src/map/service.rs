//! Bags and other extras.

use stopover_sdk::flight_services::AvailableService;
use stopover_sdk::json::{DecodeError, ensure};
use stopover_sdk::types::flight::{Baggage, BaggageType, Service, ServiceType};

use crate::map::minor;
use crate::map::passenger::PassengerIds;
use crate::wire;

/// Converts a bag that can be sold. Returns `None` for other services (an order has hundreds of
/// seats) and for bags that the gateway cannot sell: bags for several passengers, in another
/// currency, or of an unknown type.
///
/// # Errors
/// The service has no id, no type or no maximum quantity, so it is not for sale, or a bag has no
/// price.
pub(crate) fn available_service(
    service: wire::service::Service,
    ids: &PassengerIds,
    currency: &str,
) -> Result<Option<AvailableService>, DecodeError> {
    let is_named = !service.id.trim().is_empty() && !service.kind.is_empty();
    ensure(is_named, "a service has no id or no type")?;
    let max_quantity = service
        .maximum_quantity
        .ok_or_else(|| DecodeError::missing("a service has no maximum quantity"))?;
    if service.kind != "baggage" {
        return Ok(None);
    }
    let stated_currency = service.total_currency.required("total_currency")?;
    let total_amount = service.total_amount.required("total_amount")?;
    let unit_amount = minor(total_amount, &stated_currency)?;
    let passenger = match service.passenger_ids.as_slice() {
        [one] => ids.position(one),
        _ => None,
    };
    let metadata = wire::readable(service.metadata)?;
    let baggage = metadata.as_ref().and_then(baggage);
    let (Some(passenger), Some(baggage)) = (passenger, baggage) else {
        return Ok(None);
    };
    if stated_currency != currency || max_quantity == 0 {
        return Ok(None);
    }
    Ok(Some(AvailableService {
        passenger,
        unit_amount,
        max_quantity: u8::try_from(max_quantity).unwrap_or(u8::MAX),
        service_type: ServiceType::Baggage,
        baggage: Some(baggage),
        supplier_service_id: service.id,
        supplier_segment_ids: service.segment_ids,
    }))
}

/// Converts an extra of an order. Its price in the order covers all pieces.
///
/// # Errors
/// The extra has no id, or no price in the order's currency.
pub(crate) fn booked_service(
    service: wire::service::Service,
    ids: &PassengerIds,
    currency: &str,
) -> Result<Service, DecodeError> {
    ensure(!service.id.trim().is_empty(), "a service has no id")?;
    let is_same_currency = service.total_currency.value().as_deref() == Some(currency);
    ensure(
        is_same_currency,
        "a service is in another currency than its order",
    )?;
    let total = minor(service.total_amount.required("total_amount")?, currency)?;
    let quantity = u8::try_from(service.quantity.unwrap_or(1))
        .unwrap_or(u8::MAX)
        .max(1);
    let passenger = match service.passenger_ids.as_slice() {
        [one] => ids.position(one),
        _ => None,
    };
    let (service_type, baggage) = match service.kind.as_str() {
        "baggage" => {
            let metadata = service.metadata.as_decoded();
            (ServiceType::Baggage, metadata.and_then(baggage))
        }
        "seat" => (ServiceType::Seat, None),
        "meal" => (ServiceType::Meal, None),
        _ => (ServiceType::Other, None),
    };
    Ok(Service {
        supplier_service_id: service.id,
        service_type,
        passenger,
        supplier_segment_ids: service.segment_ids,
        baggage,
        quantity,
        unit_amount: total / i64::from(quantity),
    })
}

/// Converts a bag's kind and weight. Returns `None` if the bag is neither checked nor carry-on.
fn baggage(metadata: &wire::service::ServiceMetadata) -> Option<Baggage> {
    Some(Baggage {
        baggage_type: baggage_type(metadata)?,
        max_weight_kg: metadata.maximum_weight_kg.0.and_then(whole_number),
    })
}

/// Returns a bag's kind, or `None` if the bag is neither checked nor carry-on.
pub(crate) fn baggage_type(metadata: &wire::service::ServiceMetadata) -> Option<BaggageType> {
    match metadata.kind.as_str() {
        "checked" => Some(BaggageType::Checked),
        "carry_on" => Some(BaggageType::CarryOn),
        _ => None,
    }
}

/// Rounds a limit down. Returns `None` if it is negative or out of range.
pub(crate) fn whole_number(limit: f64) -> Option<u32> {
    format!("{:.0}", limit.floor()).parse().ok()
}
