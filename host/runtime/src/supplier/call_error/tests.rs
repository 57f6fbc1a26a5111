use super::*;
use crate::call_scope::RequestEffect::{self, Change, SafeMethod, StatedRead};
use crate::exchange::{ExchangeError, UpstreamResponse};
use http::HeaderMap;

/// Builds the counts of sent requests.
fn sent(requests: &[RequestEffect]) -> OutboundTracker {
    let sent = OutboundTracker::default();
    for effect in requests {
        assert!(sent.try_reserve(u32::MAX));
        assert!(sent.try_begin(*effect));
    }
    sent
}

/// Builds the counts of requests with their responses: a status, or none because of a time-out.
fn answered(requests: &[(RequestEffect, Option<u16>)]) -> OutboundTracker {
    let effects: Vec<RequestEffect> = requests.iter().map(|(effect, _)| *effect).collect();
    let sent = sent(&effects);
    for (effect, status) in requests {
        let lost = || ExchangeError::TimedOut("slow".to_owned());
        sent.record_result(*effect, &status.map(response).ok_or_else(lost));
    }
    sent
}

fn response(status: u16) -> UpstreamResponse {
    UpstreamResponse {
        status,
        headers: HeaderMap::new(),
        body: Vec::new(),
    }
}

#[test]
fn not_sent_is_accepted_only_without_sent_change() {
    let not_sent = || wire::ChangeError::NotSent("no connection".to_owned());
    for (requests, believed) in [
        (&[][..], true),
        (&[StatedRead][..], true),
        (&[SafeMethod][..], true),
        (&[Change][..], false),
        (&[SafeMethod, Change][..], false),
        (&[StatedRead, Change][..], false),
    ] {
        let error = ChangeError::from_wire(not_sent(), &sent(requests));
        let accepted = matches!(error, ChangeError::NotSent(_));
        let overruled = matches!(error, ChangeError::Unknown(_));
        assert_eq!((accepted, overruled), (believed, !believed), "{requests:?}");
    }
}

/// A supplier whose limit is reached has done nothing for the request that it answers, but perhaps
/// for an earlier one.
#[test]
fn rate_limit_is_accepted_only_as_response_to_the_only_change() {
    for (requests, believed) in [
        (&[][..], true),
        (&[(SafeMethod, Some(429))][..], true),
        (&[(SafeMethod, None)][..], true),
        (&[(Change, Some(429))][..], true),
        (&[(StatedRead, Some(200)), (Change, Some(429))][..], true),
        (&[(SafeMethod, Some(200)), (Change, Some(400))][..], true),
        (&[(Change, None)][..], false),
        (&[(Change, Some(503))][..], false),
        (&[(Change, Some(201)), (Change, Some(429))][..], false),
        // The plugin follows a redirect.
        (&[(Change, Some(307)), (Change, Some(429))][..], true),
        (&[(Change, None), (Change, Some(429))][..], false),
        (&[(Change, None), (SafeMethod, Some(429))][..], false),
    ] {
        let limit = wire::ChangeError::RateLimited(Some(u32::MAX));
        let error = ChangeError::from_wire(limit, &answered(requests));
        let accepted = ChangeError::RateLimited {
            retry_after_s: Some(86_400),
        };
        let overruled = matches!(error, ChangeError::Unknown(_));
        let actual = (error == accepted, overruled);
        assert_eq!(actual, (believed, !believed), "{requests:?}");
    }
}

