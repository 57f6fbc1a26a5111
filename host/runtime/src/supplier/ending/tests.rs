use super::*;

/// What left the gateway: nothing, reads alone, a change.
fn sent(requests: &[bool]) -> OutboundTracker {
    let sent = OutboundTracker::default();
    for changing in requests {
        assert!(sent.try_begin(*changing));
    }
    sent
}

#[test]
fn nothing_sent_is_believed_only_while_no_change_left_and_a_limit_always() {
    let not_sent = || wire::ChangeError::NotSent("no connection".to_owned());
    let limit = || wire::ChangeError::RateLimited(Some(u32::MAX));
    for (requests, believed) in [
        (&[][..], true),
        (&[false][..], true),
        (&[true][..], false),
        (&[false, true][..], false),
    ] {
        let error = ChangeError::from_wire(not_sent(), &sent(requests));
        let told = matches!(error, ChangeError::NotSent(_));
        let overruled = matches!(error, ChangeError::Unknown(_));
        assert_eq!((told, overruled), (believed, !believed), "{requests:?}");
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
fn what_an_adapter_says_of_an_event_is_told_apart_from_how_it_breaks() {
    let nothing = OutboundTracker::default();
    let told = |error| VerifyError::from_wire(error, &nothing).outcome();
    let broken = |how| VerifyError::from_guest_error(how, &nothing).outcome();
    let nonsense = InvalidResponse {
        field: "events.id",
        reason: "empty",
    };
    for (outcome, expected) in [
        (
            told(event_wire::VerifyError::Unauthentic(String::new())),
            PluginCallOutcome::InvalidSignature,
        ),
        (
            told(event_wire::VerifyError::Unreadable(String::new())),
            PluginCallOutcome::InvalidResponse,
        ),
        (
            VerifyError::from_invalid_response(nonsense).outcome(),
            PluginCallOutcome::Unavailable,
        ),
        (broken(GuestError::TimedOut), PluginCallOutcome::Unavailable),
        (broken(GuestError::Trapped(String::new())), PluginCallOutcome::Unavailable),
        (broken(GuestError::PoolExhausted), PluginCallOutcome::Overloaded),
    ] {
        assert_eq!(outcome, expected);
    }
}

#[test]
fn nothing_is_sent_after_the_end() {
    let sent = sent(&[false]);
    sent.close();
    assert!(!sent.try_begin(true));
    assert!(sent.has_sent() && !sent.has_sent_mutation());
}
