//! Conversion of Skylane's bags, offered and bought, in pure functions.

use stopover_sdk::flight_services::{AvailableService, AvailableServices, PurchaseRequest};
use stopover_sdk::json::{DecodeError, ensure};
use stopover_sdk::money::MoneyError;
use stopover_sdk::types::flight::{Baggage, BaggageType, Service, ServiceType};

use crate::skylane::map::{amount, payment};
use crate::skylane::wire;

/// Converts the bags for sale. Returns `None` for an empty list, which has no currency.
pub(crate) fn available_services(
    bags: Vec<wire::OfferedBag>,
) -> Result<Option<AvailableServices>, DecodeError> {
    let Some(currency) = bags.first().map(|bag| bag.price.currency.clone()) else {
        return Ok(None);
    };
    let services = bags.into_iter().map(|bag| {
        Ok(AvailableService {
            supplier_service_id: bag.id,
            service_type: ServiceType::Baggage,
            passenger: bag.traveller,
            supplier_segment_ids: bag.segments,
            baggage: Some(checked_bag(bag.weight_kg)),
            unit_amount: amount(bag.price, &currency)?,
            max_quantity: bag.max,
        })
    });
    let services = services.collect::<Result<_, DecodeError>>()?;
    Ok(Some(AvailableServices { currency, services }))
}

/// Creates the body of a purchase.
///
/// # Errors
/// The amount cannot be represented in its currency. Nothing was sent yet.
pub(crate) fn bags_request(request: &PurchaseRequest) -> Result<wire::BagsRequest<'_>, MoneyError> {
    let bags = request.services.iter().map(|wanted| wire::WantedBag {
        id: &wanted.supplier_service_id,
        quantity: wanted.quantity,
    });
    Ok(wire::BagsRequest {
        client_ref: &request.client_reference,
        bags: bags.collect(),
        pay: payment(request.total, &request.currency)?,
    })
}

/// Checks that the order contains everything that was bought.
pub(crate) fn check_purchased_bags(
    order: &wire::Order,
    request: &PurchaseRequest,
) -> Result<(), DecodeError> {
    let bought = |id: &str, quantity| {
        (order.bags.iter()).any(|bag| {
            bag.id == id && bag.quantity == quantity && bag.client_ref == request.client_reference
        })
    };
    let all = (request.services.iter())
        .all(|wanted| bought(&wanted.supplier_service_id, wanted.quantity));
    ensure(all, "the order lacks bags that were bought")
}

/// Converts a bag. A bag keeps the id of its offer, by which a purchase is recognized.
pub(crate) fn service(bag: wire::Bag, currency: &str) -> Result<Service, DecodeError> {
    Ok(Service {
        supplier_service_id: bag.id,
        service_type: ServiceType::Baggage,
        passenger: Some(bag.traveller),
        supplier_segment_ids: bag.segments,
        baggage: Some(checked_bag(bag.weight_kg)),
        quantity: bag.quantity,
        unit_amount: amount(bag.price, currency)?,
    })
}

/// Returns a checked bag. Skylane sells no other bags.
fn checked_bag(weight_kg: u32) -> Baggage {
    Baggage {
        baggage_type: BaggageType::Checked,
        max_weight_kg: Some(weight_kg),
    }
}
