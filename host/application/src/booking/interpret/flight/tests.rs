//! Tables of a flight supplier's responses and what each means. The most important rule: only a
//! definite refusal counts as a refusal.

use super::*;
use crate::booking::interpret::tests::{
    NOW, REPEATABLE, consistent, euros, judge, pending, refusal, repeated, sent,
};
use host_domain::booking::PaymentCollector;
use host_domain::flight::booking::{
    BookedService, ServicePurchase, ServicePurchaseState, ServiceStatus,
};
use host_domain::flight::passenger::{PassengerContact, Travellers};
use host_domain::flight::supplier_api::{ServiceType, SupplierService};
use host_domain::flight::{FareCondition, FareConditions};
use host_domain::id::{BookingId, PurchaseId, ServiceId};
use host_domain::owner::{Mode, Owner, Tenant};
use host_domain::supplier::SupplierId;

fn booking(state: State) -> Booking {
    let unknown = FareCondition {
        allowed: None,
        penalty: None,
    };
    Booking {
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
        supplier_offer: "o".into(),
        exclusive_key: None,
        supplier_prebook: Some("p".into()),
        supplier_reference: Some("S1".into()),
        airline_pnr: None,
        contact: PassengerContact {
            email: "a@example.org".into(),
            phone: "+4912345678".into(),
        },
        travellers: Travellers {
            adults: 1,
            children: vec![],
            infants: 0,
        },
        passengers: vec![],
        sealed_passenger_data: None,
        offered_total: euros(100),
        ticket_total: Some(euros(100)),
        fare: None,
        fare_tax: None,
        fare_conditions: FareConditions {
            refund: unknown,
            change: unknown,
        },
        journeys: vec![],
        services: vec![],
        purchases: vec![],
        changes: vec![],
        id_sequence: 0,
        use_payment_sdk: false,
        payment_collector: PaymentCollector::Gateway,
        offer_expires_at: Timestamp(9_000_000),
        state,
        payments: vec![],
        cancellation_count: 1,
        cancellation: None,
        failure: None,
        created_at: Timestamp(0),
        updated_at: Timestamp(0),
        confirmed_at: None,
        canceled_at: None,
    }
}

fn completing(book: RemoteCall) -> Booking {
    booking(State::CompleteInProgress { book })
}

fn canceling(cancel: RemoteCall) -> Booking {
    booking(State::CancelInProgress { cancel })
}

fn buying(buy: RemoteCall) -> Booking {
    let bag = bag();
    let mut booking = booking(State::Confirmed { refresh: None });
    booking.purchases = vec![ServicePurchase {
        id: PurchaseId::from_bits(1),
        services: vec![ServiceId::from_bits(1)],
        payment: payment(),
        total: euros(60),
        state: ServicePurchaseState::InProgress { call: buy },
        failure: None,
        created_at: Timestamp(0),
    }];
    booking.services = vec![BookedService {
        id: ServiceId::from_bits(1),
        status: ServiceStatus::Pending,
        supplier_service_id: bag.supplier_service_id,
        supplier_ticket_service_id: None,
        service_type: bag.service_type,
        passenger: 0,
        supplier_segment_ids: vec![],
        segment_ids: vec![],
        baggage: None,
        quantity: 1,
        unit_amount: euros(60),
        payment: payment(),
    }];
    booking
}

fn bag() -> SupplierService {
    SupplierService {
        supplier_service_id: "bag-1".into(),
        service_type: ServiceType::Baggage,
        passenger: Some(0),
        supplier_segment_ids: vec![],
        baggage: None,
        quantity: 1,
        unit_amount: euros(60),
    }
}

fn payment() -> PaymentId {
    PaymentId::from_bits(1)
}

fn state(status: SupplierBookingStatus) -> SupplierBooking {
    SupplierBooking {
        status,
        supplier_reference: "S1".into(),
        client_reference: None,
        airline_pnr: None,
        total: euros(100),
        fare: None,
        fare_tax: None,
        journeys: vec![],
        services: vec![],
        changes: vec![],
        cancellation: None,
    }
}

fn with_bag() -> SupplierBooking {
    SupplierBooking {
        services: vec![bag()],
        ..state(SupplierBookingStatus::Confirmed)
    }
}

fn failed() -> SupplierBookingStatus {
    SupplierBookingStatus::Failed(refusal(RefusalReason::Unavailable))
}

fn refused(reason: RefusalReason) -> ChangeError {
    ChangeError::Refused(refusal(reason))
}

fn unknown() -> ChangeError {
    ChangeError::Unknown("cut".into())
}

fn not_sent() -> [ChangeError; 3] {
    [
        ChangeError::NotSent("refused".into()),
        ChangeError::RateLimited {
            retry_after_s: None,
        },
        ChangeError::Overloaded,
    ]
}

fn told(judgement: &Interpretation<Event>) -> (&'static str, CallOutcome) {
    (judgement.event.name(), judgement.outcome)
}

