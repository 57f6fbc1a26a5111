//! Bookings in every state, created by applying events.

use crate::booking::{BookingEvent, BookingState, ChangeSource, Failure, PaymentCollector};
use crate::flight::booking::*;
pub(super) use crate::flight::itinerary::FareCondition;
use crate::flight::itinerary::{Cabin, Direction, FareConditions, Journey, Segment};
use crate::flight::passenger::{Gender, PassengerContact, PassengerType, Travellers};
pub(super) use crate::flight::supplier_api::SupplierService;
use crate::flight::supplier_api::{
    Baggage, BaggageType, FlightPrebookResponse, FlightSupplierBooking, ServiceType,
};
use crate::id::{BookingId, InstrumentId, PassengerId, PaymentId, PurchaseId, RefundId, ServiceId};
use crate::money::{Currency, Money};
use crate::owner::{Mode, Owner, Tenant};
use crate::payment::{DeclineReason, Instrument, Payment, PaymentEvent};
use crate::remote_call::RemoteCall;
use crate::supplier::{SupplierBookingStatus, SupplierId};
use crate::time::{Date, Timestamp};

pub(super) const NOW: Timestamp = Timestamp(1_000_000);
pub(super) const LATER: Timestamp = Timestamp(1_005_000);

/// Number of events that [`events`] returns.
pub(super) const EVENTS: usize = 61;

pub(super) fn euros(minor: i64) -> Money {
    Money::new(minor, Currency::parse("EUR").unwrap())
}

pub(super) fn dollars(minor: i64) -> Money {
    Money::new(minor, Currency::USD)
}

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
    let segment = |id: &&str| Segment {
        supplier_segment_id: (*id).to_owned(),
        origin: "LHR".into(),
        destination: "JFK".into(),
        departure_time: "2027-01-01T10:00".into(),
        arrival_time: "2027-01-01T13:00".into(),
        origin_time_zone: None,
        destination_time_zone: None,
        marketing_flight: "BA117".into(),
        marketing_carrier: "British Airways".into(),
        marketing_carrier_code: "BA".into(),
        marketing_carrier_logo_url: None,
        operating_carrier: None,
        operating_carrier_logo_url: None,
        duration_minutes: Some(480),
        cabin: Cabin::Economy,
        passengers: vec![],
    };
    Journey {
        supplier_journey_id: "jrn-1".into(),
        origin: "LHR".into(),
        destination: "JFK".into(),
        direction: Direction::Outbound,
        fare_brand: Some("Basic".into()),
        departure_time: "2027-01-01T10:00".into(),
        arrival_time: "2027-01-01T13:00".into(),
        duration_minutes: Some(480),
        stops: 0,
        segments: segments.iter().map(segment).collect(),
    }
}

pub(super) fn created() -> FlightBooking {
    let passenger = |bits| BookedPassenger {
        id: PassengerId::from_bits(bits),
        position: 0,
        passenger_type: PassengerType::Adult,
        title: None,
        first_name: "Ada".into(),
        last_name: "L".into(),
        date_of_birth: Date::new(1990, 1, 1).unwrap(),
        gender: Gender::Female,
        nationality: None,
        loyalty_accounts: vec![],
    };
    FlightBooking {
        id: BookingId::from_bits(1),
        owner: Owner {
            tenant: Tenant {
                organization: "demo".into(),
                mode: Mode::Test,
            },
            user: "org".into(),
        },
        version: 1,
        supplier: SupplierId::parse("SUPPLIER_A").unwrap(),
        reference_id: None,
        supplier_offer: "offer".into(),
        supplier_prebook: None,
        supplier_reference: None,
        use_payment_sdk: false,
        payment_collector: PaymentCollector::Gateway,
        offer_expires_at: Timestamp(9_000_000),
        state: BookingState::Created,
        payments: vec![],
        failure: None,
        created_at: NOW,
        updated_at: NOW,
        confirmed_at: None,
        canceled_at: None,
        details: FlightBookingDetails {
            exclusive_key: None,
            airline_pnr: None,
            contact: PassengerContact {
                email: "a@example.org".into(),
                phone: "+4912345678".into(),
            },
            travellers: Travellers {
                adults: 2,
                children: vec![],
                infants: 0,
            },
            passengers: vec![passenger(1), passenger(2)],
            sealed_passenger_data: None,
            offered_total: euros(32_000),
            ticket_total: None,
            fare: None,
            fare_tax: None,
            fare_conditions: conditions(),
            journeys: vec![],
            services: vec![],
            purchases: vec![],
            changes: vec![],
            id_sequence: 0,
            cancellation_count: 0,
            cancellation: None,
        },
    }
}

