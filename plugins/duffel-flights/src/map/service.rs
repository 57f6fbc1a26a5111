//! Bags and other extras.

use stopover_sdk::flight_services::AvailableService;
use stopover_sdk::json::{DecodeError, ensure};
use stopover_sdk::types::flight::{Baggage, BaggageType, Service, ServiceType};

use crate::map::minor;
use crate::map::passenger::PassengerIds;
use crate::wire;

/// Converts a bag that can be sold. Returns `None` for other services (an order has hundreds of
/// seats) and for bags that the gateway cannot sell: bags for several passengers, in another
/// currency, or without a price.
pub(crate) fn available_services(
    service: wire::service::Service,
    ids: &PassengerIds,
    currency: &str,
) -> Option<AvailableService> {
    if service.kind != "baggage" || service.total_currency != currency {
        return None;
    }
    let [passenger] = service.passenger_ids.as_slice() else {
        return None;
    };
    Some(AvailableService {
        passenger: ids.position(passenger)?,
        unit_amount: minor(service.total_amount, currency).ok()?,
        max_quantity: u8::try_from(service.maximum_quantity?).unwrap_or(u8::MAX),
        service_type: ServiceType::Baggage,
        baggage: Some(baggage(&service.metadata)?),
        supplier_service_id: service.id,
        supplier_segment_ids: service.segment_ids,
    })
}

/// Converts an extra of an order. Its price in the order covers all pieces.
///
/// # Errors
/// The extra has no price in the order's currency.
pub(crate) fn booked_service(
    service: wire::service::Service,
    ids: &PassengerIds,
    currency: &str,
) -> Result<Service, DecodeError> {
    let is_same_currency = service.total_currency == currency;
    ensure(
        is_same_currency,
        "a service is in another currency than its order",
    )?;
    let total = minor(service.total_amount, currency)?;
    let quantity = u8::try_from(service.quantity.unwrap_or(1))
        .unwrap_or(u8::MAX)
        .max(1);
    let passenger = match service.passenger_ids.as_slice() {
        [one] => ids.position(one),
        _ => None,
    };
    let (service_type, baggage) = match service.kind.as_str() {
        "baggage" => (ServiceType::Baggage, baggage(&service.metadata)),
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
    let baggage_type = match metadata.kind.as_str() {
        "checked" => BaggageType::Checked,
        "carry_on" => BaggageType::CarryOn,
        _ => return None,
    };
    Some(Baggage {
        baggage_type,
        max_weight_kg: metadata.maximum_weight_kg.and_then(whole_kg),
    })
}

fn whole_kg(weight: f64) -> Option<u32> {
    format!("{:.0}", weight.floor()).parse().ok()
}
