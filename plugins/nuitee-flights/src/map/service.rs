//! Seats and bags: those that can be added to a prebook, and those of a booking.

use std::collections::HashMap;

use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::json::{DecodeError, ensure};
use stopover_sdk::lenient::{LenientList, Part};
use stopover_sdk::types::Money;
use stopover_sdk::types::flight::{self, BaggageType, Journey, PassengerType, ServiceType};
use stopover_sdk::types::flight_details::{
    AttachableService, Bag, Seat, SeatPosition, ServiceDetails,
};

use crate::map::baggage::{piece_count, type_code, whole_kilograms};
use crate::map::money;
use crate::wire::Segment;
use crate::wire::booking::{Service, ServiceBaggage, ServiceSeat};
use crate::wire::prebook::ServicesAttachable;

/// The passengers and flights that services of a prebook may be for.
pub(crate) struct ServiceScope<'s> {
    passengers: &'s [PassengerType],
    /// The id of the flight for each key that a service may name.
    segment_ids: HashMap<&'s str, &'s str>,
}

impl<'s> ServiceScope<'s> {
    /// Returns the scope of a prebook with the agreed flights. Its services name the keys of its own
    /// `prebooked` flights, which are the agreed ones in the same order, or none if they are not known.
    pub(crate) fn new(
        passengers: &'s [PassengerType],
        agreed: &'s [Journey],
        prebooked: &'s [Segment<'_>],
    ) -> Self {
        let segments = agreed.iter().flat_map(|journey| &journey.segments);
        let ids = segments.map(|segment| segment.supplier_segment_id.as_str());
        let own = prebooked.iter().map(|segment| segment.key.as_str());
        let own = own.zip(ids.clone());
        let known = ids.map(|id| (id, id)).chain(own);
        Self {
            passengers,
            segment_ids: known.filter(|(_, id)| !id.is_empty()).collect(),
        }
    }

    /// Returns the id of the only flight of a service, or none if it is for the whole ticket.
    ///
    /// # Errors
    /// The flight is not known.
    fn segment_ids(&self, service: &Service<'_>) -> Result<Vec<String>, DecodeError> {
        let Some(key) = service.segment_key.as_deref() else {
            return Ok(Vec::new());
        };
        let id = self.segment_ids.get(key);
        let id = id.ok_or_else(|| DecodeError::new("the service is for an unknown flight"))?;
        Ok(vec![(*id).to_owned()])
    }
}

/// Returns the services that can be added to the prebook at `pointer`. Those that no passenger can
/// have, and seats that are taken, are not for sale.
pub(crate) fn attachable_services(
    attachable: Part<ServicesAttachable<'_>>,
    scope: &ServiceScope<'_>,
    pointer: &str,
    dropped: &mut DroppedItems,
) -> Vec<AttachableService> {
    let attachable = dropped.readable_part(format_args!("{pointer}"), attachable);
    let groups = attachable.unwrap_or_default().groups;
    let groups = dropped.readable_part(format_args!("{pointer}/groups"), groups);
    let groups = dropped.readable(format_args!("{pointer}/groups"), groups.unwrap_or_default());
    let mut services = Vec::new();
    for (at, group) in groups {
        let pointer = format!("{pointer}/groups/{at}/services");
        for (at, service) in dropped.readable(format_args!("{pointer}"), group.services) {
            let seat = service.metadata.seat.as_ref();
            let is_taken = seat.is_some_and(|seat| seat.available.0 == Some(false));
            if is_taken || group.available.0 == Some(false) {
                continue;
            }
            let category = service
                .category
                .as_deref()
                .unwrap_or(group.category.as_str());
            let service = attachable_service(&service, category, scope);
            let service = dropped.keep(format_args!("{pointer}/{at}"), service);
            services.extend(service.flatten());
        }
    }
    services
}

/// Converts a service, or returns `None` if no passenger can have it.
fn attachable_service(
    service: &Service<'_>,
    category: &str,
    scope: &ServiceScope<'_>,
) -> Result<Option<AttachableService>, DecodeError> {
    let positions = match service.passenger_type.as_str() {
        "" | "ALL" => Vec::new(),
        code => {
            let passengers = (0..).zip(scope.passengers);
            let matching = passengers.filter(|(_, passenger)| type_code(**passenger) == code);
            let positions: Vec<u8> = matching.map(|(position, _)| position).collect();
            if positions.is_empty() {
                return Ok(None);
            }
            positions
        }
    };
    Ok(Some(AttachableService {
        supplier_service_id: id(service)?,
        service_type: service_type(category),
        name: service.name.to_owned(),
        passengers: positions,
        supplier_segment_ids: scope.segment_ids(service)?,
        bag: service.metadata.baggage.as_ref().map(bag),
        seat: service.metadata.seat.as_ref().and_then(seat),
        unit_amount: price(service)?,
        max_quantity: None,
    }))
}

