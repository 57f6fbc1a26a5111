//! The whole state × event table of a hotel booking, and what must hold of
//! money whatever happens.

mod fixture;

use super::*;
use crate::booking::{Transition, ChangeSource, payment_client_reference};
use crate::hotel::step::Step;
use crate::hotel::supply::{SupplierRoom, CancellationAmounts};
use crate::payment::{DeclineReason, NextStep, PaymentState, PaymentStatus, PaymentStep};
use crate::supplier::SupplierBookingStatus;
use proptest::prelude::*;

use fixture::*;

#[test]
fn the_table_of_states_and_events_is_this() {
    let mut table = String::new();
    for (name, booking) in states() {
        table.push_str(&format!("{name}\n"));
        for event in events() {
            let event_name = event.name();
            if let Ok(moved) = booking.clone().apply(event, LATER) {
                let told: Vec<&str> = moved
                    .notifications
                    .iter()
                    .map(|notice| notice.event_type.as_str())
                    .collect();
                let payment = moved
                    .booking
                    .payments
                    .last()
                    .map_or("-", |p| p.state.name());
                table.push_str(&format!(
                    "  {event_name:24} -> {:22} payment {payment:16} {}\n",
                    moved.booking.status().as_str(),
                    told.join(", ")
                ));
            }
        }
    }
    insta::assert_snapshot!("hotel_booking_table", table);
}

#[test]
fn a_booking_walks_from_authorize_to_capture_by_its_steps() {
    let payment = PaymentId::from_bits(1);
    assert_eq!(
        paying().next_step(NOW),
        NextStep::Run(Step::Payment(PaymentStep::Authorize(payment.clone())))
    );
    assert_eq!(paid().next_step(NOW), NextStep::Run(Step::Book));
    assert_eq!(booking_sent().next_step(NOW), NextStep::WaitUntil(LATER));
    assert_eq!(booking_sent().next_step(LATER), NextStep::Run(Step::ReconcileBooking));
    assert_eq!(
        confirmed().next_step(NOW),
        NextStep::Run(Step::Payment(PaymentStep::Capture(payment)))
    );
    assert_eq!(captured().next_step(NOW), NextStep::Idle);
}

#[test]
fn a_declined_card_leaves_the_booking_ready_for_another() {
    let declined = after(
        paying(),
        vec![
            pay(PaymentEvent::Sent { reconcile_at: LATER }),
            pay(PaymentEvent::Declined(DeclineReason::InsufficientFunds)),
        ],
    );
    assert_eq!(declined.status(), Status::ReadyForComplete);
    assert_eq!(declined.payments[0].status(), PaymentStatus::Failed);
    let second = Payment {
        id: PaymentId::from_bits(2),
        ..payment()
    };
    let again = after(
        declined,
        vec![Event::BookStarted {
            payment: Some(second),
        }],
    );
    assert_eq!(
        payment_client_reference(
            &again.id,
            &again.payments,
            &PaymentId::from_bits(2),
            "authorize",
            0
        ),
        format!("{}-authorize-2-1", again.id)
    );
}

#[test]
fn a_browser_payment_is_read_and_never_asked_for_again() {
    let mut booking = created();
    booking.use_payment_sdk = true;
    let bound = Event::PrebookConfirmed {
        prebook: bound(),
        expires_at: Timestamp(9_000_000),
        payment: Some(browser_payment()),
    };
    let started = after(
        booking,
        vec![
            Event::PrebookStarted,
            bound,
            Event::BookStarted { payment: None },
        ],
    );
    assert_eq!(
        started.next_step(NOW),
        NextStep::Run(Step::Payment(PaymentStep::Reconcile(PaymentId::from_bits(1))))
    );
    let unpaid = after(
        started,
        vec![pay(PaymentEvent::Declined(DeclineReason::NotCompleted))],
    );
    assert_eq!(
        (unpaid.status(), unpaid.payments[0].status()),
        (Status::ReadyForComplete, PaymentStatus::RequiresAction)
    );
}

