use super::*;

/// What left the gateway: nothing, reads alone, a change.
fn sent(requests: &[bool]) -> Sent {
    let sent = Sent::default();
    for changing in requests {
        assert!(sent.begin(*changing));
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
        let error = ChangeError::told(not_sent(), &sent(requests));
        let told = matches!(error, ChangeError::NotSent(_));
        let overruled = matches!(error, ChangeError::Unknown(_));
        assert_eq!((told, overruled), (believed, !believed), "{requests:?}");
        assert_eq!(
            ChangeError::told(limit(), &sent(requests)),
            ChangeError::RateLimited {
                retry_after_s: Some(86_400)
            },
            "{requests:?}"
        );
    }
}

#[test]
fn what_an_adapter_says_of_an_event_is_told_apart_from_how_it_breaks() {
    let nothing = Sent::default();
    let told = |error| VerifyError::told(error, &nothing).outcome();
    let broken = |how| VerifyError::broken(how, &nothing).outcome();
    let nonsense = Unreadable {
        field: "events.id",
        reason: "empty",
    };
    for (outcome, expected) in [
        (
            told(event_wire::VerifyError::Unauthentic(String::new())),
            Outcome::Unauthentic,
        ),
        (
            told(event_wire::VerifyError::Unreadable(String::new())),
            Outcome::Unreadable,
        ),
        (
            VerifyError::unreadable(nonsense).outcome(),
            Outcome::Unavailable,
        ),
        (broken(Broken::TimedOut), Outcome::Unavailable),
        (broken(Broken::Trapped(String::new())), Outcome::Unavailable),
        (broken(Broken::NoPlace), Outcome::Overloaded),
    ] {
        assert_eq!(outcome, expected);
    }
}

#[test]
fn nothing_is_sent_after_the_end() {
    let sent = sent(&[false]);
    sent.close();
    assert!(!sent.begin(true));
    assert!(sent.any() && !sent.changing());
}