#[test]
fn refusal_is_accepted_only_if_every_change_has_a_response() {
    for (requests, believed) in [
        (&[(SafeMethod, Some(404))][..], true),
        (&[(Change, Some(422))][..], true),
        // The supplier quotes a cancellation, and refuses to confirm it.
        (&[(Change, Some(201)), (Change, Some(422))][..], true),
        // Some suppliers document refusals with such a status; the adapter knows them.
        (&[(Change, Some(502))][..], true),
        (&[(Change, None)][..], false),
        (&[(Change, None), (Change, Some(409))][..], false),
        (&[(Change, None), (SafeMethod, Some(404))][..], false),
    ] {
        let refusal = || wire::Refusal {
            reason: wire::RefusalReason::Unavailable,
            supplier_code: None,
            message: "sold out".to_owned(),
        };
        let sent = answered(requests);
        let change = ChangeError::from_wire(wire::ChangeError::Refused(refusal()), &sent);
        let declined = payment_wire::PaymentError::Refused("no".to_owned());
        let payment = PaymentError::from_wire(declined, &sent);
        let accepted = (
            matches!(change, ChangeError::Refused(_)),
            matches!(payment, PaymentError::Refused(_)),
        );
        let overruled = (
            matches!(change, ChangeError::Unknown(_)),
            matches!(payment, PaymentError::Unknown(_)),
        );
        let expected = ((believed, believed), (!believed, !believed));
        assert_eq!((accepted, overruled), expected, "{requests:?}");
    }
}

/// Another card does not help if the processor does not accept the gateway's key.
#[test]
fn refusal_of_the_processors_credentials_is_no_declined_payment() {
    let declined =
        || payment_wire::PaymentError::Declined(payment_wire::DeclineReason::ExpiredCard);
    let refused = || payment_wire::PaymentError::Refused("api_key_expired".to_owned());
    for (error, requests, is_credentials) in [
        (refused(), &[(Change, Some(401))][..], true),
        (refused(), &[(SafeMethod, Some(401))][..], true),
        // The key may lack the right to this operation, or the payment may be in another state.
        (refused(), &[(Change, Some(403))][..], false),
        (refused(), &[(Change, Some(400))][..], false),
        (declined(), &[(Change, Some(403))][..], false),
        (
            refused(),
            &[(Change, None), (SafeMethod, Some(401))][..],
            false,
        ),
        // The first of two changes may have taken effect.
        (
            refused(),
            &[(Change, Some(200)), (Change, Some(401))][..],
            false,
        ),
    ] {
        let error = PaymentError::from_wire(error, &answered(requests));
        let is_unsent =
            matches!(&error, PaymentError::NotSent(reason) if reason.requires_correction);
        assert_eq!(is_unsent, is_credentials, "{requests:?}: {error:?}");
    }
}

/// A refusal that the supplier cannot have stated says nothing about an earlier sending.
#[test]
fn refusal_without_response_is_not_the_suppliers() {
    let refuse = |sent: &OutboundTracker| {
        let refusal = wire::Refusal {
            reason: wire::RefusalReason::Invalid,
            supplier_code: None,
            message: "the prebook is unreadable".to_owned(),
        };
        ChangeError::from_wire(wire::ChangeError::Refused(refusal), sent)
    };
    let own = refuse(&OutboundTracker::default());
    assert!(matches!(own, ChangeError::RefusedByAdapter(_)), "{own:?}");
    assert_eq!(own.outcome(), PluginCallOutcome::Refused);
    let refused = payment_wire::PaymentError::Refused("no such card".to_owned());
    let own = PaymentError::from_wire(refused, &OutboundTracker::default());
    assert!(matches!(own, PaymentError::RefusedByAdapter(_)), "{own:?}");
    for requests in [&[(SafeMethod, None)][..], &[(StatedRead, None)][..]] {
        let unanswered = refuse(&answered(requests));
        assert!(
            matches!(unanswered, ChangeError::NotSent(_)),
            "{unanswered:?}"
        );
    }
}

#[test]
fn unknown_outcome_without_any_request_is_not_sent() {
    let text = || "no token".to_owned();
    for (requests, is_sent) in [
        (&[][..], false),
        (&[SafeMethod][..], true),
        (&[Change][..], true),
    ] {
        let sent = sent(requests);
        let change = ChangeError::from_wire(wire::ChangeError::Unknown(text()), &sent);
        let payment = PaymentError::from_wire(payment_wire::PaymentError::Unknown(text()), &sent);
        // The plugin failed before it tried to send anything.
        let reason = || FailureReason {
            message: text(),
            requires_correction: !is_sent,
        };
        let expected = match is_sent {
            true => (
                ChangeError::Unknown(reason()),
                PaymentError::Unknown(reason()),
            ),
            false => (
                ChangeError::NotSent(reason()),
                PaymentError::NotSent(reason()),
            ),
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
            broken(CallFailure::TimedOut(String::new())),
            PluginCallOutcome::Unavailable,
        ),
        (
            broken(CallFailure::Trapped(String::new())),
            PluginCallOutcome::Unavailable,
        ),
        (
            broken(CallFailure::Overloaded(String::new())),
            PluginCallOutcome::Overloaded,
        ),
    ] {
        assert_eq!(outcome, expected);
    }
}

