//! The complete state × event table of a flight booking, and the invariants of its payments and
//! tickets.

mod fixture;
mod supplier_sync;

use super::*;
use crate::booking::tests::*;
use crate::booking::{BookingStatus, BookingStep, PaymentCollector};
use crate::flight::details::{TicketDocument, TicketDocumentType};
use crate::flight::itinerary::{AirlineChange, ChangeType, FareCondition, SegmentPassenger};
use crate::flight::quote::{FlightCancellationQuote, FlightQuoteSource, QuoteUnavailableReason};
use crate::flight::supplier_api::{FlightSupplierQuote, SupplierService};
use crate::id::PaymentId;
use crate::payment::{DeclineReason, PaymentEvent, PaymentStatus, PaymentStep};
use crate::supplier::SupplierBookingStatus;
use crate::workflow::NextStep;
use fixture::*;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::json;

#[test]
fn transition_table_matches_snapshot() {
    insta::assert_snapshot!("flight_booking_table", Flight::transition_table());
}

#[test]
fn booking_steps_lead_from_authorize_to_capture() {
    check_steps_from_authorize_to_capture::<Flight>();
}

#[test]
fn bag_purchase_steps_lead_from_authorize_to_capture() {
    let payment = PaymentId::from_bits(BAGS);
    let authorize = BookingStep::Payment(PaymentStep::Authorize(payment.clone()));
    let buy = BookingStep::Kind(FlightStep::BuyServices);
    let find = BookingStep::Kind(FlightStep::FindPurchase);
    let capture = BookingStep::Payment(PaymentStep::Capture(payment));
    let bought = bags_bought();
    assert_eq!(buying().next_step(NOW), NextStep::Run(authorize));
    assert_eq!(bags_paid().next_step(NOW), NextStep::Run(buy));
    assert_eq!(bags_sent().next_step(LATER), NextStep::Run(find));
    assert_eq!(bought.next_step(NOW), NextStep::Run(capture));
    assert_eq!(bought.total(), Some(euros(38_000)));
    assert!(bought.has_bags());
}

#[test]
fn declined_card_fails_bag_purchase_and_keeps_ticket() {
    let declined = PaymentEvent::Declined(DeclineReason::InsufficientFunds);
    let declined = after(buying(), payment_sent_and(BAGS, declined));
    assert_eq!(declined.status(), BookingStatus::Confirmed);
    let details = &declined.details;
    assert_eq!(details.purchases[0].state, ServicePurchaseState::Declined);
    assert_eq!(details.services[0].status, ServiceStatus::Failed);
    assert_eq!(declined.total(), Some(euros(32_000)));
    assert_eq!(declined.payments[0].status(), PaymentStatus::Captured);
}

#[test]
fn bag_on_ticket_is_matched_by_id_or_properties() {
    let booking = bags_sent();
    let purchase = booking.open_purchase().unwrap();
    let named_otherwise = SupplierService {
        supplier_service_id: "ser_1".into(),
        ..bag_on_ticket()
    };
    let of_another = SupplierService {
        passenger: Some(1),
        ..named_otherwise.clone()
    };
    for (on_ticket, found) in [
        (vec![bag_on_ticket()], true),
        (vec![named_otherwise], true),
        (vec![of_another], false),
        (vec![], false),
    ] {
        let mut state = Flight::reported(SupplierBookingStatus::Confirmed);
        state.services = on_ticket;
        let is_on_ticket = booking.is_on_ticket(purchase, &state);
        assert_eq!(is_on_ticket, found, "{:?}", state.services);
    }
}

#[test]
fn refund_is_allocated_to_ticket_then_bags_up_to_amount_paid() {
    for (refund, shares) in [
        (38_000, vec![32_000, 6_000]),
        (33_000, vec![32_000, 1_000]),
        (5_000, vec![5_000]),
        (0, vec![]),
    ] {
        let fee = euros(38_000 - refund);
        let sent = after(bags_captured(), Flight::cancellation_sent());
        let canceled = after(sent, [canceled_for(fee, euros(refund))]);
        let refunds = canceled.payments.iter().flat_map(|p| &p.refunds);
        let amounts: Vec<i64> = refunds.map(|refund| refund.amount.minor).collect();
        assert_eq!(amounts, shares, "{refund}");
        let returned = canceled.details.cancellation.unwrap().refund.unwrap();
        assert_eq!(returned.refund_to.len(), shares.len());
        assert_eq!(returned.refund_amount, euros(shares.iter().sum()));
    }
}

