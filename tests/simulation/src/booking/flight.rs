//! The simulated flight booking, with bags purchased for the ticket.

use super::actors::Wish;
use super::invariants::Checks;
use super::payment::new_payment;
use super::remote_call::Request;
use super::scenario::{Setting, euros};
use super::simulated_booking::{Answer, Around, Subject};
use super::supplier::{Order, World};
use crate::seeded_random::Random;
use anyhow::{Result, ensure};
use host_application::booking::interpret::{Interpretation, flight as judge};
use host_application::id_generator::IdGenerator;
use host_domain::booking::PaymentCollector;
use host_domain::event::EventType;
use host_domain::flight::booking::{
    BookedService, Booking, Event, ServicePurchase, ServicePurchaseState, ServiceStatus, State,
    Status,
};
use host_domain::flight::itinerary::{
    Cabin, Direction, FareCondition, FareConditions, Journey, Segment,
};
use host_domain::flight::passenger::{PassengerContact, Travellers};
use host_domain::flight::step::Step;
use host_domain::flight::supplier_api::{
    Baggage, BaggageType, BookingLookup, CancellationAmounts, PrebookResponse, ServiceType,
    SupplierBooking, SupplierService,
};
use host_domain::id::{BookingId, PaymentId, PurchaseId, ServiceId};
use host_domain::money::Money;
use host_domain::owner::{Mode, Owner, Tenant};
use host_domain::payment::{Payment, PaymentStep};
use host_domain::remote_call::RemoteCall;
use host_domain::supplier::{SupplierBookingStatus, SupplierId};
use host_domain::time::Timestamp;

fn conditions(setting: &Setting) -> FareConditions {
    let penalty = setting.rooms.iter().map(|(_, fee)| fee).sum();
    FareConditions {
        refund: FareCondition {
            allowed: Some(true),
            penalty: Some(euros(penalty)),
        },
        change: FareCondition {
            allowed: Some(false),
            penalty: None,
        },
    }
}

fn journey() -> Journey {
    let segment = Segment {
        supplier_segment_id: "seg".to_owned(),
        origin: "LHR".to_owned(),
        destination: "JFK".to_owned(),
        departure_time: "2027-06-01T10:00".to_owned(),
        arrival_time: "2027-06-01T13:00".to_owned(),
        origin_time_zone: None,
        destination_time_zone: None,
        marketing_flight: "BA117".to_owned(),
        marketing_carrier: "British Airways".to_owned(),
        marketing_carrier_code: "BA".to_owned(),
        marketing_carrier_logo_url: None,
        operating_carrier: None,
        operating_carrier_logo_url: None,
        duration_minutes: Some(480),
        cabin: Cabin::Economy,
        passengers: Vec::new(),
    };
    Journey {
        supplier_journey_id: "jrn".to_owned(),
        origin: segment.origin.clone(),
        destination: segment.destination.clone(),
        direction: Direction::Outbound,
        fare_brand: None,
        departure_time: segment.departure_time.clone(),
        arrival_time: segment.arrival_time.clone(),
        duration_minutes: Some(480),
        stops: 0,
        segments: vec![segment],
    }
}

const BAG: Baggage = Baggage {
    baggage_type: BaggageType::Checked,
    max_weight_kg: Some(23),
};

fn state_of(order: Order) -> SupplierBooking {
    let bag = |id: &String| SupplierService {
        supplier_service_id: id.clone(),
        service_type: ServiceType::Baggage,
        passenger: Some(0),
        supplier_segment_ids: vec!["seg".to_owned()],
        baggage: Some(BAG),
        quantity: 1,
        unit_amount: euros(0),
    };
    SupplierBooking {
        services: order.extras.iter().map(bag).collect(),
        status: order.status,
        supplier_reference: "order".to_owned(),
        client_reference: None,
        airline_pnr: None,
        total: order.kept,
        fare: None,
        fare_tax: None,
        journeys: Vec::new(),
        changes: Vec::new(),
        cancellation: order.amounts.map(|(fee, refund)| CancellationAmounts {
            fee,
            refund,
            supplier_reference: None,
        }),
    }
}

fn purchase(random: &Random, price: Money, now: Timestamp) -> Event {
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
    Event::PurchaseStarted {
        purchase: Box::new(purchase),
        services: vec![service],
        payment: Box::new(payment),
    }
}

impl Subject for Booking {
    fn born(id: BookingId, setting: &Setting, now: Timestamp) -> Self {
        Self {
            id,
            owner: Owner {
                tenant: Tenant {
                    organization: "demo".to_owned(),
                    mode: Mode::Test,
                },
                user: "org".to_owned(),
            },
            version: 1,
            supplier: SupplierId::parse("FLIGHTS").unwrap(),
            reference_id: None,
            supplier_offer: "offer".to_owned(),
            exclusive_key: None,
            supplier_prebook: None,
            supplier_reference: None,
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
            offered_total: setting.offered(),
            ticket_total: None,
            fare: None,
            fare_tax: None,
            fare_conditions: conditions(setting),
            journeys: Vec::new(),
            services: Vec::new(),
            purchases: Vec::new(),
            changes: Vec::new(),
            id_sequence: 0,
            use_payment_sdk: setting.by_browser,
            payment_collector: setting.settlement,
            offer_expires_at: now.plus_s(1800),
            state: State::Created,
            payments: Vec::new(),
            cancellation_count: 0,
            cancellation: None,
            failure: None,
            created_at: now,
            updated_at: now,
            confirmed_at: None,
            canceled_at: None,
        }
    }

