//! Services of a ticket: what is on it, and what is for sale.

use crate::api::value::Money;
use host_domain::flight::booking::{self, BookedService, Booking};
use host_domain::flight::supply;
use host_domain::id::{PassengerId, SegmentId, ServiceId};
use serde::Serialize;
use utoipa::ToSchema;

/// How a service stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum ServiceStatus {
    /// Being bought.
    Pending,
    /// On the ticket.
    Confirmed,
    /// Was not bought.
    Failed,
    /// Given back with the ticket.
    Canceled,
}

/// What kind of service it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum ServiceType {
    /// A bag.
    Baggage,
    /// A certain seat.
    Seat,
    /// A meal.
    Meal,
    /// Something else.
    Other,
}

/// What kind of bag it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum BaggageType {
    /// In the hold.
    Checked,
    /// In the cabin.
    CarryOn,
}

/// A bag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Baggage {
    /// What kind of bag it is.
    #[serde(rename = "type")]
    kind: BaggageType,
    /// Kilograms; null: not told.
    #[schema(required, minimum = 0)]
    max_weight_kg: Option<u32>,
}

/// A service of a booking.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct FlightService {
    #[schema(
        pattern = "^svc_[a-zA-Z0-9-]+$",
        example = "svc_01976f3e4a5b7c8d9e0f112233445566"
    )]
    id: String,
    /// How it stands.
    status: ServiceStatus,
    /// For whom.
    #[schema(
        required,
        pattern = "^psg_[a-zA-Z0-9-]+$",
        example = "psg_01976f3e4a5b7c8d9e0f112233445566"
    )]
    passenger_id: Option<String>,
    /// On which segments.
    segment_ids: Vec<String>,
    /// How many.
    #[schema(minimum = 1, maximum = 255)]
    quantity: u32,
    /// Each.
    unit_amount: Money,
    /// All of them.
    total_amount: Money,
    /// What pays it.
    #[schema(
        pattern = "^pay_[a-zA-Z0-9-]+$",
        example = "pay_01976f3e4a5b7c8d9e0f112233445566"
    )]
    payment_id: String,
    /// What kind it is.
    #[serde(rename = "type")]
    kind: ServiceType,
    /// Of a bag; null: it is none.
    #[schema(required)]
    baggage: Option<Baggage>,
}

/// A service that the airline sells on a ticket right now.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct AvailableService {
    /// To buy it by; good as long as the airline sells it on this ticket.
    #[schema(
        pattern = "^svc_[a-zA-Z0-9-]+$",
        example = "svc_01976f3e4a5b7c8d9e0f112233445566"
    )]
    id: String,
    /// What kind it is.
    #[serde(rename = "type")]
    kind: ServiceType,
    /// For whom.
    #[schema(
        pattern = "^psg_[a-zA-Z0-9-]+$",
        example = "psg_01976f3e4a5b7c8d9e0f112233445566"
    )]
    passenger_id: String,
    /// On which segments.
    segment_ids: Vec<String>,
    /// Of a bag; null: it is none.
    #[schema(required)]
    baggage: Option<Baggage>,
    /// Each.
    unit_amount: Money,
    /// The most that can be bought.
    #[schema(minimum = 0, maximum = 255)]
    max_quantity: u32,
}

/// The services of a booking.
pub(crate) fn booked_services(booking: &Booking) -> Vec<FlightService> {
    let service = |service: &BookedService| {
        let passenger = booking.passengers.get(usize::from(service.passenger));
        FlightService {
            id: service.id.to_string(),
            status: service.status.into(),
            passenger_id: passenger.map(|passenger| passenger.id.to_string()),
            segment_ids: texts(&service.segment_ids),
            quantity: u32::from(service.quantity),
            unit_amount: service.unit_amount.into(),
            total_amount: service.total().into(),
            payment_id: service.payment.to_string(),
            kind: service.service_type.into(),
            baggage: service.baggage.map(Baggage::from),
        }
    };
    booking.services.iter().map(service).collect()
}

/// A service that is for sale, under the gateway's ids.
pub(crate) fn available_service(
    id: &ServiceId,
    passenger: &PassengerId,
    segments: &[SegmentId],
    service: &supply::AvailableService,
) -> AvailableService {
    AvailableService {
        id: id.to_string(),
        kind: service.service_type.into(),
        passenger_id: passenger.to_string(),
        segment_ids: texts(segments),
        baggage: service.baggage.map(Baggage::from),
        unit_amount: service.unit_amount.into(),
        max_quantity: u32::from(service.max_quantity),
    }
}

fn texts(ids: &[SegmentId]) -> Vec<String> {
    ids.iter().map(ToString::to_string).collect()
}

impl From<supply::Baggage> for Baggage {
    fn from(baggage: supply::Baggage) -> Self {
        Self {
            kind: match baggage.baggage_type {
                supply::BaggageType::Checked => BaggageType::Checked,
                supply::BaggageType::CarryOn => BaggageType::CarryOn,
            },
            max_weight_kg: baggage.max_weight_kg,
        }
    }
}

impl From<supply::ServiceType> for ServiceType {
    fn from(kind: supply::ServiceType) -> Self {
        match kind {
            supply::ServiceType::Baggage => Self::Baggage,
            supply::ServiceType::Seat => Self::Seat,
            supply::ServiceType::Meal => Self::Meal,
            supply::ServiceType::Other => Self::Other,
        }
    }
}

impl From<booking::ServiceStatus> for ServiceStatus {
    fn from(status: booking::ServiceStatus) -> Self {
        match status {
            booking::ServiceStatus::Pending => Self::Pending,
            booking::ServiceStatus::Confirmed => Self::Confirmed,
            booking::ServiceStatus::Failed => Self::Failed,
            booking::ServiceStatus::Canceled => Self::Canceled,
        }
    }
}
