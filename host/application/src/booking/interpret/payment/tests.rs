//! Tables of a processor's responses and what each means.
#![expect(clippy::too_many_lines, reason = "a table has one entry for each case")]

use super::*;
use crate::booking::interpret::tests::{
    NOW, REPEATABLE, consistent, euros, repeated, scheduled, sent,
};
use host_domain::id::{InstrumentId, PaymentId};
use host_domain::payment::{Instrument, Refund};
use host_domain::supplier::SupplierId;

fn paying(state: PaymentState) -> Payment {
    let processor = SupplierId::parse("CARDS").unwrap();
    let instrument = Instrument {
        id: InstrumentId::from_bits(1),
        processor: processor.clone(),
        token: "t".into(),
        card: None,
        created_at: NOW,
    };
    let payment = Payment::new_authorization(
        PaymentId::from_bits(1),
        euros(100),
        processor,
        &instrument,
        NOW,
    );
    Payment { state, ..payment }
}

fn at_processor(status: ProcessorPaymentStatus) -> ProcessorPayment {
    ProcessorPayment {
        status,
        processor_reference: "ch_1".into(),
        authorized: euros(100),
        captured: euros(if status == ProcessorPaymentStatus::Captured {
            100
        } else {
            0
        }),
        refunded: euros(0),
        card: None,
        expires_at: None,
    }
}

#[test]
fn authorization_succeeds_only_for_the_requested_amount() {
    use PaymentError as P;
    let payment = paying(PaymentState::Authorizing(sent(9_000)));
    let other_amount = ProcessorPayment {
        authorized: euros(50),
        ..at_processor(ProcessorPaymentStatus::Authorized)
    };
    for (response, event) in [
        (
            Ok(at_processor(ProcessorPaymentStatus::Authorized)),
            "payment_authorized",
        ),
        (Ok(other_amount), "payment_unresolved"),
        (
            Ok(at_processor(ProcessorPaymentStatus::RequiresAction)),
            "payment_declined",
        ),
        (
            Ok(at_processor(ProcessorPaymentStatus::Declined)),
            "payment_declined",
        ),
        (
            Err(P::Declined(DeclineReason::InsufficientFunds)),
            "payment_declined",
        ),
        (Err(P::Refused("bad token".into())), "payment_declined"),
        (Err(P::NotSent("refused".into())), "payment_not_authorized"),
        (Err(P::Unknown("cut".into())), "payment_unresolved"),
    ] {
        let interpretation =
            scheduled(|schedules| authorize_response(&payment, response.clone(), schedules));
        assert_eq!(interpretation.event.name(), event, "{response:?}");
    }
}

#[test]
fn reconciled_payment_is_interpreted_by_the_operation_in_progress() {
    use ProcessorPaymentStatus as S;
    let sent = || sent(0);
    for (payment_state, found, after_ms, event) in [
        (
            PaymentState::Authorizing(sent()),
            Some(S::Authorized),
            None,
            "payment_authorized",
        ),
        (
            PaymentState::Authorizing(sent()),
            None,
            Some(0),
            "payment_not_authorized",
        ),
        (
            PaymentState::Authorizing(sent()),
            None,
            None,
            "payment_unresolved",
        ),
        (
            PaymentState::Capturing(sent()),
            Some(S::Captured),
            None,
            "payment_captured",
        ),
        (
            PaymentState::Capturing(sent()),
            Some(S::Authorized),
            None,
            "payment_step_failed",
        ),
        (
            PaymentState::Capturing(sent()),
            Some(S::Voided),
            None,
            "payment_unresolved",
        ),
        (
            PaymentState::Capturing(sent()),
            None,
            Some(0),
            "payment_unresolved",
        ),
        (
            PaymentState::Voiding(sent()),
            Some(S::Voided),
            None,
            "payment_voided",
        ),
        (
            PaymentState::Voiding(sent()),
            Some(S::Authorized),
            None,
            "payment_step_failed",
        ),
        (
            PaymentState::Voiding(sent()),
            Some(S::Captured),
            None,
            "payment_unresolved",
        ),
        (
            PaymentState::Voiding(sent()),
            None,
            Some(0),
            "payment_voided",
        ),
    ] {
        let payment = paying(payment_state.clone());
        let interpretation = scheduled(|schedules| {
            payment_lookup(
                &payment,
                Ok(found.map(at_processor)),
                consistent(after_ms),
                schedules,
            )
        });
        assert_eq!(
            interpretation.event.name(),
            event,
            "{payment_state:?}, {found:?}"
        );
    }
}

#[test]
fn missing_authorization_is_resent_only_if_idempotent_resend_is_supported() {
    let payment = paying(PaymentState::Authorizing(sent(0)));
    for (guarantees, event) in [
        (REPEATABLE, "payment_resend_scheduled"),
        (consistent(None), "payment_unresolved"),
    ] {
        let interpretation =
            scheduled(|schedules| payment_lookup(&payment, Ok(None), guarantees, schedules));
        assert_eq!(interpretation.event.name(), event, "{guarantees:?}");
    }
}

/// A new attempt would have a new reference, and the payer would be charged twice.
#[test]
fn unsent_resend_leaves_the_first_call_unresolved() {
    let not_sent = || PaymentError::NotSent("refused".into());
    let payment = paying(PaymentState::Authorizing(repeated(0, 9_000)));
    let interpretation =
        scheduled(|schedules| authorize_response(&payment, Err(not_sent()), schedules));
    assert_eq!(interpretation.event.name(), "payment_unresolved");
    for (call, event) in [
        (sent(9_000), "refund_failed"),
        (repeated(0, 9_000), "refund_unresolved"),
    ] {
        let mut payment = paying(PaymentState::Captured);
        let id = RefundId::from_bits(1);
        payment.refunds = vec![Refund {
            id: id.clone(),
            amount: euros(10),
            call: Some(call),
        }];
        let interpretation =
            scheduled(|schedules| refund_response(&payment, &id, Err(not_sent()), schedules));
        assert_eq!(interpretation.event.name(), event);
    }
}