    fn bound(&self, setting: &Setting, expires_at: Timestamp, payment: Option<Payment>) -> Event {
        let bound = PrebookResponse {
            supplier_prebook: "prebook".to_owned(),
            total: setting.offered(),
            fare: None,
            fare_tax: None,
            fare_conditions: conditions(setting),
            documents_required: false,
            journeys: vec![journey()],
            expires_at: None,
            checkout: None,
        };
        Event::PrebookConfirmed {
            bound: Box::new(bound),
            expires_at,
            payment,
        }
    }

    fn payment_step(step: &Step) -> Option<&PaymentStep> {
        match step {
            Step::Payment(step) => Some(step),
            _ => None,
        }
    }

    fn request(&self, step: &Step, reference: Option<&str>) -> Request {
        let reference = reference.unwrap_or_default().to_owned();
        match step {
            Step::Book => Request::Book { reference },
            Step::Cancel => Request::Cancel {
                reference,
                rooms: Vec::new(),
            },
            Step::BuyServices => Request::Buy { reference },
            _ => Request::FindBooking,
        }
    }

    fn judge(&self, step: &Step, answer: Answer, around: &Around<'_>) -> Interpretation<Event> {
        let (promises, times) = (around.supplier, around.times);
        let payment = PaymentId::from_bits(around.random.generate());
        match (step, answer) {
            (Step::Book, Answer::Changed(answer)) => {
                judge::book_response(self, answer.map(state_of), payment, times)
            }
            (Step::Cancel, Answer::Changed(answer)) => {
                judge::cancel_response(self, answer.map(state_of), times)
            }
            (Step::BuyServices, Answer::Changed(answer)) => {
                judge::purchase_response(self, answer.map(state_of), times)
            }
            (step, Answer::Found(found)) => {
                let found = found.map(|order| match order {
                    Some(order) => BookingLookup::Found(Box::new(state_of(order))),
                    None => BookingLookup::NotFound,
                });
                match step {
                    Step::ReconcileCancellation => {
                        judge::cancel_lookup(self, found, promises, times)
                    }
                    Step::ReconcilePurchase => judge::purchase_lookup(self, found, promises, times),
                    Step::Refresh => judge::refresh_response(self, found, times),
                    _ => judge::book_lookup(self, found, payment, promises, times),
                }
            }
            (step, Answer::Changed(answer)) => panic!("{answer:?} is no response to {step:?}"),
        }
    }

    fn wished(
        &self,
        wish: Wish,
        random: &Random,
        setting: &Setting,
        now: Timestamp,
    ) -> Option<Event> {
        match (wish, &self.state) {
            (Wish::Cancel, State::Confirmed { .. }) => Some(Event::CancelStarted),
            (Wish::Cancel | Wish::Release, State::CancelInProgress { .. } | State::Canceled) => {
                Some(Event::CancelExpedited)
            }
            (Wish::Bags, State::Confirmed { .. })
                if self.open_purchase().is_none()
                    && self.payment_collector == PaymentCollector::Gateway =>
            {
                Some(purchase(random, euros(setting.bag), now))
            }
            _ => None,
        }
    }

    fn is_done(&self, step: &str, order: Option<&Order>) -> Option<bool> {
        let status = order.map(|order| &order.status);
        match (step, status) {
            (_, Some(SupplierBookingStatus::Pending | SupplierBookingStatus::CancelPending)) => {
                None
            }
            ("book", status) => Some(status == Some(&SupplierBookingStatus::Confirmed)),
            ("buy", _) => {
                let services = self.services.iter();
                let known = services
                    .filter(|service| service.status.is_bought())
                    .count();
                Some(order?.extras.len() > known)
            }
            (_, status) => Some(status == Some(&SupplierBookingStatus::Canceled)),
        }
    }

    fn own_payments(&self) -> Vec<&Payment> {
        let extras = |payment: &&Payment| self.purchases.iter().any(|p| p.payment == payment.id);
        self.payments
            .iter()
            .filter(|payment| !extras(payment))
            .collect()
    }

    fn check_end(&self, setting: &Setting, world: &World<'_>, checks: &Checks) -> Result<()> {
        let sold = world.truth().map(|order| &order.status);
        let agrees = match self.status() {
            Status::Confirmed => sold == Some(&SupplierBookingStatus::Confirmed),
            Status::Canceled => sold == Some(&SupplierBookingStatus::Canceled),
            Status::Failed => matches!(sold, None | Some(SupplierBookingStatus::Failed(_))),
            Status::Expired => sold.is_none(),
            _ => false,
        };
        ensure!(agrees, "{:?} here, {sold:?} there", self.status());
        let bought = self
            .services
            .iter()
            .filter(|service| service.status.is_bought())
            .count();
        let extras = world.truth().map_or(0, |order| order.extras.len());
        ensure!(bought == extras, "{bought} bags here, {extras} there");
        let open = self.open_purchase();
        ensure!(open.is_none(), "a purchase is open: {open:?}");
        if self.payment_collector == PaymentCollector::Gateway {
            let kept = world.truth().map_or(euros(0), |order| order.kept);
            checks.money(self, world, kept)?;
        }
        ensure!(!self.is_refund_undecided(), "the refund is undecided");
        let _ = setting;
        let status = self.status();
        checks.told_once(
            EventType::FlightBookingCreated,
            self.supplier_prebook.is_some(),
        )?;
        checks.told_once(
            EventType::FlightBookingConfirmed,
            self.confirmed_at.is_some(),
        )?;
        checks.told_once(EventType::FlightBookingCanceled, status == Status::Canceled)?;
        checks.told_once(EventType::FlightBookingExpired, status == Status::Expired)?;
        let failed = status == Status::Failed && self.supplier_prebook.is_some();
        checks.told_once(EventType::FlightBookingFailed, failed)?;
        let added = checks.times(EventType::FlightBookingServicesAdded, None);
        ensure!(
            added == bought,
            "{added} bag events were sent, but {bought} bought"
        );
        Ok(())
    }
}