fn payment(bits: u128, amount: Money) -> Payment {
    let cards = SupplierId::parse("CARDS").unwrap();
    let instrument = Instrument {
        id: InstrumentId::from_bits(1),
        processor: cards.clone(),
        token: "tok".into(),
        card: None,
        created_at: NOW,
    };
    Payment::new_authorization(PaymentId::from_bits(bits), amount, cards, &instrument, NOW)
}

pub(super) fn ticket_payment() -> Payment {
    payment(1, euros(32_000))
}

pub(super) fn bag_payment() -> Payment {
    payment(2, euros(6_000))
}

fn no() -> Failure {
    Failure::new("book_failed", "No.")
}

pub(super) fn ticket(status: SupplierBookingStatus) -> Box<FlightSupplierBooking> {
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
        changes: vec![],
        cancellation: None,
    })
}

/// Applies a change reported by the supplier at [`NOW`].
pub(super) fn change_reported(booking: FlightBooking) -> FlightBooking {
    after(
        booking,
        vec![BookingEvent::ChangeReported(ChangeSource::Supplier)],
    )
}

pub(super) fn refreshed(state: Box<FlightSupplierBooking>) -> BookingEvent<FlightBookingDetails> {
    BookingEvent::Kind(FlightEvent::Refreshed {
        supplier_booking: state,
        change_reported_at: NOW,
    })
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

fn prebook_bound() -> BookingEvent<FlightBookingDetails> {
    let bound = FlightPrebookResponse {
        supplier_prebook: "P1".into(),
        total: euros(32_000),
        fare: Some(euros(25_600)),
        fare_tax: Some(euros(6_400)),
        fare_conditions: conditions(),
        documents_required: false,
        journeys: vec![journey(&["seg-1", "seg-2"])],
        expires_at: None,
        checkout: None,
    };
    BookingEvent::PrebookConfirmed {
        prebook: Box::new(bound),
        expires_at: Timestamp(9_000_000),
        payment: None,
    }
}

pub(super) fn book_confirmed() -> BookingEvent<FlightBookingDetails> {
    BookingEvent::BookConfirmed {
        supplier_booking: ticket(SupplierBookingStatus::Confirmed),
        payment: PaymentId::from_bits(9),
    }
}

pub(super) fn purchase_started() -> BookingEvent<FlightBookingDetails> {
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
        payment: bag_payment().id,
    };
    let purchase = ServicePurchase {
        id: PurchaseId::from_bits(1),
        services: vec![service.id.clone()],
        payment: bag_payment().id,
        total: euros(6_000),
        state: ServicePurchaseState::InProgress {
            call: RemoteCall::pending(NOW),
        },
        failure: None,
        created_at: NOW,
    };
    BookingEvent::Kind(FlightEvent::PurchaseStarted {
        purchase: Box::new(purchase),
        services: vec![service],
        payment: Box::new(bag_payment()),
    })
}

fn purchase_done() -> BookingEvent<FlightBookingDetails> {
    let mut state = ticket(SupplierBookingStatus::Confirmed);
    state.services = vec![bag_on_ticket()];
    BookingEvent::Kind(FlightEvent::PurchaseSucceeded(state))
}

fn pay(event: PaymentEvent) -> BookingEvent<FlightBookingDetails> {
    let id = ticket_payment().id;
    BookingEvent::Payment { id, event }
}

pub(super) fn bag_pay(event: PaymentEvent) -> BookingEvent<FlightBookingDetails> {
    let id = bag_payment().id;
    BookingEvent::Payment { id, event }
}

fn authorized() -> PaymentEvent {
    PaymentEvent::Authorized {
        processor_reference: "ch_1".into(),
        card: None,
    }
}

