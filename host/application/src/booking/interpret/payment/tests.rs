//! Tables of a processor's responses and what each means.

use super::*;
use crate::booking::interpret::tests::{
    NOW, REPEATABLE, absent, consistent, euros, refused_resend, repeated, scheduled, sent,
};
use host_domain::id::{InstrumentId, PaymentId};
use host_domain::payment::{Instrument, PaymentMethod, PaymentOperation, Refund};
use host_domain::remote_call::AbsenceEvidence;
use host_domain::supplier::SupplierId;
use host_domain::time::Timestamp;

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

/// A processor that does not find what it authorized under a known reference may still hold it.
#[test]
fn void_of_a_known_authorization_is_not_proven_by_absence() {
    let absent_void = PaymentState::Voiding(absent(sent(0), 5_000));
    let authorized = Payment {
        processor_reference: Some("ch_1".to_owned()),
        ..paying(absent_void.clone())
    };
    let browser = Payment {
        method: PaymentMethod::Sdk,
        ..authorized.clone()
    };
    for (payment, event) in [
        (paying(absent_void), "payment_voided"),
        (authorized, "payment_unresolved"),
        (browser, "payment_voided"),
    ] {
        let interpretation = scheduled(|schedules| {
            payment_lookup(&payment, Ok(None), consistent(Some(0)), schedules)
        });
        assert_eq!(interpretation.event.name(), event, "{payment:?}");
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
        (voiding(), Some(S::Captured), None, "captured_despite_void"),
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

/// An operator decides about money that others have moved.
#[test]
fn captured_payment_is_refunded_instead_of_voided_only_if_it_is_whole() {
    let payment = paying(PaymentState::Voiding(sent(0)));
    let whole = at_processor(ProcessorPaymentStatus::Captured);
    let refunded = ProcessorPayment {
        refunded: euros(1),
        ..whole.clone()
    };
    let in_part = ProcessorPayment {
        captured: euros(99),
        ..whole
    };
    for found in [refunded, in_part] {
        let interpretation = scheduled(|schedules| {
            payment_lookup(&payment, Ok(Some(found)), consistent(None), schedules)
        });
        assert_eq!(interpretation.event.name(), "payment_unresolved");
    }
}

/// An earlier capture may have been executed after it was given up.
#[test]
fn refused_capture_is_reconciled_at_once_and_repeated_later() {
    let refused = || PaymentError::Refused("captured before".into());
    let declined = PaymentError::Declined(DeclineReason::Other);
    let authorized = at_processor(ProcessorPaymentStatus::Authorized);
    let payment = paying(PaymentState::Capturing(sent(9_000)));
    for response in [Err(refused()), Err(declined), Ok(authorized.clone())] {
        let interpretation =
            scheduled(|schedules| capture_response(&payment, response.clone(), schedules));
        let (next_at, absence) = (NOW, None);
        let unresolved = PaymentEvent::Unresolved { next_at, absence };
        assert_eq!(interpretation.event, unresolved, "{response:?}");
    }
    let lookup = scheduled(|schedules| {
        payment_lookup(&payment, Ok(Some(authorized)), consistent(None), schedules)
    });
    let retry_at = NOW.plus_s(30);
    assert_eq!(lookup.event, PaymentEvent::StepFailed { retry_at });
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
fn unsent_or_refused_resend_leaves_the_first_call_unresolved() {
    for error in [
        PaymentError::NotSent("refused".into()),
        PaymentError::Refused("no".into()),
        PaymentError::RefusedByAdapter("no".into()),
        PaymentError::Declined(DeclineReason::InsufficientFunds),
    ] {
        check_failed_resend(&error);
    }
}

fn check_failed_resend(error: &PaymentError) {
    let response = || Err(error.clone());
    let payment = paying(PaymentState::Authorizing(repeated(0, 9_000)));
    let interpretation = scheduled(|schedules| authorize_response(&payment, response(), schedules));
    assert_eq!(interpretation.event.name(), "payment_unresolved", "{error}");
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
            scheduled(|schedules| refund_response(&payment, &id, Err(error.clone()), schedules));
        assert_eq!(interpretation.event.name(), event, "{error}");
    }
}

#[test]
fn reason_of_declined_resend_is_kept_until_a_lookup_confirms_it() {
    let payment = paying(PaymentState::Authorizing(repeated(0, 9_000)));
    for (error, reason) in [
        (
            PaymentError::Declined(DeclineReason::ExpiredCard),
            DeclineReason::ExpiredCard,
        ),
        (
            PaymentError::Refused("bad token".into()),
            DeclineReason::Other,
        ),
    ] {
        let response = scheduled(|schedules| authorize_response(&payment, Err(error), schedules));
        let refusal = ResendRefusal::Processor(reason);
        let unresolved = PaymentEvent::Unresolved {
            next_at: Timestamp(14_000),
            absence: Some(AbsenceEvidence::from_refusal(NOW, refusal)),
        };
        assert_eq!(response.event, unresolved);
    }
    // The adapter did not ask the processor, so that nothing is known about the first call.
    let own = Err(PaymentError::RefusedByAdapter("bad token".into()));
    let response = scheduled(|schedules| authorize_response(&payment, own, schedules));
    let unresolved = PaymentEvent::Unresolved {
        next_at: Timestamp(14_000),
        absence: None,
    };
    assert_eq!(response.event, unresolved);
    let refusal = ResendRefusal::Processor(DeclineReason::ExpiredCard);
    let payment = paying(PaymentState::Authorizing(refused_resend(0, 5_000, refusal)));
    let declined = PaymentEvent::Declined(DeclineReason::ExpiredCard);
    for found in [None, Some(at_processor(ProcessorPaymentStatus::Declined))] {
        let lookup =
            scheduled(|schedules| payment_lookup(&payment, Ok(found), REPEATABLE, schedules));
        assert_eq!(lookup.event, declined);
        assert_eq!(lookup.outcome, CallOutcome::Refused);
    }
    // An operator may confirm the decline instead of a lookup.
    let resolved = PaymentOperation::Authorize.failure_event(&payment, NOW);
    assert_eq!(resolved, declined);
}

/// A processor without consistent reads answers a resend with the outcome of the first call.
#[test]
fn refused_refund_that_is_not_found_is_retried_later() {
    let refusal = ResendRefusal::Processor(DeclineReason::Other);
    let resent = || refused_resend(0, 5_000, refusal.clone());
    let id = RefundId::from_bits(1);
    let mut payment = paying(PaymentState::Captured);
    payment.refunds = vec![Refund {
        id: id.clone(),
        amount: euros(10),
        call: Some(resent()),
    }];
    let lookup =
        scheduled(|schedules| refund_lookup(&payment, &id, Ok(false), REPEATABLE, schedules));
    let retried = PaymentEvent::RefundFailed {
        refund: id,
        retry_at: NOW.plus_s(30),
    };
    assert_eq!(lookup.event, retried);
    assert_eq!(lookup.outcome, CallOutcome::Refused);
}
