//! Sample flight bookings.

use crate::booking::tests::{
    LATER, NOW, Outcome, Sample, after, authorized, euros, payment, payment_sent_and, refusal,
};
use crate::booking::{BookingEvent, BookingStatus};
use crate::flight::booking::*;
use crate::flight::details::TicketDetails;
use crate::flight::itinerary::{FareCondition, FareConditions, Journey};
use crate::flight::service::{Baggage, BaggageType, ServiceType};
use crate::flight::supplier_api::{
    FlightCancellationAmounts, FlightPrebookResponse, FlightSupplierBooking, SupplierService,
};
use crate::id::{PurchaseId, ServiceId};
use crate::money::Money;
use crate::payment::{Payment, PaymentEvent};
use crate::remote_call::RemoteCall;
use crate::supplier::SupplierBookingStatus;
use crate::time::Timestamp;
use proptest::prelude::*;
use serde_json::json;

pub(super) use crate::flight::booking::FlightBookingDetails as Flight;

/// The number of the payment for the bags.
pub(super) const BAGS: u128 = 2;

fn conditions() -> FareConditions {
    FareConditions {
        refund: FareCondition {
            allowed: Some(true),
            penalty: Some(euros(5_000)),
        },
        change: FareCondition {
            allowed: Some(false),
            penalty: None,
        },
    }
}

pub(super) fn journey(segments: &[&str]) -> Journey {
    let segment = |id: &&str| {
        json!({
            "supplier_segment_id": id,
            "origin": "LHR",
            "destination": "JFK",
            "departure_time": "2027-01-01T10:00",
            "arrival_time": "2027-01-01T13:00",
            "marketing_flight": "BA117",
            "marketing_carrier": "British Airways",
            "marketing_carrier_code": "BA",
            "cabin": "economy",
            "passengers": [],
        })
    };
    let stored = json!({
        "supplier_journey_id": "jrn-1",
        "origin": "LHR",
        "destination": "JFK",
        "direction": "outbound",
        "fare_brand": "Basic",
        "departure_time": "2027-01-01T10:00",
        "arrival_time": "2027-01-01T13:00",
        "stops": 0,
        "segments": segments.iter().map(segment).collect::<Vec<_>>(),
    });
    serde_json::from_value(stored).unwrap()
}

impl Sample for Flight {
    const PRICE: i64 = 32_000;
    const PAYMENTS: u128 = BAGS;

    fn details() -> Self {
        let passenger = |id: &str| {
            json!({
                "id": id,
                "passenger_type": "adult",
                "first_name": "Ada",
                "last_name": "L",
                "date_of_birth": "1990-01-01",
                "gender": "female",
                "loyalty_accounts": [],
            })
        };
        let stored = json!({
            "contact": { "email": "a@example.org", "phone": "+4912345678" },
            "travellers": { "adults": 2, "children": [], "infants": 0 },
            "passengers": [passenger("psg_1"), passenger("psg_2")],
            "offered_total": euros(32_000),
            "fare_conditions": conditions(),
            "journeys": [],
            "services": [],
            "purchases": [],
            "changes": [],
            "id_sequence": 0,
            "cancellation_count": 0,
        });
        serde_json::from_value(stored).unwrap()
    }

    fn prebook() -> FlightPrebookResponse {
        FlightPrebookResponse {
            supplier_prebook: "P1".into(),
            total: euros(32_000),
            fare: Some(euros(25_600)),
            fare_tax: Some(euros(6_400)),
            fare_conditions: conditions(),
            documents_required: false,
            journeys: vec![journey(&["seg-1", "seg-2"])],
            expires_at: None,
            checkout: None,
            details: TicketDetails::default(),
        }
    }

    fn reported(status: SupplierBookingStatus) -> Box<FlightSupplierBooking> {
        Box::new(FlightSupplierBooking {
            status,
            supplier_reference: "S1".into(),
            client_reference: None,
            airline_pnr: Some("ABC123".into()),
            total: euros(32_000),
            fare: None,
            fare_tax: None,
            journeys: vec![],
            services: vec![],
            has_unreadable_services: false,
            changes: vec![],
            cancellation: None,
            has_unreadable_amounts: false,
            details: TicketDetails::default(),
        })
    }

    fn cancel_started() -> BookingEvent<Self> {
        FlightEvent::CancelStarted.into()
    }

    fn cancel_succeeded(reported: Box<FlightSupplierBooking>) -> BookingEvent<Self> {
        FlightEvent::CancelSucceeded(reported).into()
    }

    fn refreshed(
        reported: Box<FlightSupplierBooking>,
        change_reported_at: Timestamp,
    ) -> BookingEvent<Self> {
        let event = FlightEvent::Refreshed {
            supplier_booking: reported,
            change_reported_at,
        };
        event.into()
    }

    fn other_events() -> Vec<BookingEvent<Self>> {
        let next_at = LATER;
        let events = [
            FlightEvent::CancelExpedited,
            FlightEvent::RefundDecided(euros(20_000)),
            purchase_started(),
            FlightEvent::PurchaseSent { next_at },
            FlightEvent::PurchaseNotSent,
            FlightEvent::PurchaseUnresolved {
                next_at,
                absence: None,
            },
            FlightEvent::PurchaseResendScheduled { at: LATER },
            purchase_succeeded(),
            FlightEvent::PurchaseRefused(refusal()),
        ];
        events.map(BookingEvent::<Self>::Kind).into()
    }