/// Returns every event once, in the order of declaration. Payment events are listed for the
/// ticket's payment and for the bags' payment.
#[expect(clippy::too_many_lines, reason = "a complete list of events")]
pub(super) fn events() -> Vec<BookingEvent<FlightBookingDetails>> {
    let next_at = LATER;
    let refund = RefundId::of(created().id.as_str(), 1);
    let own = vec![
        BookingEvent::PrebookStarted,
        prebook_bound(),
        BookingEvent::PrebookRefused(no()),
        BookingEvent::PrebookTimedOut,
        BookingEvent::OfferExpired,
        BookingEvent::BookStarted {
            payment: Some(ticket_payment()),
        },
        BookingEvent::BookSent { next_at },
        BookingEvent::BookNotSent,
        BookingEvent::BookAccepted {
            supplier_reference: None,
            next_at,
        },
        BookingEvent::BookUnresolved { next_at },
        BookingEvent::BookResendScheduled { at: LATER },
        book_confirmed(),
        BookingEvent::BookRefused(no()),
        BookingEvent::CheckoutNotCompleted,
        BookingEvent::Kind(FlightEvent::CancelStarted),
        BookingEvent::CancelSent { next_at },
        BookingEvent::CancelNotSent { retry_at: LATER },
        BookingEvent::CancelAccepted { next_at },
        BookingEvent::CancelUnresolved { next_at },
        BookingEvent::Kind(FlightEvent::CancelSucceeded(ticket(
            SupplierBookingStatus::Canceled,
        ))),
        BookingEvent::CancelRefused(no()),
        BookingEvent::CancelNotExecuted(no()),
        BookingEvent::Kind(FlightEvent::CancelExpedited),
        BookingEvent::Kind(FlightEvent::RefundDecided(euros(20_000))),
        purchase_started(),
        BookingEvent::Kind(FlightEvent::PurchaseSent { next_at }),
        BookingEvent::Kind(FlightEvent::PurchaseNotSent),
        BookingEvent::Kind(FlightEvent::PurchaseUnresolved { next_at }),
        BookingEvent::Kind(FlightEvent::PurchaseResendScheduled { at: LATER }),
        purchase_done(),
        BookingEvent::Kind(FlightEvent::PurchaseRefused(no())),
        BookingEvent::ChangeReported(ChangeSource::Supplier),
        BookingEvent::RefreshFailed { next_at },
        refreshed(ticket(SupplierBookingStatus::Canceled)),
    ];
    let of_payments = [
        PaymentEvent::Sent {
            reconcile_at: next_at,
        },
        authorized(),
        PaymentEvent::Declined(DeclineReason::InsufficientFunds),
        PaymentEvent::NotAuthorized,
        PaymentEvent::Captured,
        PaymentEvent::Voided,
        PaymentEvent::StepFailed { retry_at: LATER },
        PaymentEvent::Unresolved { next_at },
        PaymentEvent::ResendScheduled { at: LATER },
        PaymentEvent::RefundResendScheduled {
            refund: refund.clone(),
            at: LATER,
        },
        PaymentEvent::RefundSent {
            refund: refund.clone(),
            next_at,
        },
        PaymentEvent::Refunded(refund.clone()),
        PaymentEvent::RefundFailed {
            refund: refund.clone(),
            retry_at: LATER,
        },
        PaymentEvent::RefundUnresolved { refund, next_at },
    ];
    let ticket = of_payments.clone().into_iter().map(pay);
    let bags = of_payments.into_iter().take(13).map(bag_pay);
    own.into_iter().chain(ticket).chain(bags).collect()
}

pub(super) fn after(
    booking: FlightBooking,
    events: Vec<BookingEvent<FlightBookingDetails>>,
) -> FlightBooking {
    events.into_iter().fold(booking, |booking, event| {
        booking.apply(event, NOW).unwrap().booking
    })
}

pub(super) fn ready() -> FlightBooking {
    after(
        created(),
        vec![BookingEvent::PrebookStarted, prebook_bound()],
    )
}

pub(super) fn paying() -> FlightBooking {
    let payment = Some(ticket_payment());
    after(ready(), vec![BookingEvent::BookStarted { payment }])
}

pub(super) fn paid() -> FlightBooking {
    let sent = PaymentEvent::Sent {
        reconcile_at: LATER,
    };
    after(paying(), vec![pay(sent), pay(authorized())])
}

pub(super) fn booking_sent() -> FlightBooking {
    after(paid(), vec![BookingEvent::BookSent { next_at: LATER }])
}

pub(super) fn confirmed() -> FlightBooking {
    after(booking_sent(), vec![book_confirmed()])
}

pub(super) fn captured() -> FlightBooking {
    let sent = PaymentEvent::Sent {
        reconcile_at: LATER,
    };
    after(confirmed(), vec![pay(sent), pay(PaymentEvent::Captured)])
}

