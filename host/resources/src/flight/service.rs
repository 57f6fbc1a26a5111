//! JSON resources of the booked and the available services of a ticket.

use crate::flight::seat::SeatResource;
use crate::value::{MoneyResource, same_variants};
use host_domain::flight::booking::{self, BookedService, FlightBooking};
use host_domain::flight::{self, supplier_api};
use host_domain::id::{PassengerId, SegmentId, ServiceId};
use serde::Serialize;
use utoipa::ToSchema;

/// The status of a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ServiceStatusResource {
    /// The service is being purchased.
    Pending,
    /// The service is part of the ticket.
    Confirmed,
    Failed,
    /// The service was cancelled together with the ticket.
    Canceled,
}

/// The type of a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ServiceTypeResource {
    Baggage,
    Seat,
    Meal,
    Other,
}

/// The type of a bag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum BaggageTypeResource {
    /// A bag in the hold.
    Checked,
    /// A bag in the cabin.
    CarryOn,
}

/// The details of a bag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct BaggageResource {
    /// Type of the bag.
    #[serde(rename = "type")]
    kind: BaggageTypeResource,
    /// Maximum weight in kilograms. Null if it is not known.
    #[schema(required, minimum = 0)]
    max_weight_kg: Option<u32>,
    /// Number of pieces. Absent if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false, minimum = 0, maximum = 255)]
    pieces: Option<u32>,
    /// Maximum length in centimetres. Absent if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false, minimum = 0)]
    max_length_cm: Option<u32>,
    /// Maximum width in centimetres. Absent if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false, minimum = 0)]
    max_width_cm: Option<u32>,
    /// Maximum height in centimetres. Absent if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false, minimum = 0)]
    max_height_cm: Option<u32>,
}

/// A service of a booking.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct FlightServiceResource {
    #[schema(pattern = "^svc_[a-zA-Z0-9-]+$")]
    id: String,
    /// Status of the service.
    status: ServiceStatusResource,
    /// Passenger that the service is for.
    #[schema(required, pattern = "^psg_[a-zA-Z0-9-]+$")]
    passenger_id: Option<String>,
    /// Segments that the service applies to.
    segment_ids: Vec<String>,
    /// Number of units.
    #[schema(minimum = 1, maximum = 255)]
    quantity: u32,
    /// Price of one unit.
    unit_amount: MoneyResource,
    /// Price of all units.
    total_amount: MoneyResource,
    /// Payment that pays for the service.
    #[schema(pattern = "^pay_[a-zA-Z0-9-]+$")]
    payment_id: String,
    /// Type of the service.
    #[serde(rename = "type")]
    kind: ServiceTypeResource,
    /// Details of the bag. Null if the service is not a bag.
    #[schema(required)]
    baggage: Option<BaggageResource>,
    /// Name that the supplier gives the service. Absent if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    name: Option<String>,
    /// The seat. Absent if the service is not a seat or its seat is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    seat: Option<SeatResource>,
}

/// A service that the airline currently sells for a ticket.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(as = ServiceForSale)]
pub struct AvailableServiceResource {
    /// Id used to purchase the service. It is valid as long as the airline sells the service for
    /// this ticket.
    #[schema(pattern = "^svc_[a-zA-Z0-9-]+$")]
    id: String,
    /// Type of the service.
    #[serde(rename = "type")]
    kind: ServiceTypeResource,
    /// Passenger that the service is for.
    #[schema(pattern = "^psg_[a-zA-Z0-9-]+$")]
    passenger_id: String,
    /// Segments that the service applies to.
    segment_ids: Vec<String>,
    /// Details of the bag. Null if the service is not a bag.
    #[schema(required)]
    baggage: Option<BaggageResource>,
    /// Price of one unit.
    unit_amount: MoneyResource,
    /// Maximum number of units that can be purchased.
    #[schema(minimum = 0, maximum = 255)]
    max_quantity: u32,
}

pub fn booked_services(booking: &FlightBooking) -> Vec<FlightServiceResource> {
    let passengers = &booking.details.passengers;
    let service = |service: &BookedService| {
        let passenger = passengers.get(usize::from(service.passenger));
        let on_ticket = service.supplier_ticket_service_id.as_ref();
        let mut stated = booking.details.ticket.services.iter();
        let stated = stated.find(|stated| Some(&stated.supplier_service_id) == on_ticket);
        let bag = stated.and_then(|stated| stated.bag);
        FlightServiceResource {
            id: service.id.to_string(),
            status: service.status.into(),
            passenger_id: passenger.map(|passenger| passenger.id.to_string()),
            segment_ids: texts(&service.segment_ids),
            quantity: u32::from(service.quantity),
            unit_amount: service.unit_amount.into(),
            total_amount: service.total().into(),
            payment_id: service.payment.to_string(),
            kind: service.service_type.into(),
            baggage: bag
                .map(BaggageResource::from)
                .or_else(|| service.baggage.map(BaggageResource::from)),
            name: stated.and_then(|stated| stated.name.clone()),
            seat: stated.and_then(|stated| stated.seat.as_ref().map(SeatResource::from)),
        }
    };
    booking.details.services.iter().map(service).collect()
}

/// Builds an available service with the gateway's ids.
pub fn available_service(
    id: &ServiceId,
    passenger: &PassengerId,
    segments: &[SegmentId],
    service: &supplier_api::AvailableService,
) -> AvailableServiceResource {
    AvailableServiceResource {
        id: id.to_string(),
        kind: service.service_type.into(),
        passenger_id: passenger.to_string(),
        segment_ids: texts(segments),
        baggage: service.baggage.map(BaggageResource::from),
        unit_amount: service.unit_amount.into(),
        max_quantity: u32::from(service.max_quantity),
    }
}

fn texts(ids: &[SegmentId]) -> Vec<String> {
    ids.iter().map(ToString::to_string).collect()
}

impl From<flight::Baggage> for BaggageResource {
    fn from(baggage: flight::Baggage) -> Self {
        Self {
            kind: baggage.baggage_type.into(),
            max_weight_kg: baggage.max_weight_kg,
            pieces: None,
            max_length_cm: None,
            max_width_cm: None,
            max_height_cm: None,
        }
    }
}

impl From<flight::BagAllowance> for BaggageResource {
    fn from(bag: flight::BagAllowance) -> Self {
        Self {
            kind: bag.baggage_type.into(),
            max_weight_kg: bag.max_weight_kg,
            pieces: bag.pieces.map(u32::from),
            max_length_cm: bag.max_length_cm,
            max_width_cm: bag.max_width_cm,
            max_height_cm: bag.max_height_cm,
        }
    }
}

same_variants! { BaggageTypeResource <= flight::BaggageType: Checked, CarryOn }

same_variants! { ServiceTypeResource <= flight::ServiceType: Baggage, Seat, Meal, Other }

same_variants! {
    ServiceStatusResource <= booking::ServiceStatus: Pending, Confirmed, Failed, Canceled
}