#[test]
fn closed_call_sends_no_request() {
    let sent = sent(&[SafeMethod]);
    sent.close();
    assert!(!sent.try_begin(Change));
    assert!(sent.has_sent() && !sent.has_sent_mutation());
}

#[test]
fn requests_that_only_read_as_the_plugin_states_send_nothing() {
    let ends = |requests: &[RequestEffect]| {
        let sent = sent(requests);
        let unknown = wire::ChangeError::Unknown("no answer".to_owned());
        [
            ChangeError::from_wire(unknown, &sent),
            ChangeError::from_failure(CallFailure::TimedOut(String::new()), &sent),
            ChangeError::from_failure(CallFailure::Trapped(String::new()), &sent),
        ]
    };
    for requests in [&[StatedRead][..], &[StatedRead, StatedRead][..]] {
        for end in ends(requests) {
            assert!(matches!(end, ChangeError::NotSent(_)), "{end:?}");
        }
    }
    for requests in [&[StatedRead, Change][..], &[StatedRead, SafeMethod][..]] {
        for end in ends(requests) {
            assert!(matches!(end, ChangeError::Unknown(_)), "{end:?}");
        }
    }
}

#[test]
fn failure_requires_correction_if_the_host_knows_that_only_a_person_can_mend_it() {
    let answered = |status| Ok(response(status));
    let denied = Err(ExchangeError::Denied("add a grant".to_owned()));
    let unreachable = Err(ExchangeError::NotSent("no DNS record".to_owned()));
    for (results, requires_correction) in [
        (vec![], true),
        (vec![answered(401)], true),
        (vec![answered(403)], true),
        // The adapter cannot use the response, for example because of its currency.
        (vec![answered(200)], true),
        (vec![answered(429)], false),
        (vec![denied], true),
        (vec![unreachable], false),
        (vec![answered(500)], false),
        // The last exchange counts: the adapter tried again with a new token.
        (vec![answered(401), answered(502)], false),
    ] {
        let sent = OutboundTracker::default();
        for result in &results {
            assert!(sent.try_reserve(u32::MAX));
            sent.record_result(SafeMethod, result);
        }
        let not_sent = wire::ChangeError::NotSent("no".to_owned());
        let ChangeError::NotSent(reason) = ChangeError::from_wire(not_sent, &sent) else {
            panic!("{results:?}")
        };
        assert_eq!(
            reason.requires_correction, requires_correction,
            "{results:?}"
        );
    }
    let failed = |failure| ChangeError::from_failure(failure, &OutboundTracker::default());
    for (failure, requires_correction) in [
        (CallFailure::Trapped(String::new()), true),
        (CallFailure::TimedOut(String::new()), false),
    ] {
        let ChangeError::NotSent(reason) = failed(failure) else {
            panic!("something was sent")
        };
        assert_eq!(reason.requires_correction, requires_correction);
    }
}

#[test]
fn failure_names_the_limit_that_a_response_exceeded() {
    let sent = OutboundTracker::default();
    let too_large = Err(ExchangeError::TooLarge {
        bytes_max: 5,
        setting: "limits.response_bytes_max",
    });
    sent.record_result(SafeMethod, &too_large);
    let mut error = ReadError::InvalidResponse("too large".to_owned());
    error.append(sent.exceeded_limit().unwrap());
    let expected = "the supplier's response cannot be used: too large: the response is larger than \
                    its limit of 5 bytes (limits.response_bytes_max)";
    assert_eq!(error.to_string(), expected);
}
