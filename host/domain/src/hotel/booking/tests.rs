//! The complete state × event table of a hotel booking, and the invariants of its payments.

mod fixture;

use super::*;
use crate::booking::{BookingState, BookingStatus, BookingStep};
use crate::booking::{ChangeSource, Transition, payment_client_reference};
use crate::hotel::supplier_api::{HotelCancellationAmounts, SupplierRoom};
use crate::id::PaymentId;
use crate::payment::{
    DeclineReason, Payment, PaymentEvent, PaymentState, PaymentStatus, PaymentStep,
};
use crate::supplier::SupplierBookingStatus;
use crate::workflow::NextStep;
use proptest::prelude::*;

use fixture::*;

#[test]
fn transition_table_matches_snapshot() {
    let mut table = String::new();
    for (name, booking) in states() {
        table.push_str(&format!("{name}\n"));
        for event in events() {
            let event_name = event.name();
            if let Ok(transition) = booking.clone().apply(event, LATER) {
                let notified: Vec<&str> = transition
                    .notifications
                    .iter()
                    .map(|notice| notice.event_type.as_str())
                    .collect();
                let payment = transition
                    .booking
                    .payments
                    .last()
                    .map_or("-", |p| p.state.name());
                table.push_str(&format!(
                    "  {event_name:24} -> {:22} payment {payment:16} {}\n",
                    transition.booking.status().as_str(),
                    notified.join(", ")
                ));
            }
        }
    }
    insta::assert_snapshot!("hotel_booking_table", table);
}

#[test]
fn booking_steps_lead_from_authorize_to_capture() {
    let payment = PaymentId::from_bits(1);
    assert_eq!(
        paying().next_step(NOW),
        NextStep::Run(BookingStep::Payment(PaymentStep::Authorize(
            payment.clone()
        )))
    );
    assert_eq!(paid().next_step(NOW), NextStep::Run(BookingStep::Book));
    assert_eq!(booking_sent().next_step(NOW), NextStep::WaitUntil(LATER));
    assert_eq!(
        booking_sent().next_step(LATER),
        NextStep::Run(BookingStep::ReconcileBooking)
    );
    assert_eq!(
        confirmed().next_step(NOW),
        NextStep::Run(BookingStep::Payment(PaymentStep::Capture(payment)))
    );
    assert_eq!(captured().next_step(NOW), NextStep::Idle);
}

