//! The complete state × event table of a flight booking, and the invariants of its payments and
//! tickets.

mod fixture;

use super::*;
use crate::booking::{BookingState, BookingStatus, BookingStep, ChangeSource, PaymentCollector};
use crate::flight::itinerary::{AirlineChange, ChangeType};
use crate::flight::quote::{FlightCancellationQuote, FlightQuoteSource, QuoteUnavailableReason};
use crate::flight::supplier_api::{FlightCancellationAmounts, FlightSupplierQuote};
use crate::payment::{DeclineReason, PaymentEvent, PaymentState, PaymentStatus, PaymentStep};
use crate::supplier::SupplierBookingStatus;
use crate::workflow::NextStep;
use fixture::*;
use proptest::prelude::*;

#[test]
fn transition_table_matches_snapshot() {
    let mut table = String::new();
    for (name, booking) in states() {
        table.push_str(&format!("{name}\n"));
        for event in events() {
            let event_name = event.name();
            if let Ok(transition) = booking.clone().apply(event, LATER) {
                let notified = transition.notifications.iter();
                let notified: Vec<&str> =
                    notified.map(|notice| notice.event_type.as_str()).collect();
                let payments = transition.booking.payments.iter();
                let payments: Vec<&str> = payments.map(|p| p.state.name()).collect();
                table.push_str(&format!(
                    "  {event_name:24} -> {:22} {:34} {}\n",
                    transition.booking.status().as_str(),
                    payments.join(" "),
                    notified.join(", ")
                ));
            }
        }
    }
    insta::assert_snapshot!("flight_booking_table", table);
}

#[test]
fn booking_steps_lead_from_authorize_to_capture() {
    let step = |step: PaymentStep| NextStep::Run(BookingStep::Payment(step));
    assert_eq!(
        paying().next_step(NOW),
        step(PaymentStep::Authorize(ticket_payment().id))
    );
    assert_eq!(paid().next_step(NOW), NextStep::Run(BookingStep::Book));
    assert_eq!(booking_sent().next_step(NOW), NextStep::WaitUntil(LATER));
    assert_eq!(
        booking_sent().next_step(LATER),
        NextStep::Run(BookingStep::ReconcileBooking)
    );
    assert_eq!(
        confirmed().next_step(NOW),
        step(PaymentStep::Capture(ticket_payment().id))
    );
    assert_eq!(captured().next_step(NOW), NextStep::Idle);
}

#[test]
fn bag_purchase_steps_lead_from_authorize_to_capture() {
    let step = |step: PaymentStep| NextStep::Run(BookingStep::Payment(step));
    assert_eq!(
        buying().next_step(NOW),
        step(PaymentStep::Authorize(bag_payment().id))
    );
    assert_eq!(
        bags_paid().next_step(NOW),
        NextStep::Run(BookingStep::Kind(FlightStep::BuyServices))
    );
    assert_eq!(
        bags_sent().next_step(LATER),
        NextStep::Run(BookingStep::Kind(FlightStep::ReconcilePurchase))
    );
    assert_eq!(
        bags_bought().next_step(NOW),
        step(PaymentStep::Capture(bag_payment().id))
    );
    assert_eq!(bags_bought().total(), Some(euros(38_000)));
    assert!(bags_bought().has_bags());
}

#[test]
fn declined_card_fails_bag_purchase_and_keeps_ticket() {
    let declined = after(
        buying(),
        vec![
            bag_pay(PaymentEvent::Sent {
                reconcile_at: LATER,
            }),
            bag_pay(PaymentEvent::Declined(DeclineReason::InsufficientFunds)),
        ],
    );
    assert_eq!(declined.status(), BookingStatus::Confirmed);
    assert_eq!(
        declined.details.purchases[0].state,
        ServicePurchaseState::Declined
    );
    assert_eq!(declined.details.services[0].status, ServiceStatus::Failed);
    assert_eq!(declined.total(), Some(euros(32_000)));
    assert_eq!(declined.payments[0].status(), PaymentStatus::Captured);
}

#[test]
fn ticket_with_purchase_in_progress_cannot_be_canceled() {
    assert!(
        bags_sent()
            .apply(BookingEvent::Kind(FlightEvent::CancelStarted), NOW)
            .is_err()
    );
    assert!(bags_sent().apply(purchase_started(), NOW).is_err());
    assert!(canceling().apply(purchase_started(), NOW).is_err());
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
        let state = FlightSupplierBooking {
            services: on_ticket.clone(),
            ..*ticket(SupplierBookingStatus::Confirmed)
        };
        assert_eq!(
            booking.is_on_ticket(purchase, &state),
            found,
            "{on_ticket:?}"
        );
    }
}