#[test]
fn booking_is_refused_only_by_a_definite_refusal() {
    use RefusalReason as R;
    use SupplierBookingStatus as S;
    let sent = completing(sent(9_000));
    let definite = [
        R::Unavailable,
        R::Expired,
        R::PriceChanged(euros(110)),
        R::TermsChanged,
        R::PaymentDeclined,
        R::Invalid,
        R::Account,
        R::Other("no".into()),
    ];
    let definite = definite.map(|reason| {
        let answer = Err(refused(reason));
        (answer, ("book_refused", CallOutcome::Rejected))
    });
    let others = [
        (
            Ok(state(S::Confirmed)),
            ("book_confirmed", CallOutcome::Succeeded),
        ),
        (
            Ok(state(S::Pending)),
            ("book_accepted", CallOutcome::Succeeded),
        ),
        (
            Ok(state(S::Canceled)),
            ("book_refused", CallOutcome::Rejected),
        ),
        (Ok(state(failed())), ("book_refused", CallOutcome::Rejected)),
        (
            Err(refused(R::PaymentRequired)),
            ("checkout_not_completed", CallOutcome::Rejected),
        ),
        (
            Err(refused(R::Duplicate)),
            ("book_unresolved", CallOutcome::Unknown),
        ),
        (Err(unknown()), ("book_unresolved", CallOutcome::Unknown)),
        (
            Err(ChangeError::Unsupported),
            ("book_not_sent", CallOutcome::NotSent),
        ),
    ];
    let unsent = not_sent().map(|error| (Err(error), ("book_not_sent", CallOutcome::NotSent)));
    for (answer, expected) in definite.into_iter().chain(others).chain(unsent) {
        let judgement = judge(|times| book_response(&sent, answer.clone(), payment(), times));
        assert_eq!(told(&judgement), expected, "{answer:?}");
    }
}

#[test]
fn missing_booking_is_refused_only_after_reads_are_consistent() {
    for (leg, promises, event) in [
        (sent(0), consistent(None), "book_unresolved"),
        (sent(0), consistent(Some(10_001)), "book_unresolved"),
        (sent(0), consistent(Some(10_000)), "book_refused"),
        (sent(0), REPEATABLE, "book_resend_scheduled"),
        (pending(0), REPEATABLE, "book_unresolved"),
        // The supplier had accepted the call; not finding it does not revoke that.
        (pending(0), consistent(Some(0)), "book_unresolved"),
    ] {
        let booking = completing(leg);
        let judgement = judge(|times| {
            book_lookup(
                &booking,
                Ok(BookingLookup::NotFound),
                payment(),
                promises,
                times,
            )
        });
        assert_eq!(judgement.event.name(), event, "{promises:?}");
    }
}

/// The payer has paid at the supplier's checkout or is about to. A missing booking does not end the
/// workflow.
#[test]
fn missing_booking_paid_at_the_supplier_is_resent_or_stays_unknown() {
    let long_ago = -60 * 60 * 1000;
    let both = SupplierGuarantees {
        supports_idempotent_retry: true,
        ..consistent(Some(0))
    };
    for (leg, promises, event) in [
        (sent(0), consistent(Some(0)), "book_unresolved"),
        (sent(0), consistent(None), "book_unresolved"),
        (sent(0), both, "book_resend_scheduled"),
        (repeated(0, 9_000), REPEATABLE, "book_resend_scheduled"),
        (
            repeated(long_ago + 10_001, 9_000),
            both,
            "book_resend_scheduled",
        ),
        (repeated(long_ago + 10_000, 9_000), both, "book_unresolved"),
    ] {
        let booking = Booking {
            payment_collector: PaymentCollector::Supplier,
            ..completing(leg)
        };
        let judgement = judge(|times| {
            book_lookup(
                &booking,
                Ok(BookingLookup::NotFound),
                payment(),
                promises,
                times,
            )
        });
        assert_eq!(judgement.event.name(), event, "{promises:?}");
    }
}

/// The first call may have arrived, whatever the outcome of the resend.
#[test]
fn unsent_resend_leaves_the_call_unknown() {
    let booking = completing(repeated(0, 9_000));
    let ticket = buying(repeated(0, 9_000));
    for error in not_sent() {
        let judgement =
            judge(|times| book_response(&booking, Err(error.clone()), payment(), times));
        assert_eq!(told(&judgement), ("book_unresolved", CallOutcome::Unknown));
        let judgement = judge(|times| purchase_response(&ticket, Err(error), times));
        assert_eq!(
            told(&judgement),
            ("purchase_unresolved", CallOutcome::Unknown)
        );
    }
}

