//! The complete state × event table of a hotel booking, and the invariants of its payments.

mod cancellation;
mod fixture;
mod prebook;

use super::*;
use crate::booking::tests::*;
use crate::booking::{BookingStatus, BookingStep, ChangeSource, payment_client_reference};
use crate::hotel::supplier_api::SupplierRoom;
use crate::hotel::types::RefundType;
use crate::id::PaymentId;
use crate::payment::{DeclineReason, Payment, PaymentEvent, PaymentStatus, PaymentStep};
use crate::supplier::SupplierBookingStatus;
use crate::workflow::NextStep;
use fixture::*;
use proptest::prelude::*;
use proptest::sample::Index;

#[test]
fn transition_table_matches_snapshot() {
    insta::assert_snapshot!("hotel_booking_table", Hotel::transition_table());
}

#[test]
fn booking_steps_lead_from_authorize_to_capture() {
    check_steps_from_authorize_to_capture::<Hotel>();
}

#[test]
fn declined_card_leaves_booking_ready_for_another_payment() {
    let declined = PaymentEvent::Declined(DeclineReason::InsufficientFunds);
    let declined = after(Hotel::paying(), payment_sent_and(1, declined));
    assert_eq!(declined.status(), BookingStatus::ReadyForComplete);
    assert_eq!(declined.payments[0].status(), PaymentStatus::Failed);
    let payment = Some(payment(2, euros(20_000)));
    let again = after(declined, [BookingEvent::BookStarted { payment }]);
    let second = PaymentId::from_bits(2);
    assert_eq!(
        payment_client_reference(&again.id, &again.payments, &second, "authorize", 0),
        format!("{}-authorize-2-1", again.id)
    );
}

#[test]
fn browser_payment_is_reconciled_and_never_authorized_again() {
    let id = PaymentId::from_bits(1);
    let payment =
        Payment::new_browser_payment(id.clone(), euros(20_000), cards(), "pi_1".into(), NOW);
    let mut booking = Hotel::created();
    booking.use_payment_sdk = true;
    let started = [
        BookingEvent::PrebookStarted,
        Hotel::prebook_confirmed(Some(payment)),
        BookingEvent::BookStarted { payment: None },
    ];
    let started = after(booking, started);
    let find = BookingStep::Payment(PaymentStep::FindPayment(id));
    assert_eq!(started.next_step(NOW), NextStep::Run(find));
    let declined = PaymentEvent::Declined(DeclineReason::NotCompleted);
    let unpaid = after(started, [pay(1, declined)]);
    assert_eq!(unpaid.status(), BookingStatus::ReadyForComplete);
    assert_eq!(unpaid.payments[0].status(), PaymentStatus::RequiresAction);
}

#[test]
fn cancelling_one_of_two_rooms_refunds_half() {
    let partly = one_room_canceled();
    let refunded = partly.details.cancellations[0].refund_amount;
    assert_eq!(refunded, Some(euros(10_000)));
    assert_eq!(partly.active_total(), euros(10_000));
    let booked = partly.details.total;
    assert_eq!(booked, euros(20_000), "the booked total stays");
}

#[test]
fn cancellation_with_supplier_fee_refunds_the_rest() {
    let done = Hotel::cancel_succeeded(canceled_for_fee(Some(17_500)));
    let canceled = after(Hotel::cancel_sent(), [done]);
    let refunded = canceled.details.cancellations[0].refund_amount;
    assert_eq!(refunded, Some(euros(17_500)));
    let refund = BookingStep::Payment(PaymentStep::Refund(PaymentId::from_bits(1), refund_id()));
    assert_eq!(canceled.next_step(NOW), NextStep::Run(refund));
}

#[test]
fn uncaptured_payment_is_voided_instead_of_refunded() {
    let sent = after(Hotel::confirmed(), Hotel::cancellation_sent());
    let canceled = after(sent, [Hotel::cancel_done()]);
    assert_eq!(canceled.payments[0].state.name(), "voiding_pending");
}