#[test]
fn declined_card_leaves_booking_ready_for_another_payment() {
    let declined = after(
        paying(),
        vec![
            pay(PaymentEvent::Sent {
                reconcile_at: LATER,
            }),
            pay(PaymentEvent::Declined(DeclineReason::InsufficientFunds)),
        ],
    );
    assert_eq!(declined.status(), BookingStatus::ReadyForComplete);
    assert_eq!(declined.payments[0].status(), PaymentStatus::Failed);
    let second = Payment {
        id: PaymentId::from_bits(2),
        ..payment()
    };
    let again = after(
        declined,
        vec![BookingEvent::BookStarted {
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
fn browser_payment_is_reconciled_and_never_authorized_again() {
    let mut booking = created();
    booking.use_payment_sdk = true;
    let bound = BookingEvent::PrebookConfirmed {
        prebook: bound(),
        expires_at: Timestamp(9_000_000),
        payment: Some(browser_payment()),
    };
    let started = after(
        booking,
        vec![
            BookingEvent::PrebookStarted,
            bound,
            BookingEvent::BookStarted { payment: None },
        ],
    );
    assert_eq!(
        started.next_step(NOW),
        NextStep::Run(BookingStep::Payment(PaymentStep::Reconcile(
            PaymentId::from_bits(1)
        )))
    );
    let unpaid = after(
        started,
        vec![pay(PaymentEvent::Declined(DeclineReason::NotCompleted))],
    );
    assert_eq!(
        (unpaid.status(), unpaid.payments[0].status()),
        (
            BookingStatus::ReadyForComplete,
            PaymentStatus::RequiresAction
        )
    );
}

#[test]
fn cancelling_one_of_two_rooms_refunds_half() {
    let partly = after(cancel_sent(vec![RoomId::from_bits(1)]), vec![cancel_done()]);
    assert_eq!(
        partly.details.cancellations[0].refund_amount,
        Some(euros(10_000))
    );
    assert_eq!(partly.active_total(), euros(10_000));
    assert_eq!(
        partly.details.total,
        euros(20_000),
        "the booked total stays"
    );
}

#[test]
fn cancellation_with_supplier_fee_refunds_the_rest() {
    let amounts = HotelCancellationAmounts {
        fee: euros(2_500),
        refund: Some(euros(17_500)),
        supplier_reference: Some("C1".into()),
    };
    let done = BookingEvent::Kind(HotelEvent::CancelSucceeded {
        supplier_booking: reported(SupplierBookingStatus::Canceled, Some(amounts)),
        refund: refund_id(),
    });
    let canceled = after(cancel_sent(vec![]), vec![done]);
    assert_eq!(
        canceled.details.cancellations[0].refund_amount,
        Some(euros(17_500))
    );
    assert_eq!(
        canceled.next_step(NOW),
        NextStep::Run(BookingStep::Payment(PaymentStep::Refund(
            PaymentId::from_bits(1),
            refund_id()
        )))
    );
}

#[test]
fn uncaptured_payment_is_voided_instead_of_refunded() {
    let canceled = after(
        confirmed(),
        vec![
            BookingEvent::Kind(HotelEvent::CancelStarted {
                id: CancellationId::from_bits(1),
                room_ids: vec![],
            }),
            BookingEvent::CancelSent { next_at: LATER },
            cancel_done(),
        ],
    );
    assert_eq!(canceled.payments[0].state.name(), "voiding_pending");
}

/// Returns the types of the published notifications.
fn notified(transition: &Transition<HotelBooking>) -> Vec<&'static str> {
    let notices = transition.notifications.iter();
    notices.map(|notice| notice.event_type.as_str()).collect()
}

#[test]
fn hotel_change_is_published_once_and_keeps_known_data() {
    let before = captured();
    assert_eq!(
        before.details.hotel_confirmation_code.as_deref(),
        Some("H1")
    );
    let changed_booking = HotelSupplierBooking {
        hotel_confirmation_code: None,
        remarks: Some("The pool is closed.".into()),
        rooms: vec![SupplierRoom {
            position: 1,
            supplier_room_reference: None,
            hotel_confirmation_code: Some("H1-2".into()),
            canceled: false,
        }],
        ..*reported(SupplierBookingStatus::Confirmed, None)
    };
    let reported_once = change_reported(before);
    assert_eq!(
        reported_once.next_step(NOW),
        NextStep::Run(BookingStep::Refresh)
    );
    let transition = reported_once.apply(refreshed(Box::new(changed_booking.clone())), NOW);
    let transition = transition.unwrap();
    assert_eq!(notified(&transition), ["hotel.booking.changed"]);
    let changed = transition.booking;
    assert_eq!(
        changed.details.hotel_confirmation_code.as_deref(),
        Some("H1")
    );
    assert_eq!(changed.details.hotel_remarks, changed_booking.remarks);
    assert_eq!(
        changed.details.rooms[1].hotel_confirmation_code.as_deref(),
        Some("H1-2")
    );
    assert_eq!(changed.next_step(NOW), NextStep::Idle);
    let again = change_reported(changed)
        .apply(refreshed(Box::new(changed_booking)), NOW)
        .unwrap();
    assert!(notified(&again).is_empty(), "nothing changed");
}

/// The policy applies only to guests who cancel.
#[test]
fn cancellation_by_hotel_is_refunded_in_full_unless_supplier_reports_fee() {
    let canceled = change_reported(captured()).apply(
        refreshed(reported(SupplierBookingStatus::Canceled, None)),
        NOW,
    );
    let canceled = canceled.unwrap();
    assert_eq!(notified(&canceled), ["hotel.booking.canceled"]);
    let [cancellation] = canceled.booking.details.cancellations.as_slice() else {
        panic!("{:?}", canceled.booking.details.cancellations);
    };
    assert_eq!(cancellation.status, CancellationStatus::Succeeded);
    assert_eq!(cancellation.fee, Some(euros(0)));
    assert_eq!(cancellation.refund_amount, Some(euros(20_000)));

    let amounts = HotelCancellationAmounts {
        fee: euros(2_500),
        refund: None,
        supplier_reference: Some("C1".into()),
    };
    let state = reported(SupplierBookingStatus::Canceled, Some(amounts));
    let charged = after(change_reported(captured()), vec![refreshed(state)]);
    assert_eq!(
        charged.details.cancellations[0].refund_amount,
        Some(euros(17_500))
    );
}

#[test]
fn room_cancelled_by_hotel_is_cancelled_and_other_stays_booked() {
    let state = HotelSupplierBooking {
        rooms: vec![SupplierRoom {
            position: 0,
            supplier_room_reference: None,
            hotel_confirmation_code: None,
            canceled: true,
        }],
        ..*reported(SupplierBookingStatus::PartiallyCanceled, None)
    };
    let read = || refreshed(Box::new(state.clone()));
    let transition = change_reported(captured()).apply(read(), NOW).unwrap();
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

/// The data just read may predate the second report.
#[test]
fn change_reported_during_refresh_schedules_another_refresh() {
    let again = change_reported(captured())
        .apply(BookingEvent::ChangeReported(ChangeSource::Supplier), LATER);
    let state = reported(SupplierBookingStatus::Confirmed, None);
    let read = after(again.unwrap().booking, vec![refreshed(state)]);
    assert_eq!(read.next_step(LATER), NextStep::Run(BookingStep::Refresh));
}

#[test]
fn change_reported_by_processor_reconciles_only_payments() {
    let hint = BookingEvent::ChangeReported(ChangeSource::Processor);
    assert!(captured().apply(hint.clone(), NOW).is_err());
    let waiting = after(
        confirmed(),
        vec![pay(PaymentEvent::Sent {
            reconcile_at: LATER,
        })],
    );
    let reported = after(waiting, vec![hint]);
    let find = PaymentStep::Reconcile(PaymentId::from_bits(1));
    assert_eq!(
        reported.next_step(NOW),
        NextStep::Run(BookingStep::Payment(find))
    );
}

proptest! {
    /// Money follows the booking, whatever the order of events.
    #[test]
    fn no_order_of_events_loses_money(picks in proptest::collection::vec(0..38_usize, 1..60)) {
        let mut booking = created();
        for (count, pick) in picks.into_iter().enumerate() {
            let now = Timestamp(NOW.0 + i64::try_from(count).unwrap());
            if let Ok(transition) = booking.clone().apply(events()[pick].clone(), now) {
                prop_assert_eq!(transition.booking.version, booking.version + 1);
                booking = transition.booking;
            }
            for payment in &booking.payments {
                let asked: i64 = payment.refunds.iter().map(|refund| refund.amount.minor).sum();
                prop_assert!(asked <= payment.amount.minor, "refunds exceed the captured amount");
            }
            let taken = booking.payments.iter().any(|p| matches!(p.state, PaymentState::Capturing(_) | PaymentState::Captured));
            prop_assert!(!taken || booking.confirmed_at.is_some(), "money was captured before the supplier's confirmation");
            let over = matches!(booking.state, BookingState::Failed | BookingState::Expired);
            let is_held = booking.payments.iter().any(|p| matches!(p.state, PaymentState::Authorized | PaymentState::Authorizing(_)));
            prop_assert!(!(over && is_held), "money stays authorized after the booking ended");
        }
    }
}