#[test]
fn refund_without_supplier_amount_follows_definite_fare_terms() {
    let refundable = |allowed, penalty| FareCondition { allowed, penalty };
    let at = |text: &str| Timestamp::parse(text).unwrap();
    let (early, definite) = (NOW, refundable(Some(true), Some(euros(5_000))));
    let fixed = refundable(Some(false), None);
    for (terms, now, back) in [
        (definite, early, Some(27_000)),
        (fixed, early, Some(0)),
        (refundable(None, None), early, None),
        (refundable(Some(true), None), early, None),
        (refundable(Some(true), Some(dollars(5_000))), early, None),
        // The day of departure has begun in some time zone at 10:00 UTC.
        (definite, at("2026-12-31T09:59:59Z"), Some(27_000)),
        (definite, at("2026-12-31T10:00:00Z"), None),
        (fixed, at("2027-01-02T00:00:00Z"), None),
    ] {
        let mut booking = Flight::captured();
        booking.details.fare_conditions.refund = terms;
        let started = booking.apply(Flight::cancel_started(), now).unwrap();
        let sent = started
            .booking
            .apply(BookingEvent::CancelSent { next_at: LATER }, now);
        // The outcome becomes known when no terms apply any more.
        let at_outcome = at("2027-01-02T00:00:00Z");
        let sent = sent.unwrap().booking;
        let canceled = sent
            .apply(Flight::cancel_done(), at_outcome)
            .unwrap()
            .booking;
        assert_eq!(canceled.is_refund_undecided(), back.is_none(), "{terms:?}");
        let returned = canceled.details.cancellation.unwrap().refund;
        let refund = returned.map(|returned| returned.refund_amount);
        assert_eq!(refund, back.map(euros), "{terms:?} at {now}");
    }
}

#[test]
fn refund_is_undecided_if_supplier_amounts_disagree_with_amount_paid() {
    for (fee, refund) in [
        (dollars(2_000), dollars(30_000)),
        (dollars(2_000), euros(30_000)),
        (euros(2_000), euros(29_999)),
        (euros(2_000), euros(30_001)),
        (euros(0), euros(99_999)),
        (euros(0), euros(0)),
    ] {
        let canceled = after(Flight::cancel_sent(), [canceled_for(fee, refund)]);
        assert_eq!(canceled.status(), BookingStatus::Canceled);
        assert!(canceled.is_refund_undecided(), "{fee} {refund}");
        assert!(canceled.payments[0].refunds.is_empty(), "{fee} {refund}");
        let cancellation = canceled.details.cancellation.unwrap();
        assert_eq!(cancellation.supplier_reference.as_deref(), Some("ore_1"));
    }
}

/// The fare's terms may contradict what the supplier states.
#[test]
fn refund_is_undecided_if_supplier_amounts_cannot_be_read() {
    let mut reported = Flight::reported(SupplierBookingStatus::Canceled);
    reported.has_unreadable_amounts = true;
    let canceled = after(Flight::cancel_sent(), [Flight::cancel_succeeded(reported)]);
    assert_eq!(canceled.status(), BookingStatus::Canceled);
    assert!(canceled.is_refund_undecided());
}

/// The fare's refund terms apply only to a cancellation by the customer.
#[test]
fn ticket_canceled_by_airline_is_not_refunded_by_fare_terms() {
    let canceled = after(Flight::changed(), [Flight::refreshed_as_canceled()]);
    assert_eq!(canceled.status(), BookingStatus::Canceled);
    assert!(canceled.is_refund_undecided());
    assert_eq!(canceled.next_step(NOW), NextStep::Idle);
}

/// A cancellation is reported only once, so the gateway must repeat the refresh itself.
#[test]
fn ticket_canceled_during_bag_purchase_is_refreshed_again() {
    let reported = change_reported(bags_sent());
    let waiting = after(reported, [Flight::refreshed_as_canceled()]);
    assert_eq!(waiting.status(), BookingStatus::Confirmed);
    let reconcile_at = NOW.plus_s(900);
    let ended = [
        FlightEvent::PurchaseRefused(refusal()).into(),
        pay(BAGS, PaymentEvent::Sent { reconcile_at }),
    ];
    let ended = after(waiting, ended);
    let later = NOW.plus_s(300);
    assert_eq!(ended.next_step(later), NextStep::Run(BookingStep::Refresh));
    let canceled = ended.apply(Flight::refreshed_as_canceled(), later);
    assert_eq!(canceled.unwrap().booking.status(), BookingStatus::Canceled);
}

#[test]
fn absent_booking_is_looked_up_until_it_is_found_and_resolved() {
    check_lookups_of_absent_booking::<Flight>();
    check_stored_failure::<Flight>();
}

#[test]
fn refused_cancellation_is_followed_by_a_refresh() {
    check_refresh_after_refused_cancellation::<Flight>();
}

#[test]
fn change_reported_during_refresh_schedules_another_refresh() {
    check_change_reported_during_refresh::<Flight>();
}

