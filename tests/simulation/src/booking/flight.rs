//! The simulated flight booking, with bags purchased for the ticket.

use super::actor_action::ActorAction;
use super::external_systems::ExternalSystems;
use super::invariants::Checks;
use super::order::Order;
use super::payment::new_payment;
use super::remote_call::{Call, Request};
use super::scenario::BookingScenario;
use super::simulated_booking::{SimulatedBooking, check_agreement, check_events};
use crate::sample::euros;
use crate::seeded_random::Random;
use anyhow::{Result, ensure};
use host_application::booking::steps::flight::FlightChangeRequest;
use host_application::id_generator::IdGenerator;
use host_domain::booking::{BookingEvent, BookingState, PaymentCollector};
use host_domain::event::EventType;
use host_domain::flight::booking::{
    BookedService, FlightBookedState, FlightBooking, FlightBookingDetails, FlightEvent,
    ServicePurchase, ServicePurchaseState, ServiceStatus,
};
use host_domain::flight::itinerary::{FareCondition, FareConditions};
use host_domain::flight::passenger::{PassengerContact, Travellers};
use host_domain::flight::supplier_api::{
    FlightCancellationAmounts, FlightPrebookResponse, FlightSupplierBooking, SupplierService,
};
use host_domain::flight::{Baggage, BaggageType, ServiceType, TicketDetails};
use host_domain::id::{PurchaseId, ServiceId};
use host_domain::money::Money;
use host_domain::remote_call::RemoteCall;
use host_domain::supplier::SupplierBookingStatus;
use host_domain::time::Timestamp;

fn conditions(scenario: &BookingScenario) -> FareConditions {
    FareConditions {
        refund: FareCondition {
            allowed: Some(true),
            penalty: Some(euros(scenario.fees())),
        },
        change: FareCondition {
            allowed: Some(false),
            penalty: None,
        },
    }
}

const BAG: Baggage = Baggage {
    baggage_type: BaggageType::Checked,
    max_weight_kg: Some(23),
};

fn purchase(random: &Random, price: Money, now: Timestamp) -> BookingEvent<FlightBookingDetails> {
    let payment = new_payment(random, price, now);
    let service = BookedService {
        id: ServiceId::from_bits(random.generate()),
        status: ServiceStatus::Pending,
        supplier_service_id: "bag".to_owned(),
        supplier_ticket_service_id: None,
        service_type: ServiceType::Baggage,
        passenger: 0,
        supplier_segment_ids: vec!["seg".to_owned()],
        segment_ids: Vec::new(),
        baggage: Some(BAG),
        quantity: 1,
        unit_amount: price,
        payment: payment.id.clone(),
    };
    let purchase = ServicePurchase {
        id: PurchaseId::from_bits(random.generate()),
        services: vec![service.id.clone()],
        payment: payment.id.clone(),
        total: price,
        state: ServicePurchaseState::InProgress {
            call: RemoteCall::pending(now),
        },
        failure: None,
        created_at: now,
    };
    BookingEvent::Kind(FlightEvent::PurchaseStarted {
        purchase: Box::new(purchase),
        services: vec![service],
        payment: Box::new(payment),
    })
}

/// Counts the services that are bought.
fn bought(booking: &FlightBooking) -> usize {
    let services = booking.details.services.iter();
    services
        .filter(|service| service.status.is_bought())
        .count()
}

impl SimulatedBooking for FlightBookingDetails {
    const SUPPLIER: &'static str = "FLIGHTS";
    const CONFIRMED: EventType = EventType::FlightBookingConfirmed;
    const CANCELED: EventType = EventType::FlightBookingCanceled;

    fn new_details(scenario: &BookingScenario) -> Self {
        Self {
            exclusive_key: None,
            airline_pnr: None,
            contact: PassengerContact {
                email: "a@example.org".to_owned(),
                phone: "+4912345678".to_owned(),
            },
            travellers: Travellers {
                adults: 1,
                children: Vec::new(),
                infants: 0,
            },
            passengers: Vec::new(),
            sealed_passenger_data: None,
            offered_total: scenario.offered(),
            ticket_total: None,
            fare: None,
            fare_tax: None,
            fare_conditions: conditions(scenario),
            ticket: TicketDetails::default(),
            journeys: Vec::new(),
            services: Vec::new(),
            purchases: Vec::new(),
            changes: Vec::new(),
            id_sequence: 0,
            cancellation_count: 0,
            cancellation: None,
        }
    }