#[test]
fn releasing_one_of_two_rooms_gives_half_back() {
    let partly = after(cancel_sent(vec![RoomId::from_bits(1)]), vec![cancel_done()]);
    assert_eq!(partly.cancellations[0].refund_amount, Some(euros(10_000)));
    assert_eq!(partly.active_total(), euros(10_000));
    assert_eq!(partly.total, euros(20_000), "what was booked stays");
}

#[test]
fn the_suppliers_fee_is_kept_and_the_rest_given_back() {
    let amounts = CancellationAmounts {
        fee: euros(2_500),
        refund: Some(euros(17_500)),
        supplier_reference: Some("C1".into()),
    };
    let done = Event::CancelSucceeded {
        supplier_booking: supplier_state(SupplierBookingStatus::Canceled, Some(amounts)),
        refund: refund_id(),
    };
    let canceled = after(cancel_sent(vec![]), vec![done]);
    assert_eq!(canceled.cancellations[0].refund_amount, Some(euros(17_500)));
    assert_eq!(
        canceled.next_step(NOW),
        NextStep::Run(Step::Payment(PaymentStep::Refund(
            PaymentId::from_bits(1),
            refund_id()
        )))
    );
}

#[test]
fn money_that_was_never_taken_is_released_instead_of_returned() {
    let canceled = after(
        confirmed(),
        vec![
            Event::CancelStarted {
                id: CancellationId::from_bits(1),
                room_ids: vec![],
            },
            Event::CancelSent { next_at: LATER },
            cancel_done(),
        ],
    );
    assert_eq!(canceled.payments[0].state.name(), "voiding_due");
}

/// What subscribers were told.
fn told(moved: &Transition<Booking>) -> Vec<&'static str> {
    let notices = moved.notifications.iter();
    notices.map(|notice| notice.event_type.as_str()).collect()
}

#[test]
fn what_a_hotel_changes_is_told_once_and_nothing_is_forgotten() {
    let before = captured();
    assert_eq!(before.hotel_confirmation_code.as_deref(), Some("H1"));
    let news = SupplierBooking {
        hotel_confirmation_code: None,
        remarks: Some("The pool is closed.".into()),
        rooms: vec![SupplierRoom {
            position: 1,
            supplier_room_reference: None,
            hotel_confirmation_code: Some("H1-2".into()),
            canceled: false,
        }],
        ..*supplier_state(SupplierBookingStatus::Confirmed, None)
    };
    let hinted_once = hinted(before);
    assert_eq!(hinted_once.next_step(NOW), NextStep::Run(Step::Refresh));
    let moved = hinted_once.apply(reread(Box::new(news.clone())), NOW);
    let moved = moved.unwrap();
    assert_eq!(told(&moved), ["hotel.booking.changed"]);
    let changed = moved.booking;
    assert_eq!(changed.hotel_confirmation_code.as_deref(), Some("H1"));
    assert_eq!(changed.hotel_remarks, news.remarks);
    assert_eq!(
        changed.rooms[1].hotel_confirmation_code.as_deref(),
        Some("H1-2")
    );
    assert_eq!(changed.next_step(NOW), NextStep::Idle);
    let again = hinted(changed).apply(reread(Box::new(news)), NOW).unwrap();
    assert!(told(&again).is_empty(), "it is no news any more");
}

/// The policy is about guests who cancel.
#[test]
fn what_a_hotel_cancels_is_given_back_whole_unless_the_supplier_says_less() {
    let canceled =
        hinted(captured()).apply(reread(supplier_state(SupplierBookingStatus::Canceled, None)), NOW);
    let canceled = canceled.unwrap();
    assert_eq!(told(&canceled), ["hotel.booking.canceled"]);
    let [cancellation] = canceled.booking.cancellations.as_slice() else {
        panic!("{:?}", canceled.booking.cancellations);
    };
    assert_eq!(cancellation.status, CancellationStatus::Succeeded);
    assert_eq!(cancellation.fee, Some(euros(0)));
    assert_eq!(cancellation.refund_amount, Some(euros(20_000)));

    let amounts = CancellationAmounts {
        fee: euros(2_500),
        refund: None,
        supplier_reference: Some("C1".into()),
    };
    let state = supplier_state(SupplierBookingStatus::Canceled, Some(amounts));
    let charged = after(hinted(captured()), vec![reread(state)]);
    assert_eq!(charged.cancellations[0].refund_amount, Some(euros(17_500)));
}