#[test]
fn hotel_change_is_published_once_and_keeps_known_data() {
    let before = Hotel::captured();
    let known = Some("H1".to_owned());
    assert_eq!(before.details.hotel_confirmation_code, known);
    let changed_booking = HotelSupplierBooking {
        hotel_confirmation_code: None,
        remarks: Some("The pool is closed.".into()),
        rooms: vec![SupplierRoom {
            position: 1,
            supplier_room_reference: None,
            hotel_confirmation_code: Some("H1-2".into()),
            canceled: false,
        }],
        ..*Hotel::reported(SupplierBookingStatus::Confirmed)
    };
    let read = || Hotel::refreshed(Box::new(changed_booking.clone()), NOW);
    let reported = change_reported(before);
    assert_eq!(reported.next_step(NOW), NextStep::Run(BookingStep::Refresh));
    let transition = reported.apply(read(), NOW).unwrap();
    assert_eq!(notified(&transition), ["hotel.booking.changed"]);
    let changed = transition.booking;
    assert_eq!(changed.details.hotel_confirmation_code, known);
    assert_eq!(changed.details.hotel_remarks, changed_booking.remarks);
    assert_eq!(
        changed.details.rooms[1].hotel_confirmation_code,
        changed_booking.rooms[0].hotel_confirmation_code
    );
    assert_eq!(changed.next_step(NOW), NextStep::Idle);
    let again = change_reported(changed).apply(read(), NOW).unwrap();
    assert!(notified(&again).is_empty(), "nothing changed");
    // Other details of the same terms are no change.
    let known = again.booking.details.policy.clone();
    let mut restated = known.clone().unwrap();
    restated.refund_type = Some(RefundType::Full);
    let restated = HotelSupplierBooking {
        policy: Some(restated),
        ..changed_booking
    };
    let read = Hotel::refreshed(Box::new(restated), NOW);
    let again = change_reported(again.booking).apply(read, NOW).unwrap();
    assert!(notified(&again).is_empty());
    assert_eq!(again.booking.details.policy, known);
}

/// The policy applies only to guests who cancel.
#[test]
fn cancellation_by_hotel_is_refunded_in_full_unless_supplier_reports_fee() {
    let canceled = Hotel::changed().apply(Hotel::refreshed_as_canceled(), NOW);
    let canceled = canceled.unwrap();
    assert_eq!(notified(&canceled), ["hotel.booking.canceled"]);
    let [cancellation] = canceled.booking.details.cancellations.as_slice() else {
        panic!("{:?}", canceled.booking.details.cancellations);
    };
    assert_eq!(cancellation.status, CancellationStatus::Succeeded);
    assert_eq!(cancellation.fee, Some(euros(0)));
    assert_eq!(cancellation.refund_amount, Some(euros(20_000)));

    let charged = Hotel::refreshed(canceled_for_fee(None), NOW);
    let charged = after(Hotel::changed(), [charged]);
    let refunded = charged.details.cancellations[0].refund_amount;
    assert_eq!(refunded, Some(euros(17_500)));
}

/// The policy may contradict what the supplier states.
#[test]
fn refund_is_undecided_if_stated_amounts_cannot_be_read() {
    let mut reported = Hotel::reported(SupplierBookingStatus::Canceled);
    reported.has_unreadable_amounts = true;
    for (booking, event) in [
        (Hotel::changed(), Hotel::refreshed(reported.clone(), NOW)),
        (Hotel::cancel_sent(), Hotel::cancel_succeeded(reported)),
    ] {
        let canceled = after(booking, [event]);
        let cancellation = &canceled.details.cancellations[0];
        assert_eq!(cancellation.status, CancellationStatus::Succeeded);
        assert_eq!((cancellation.fee, cancellation.refund_amount), (None, None));
    }
}

#[test]
fn room_canceled_by_hotel_is_canceled_and_other_stays_booked() {
    let mut state = Hotel::reported(SupplierBookingStatus::PartiallyCanceled);
    state.rooms = vec![SupplierRoom {
        position: 0,
        supplier_room_reference: None,
        hotel_confirmation_code: None,
        canceled: true,
    }];
    let read = || Hotel::refreshed(state.clone(), NOW);
    let transition = Hotel::changed().apply(read(), NOW).unwrap();
    assert_eq!(notified(&transition), ["hotel.booking.partially_canceled"]);
    let partly = transition.booking;
    assert_eq!(partly.status(), BookingStatus::PartiallyCanceled);
    assert_eq!(
        partly.details.cancellations[0].room_ids,
        [partly.details.rooms[0].id.clone()]
    );
    assert_eq!(partly.active_total(), euros(10_000));
    let again = change_reported(partly).apply(read(), NOW).unwrap();
    assert!(notified(&again).is_empty(), "the room was cancelled before");
}