    fn prebook_response(scenario: &BookingScenario) -> FlightPrebookResponse {
        FlightPrebookResponse {
            supplier_prebook: "prebook".to_owned(),
            total: scenario.offered(),
            fare: None,
            fare_tax: None,
            fare_conditions: conditions(scenario),
            documents_required: false,
            journeys: Vec::new(),
            expires_at: None,
            checkout: None,
            details: TicketDetails::default(),
        }
    }

    fn reported(order: Order) -> FlightSupplierBooking {
        let bag = |id: &String| SupplierService {
            supplier_service_id: id.clone(),
            service_type: ServiceType::Baggage,
            passenger: Some(0),
            supplier_segment_ids: vec!["seg".to_owned()],
            baggage: Some(BAG),
            quantity: 1,
            unit_amount: euros(0),
        };
        FlightSupplierBooking {
            services: order.extras.iter().map(bag).collect(),
            status: order.status,
            supplier_reference: "order".to_owned(),
            client_reference: None,
            airline_pnr: None,
            total: order.retained,
            fare: None,
            fare_tax: None,
            journeys: Vec::new(),
            has_unreadable_services: false,
            changes: Vec::new(),
            details: TicketDetails::default(),
            has_unreadable_amounts: false,
            cancellation: order
                .amounts
                .map(|(fee, refund)| FlightCancellationAmounts {
                    fee,
                    refund,
                    supplier_reference: None,
                }),
        }
    }

    fn simulated_request(request: FlightChangeRequest) -> Request {
        let (reference, call) = match request {
            FlightChangeRequest::Book(request) => (request.client_reference, Call::Book),
            FlightChangeRequest::Cancel(request) => {
                (request.client_reference, Call::Cancel(Vec::new()))
            }
            FlightChangeRequest::BuyServices(request) => (request.client_reference, Call::BuyBags),
        };
        Request { reference, call }
    }

    fn requested_event(
        booking: &FlightBooking,
        action: ActorAction,
        random: &Random,
        scenario: &BookingScenario,
        now: Timestamp,
    ) -> Option<BookingEvent<Self>> {
        match (action, &booking.state) {
            (ActorAction::Cancel, BookingState::Booked(FlightBookedState::Confirmed { .. })) => {
                Some(BookingEvent::Kind(FlightEvent::CancelStarted))
            }
            (
                ActorAction::Cancel | ActorAction::CancelRooms,
                BookingState::Booked(FlightBookedState::CancelInProgress { .. })
                | BookingState::Booked(FlightBookedState::Canceled),
            ) => Some(BookingEvent::Kind(FlightEvent::CancelExpedited)),
            (ActorAction::BuyBags, BookingState::Booked(FlightBookedState::Confirmed { .. }))
                if booking.open_purchase().is_none()
                    && booking.payment_collector == PaymentCollector::Gateway =>
            {
                Some(purchase(random, euros(scenario.bag), now))
            }
            _ => None,
        }
    }

    fn is_done(booking: &FlightBooking, step: &str, order: Option<&Order>) -> Option<bool> {
        let status = order.map(|order| &order.status);
        match (step, status) {
            (_, Some(SupplierBookingStatus::Pending | SupplierBookingStatus::CancelPending)) => {
                None
            }
            ("book", status) => Some(status == Some(&SupplierBookingStatus::Confirmed)),
            ("buy", _) => Some(order?.extras.len() > bought(booking)),
            (_, status) => Some(status == Some(&SupplierBookingStatus::Canceled)),
        }
    }

    fn check_end(
        booking: &FlightBooking,
        external: &ExternalSystems<'_>,
        checks: &Checks,
    ) -> Result<()> {
        check_agreement(booking, external, checks)?;
        let bought = bought(booking);
        let extras = external
            .actual_order()
            .map_or(0, |order| order.extras.len());
        ensure!(bought == extras, "{bought} bags here, {extras} there");
        let open = booking.open_purchase();
        ensure!(open.is_none(), "a purchase is open: {open:?}");
        ensure!(!booking.is_refund_undecided(), "the refund is undecided");
        check_events(booking, checks)?;
        let added = checks.published_count(EventType::FlightBookingServicesAdded, None);
        ensure!(
            added == bought,
            "{added} bag events were sent, but {bought} bought"
        );
        Ok(())
    }
}