#[test]
fn cancellation_is_refused_only_by_a_definite_response() {
    use SupplierBookingStatus as S;
    let sent = canceling(sent(9_000));
    let unsent = not_sent().map(|error| (Err(error), ("cancel_not_sent", CallOutcome::NotSent)));
    let answers = [
        (
            Ok(state(S::Canceled)),
            ("cancel_succeeded", CallOutcome::Succeeded),
        ),
        (
            Ok(state(S::CancelPending)),
            ("cancel_accepted", CallOutcome::Succeeded),
        ),
        (
            Ok(state(S::Pending)),
            ("cancel_accepted", CallOutcome::Succeeded),
        ),
        (
            Ok(state(S::Confirmed)),
            ("cancel_unresolved", CallOutcome::Unknown),
        ),
        (
            Ok(state(failed())),
            ("cancel_unresolved", CallOutcome::Unknown),
        ),
        (
            Err(refused(RefusalReason::NotCancellable)),
            ("cancel_refused", CallOutcome::Rejected),
        ),
        (
            Err(ChangeError::Unsupported),
            ("cancel_refused", CallOutcome::Rejected),
        ),
        (Err(unknown()), ("cancel_unresolved", CallOutcome::Unknown)),
    ];
    for (answer, expected) in answers.into_iter().chain(unsent) {
        let judgement = judge(|times| cancel_response(&sent, answer.clone(), times));
        assert_eq!(told(&judgement), expected, "{answer:?}");
    }
}

#[test]
fn confirmed_ticket_is_interpreted_by_the_state_of_its_cancellation() {
    let confirmed = || {
        Ok(BookingLookup::Found(Box::new(state(
            SupplierBookingStatus::Confirmed,
        ))))
    };
    for (leg, promises, event) in [
        (pending(0), consistent(None), "cancel_refused"),
        (sent(0), consistent(Some(0)), "cancel_not_executed"),
        (sent(0), consistent(None), "cancel_unresolved"),
        (sent(0), REPEATABLE, "cancel_unresolved"),
    ] {
        let booking = canceling(leg);
        let judgement = judge(|times| cancel_lookup(&booking, confirmed(), promises, times));
        assert_eq!(judgement.event.name(), event);
    }
    let booking = canceling(sent(0));
    for (answer, event) in [
        (Ok(BookingLookup::NotFound), "cancel_unresolved"),
        (Err(ReadError::TimedOut("slow".into())), "cancel_unresolved"),
    ] {
        let judgement =
            judge(|times| cancel_lookup(&booking, answer.clone(), consistent(Some(0)), times));
        assert_eq!(judgement.event.name(), event, "{answer:?}");
    }
}

#[test]
fn purchase_succeeds_only_if_the_ticket_shows_the_bags() {
    use RefusalReason as R;
    let sent = buying(sent(9_000));
    let unsent = not_sent().map(|error| (Err(error), ("purchase_not_sent", CallOutcome::NotSent)));
    let answers = [
        (
            Ok(with_bag()),
            ("purchase_succeeded", CallOutcome::Succeeded),
        ),
        (
            Ok(state(SupplierBookingStatus::Confirmed)),
            ("purchase_unresolved", CallOutcome::Unknown),
        ),
        (
            Err(refused(R::Unavailable)),
            ("purchase_refused", CallOutcome::Rejected),
        ),
        (
            Err(refused(R::Duplicate)),
            ("purchase_unresolved", CallOutcome::Unknown),
        ),
        (
            Err(unknown()),
            ("purchase_unresolved", CallOutcome::Unknown),
        ),
    ];
    for (answer, expected) in answers.into_iter().chain(unsent) {
        let judgement = judge(|times| purchase_response(&sent, answer.clone(), times));
        assert_eq!(told(&judgement), expected, "{answer:?}");
    }
}

#[test]
fn missing_bags_are_refused_only_after_reads_are_consistent() {
    let read = |state: SupplierBooking| Ok(BookingLookup::Found(Box::new(state)));
    let bare = || state(SupplierBookingStatus::Confirmed);
    for (answer, promises, event) in [
        (read(with_bag()), consistent(None), "purchase_succeeded"),
        (read(bare()), REPEATABLE, "purchase_resend_scheduled"),
        (read(bare()), consistent(None), "purchase_unresolved"),
        (
            read(bare()),
            consistent(Some(10_001)),
            "purchase_unresolved",
        ),
        (read(bare()), consistent(Some(10_000)), "purchase_refused"),
        (
            Ok(BookingLookup::NotFound),
            consistent(Some(0)),
            "purchase_unresolved",
        ),
        (
            Err(ReadError::Failed("500".into())),
            consistent(Some(0)),
            "purchase_unresolved",
        ),
    ] {
        let booking = buying(sent(0));
        let judgement = judge(|times| purchase_lookup(&booking, answer.clone(), promises, times));
        assert_eq!(judgement.event.name(), event, "{answer:?}");
    }
}

#[test]
fn failed_refresh_of_a_ticket_is_scheduled_again() {
    let booking = booking(State::Confirmed {
        refresh: Some(pending(0)),
    });
    let read = BookingLookup::Found(Box::new(state(SupplierBookingStatus::Confirmed)));
    for (answer, event) in [
        (Ok(read), "refreshed"),
        (Ok(BookingLookup::NotFound), "refresh_failed"),
        (Err(ReadError::TimedOut("slow".into())), "refresh_failed"),
    ] {
        let judgement = judge(|times| refresh_response(&booking, answer.clone(), times));
        assert_eq!(judgement.event.name(), event, "{answer:?}");
        if let Event::RefreshFailed { next_at } = judgement.event {
            assert!(next_at > NOW);
        }
    }
}