/// Returns whether a booking has services, even if they cannot be read.
pub(crate) fn has_services(services: &Part<LenientList<Service<'_>>>) -> bool {
    match services {
        Part::Missing => false,
        Part::Decoded(services) => !services.is_empty() || !services.unreadable().is_empty(),
        Part::Unreadable(_) => true,
    }
}

/// Returns the seats and bags that were added before the booking at `pointer` was confirmed, with
/// their details.
pub(crate) fn booked_services(
    services: Part<LenientList<Service<'_>>>,
    currency: &str,
    pointer: &str,
    dropped: &mut DroppedItems,
) -> (Vec<flight::Service>, Vec<ServiceDetails>) {
    let pointer = format!("{pointer}/bookedServices");
    let services = dropped.readable_part(format_args!("{pointer}"), services);
    let services = dropped.readable(format_args!("{pointer}"), services.unwrap_or_default());
    let booked = services.filter_map(|(at, service)| {
        let booked = booked_service(&service, currency);
        let booked = dropped.keep(format_args!("{pointer}/{at}"), booked)?;
        let details = ServiceDetails {
            supplier_service_id: booked.supplier_service_id.clone(),
            name: service.name.to_owned(),
            seat: service.metadata.seat.as_ref().and_then(seat),
            bag: service.metadata.baggage.as_ref().map(bag),
        };
        Some((booked, details))
    });
    booked.unzip()
}

fn booked_service(service: &Service<'_>, currency: &str) -> Result<flight::Service, DecodeError> {
    let price = price(service)?;
    ensure(
        price.currency == currency,
        "its price is in another currency",
    )?;
    let count = |count: Option<u32>| count.and_then(|count| u8::try_from(count).ok());
    let bag = service.metadata.baggage.as_ref();
    Ok(flight::Service {
        supplier_service_id: id(service)?,
        service_type: service_type(service.category.as_str()),
        passenger: count(service.passenger.0),
        supplier_segment_ids: service.segment_key.to_owned().into_iter().collect(),
        baggage: bag.map(|bag| flight::Baggage {
            baggage_type: baggage_type(bag),
            max_weight_kg: whole_kilograms(bag.weight_kg),
        }),
        quantity: count(service.quantity.0)
            .filter(|quantity| *quantity > 0)
            .unwrap_or(1),
        unit_amount: price.amount,
    })
}

fn id(service: &Service<'_>) -> Result<String, DecodeError> {
    let id = service.id.as_deref().map(str::to_owned);
    id.ok_or_else(|| DecodeError::missing("the service has no id"))
}

fn price(service: &Service<'_>) -> Result<Money, DecodeError> {
    let pricing = service.pricing.as_ref().value();
    let price = pricing.and_then(|pricing| pricing.display.as_ref().value());
    let price = price.and_then(money);
    price.ok_or_else(|| DecodeError::missing("the service has no price"))
}

fn service_type(category: &str) -> ServiceType {
    match category {
        "baggage" => ServiceType::Baggage,
        "seat" => ServiceType::Seat,
        "meal" => ServiceType::Meal,
        _ => ServiceType::Other,
    }
}

fn baggage_type(bag: &ServiceBaggage<'_>) -> BaggageType {
    match bag.bag_type.as_str() {
        "cabin" => BaggageType::CarryOn,
        _ => BaggageType::Checked,
    }
}

fn bag(written: &ServiceBaggage<'_>) -> Bag {
    Bag {
        pieces: piece_count(written.pieces),
        max_weight_kg: whole_kilograms(written.weight_kg),
        ..Bag::new(baggage_type(written))
    }
}

/// Converts a seat. Its type, such as `extra_legroom`, is shown as its name.
fn seat(written: &ServiceSeat<'_>) -> Option<Seat> {
    let seat_type = written.seat_type.as_deref();
    Some(Seat {
        name: seat_type.map(|name| name.replace('_', " ")),
        position: match written.position.as_str() {
            "window" => Some(SeatPosition::Window),
            "middle" => Some(SeatPosition::Middle),
            "aisle" => Some(SeatPosition::Aisle),
            _ => None,
        },
        ..Seat::new(written.number.to_owned()?)
    })
}