#[test]
fn undecided_refund_is_decided_once_and_up_to_amount_paid() {
    let decide = |booking: FlightBooking, refund| {
        booking.apply(FlightEvent::RefundDecided(refund).into(), NOW)
    };
    for refused in [euros(32_001), euros(-1), dollars(1)] {
        assert!(decide(refund_held(), refused).is_err(), "{refused:?}");
    }
    for (minor, refunds) in [(32_000, 1), (1, 1), (0, 0)] {
        let booking = decide(refund_held(), euros(minor)).unwrap().booking;
        assert_eq!(booking.payments[0].refunds.len(), refunds);
        let cancellation = booking.details.cancellation.as_ref().unwrap();
        let returned = cancellation.refund.as_ref().unwrap();
        assert_eq!(returned.refund_amount, euros(minor));
        assert_eq!(returned.fee, euros(32_000 - minor));
        assert_eq!(returned.refund_to.len(), refunds);
        assert!(decide(booking, euros(1)).is_err());
    }
}

/// A refund that the supplier reports is recorded. The fare's terms only give the expected amount.
#[test]
fn payment_collected_by_supplier_is_refunded_by_supplier() {
    for (canceled, back, status) in [
        (
            canceled_for(euros(2_000), euros(30_000)),
            30_000,
            PaymentStatus::PartiallyRefunded,
        ),
        (Flight::cancel_done(), 27_000, PaymentStatus::Captured),
    ] {
        let mut booking = Flight::ready();
        booking.payment_collector = PaymentCollector::Supplier;
        let booked = [
            BookingEvent::BookStarted { payment: None },
            BookingEvent::BookSent { next_at: LATER },
            Flight::book_confirmed(),
        ];
        let sent = after(after(booking, booked), Flight::cancellation_sent());
        let canceled = after(sent, [canceled]);
        let cancellation = canceled.details.cancellation.as_ref().unwrap();
        assert_eq!(cancellation.refunded_by, RefundedBy::Supplier);
        let returned = cancellation.refund.as_ref().unwrap();
        assert_eq!(returned.refund_amount, euros(back));
        assert_eq!(returned.refund_to, [canceled.payments[0].id.clone()]);
        assert_eq!(canceled.next_step(LATER), NextStep::Idle);
        assert_eq!(canceled.payments[0].status(), status);
    }
}

#[test]
fn airline_change_is_published_once_and_unchanged_segments_keep_ids() {
    let mut state = Flight::reported(SupplierBookingStatus::Confirmed);
    state.changes = vec![AirlineChange {
        supplier_change_id: "c1".into(),
        detected_at: NOW,
        change_type: ChangeType::ScheduleChange,
        action_required: true,
        removed_segments: vec![],
        added_segments: vec![],
        expires_at: None,
        accepted_at: None,
    }];
    state.journeys = vec![Some(journey(&["seg-1", "seg-9"]))];
    let before = Flight::captured();
    let waiting = change_reported(before.clone());
    assert_eq!(waiting.next_step(NOW), NextStep::Run(BookingStep::Refresh));
    let read = || Flight::refreshed(state.clone(), NOW);
    let transition = waiting.apply(read(), NOW).unwrap();
    assert_eq!(notified(&transition), ["flight.booking.airline_change"]);
    let ids = |booking: &FlightBooking| booking.details.journeys[0].segment_ids.clone();
    let (was, is) = (ids(&before), ids(&transition.booking));
    assert_eq!(was[0], is[0]);
    assert_ne!(was[1], is[1]);
    let again = change_reported(transition.booking).apply(read(), NOW);
    assert!(again.unwrap().notifications.is_empty());
}