    fn other_states() -> Vec<(&'static str, FlightBooking)> {
        let refunding = after(Self::cancel_sent(), [Self::cancel_done()]);
        vec![
            ("CONFIRMED paying bags", buying()),
            ("CONFIRMED bags paid", bags_paid()),
            ("CONFIRMED bags sent", bags_sent()),
            ("CONFIRMED bags bought", bags_bought()),
            ("CANCELED refunding", refunding),
            ("CANCELED", refunded()),
            ("CANCELED refund held", refund_held()),
        ]
    }

    fn outcome(booking: &FlightBooking, payment: &Payment) -> Outcome {
        let mut purchases = booking.details.purchases.iter();
        match purchases.find(|purchase| purchase.payment == payment.id) {
            None => Outcome::of_booking(booking),
            Some(purchase) => match purchase.state {
                ServicePurchaseState::InProgress { .. } => Outcome::Open,
                ServicePurchaseState::Succeeded => Outcome::Confirmed,
                ServicePurchaseState::Refused
                | ServicePurchaseState::NotSent
                | ServicePurchaseState::Declined => Outcome::Failed,
            },
        }
    }

    fn check_purchases(booking: &FlightBooking) -> Result<(), TestCaseError> {
        let purchases = booking.details.purchases.iter();
        let open = purchases.filter(|purchase| purchase.call().is_some());
        let open = open.count();
        prop_assert!(open <= 1, "two purchases are in progress at once");
        prop_assert!(
            open == 0 || booking.status() == BookingStatus::Confirmed,
            "bags are being bought for a ticket that is not confirmed"
        );
        Ok(())
    }
}

/// Returns the cancellation of a ticket for which the airline stated its amounts.
pub(super) fn canceled_for(fee: Money, refund: Money) -> BookingEvent<Flight> {
    let mut reported = Flight::reported(SupplierBookingStatus::Canceled);
    reported.cancellation = Some(FlightCancellationAmounts {
        fee,
        refund,
        supplier_reference: Some("ore_1".into()),
    });
    Flight::cancel_succeeded(reported)
}

pub(super) fn bag_on_ticket() -> SupplierService {
    SupplierService {
        supplier_service_id: "bag-1".into(),
        service_type: ServiceType::Baggage,
        passenger: Some(0),
        supplier_segment_ids: vec!["seg-1".into()],
        baggage: Some(Baggage {
            baggage_type: BaggageType::Checked,
            max_weight_kg: Some(23),
        }),
        quantity: 1,
        unit_amount: euros(6_000),
    }
}

fn purchase_started() -> FlightEvent {
    let payment = payment(BAGS, euros(6_000));
    let bag = bag_on_ticket();
    let service = BookedService {
        id: ServiceId::from_bits(1),
        status: ServiceStatus::Pending,
        supplier_service_id: bag.supplier_service_id,
        supplier_ticket_service_id: None,
        service_type: bag.service_type,
        passenger: 0,
        supplier_segment_ids: bag.supplier_segment_ids,
        segment_ids: vec![],
        baggage: bag.baggage,
        quantity: bag.quantity,
        unit_amount: bag.unit_amount,
        payment: payment.id.clone(),
    };
    let purchase = ServicePurchase {
        id: PurchaseId::from_bits(1),
        services: vec![service.id.clone()],
        payment: payment.id.clone(),
        total: euros(6_000),
        state: ServicePurchaseState::InProgress {
            call: RemoteCall::pending(NOW),
        },
        failure: None,
        created_at: NOW,
    };
    FlightEvent::PurchaseStarted {
        purchase: Box::new(purchase),
        services: vec![service],
        payment: Box::new(payment),
    }
}

fn purchase_succeeded() -> FlightEvent {
    let mut reported = Flight::reported(SupplierBookingStatus::Confirmed);
    reported.services = vec![bag_on_ticket()];
    FlightEvent::PurchaseSucceeded(reported)
}

pub(super) fn buying() -> FlightBooking {
    after(Flight::captured(), [purchase_started().into()])
}

pub(super) fn bags_paid() -> FlightBooking {
    after(buying(), payment_sent_and(BAGS, authorized()))
}

pub(super) fn bags_sent() -> FlightBooking {
    let sent = FlightEvent::PurchaseSent { next_at: LATER };
    after(bags_paid(), [sent.into()])
}

pub(super) fn bags_bought() -> FlightBooking {
    after(bags_sent(), [purchase_succeeded().into()])
}

pub(super) fn bags_captured() -> FlightBooking {
    let captured = payment_sent_and(BAGS, PaymentEvent::Captured);
    after(bags_bought(), captured)
}

/// Returns a cancelled booking for which neither the supplier nor the fare gives a refund amount.
pub(super) fn refund_held() -> FlightBooking {
    let mut booking = Flight::cancel_sent();
    booking.details.fare_conditions.refund.penalty = None;
    after(booking, [Flight::cancel_done()])
}

pub(super) fn refunded() -> FlightBooking {
    let mut booking = after(Flight::cancel_sent(), [Flight::cancel_done()]);
    let payments = booking.payments.iter_mut();
    let refunds = payments.flat_map(|payment| &mut payment.refunds);
    refunds.for_each(|refund| refund.call = None);
    booking
}