/// The lookup that finds the booking may be later than the supplier's cancellation of a room.
#[test]
fn room_that_was_canceled_before_the_confirmation_was_read_is_refunded() {
    let found = reported_canceled(&[1]);
    let confirmed = Hotel::booking_sent().apply(book_confirmed(found.clone()), NOW);
    let confirmed = confirmed.unwrap();
    let events = [
        "hotel.booking.confirmed",
        "hotel.booking.partially_canceled",
    ];
    assert_eq!(notified(&confirmed), events);
    let booking = confirmed.booking;
    assert_eq!(booking.status(), BookingStatus::PartiallyCanceled);
    let times = (booking.confirmed_at, booking.canceled_at);
    assert_eq!(times, (Some(NOW), None));
    let rooms = booking.details.rooms.iter();
    let canceled: Vec<_> = rooms.map(|room| room.canceled_at).collect();
    assert_eq!(canceled, [Some(NOW), None]);
    let captured = after(booking, payment_sent_and(1, PaymentEvent::Captured));
    assert_eq!(captured.payments[0].refundable(), euros(10_000));
    let refund = PaymentStep::Refund(PaymentId::from_bits(1), refund_id());
    let refund = NextStep::Run(BookingStep::Payment(refund));
    assert_eq!(captured.next_step(NOW), refund);

    let mut outdated = found.clone();
    outdated.status = SupplierBookingStatus::Confirmed;
    outdated.rooms[0].canceled = false;
    for later_read in [outdated, found] {
        let reported = change_reported(captured.clone());
        let read = reported.apply(Hotel::refreshed(later_read, NOW), NOW);
        let read = read.unwrap();
        assert!(notified(&read).is_empty(), "the room was cancelled before");
        assert_eq!(read.booking.status(), BookingStatus::PartiallyCanceled);
        assert_eq!(read.booking.details, captured.details);
        assert_eq!(read.booking.payments, captured.payments);
    }
}

/// The supplier may have changed the room first and the status later.
#[test]
fn canceled_room_of_confirmed_booking_is_read_again() {
    let mut unclear = reported_canceled(&[1]);
    unclear.status = SupplierBookingStatus::Confirmed;
    let booking = after(Hotel::booking_sent(), [book_confirmed(unclear)]);
    assert_eq!(booking.status(), BookingStatus::Confirmed);
    assert_eq!(booking.next_step(NOW), NextStep::Run(BookingStep::Refresh));
}

/// A capture that was given up arrives before the void of a cancellation.
#[test]
fn payment_that_is_captured_instead_of_voided_is_refunded() {
    let [capture_sent, _] = payment_sent_and(1, PaymentEvent::Captured);
    let retry_at = LATER;
    let given_up = pay(1, PaymentEvent::StepFailed { retry_at });
    let booking = after(Hotel::confirmed(), [capture_sent, given_up]);
    let sent = after(booking, Hotel::cancellation_sent());
    let canceled = after(sent, [Hotel::cancel_done()]);
    let [void_sent, captured] = payment_sent_and(1, PaymentEvent::CapturedDespiteVoid);
    let found = after(canceled, [void_sent]).apply(captured, NOW).unwrap();
    assert_eq!(notified(&found), ["payment.captured"]);
    let payment = &found.booking.payments[0];
    assert_eq!(payment.status(), PaymentStatus::Captured);
    let [refund] = payment.refunds.as_slice() else {
        panic!("{payment:?}");
    };
    assert_eq!(refund.amount, euros(20_000));
    let step = PaymentStep::Refund(payment.id.clone(), refund.id.clone());
    let step = NextStep::Run(BookingStep::Payment(step));
    assert_eq!(found.booking.next_step(NOW), step);
}

#[test]
fn absent_booking_is_looked_up_until_it_is_found_and_resolved() {
    check_lookups_of_absent_booking::<Hotel>();
    check_stored_failure::<Hotel>();
}

#[test]
fn refused_cancellation_is_followed_by_a_refresh() {
    check_refresh_after_refused_cancellation::<Hotel>();
}

#[test]
fn change_reported_during_refresh_schedules_another_refresh() {
    check_change_reported_during_refresh::<Hotel>();
}

#[test]
fn change_reported_by_processor_reconciles_only_payments() {
    let hint = BookingEvent::ChangeReported(ChangeSource::Processor);
    assert!(Hotel::captured().apply(hint.clone(), NOW).is_err());
    let [capture_sent, _] = payment_sent_and(1, PaymentEvent::Captured);
    let reported = after(Hotel::confirmed(), [capture_sent, hint]);
    let find = BookingStep::Payment(PaymentStep::FindPayment(PaymentId::from_bits(1)));
    assert_eq!(reported.next_step(NOW), NextStep::Run(find));
}

proptest! {
    #[test]
    fn money_is_accounted_for_in_any_order_of_events(picks in proptest::collection::vec(any::<Index>(), 1..60)) {
        check_events_in_any_order::<Hotel>(&picks)?;
    }
}