pub(super) fn buying() -> FlightBooking {
    after(captured(), vec![purchase_started()])
}

pub(super) fn bags_paid() -> FlightBooking {
    let sent = PaymentEvent::Sent {
        reconcile_at: LATER,
    };
    after(buying(), vec![bag_pay(sent), bag_pay(authorized())])
}

pub(super) fn bags_sent() -> FlightBooking {
    after(
        bags_paid(),
        vec![BookingEvent::Kind(FlightEvent::PurchaseSent {
            next_at: LATER,
        })],
    )
}

pub(super) fn bags_bought() -> FlightBooking {
    after(bags_sent(), vec![purchase_done()])
}

pub(super) fn bags_captured() -> FlightBooking {
    let sent = PaymentEvent::Sent {
        reconcile_at: LATER,
    };
    after(
        bags_bought(),
        vec![bag_pay(sent), bag_pay(PaymentEvent::Captured)],
    )
}

pub(super) fn canceling() -> FlightBooking {
    after(
        captured(),
        vec![BookingEvent::Kind(FlightEvent::CancelStarted)],
    )
}

pub(super) fn cancel_sent() -> FlightBooking {
    after(
        canceling(),
        vec![BookingEvent::CancelSent { next_at: LATER }],
    )
}

/// Returns a cancelled booking for which neither the supplier nor the fare gives a refund amount.
pub(super) fn refund_held() -> FlightBooking {
    let mut booking = after(
        captured(),
        vec![BookingEvent::Kind(FlightEvent::CancelStarted)],
    );
    booking.details.fare_conditions.refund.penalty = None;
    let done = BookingEvent::Kind(FlightEvent::CancelSucceeded(ticket(
        SupplierBookingStatus::Canceled,
    )));
    after(
        booking,
        vec![BookingEvent::CancelSent { next_at: LATER }, done],
    )
}

pub(super) fn canceled() -> FlightBooking {
    let done = BookingEvent::Kind(FlightEvent::CancelSucceeded(ticket(
        SupplierBookingStatus::Canceled,
    )));
    let mut booking = after(cancel_sent(), vec![done]);
    // The refunds are done.
    for payment in &mut booking.payments {
        payment
            .refunds
            .iter_mut()
            .for_each(|refund| refund.call = None);
    }
    booking
}

/// Returns a booking in every state that the table distinguishes.
pub(super) fn states() -> Vec<(&'static str, FlightBooking)> {
    let asked = after(created(), vec![BookingEvent::PrebookStarted]);
    let pending = BookingEvent::BookAccepted {
        supplier_reference: None,
        next_at: LATER,
    };
    let released = BookingEvent::Kind(FlightEvent::CancelSucceeded(ticket(
        SupplierBookingStatus::Canceled,
    )));
    vec![
        ("CREATED", created()),
        ("PREBOOK_IN_PROGRESS", asked),
        ("READY_FOR_COMPLETE", ready()),
        ("COMPLETE_IN_PROGRESS paying", paying()),
        ("COMPLETE_IN_PROGRESS paid", paid()),
        ("COMPLETE_IN_PROGRESS sent", booking_sent()),
        (
            "COMPLETE_IN_PROGRESS pending",
            after(booking_sent(), vec![pending]),
        ),
        ("CONFIRMED capturing", confirmed()),
        ("CONFIRMED captured", captured()),
        ("CONFIRMED hinted", change_reported(captured())),
        ("CONFIRMED paying bags", buying()),
        ("CONFIRMED bags paid", bags_paid()),
        ("CONFIRMED bags sent", bags_sent()),
        ("CONFIRMED bags bought", bags_bought()),
        ("CANCEL_IN_PROGRESS due", canceling()),
        ("CANCEL_IN_PROGRESS sent", cancel_sent()),
        (
            "CANCEL_IN_PROGRESS pending",
            after(
                cancel_sent(),
                vec![BookingEvent::CancelAccepted { next_at: LATER }],
            ),
        ),
        ("CANCELED refunding", after(cancel_sent(), vec![released])),
        ("CANCELED", canceled()),
        ("CANCELED refund held", refund_held()),
        (
            "FAILED",
            after(booking_sent(), vec![BookingEvent::BookRefused(no())]),
        ),
        ("EXPIRED", after(ready(), vec![BookingEvent::OfferExpired])),
    ]
}