#[test]
fn a_room_that_a_hotel_releases_is_released_here_and_the_other_stands() {
    let state = SupplierBooking {
        rooms: vec![SupplierRoom {
            position: 0,
            supplier_room_reference: None,
            hotel_confirmation_code: None,
            canceled: true,
        }],
        ..*supplier_state(SupplierBookingStatus::PartiallyCanceled, None)
    };
    let read = || reread(Box::new(state.clone()));
    let moved = hinted(captured()).apply(read(), NOW).unwrap();
    assert_eq!(told(&moved), ["hotel.booking.partially_canceled"]);
    let partly = moved.booking;
    assert_eq!(partly.status(), Status::PartiallyCanceled);
    assert_eq!(
        partly.cancellations[0].room_ids,
        [partly.rooms[0].id.clone()]
    );
    assert_eq!(partly.active_total(), euros(10_000));
    let again = hinted(partly).apply(read(), NOW).unwrap();
    assert!(told(&again).is_empty(), "it was released before");
}

/// What it was about may not have been there yet.
#[test]
fn a_hint_that_comes_while_a_booking_is_read_has_it_read_again() {
    let again = hinted(captured()).apply(Event::ChangeReported(ChangeSource::Supplier), LATER);
    let state = supplier_state(SupplierBookingStatus::Confirmed, None);
    let read = after(again.unwrap().booking, vec![reread(state)]);
    assert_eq!(read.next_step(LATER), NextStep::Run(Step::Refresh));
}

#[test]
fn a_processor_knows_of_payments_only() {
    let hint = Event::ChangeReported(ChangeSource::Processor);
    assert!(captured().apply(hint.clone(), NOW).is_err());
    let waiting = after(
        confirmed(),
        vec![pay(PaymentEvent::Sent { reconcile_at: LATER })],
    );
    let hinted = after(waiting, vec![hint]);
    let find = PaymentStep::Reconcile(PaymentId::from_bits(1));
    assert_eq!(hinted.next_step(NOW), NextStep::Run(Step::Payment(find)));
}

/// Stored before there was anything to read again.
#[test]
fn a_booking_of_an_older_version_is_read() {
    for (state, old) in [
        (
            State::Confirmed { refresh: None },
            r#"{"state":"confirmed"}"#,
        ),
        (
            State::PartiallyCanceled { refresh: None },
            r#"{"state":"partially_canceled"}"#,
        ),
    ] {
        assert_eq!(serde_json::from_str::<State>(old).unwrap(), state);
    }
}

proptest! {
    /// Whatever happens in whatever order, money follows the booking.
    #[test]
    fn no_order_of_events_loses_money(picks in proptest::collection::vec(0..38_usize, 1..60)) {
        let mut booking = created();
        for (count, pick) in picks.into_iter().enumerate() {
            let now = Timestamp(NOW.0 + i64::try_from(count).unwrap());
            if let Ok(moved) = booking.clone().apply(events()[pick].clone(), now) {
                prop_assert_eq!(moved.booking.version, booking.version + 1);
                booking = moved.booking;
            }
            for payment in &booking.payments {
                let asked: i64 = payment.refunds.iter().map(|refund| refund.amount.minor).sum();
                prop_assert!(asked <= payment.amount.minor, "more refunded than taken");
            }
            let taken = booking.payments.iter().any(|p| matches!(p.state, PaymentState::Capturing(_) | PaymentState::Captured));
            prop_assert!(!taken || booking.confirmed_at.is_some(), "money taken before the supplier's yes");
            let over = matches!(booking.state, State::Failed | State::Expired);
            let held = booking.payments.iter().any(|p| matches!(p.state, PaymentState::Authorized | PaymentState::Authorizing(_)));
            prop_assert!(!(over && held), "money held for nothing");
        }
    }
}
