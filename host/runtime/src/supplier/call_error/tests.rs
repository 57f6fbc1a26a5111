use super::*;

/// Builds the counts of sent requests; `true` stands for a change, `false` for a read.
fn sent(requests: &[bool]) -> OutboundTracker {
    let sent = OutboundTracker::default();
    for changing in requests {
        assert!(sent.try_begin(*changing));
    }
    sent
}

#[test]
fn not_sent_is_accepted_only_without_sent_change_and_rate_limit_always() {
    let not_sent = || wire::ChangeError::NotSent("no connection".to_owned());
    let limit = || wire::ChangeError::RateLimited(Some(u32::MAX));
    for (requests, believed) in [
        (&[][..], true),
        (&[false][..], true),
        (&[true][..], false),
        (&[false, true][..], false),
    ] {
        let error = ChangeError::from_wire(not_sent(), &sent(requests));
        let accepted = matches!(error, ChangeError::NotSent(_));
        let overruled = matches!(error, ChangeError::Unknown(_));
        assert_eq!((accepted, overruled), (believed, !believed), "{requests:?}");
        assert_eq!(
            ChangeError::from_wire(limit(), &sent(requests)),
            ChangeError::RateLimited {
                retry_after_s: Some(86_400)
            },
            "{requests:?}"
        );
    }
}

#[test]
fn unknown_outcome_without_any_request_is_not_sent() {
    let text = || "no token".to_owned();
    for (requests, is_sent) in [(&[][..], false), (&[false][..], true), (&[true][..], true)] {
        let sent = sent(requests);
        let change = ChangeError::from_wire(wire::ChangeError::Unknown(text()), &sent);
        let payment = PaymentError::from_wire(payment_wire::PaymentError::Unknown(text()), &sent);
        let expected = match is_sent {
            true => (ChangeError::Unknown(text()), PaymentError::Unknown(text())),
            false => (ChangeError::NotSent(text()), PaymentError::NotSent(text())),
        };
        assert_eq!((change, payment), expected, "{requests:?}");
    }
}

#[test]
fn adapter_errors_and_guest_failures_map_to_different_outcomes() {
    let nothing = OutboundTracker::default();
    let returned = |error| VerifyError::from_wire(error, &nothing).outcome();
    let broken = |failure| VerifyError::from_failure(failure, &nothing).outcome();
    let nonsense = InvalidResponse {
        field: "events.id",
        reason: "empty",
    };
    for (outcome, expected) in [
        (
            returned(event_wire::VerifyError::InvalidSignature(String::new())),
            PluginCallOutcome::InvalidSignature,
        ),
        (
            returned(event_wire::VerifyError::Malformed(String::new())),
            PluginCallOutcome::InvalidResponse,
        ),
        (
            VerifyError::from_invalid_response(nonsense).outcome(),
            PluginCallOutcome::Unavailable,
        ),
        (
            broken(CallFailure::TimedOut),
            PluginCallOutcome::Unavailable,
        ),
        (
            broken(CallFailure::Trapped(String::new())),
            PluginCallOutcome::Unavailable,
        ),
        (
            broken(GuestError::PoolExhausted.into()),
            PluginCallOutcome::Overloaded,
        ),
    ] {
        assert_eq!(outcome, expected);
    }
}

#[test]
fn closed_call_sends_no_request() {
    let sent = sent(&[false]);
    sent.close();
    assert!(!sent.try_begin(true));
    assert!(sent.has_sent() && !sent.has_sent_mutation());
}