#[test]
fn details_and_unreadable_journeys_are_kept_if_not_stated_again() {
    let refreshed = |booking: FlightBooking, read| {
        let waiting = change_reported(booking);
        after(waiting, [Flight::refreshed(read, NOW)])
    };
    let mut detailed = Flight::reported(SupplierBookingStatus::Confirmed);
    let mut stated = journey(&["seg-1", "seg-2"]);
    stated.fare_conditions = Some(FareConditions::default());
    stated.segments[0].details.origin_terminal = Some("5".into());
    let seat = json!({
        "passenger": 1,
        "cabin": "economy",
        "details": {
            "seat": {"designator": "14B", "disclosures": []},
            "baggage": [],
        },
    });
    let seat: SegmentPassenger = serde_json::from_value(seat).unwrap();
    stated.segments[0].passengers = vec![seat];
    detailed.journeys = vec![Some(stated), Some(journey(&["seg-3"]))];
    detailed.fare = Some(euros(25_100));
    detailed.details.fee = Some(euros(500));
    detailed.details.documents = vec![TicketDocument {
        document_type: TicketDocumentType::ElectronicTicket,
        number: "1252106312810".into(),
        passengers: vec![0],
    }];
    let known = refreshed(Flight::captured(), detailed);
    let details = |booking: &FlightBooking| {
        let details = &booking.details;
        (details.ticket.clone(), details.journeys.clone())
    };
    assert_eq!(details(&known).0.fee, Some(euros(500)));

    let mut plain = Flight::reported(SupplierBookingStatus::Confirmed);
    let mut again = journey(&["seg-1", "seg-2"]);
    let seat = json!({ "passenger": 1, "cabin": "economy" });
    again.segments[0].passengers = vec![serde_json::from_value(seat).unwrap()];
    plain.journeys = vec![Some(again.clone()), None];
    let read = refreshed(known.clone(), plain.clone());
    assert_eq!(details(&read), details(&known));

    again.segments[0].details.origin_terminal = Some("3".into());
    plain.journeys = vec![None, Some(journey(&["seg-3"]))];
    plain.fare = Some(euros(25_000));
    plain.details.fee = Some(euros(600));
    let (ticket, journeys) = details(&refreshed(read.clone(), plain.clone()));
    assert_eq!(ticket.fee, Some(euros(600)));
    assert_eq!(ticket.documents, known.details.ticket.documents);
    assert_eq!(journeys, known.details.journeys);
    plain.journeys = vec![Some(again)];
    let moved = refreshed(read, plain);
    assert_eq!(moved.details.journeys.len(), 1);
    let segment = &moved.details.journeys[0].journey.segments[0];
    assert_eq!(segment.details.origin_terminal.as_deref(), Some("3"));
}

#[test]
fn fare_taxes_and_fee_are_replaced_together() {
    let mut booking = Flight::captured();
    let split = [Some(25_000), Some(6_400), Some(600)];
    for (stated, expected) in [
        (split, split),
        ([None, None, Some(700)], split),
        ([None, None, None], split),
        ([Some(25_600), None, None], [Some(25_600), None, None]),
        ([None, Some(6_400), None], [None, Some(6_400), None]),
    ] {
        let mut read = Flight::reported(SupplierBookingStatus::Confirmed);
        [read.fare, read.fare_tax, read.details.fee] = stated.map(|minor| minor.map(euros));
        booking = after(change_reported(booking), [Flight::refreshed(read, NOW)]);
        let details = &booking.details;
        let parts = [details.fare, details.fare_tax, details.ticket.fee];
        assert_eq!(parts, expected.map(|minor| minor.map(euros)), "{stated:?}");
    }
}

#[test]
fn repeated_cancellation_request_expedites_only_waiting_cancellation() {
    let expedite = |booking: FlightBooking| booking.apply(FlightEvent::CancelExpedited.into(), NOW);
    let retry = BookingEvent::CancelNotSent { retry_at: LATER };
    let waiting = after(Flight::cancel_sent(), [retry]);
    assert_eq!(waiting.next_step(NOW), NextStep::WaitUntil(LATER));
    let hurried = expedite(waiting).unwrap().booking;
    assert_eq!(hurried.next_step(NOW), NextStep::Run(BookingStep::Cancel));
    assert!(expedite(Flight::cancel_sent()).is_err());
}

#[test]
fn quote_uses_airline_amounts_then_fare_terms_then_gives_reason() {
    let booking = Flight::captured();
    let quoted = |fee, refund| FlightSupplierQuote::Quoted {
        fee,
        refund,
        expires_at: Some(LATER),
    };
    let unavailable = FlightSupplierQuote::Unavailable("cannot".into());
    let quote = |answer: &FlightSupplierQuote| FlightCancellationQuote::new(&booking, answer, NOW);
    let airline = quote(&quoted(euros(2_000), euros(30_000)));
    assert_eq!(airline.source, FlightQuoteSource::SupplierQuote);
    assert_eq!(airline.amounts, Ok((euros(2_000), euros(30_000))));
    assert_eq!(
        airline.refund_to,
        [(PaymentId::from_bits(1), euros(30_000))]
    );
    let estimate = quote(&unavailable);
    assert_eq!(estimate.source, FlightQuoteSource::FareEstimate);
    assert_eq!(estimate.amounts, Ok((euros(5_000), euros(27_000))));
    let foreign = quote(&quoted(dollars(1), dollars(2)));
    let other_currency = QuoteUnavailableReason::QuoteInOtherCurrency;
    assert_eq!(foreign.amounts, Err(other_currency));
    let mut silent = booking.clone();
    silent.details.fare_conditions.refund.allowed = None;
    let unknown = FlightCancellationQuote::new(&silent, &unavailable, NOW);
    assert_eq!(unknown.amounts, Err(QuoteUnavailableReason::TermsUnknown));
    assert!(unknown.refund_to.is_empty());
}

proptest! {
    #[test]
    fn money_is_accounted_for_in_any_order_of_events(picks in proptest::collection::vec(any::<Index>(), 1..80)) {
        check_events_in_any_order::<Flight>(&picks)?;
    }
}
