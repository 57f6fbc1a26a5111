//! Tables of a processor's responses and what each means.

use super::*;
use crate::booking::interpret::tests::{
    NOW, REPEATABLE, absent, consistent, euros, repeated, scheduled, sent,
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
    let id = PaymentId::from_bits(1);
    let payment = Payment::new_authorization(id, euros(100), processor, &instrument, NOW);
    Payment { state, ..payment }
}

fn at_processor(status: ProcessorPaymentStatus) -> ProcessorPayment {
    ProcessorPayment {
        status,
        processor_reference: "ch_1".into(),
        authorized: euros(100),
        captured: euros(match status {
            ProcessorPaymentStatus::Captured => 100,
            _ => 0,
        }),
        refunded: euros(0),
        card: None,
        expires_at: None,
    }
}

#[test]
fn authorization_succeeds_only_for_the_requested_amount() {
    use PaymentError as P;
    use ProcessorPaymentStatus as S;
    let payment = paying(PaymentState::Authorizing(sent(9_000)));
    let other_amount = ProcessorPayment {
        authorized: euros(50),
        ..at_processor(S::Authorized)
    };
    let declined = P::Declined(DeclineReason::InsufficientFunds);
    for (response, event) in [
        (Ok(at_processor(S::Authorized)), "authorized"),
        (Ok(other_amount), "unresolved"),
        (Ok(at_processor(S::RequiresAction)), "declined"),
        (Ok(at_processor(S::Declined)), "declined"),
        (Err(declined), "declined"),
        (Err(P::Refused("bad token".into())), "declined"),
        (Err(P::NotSent("refused".into())), "not_authorized"),
        (Err(P::Unknown("cut".into())), "unresolved"),
    ] {
        let interpretation =
            scheduled(|schedules| authorize_response(&payment, response.clone(), schedules));
        let event = format!("payment_{event}");
        assert_eq!(interpretation.event.name(), event, "{response:?}");
    }
}

#[test]
fn reconciled_payment_is_interpreted_by_the_operation_in_progress() {
    use ProcessorPaymentStatus as S;
    let authorizing = || PaymentState::Authorizing(sent(0));
    let capturing = || PaymentState::Capturing(sent(0));
    let voiding = || PaymentState::Voiding(sent(0));
    let twice_absent = || absent(sent(0), 5_000);
    for (state, found, after_ms, event) in [
        (authorizing(), Some(S::Authorized), None, "authorized"),
        (authorizing(), None, Some(0), "unresolved"),
        (
            PaymentState::Authorizing(twice_absent()),
            None,
            Some(0),
            "not_authorized",
        ),
        (authorizing(), None, None, "unresolved"),
        (capturing(), Some(S::Captured), None, "captured"),
        (capturing(), Some(S::Authorized), None, "step_failed"),
        (capturing(), Some(S::Voided), None, "unresolved"),
        (
            PaymentState::Capturing(twice_absent()),
            None,
            Some(0),
            "unresolved",
        ),
        (voiding(), Some(S::Voided), None, "voided"),
        (voiding(), Some(S::Authorized), None, "step_failed"),
        (voiding(), Some(S::Captured), None, "unresolved"),
        (voiding(), None, Some(0), "unresolved"),
        (
            PaymentState::Voiding(twice_absent()),
            None,
            Some(0),
            "voided",
        ),
    ] {
        let payment = paying(state.clone());
        let interpretation = scheduled(|schedules| {
            let found = found.map(at_processor);
            payment_lookup(&payment, Ok(found), consistent(after_ms), schedules)
        });
        let event = format!("payment_{event}");
        assert_eq!(interpretation.event.name(), event, "{state:?}, {found:?}");
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
