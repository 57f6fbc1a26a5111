//! Tables of a flight supplier's responses to purchases of extras, and what each means.

use super::*;
use crate::booking::interpret::CallOutcome;
use crate::booking::interpret::tests::{
    NOW, REPEATABLE, SampleKind, absent, consistent, euros, interpret, interpret_with, named,
    refused, refused_resend, repeated, sent, unasked, unknown, unsent,
};
use host_domain::booking::Named;
use host_domain::flight::ServiceType;
use host_domain::flight::booking::ServicePurchaseState;
use host_domain::flight::supplier_api::SupplierService;
use host_domain::remote_call::AbsenceEvidence;
use host_domain::supplier::{ReadError, SupplierBookingStatus};
use host_domain::time::Timestamp;
use serde_json::json;

fn buying(call: RemoteCall) -> FlightBooking {
    let mut booking = FlightBookingDetails::confirmed(None);
    let purchases = json!([{
        "id": "pur_1",
        "services": ["svc_1"],
        "payment": "pay_1",
        "total": euros(60),
        "state": ServicePurchaseState::InProgress { call },
        "created_at": 0,
    }]);
    booking.details.purchases = serde_json::from_value(purchases).unwrap();
    let services = json!([{
        "id": "svc_1",
        "status": "PENDING",
        "supplier_service_id": "bag-1",
        "service_type": "baggage",
        "passenger": 0,
        "supplier_segment_ids": [],
        "segment_ids": [],
        "quantity": 1,
        "unit_amount": euros(60),
        "payment": "pay_1",
    }]);
    booking.details.services = serde_json::from_value(services).unwrap();
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

fn without_bag() -> FlightSupplierBooking {
    FlightBookingDetails::reported(SupplierBookingStatus::Confirmed)
}

fn with_bag() -> FlightSupplierBooking {
    FlightSupplierBooking {
        services: vec![bag()],
        ..without_bag()
    }
}

/// The first call may have arrived, whatever the outcome of the resend.
#[test]
fn unsent_or_refused_resend_leaves_the_purchase_unknown() {
    let booking = buying(repeated(0, 9_000));
    let refused = refused(RefusalReason::Unavailable);
    for error in unsent().into_iter().chain([refused, unasked()]) {
        let interpretation = interpret(|context| purchase_response(&booking, Err(error), context));
        let unresolved = ("purchase_unresolved", CallOutcome::Unknown);
        assert_eq!(named(&interpretation), unresolved);
    }
}

#[test]
fn refusal_of_a_resend_is_the_reason_of_the_failure_once_a_lookup_confirms_it() {
    let booking = buying(repeated(0, 9_000));
    for (reason, is_evidence) in [
        (RefusalReason::Unavailable, true),
        // The state of the account says nothing about the first call.
        (RefusalReason::Account, false),
    ] {
        let refusal = ResendRefusal::Supplier(reason.clone());
        let evidence = is_evidence.then(|| AbsenceEvidence::from_refusal(NOW, refusal));
        let response = Err(refused(reason));
        let interpretation = interpret(|context| purchase_response(&booking, response, context));
        let BookingEvent::Kind(FlightEvent::PurchaseUnresolved { absence, .. }) =
            &interpretation.event
        else {
            panic!("{:?}", interpretation.event)
        };
        assert_eq!(*absence, evidence);
    }
    let own = interpret(|context| purchase_response(&booking, Err(unasked()), context));
    let no_evidence = FlightEvent::PurchaseUnresolved {
        next_at: Timestamp(14_000),
        absence: None,
    };
    assert_eq!(own.event, BookingEvent::Kind(no_evidence));
    let refusal = ResendRefusal::Supplier(RefusalReason::Unavailable);
    for (call, guarantees, description) in [
        (refused_resend(0, 5_000, refusal), REPEATABLE, REFUSED),
        (
            absent(sent(0), 5_000),
            consistent(Some(0)),
            "The supplier did not sell the extras.",
        ),
    ] {
        let booking = buying(call);
        let bare = Ok(BookingLookup::Found(Box::new(without_bag())));
        let lookup = interpret_with(guarantees, |context| {
            purchase_lookup(&booking, bare, context)
        });
        assert_eq!(lookup.event, purchase_failed(description));
    }
}

#[test]
fn purchase_succeeds_only_if_the_ticket_shows_the_bags() {
    use RefusalReason as R;
    let sent = buying(sent(9_000));
    let unsent = unsent().map(|error| (Err(error), ("purchase_not_sent", CallOutcome::NotSent)));
    let unresolved = ("purchase_unresolved", CallOutcome::Unknown);
    let succeeded = ("purchase_succeeded", CallOutcome::Succeeded);
    let refused_event = ("purchase_refused", CallOutcome::Refused);
    let responses = [
        (Ok(with_bag()), succeeded),
        (Ok(without_bag()), unresolved),
        (Err(refused(R::Unavailable)), refused_event),
        (Err(refused(R::Duplicate)), unresolved),
        (Err(unknown()), unresolved),
    ];
    for (response, expected) in responses.into_iter().chain(unsent) {
        let interpretation =
            interpret(|context| purchase_response(&sent, response.clone(), context));
        assert_eq!(named(&interpretation), expected, "{response:?}");
    }
}

#[test]
fn missing_bags_are_refused_only_after_two_late_lookups() {
    let bags = || Ok(BookingLookup::Found(Box::new(with_bag())));
    let bare = || Ok(BookingLookup::Found(Box::new(without_bag())));
    let unreadable = || {
        Ok(BookingLookup::Found(Box::new(FlightSupplierBooking {
            has_unreadable_services: true,
            ..without_bag()
        })))
    };
    let failed = Err(ReadError::Failed("500".into()));
    let first = || sent(0);
    let second = || absent(sent(0), 5_000);
    let at_once = consistent(Some(0));
    for (call, response, guarantees, event) in [
        (first(), bags(), consistent(None), "succeeded"),
        (first(), bare(), REPEATABLE, "resend_scheduled"),
        (first(), bare(), consistent(None), "unresolved"),
        (first(), bare(), at_once, "unresolved"),
        (second(), bare(), consistent(Some(5_001)), "unresolved"),
        (second(), bare(), consistent(Some(5_000)), "refused"),
        (
            second(),
            unreadable(),
            consistent(Some(5_000)),
            "unresolved",
        ),
        (first(), unreadable(), REPEATABLE, "unresolved"),
        (second(), Ok(BookingLookup::NotFound), at_once, "unresolved"),
        (second(), failed, at_once, "unresolved"),
    ] {
        let booking = buying(call);
        let interpretation = interpret_with(guarantees, |context| {
            purchase_lookup(&booking, response.clone(), context)
        });
        let event = format!("purchase_{event}");
        assert_eq!(interpretation.event.name(), event, "{response:?}");
    }
}