#[test]
fn refund_is_allocated_to_ticket_then_bags_up_to_amount_paid() {
    let amounts = |refund: i64| {
        BookingEvent::Kind(FlightEvent::CancelSucceeded(Box::new(
            FlightSupplierBooking {
                cancellation: Some(FlightCancellationAmounts {
                    fee: euros(38_000 - refund.min(38_000)),
                    refund: euros(refund),
                    supplier_reference: None,
                }),
                ..*ticket(SupplierBookingStatus::Canceled)
            },
        )))
    };
    for (refund, shares) in [
        (38_000, vec![32_000, 6_000]),
        (33_000, vec![32_000, 1_000]),
        (5_000, vec![5_000]),
        (0, vec![]),
        (99_999, vec![32_000, 6_000]),
    ] {
        let canceled = after(
            bags_captured(),
            vec![
                BookingEvent::Kind(FlightEvent::CancelStarted),
                BookingEvent::CancelSent { next_at: LATER },
                amounts(refund),
            ],
        );
        let asked = canceled.payments.iter().flat_map(|p| &p.refunds);
        let asked: Vec<i64> = asked.map(|refund| refund.amount.minor).collect();
        assert_eq!(asked, shares, "{refund}");
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
    for (terms, now, back) in [
        (definite, early, Some(27_000)),
        (refundable(Some(false), None), early, Some(0)),
        (refundable(None, None), early, None),
        (refundable(Some(true), None), early, None),
        (refundable(Some(true), Some(dollars(5_000))), early, None),
        // The day of departure has begun in some time zone at 10:00 UTC.
        (definite, at("2026-12-31T09:59:59Z"), Some(27_000)),
        (definite, at("2026-12-31T10:00:00Z"), None),
        (
            refundable(Some(false), None),
            at("2027-01-02T00:00:00Z"),
            None,
        ),
    ] {
        let mut booking = cancel_sent();
        booking.details.fare_conditions.refund = terms;
        let released = BookingEvent::Kind(FlightEvent::CancelSucceeded(ticket(
            SupplierBookingStatus::Canceled,
        )));
        let canceled = booking.apply(released, now).unwrap().booking;
        assert_eq!(canceled.is_refund_undecided(), back.is_none(), "{terms:?}");
        let returned = canceled.details.cancellation.unwrap().refund;
        let refund = returned.map(|returned| returned.refund_amount);
        assert_eq!(refund, back.map(euros), "{terms:?} at {now}");
    }
}

#[test]
fn supplier_amounts_in_another_currency_are_ignored() {
    let foreign = FlightCancellationAmounts {
        fee: dollars(2_000),
        refund: dollars(30_000),
        supplier_reference: Some("ore_1".into()),
    };
    let released = BookingEvent::Kind(FlightEvent::CancelSucceeded(Box::new(
        FlightSupplierBooking {
            cancellation: Some(foreign),
            ..*ticket(SupplierBookingStatus::Canceled)
        },
    )));
    let canceled = after(cancel_sent(), vec![released]);
    let cancellation = canceled.details.cancellation.unwrap();
    assert_eq!(cancellation.refund.unwrap().refund_amount, euros(27_000));
    assert_eq!(cancellation.supplier_reference.as_deref(), Some("ore_1"));
}

/// The fare's refund terms apply only to a cancellation by the customer.
#[test]
fn ticket_canceled_by_airline_is_not_refunded_by_fare_terms() {
    let reported = change_reported(captured());
    let canceled = after(
        reported,
        vec![refreshed(ticket(SupplierBookingStatus::Canceled))],
    );
    assert_eq!(canceled.status(), BookingStatus::Canceled);
    assert!(canceled.is_refund_undecided());
    assert_eq!(canceled.next_step(NOW), NextStep::Idle);
}

/// A cancellation is reported only once, so the gateway must repeat the refresh itself.
#[test]
fn ticket_canceled_during_bag_purchase_is_refreshed_again() {
    let released = || refreshed(ticket(SupplierBookingStatus::Canceled));
    let reported = change_reported(bags_sent());
    let waiting = after(reported, vec![released()]);
    assert_eq!(waiting.status(), BookingStatus::Confirmed);
    let no = Failure::new("purchase_failed", "No.");
    let ended = after(
        waiting,
        vec![
            BookingEvent::Kind(FlightEvent::PurchaseRefused(no)),
            bag_pay(PaymentEvent::Sent {
                reconcile_at: NOW.plus_s(900),
            }),
        ],
    );
    let later = NOW.plus_s(300);
    assert_eq!(ended.next_step(later), NextStep::Run(BookingStep::Refresh));
    let canceled = ended.apply(released(), later).unwrap().booking;
    assert_eq!(canceled.status(), BookingStatus::Canceled);
}

#[test]
fn change_reported_during_refresh_schedules_another_refresh() {
    let reported = change_reported(captured());
    let again = reported
        .apply(BookingEvent::ChangeReported(ChangeSource::Supplier), LATER)
        .unwrap()
        .booking;
    let stale = again.apply(refreshed(ticket(SupplierBookingStatus::Confirmed)), LATER);
    let stale = stale.unwrap().booking;
    assert_eq!(stale.next_step(LATER), NextStep::Run(BookingStep::Refresh));
    let event = BookingEvent::Kind(FlightEvent::Refreshed {
        supplier_booking: ticket(SupplierBookingStatus::Canceled),
        change_reported_at: LATER,
    });
    let canceled = stale.apply(event, LATER).unwrap().booking;
    assert_eq!(canceled.status(), BookingStatus::Canceled);
}

#[test]
fn undecided_refund_is_decided_once_and_up_to_amount_paid() {
    let decided =
        |refund| refund_held().apply(BookingEvent::Kind(FlightEvent::RefundDecided(refund)), NOW);
    for refused in [euros(32_001), euros(-1), dollars(1)] {
        assert!(decided(refused).is_err(), "{refused:?}");
    }
    for (minor, refunds) in [(32_000, 1), (1, 1), (0, 0)] {
        let booking = decided(euros(minor)).unwrap().booking;
        assert_eq!(booking.payments[0].refunds.len(), refunds);
        let returned = booking
            .details
            .cancellation
            .clone()
            .unwrap()
            .refund
            .unwrap();
        assert_eq!(returned.refund_amount, euros(minor));
        assert_eq!(returned.fee, euros(32_000 - minor));
        assert_eq!(returned.refund_to.len(), refunds);
        assert!(
            booking
                .apply(
                    BookingEvent::Kind(FlightEvent::RefundDecided(euros(1))),
                    NOW
                )
                .is_err()
        );
    }
    assert!(
        canceled()
            .apply(
                BookingEvent::Kind(FlightEvent::RefundDecided(euros(1))),
                NOW
            )
            .is_err()
    );
}

/// A refund that the supplier reports is recorded. The fare's terms only give the expected amount.
#[test]
fn payment_collected_by_supplier_is_refunded_by_supplier() {
    let amounts = FlightCancellationAmounts {
        fee: euros(2_000),
        refund: euros(30_000),
        supplier_reference: None,
    };
    for (amounts, back, status) in [
        (Some(amounts), 30_000, PaymentStatus::PartiallyRefunded),
        (None, 27_000, PaymentStatus::Captured),
    ] {
        let mut booking = ready();
        booking.payment_collector = PaymentCollector::Supplier;
        let canceled = after(
            booking,
            vec![
                BookingEvent::BookStarted { payment: None },
                BookingEvent::BookSent { next_at: LATER },
                book_confirmed(),
                BookingEvent::Kind(FlightEvent::CancelStarted),
                BookingEvent::CancelSent { next_at: LATER },
                BookingEvent::Kind(FlightEvent::CancelSucceeded(Box::new(
                    FlightSupplierBooking {
                        cancellation: amounts,
                        ..*ticket(SupplierBookingStatus::Canceled)
                    },
                ))),
            ],
        );
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
    let change = AirlineChange {
        supplier_change_id: "c1".into(),
        detected_at: NOW,
        change_type: ChangeType::ScheduleChange,
        action_required: true,
        removed_segments: vec![],
        added_segments: vec![],
        expires_at: None,
        accepted_at: None,
    };
    let mut state = *ticket(SupplierBookingStatus::Confirmed);
    state.changes = vec![change];
    state.journeys = vec![journey(&["seg-1", "seg-9"])];
    let before = captured();
    let waiting = change_reported(before.clone());
    assert_eq!(waiting.next_step(NOW), NextStep::Run(BookingStep::Refresh));
    let transition = waiting
        .apply(refreshed(Box::new(state.clone())), NOW)
        .unwrap();
    let notified = transition
        .notifications
        .iter()
        .map(|n| n.event_type.as_str());
    assert_eq!(
        notified.collect::<Vec<_>>(),
        ["flight.booking.airline_change"]
    );
    let ids = |booking: &FlightBooking| booking.details.journeys[0].segment_ids.clone();
    let (was, is) = (ids(&before), ids(&transition.booking));
    assert_eq!(was[0], is[0]);
    assert_ne!(was[1], is[1]);
    let again = change_reported(transition.booking);
    let again = again.apply(refreshed(Box::new(state)), NOW).unwrap();
    assert!(again.notifications.is_empty());
}

#[test]
fn repeated_cancellation_request_expedites_only_waiting_cancellation() {
    let waiting = after(
        cancel_sent(),
        vec![BookingEvent::CancelNotSent { retry_at: LATER }],
    );
    assert_eq!(waiting.next_step(NOW), NextStep::WaitUntil(LATER));
    let hurried = after(
        waiting,
        vec![BookingEvent::Kind(FlightEvent::CancelExpedited)],
    );
    assert_eq!(hurried.next_step(NOW), NextStep::Run(BookingStep::Cancel));
    assert!(
        cancel_sent()
            .apply(BookingEvent::Kind(FlightEvent::CancelExpedited), NOW)
            .is_err()
    );
    assert!(
        canceled()
            .apply(BookingEvent::Kind(FlightEvent::CancelExpedited), NOW)
            .is_err()
    );
}

#[test]
fn quote_uses_airline_amounts_then_fare_terms_then_gives_reason() {
    let booking = captured();
    let quoted = |fee, refund| FlightSupplierQuote::Quoted {
        fee,
        refund,
        expires_at: Some(LATER),
    };
    let quote = |answer| FlightCancellationQuote::new(&booking, &answer, NOW);
    let airline = quote(quoted(euros(2_000), euros(30_000)));
    assert_eq!(airline.source, FlightQuoteSource::SupplierQuote);
    assert_eq!(airline.amounts, Ok((euros(2_000), euros(30_000))));
    assert_eq!(airline.refund_to, [(ticket_payment().id, euros(30_000))]);
    let estimate = quote(FlightSupplierQuote::Unavailable("cannot".into()));
    assert_eq!(estimate.source, FlightQuoteSource::FareEstimate);
    assert_eq!(estimate.amounts, Ok((euros(5_000), euros(27_000))));
    let foreign = quote(quoted(dollars(1), dollars(2)));
    assert_eq!(
        foreign.amounts,
        Err(QuoteUnavailableReason::QuoteInOtherCurrency)
    );
    let mut silent = captured();
    silent.details.fare_conditions.refund.allowed = None;
    let unknown = FlightSupplierQuote::Unavailable("cannot".into());
    let unknown = FlightCancellationQuote::new(&silent, &unknown, NOW);
    assert_eq!(unknown.amounts, Err(QuoteUnavailableReason::TermsUnknown));
    assert!(unknown.refund_to.is_empty());
}

proptest! {
    /// Money follows the ticket and the bags, whatever the order of events.
    #[test]
    fn no_order_of_events_loses_money(picks in proptest::collection::vec(0..EVENTS, 1..80)) {
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
                let taken = matches!(payment.state, PaymentState::Capturing(_) | PaymentState::Captured);
                let purchase = booking.details.purchases.iter().find(|p| p.payment == payment.id);
                let paid_for = purchase.map_or(booking.confirmed_at.is_some(), |p| p.state == ServicePurchaseState::Succeeded);
                prop_assert!(!taken || paid_for, "money was captured before the supplier's confirmation");
                let over = matches!(booking.state, BookingState::Failed | BookingState::Expired)
                    || purchase.is_some_and(|p| matches!(p.state, ServicePurchaseState::Refused | ServicePurchaseState::NotSent | ServicePurchaseState::Declined));
                let is_held = matches!(payment.state, PaymentState::Authorized | PaymentState::Authorizing(_));
                prop_assert!(!(over && is_held), "money stays authorized after the booking or purchase ended");
            }
            let open = booking.details.purchases.iter().filter(|p| p.call().is_some()).count();
            prop_assert!(open <= 1, "two purchases are in progress at once");
            prop_assert!(open == 0 || booking.status() == BookingStatus::Confirmed, "bags are being bought for a ticket that is not confirmed");
        }
    }
}
