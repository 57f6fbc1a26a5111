//! The complete state × event table of a subscription.

use super::*;
use crate::booking::tests::owner;

const NOW: Timestamp = Timestamp(1_800_000_000_000);
const LATER: Timestamp = Timestamp(NOW.0 + 60_000);
const DISABLE_AFTER_S: i64 = 60;

fn active() -> Subscription {
    let tenant = owner("org").tenant;
    let types = vec![WILDCARD_EVENT_TYPE.to_owned()];
    let url = "https://acme.example/hook".to_owned();
    let id = SubscriptionId::from_bits(1);
    Subscription::new(id, tenant, Product::Hotel, url, types, None, NOW)
}

fn failing(since: Timestamp) -> Subscription {
    Subscription {
        failing_since: Some(since),
        ..active()
    }
}

fn in_status(status: SubscriptionStatus) -> Subscription {
    Subscription { status, ..active() }
}

fn states() -> [(&'static str, Subscription); 5] {
    [
        ("active", active()),
        ("active, failing for less", failing(NOW.plus_ms(1))),
        ("active, failing for long enough", failing(NOW)),
        ("paused", in_status(SubscriptionStatus::Paused)),
        ("disabled", in_status(SubscriptionStatus::Disabled)),
    ]
}

fn changed(url: &str) -> SubscriptionEvent {
    SubscriptionEvent::Changed {
        url: Some(url.to_owned()),
        event_types: None,
        description: None,
    }
}

fn events() -> [SubscriptionEvent; 7] {
    [
        changed("https://acme.example/other"),
        SubscriptionEvent::Paused,
        SubscriptionEvent::Resumed,
        SubscriptionEvent::Rotated {
            previous_secret_expires_at: LATER,
        },
        SubscriptionEvent::DeliverySucceeded,
        SubscriptionEvent::DeliveryFailed {
            disable_after_s: DISABLE_AFTER_S,
        },
        SubscriptionEvent::EndpointGone { updated_at: NOW },
    ]
}

#[test]
fn transition_table_matches_snapshot() {
    let mut table = String::new();
    for (name, subscription) in states() {
        table.push_str(&format!("{name}\n"));
        for event in events() {
            let event_name = event.name();
            let Some(transition) = subscription.clone().apply(event, LATER) else {
                table.push_str(&format!("  {event_name:10} -> nothing\n"));
                continue;
            };
            let failing = match transition.failing_since {
                Some(since) if since == LATER => "failing since now",
                Some(_) => "failing",
                None => "",
            };
            let is_seen = transition.updated_at == LATER;
            let seen = if is_seen { "seen" } else { "" };
            let status = transition.status.as_str();
            let after = format!("{status:8} {seen:4} {failing}");
            table.push_str(&format!("  {event_name:10} -> {}\n", after.trim_end()));
        }
    }
    insta::assert_snapshot!("subscription_table", table);
}

#[test]
fn gone_response_to_delivery_before_last_change_is_ignored() {
    let gone = SubscriptionEvent::EndpointGone { updated_at: NOW };
    let resumed = in_status(SubscriptionStatus::Paused).apply(SubscriptionEvent::Resumed, LATER);
    for transition in [
        active().apply(changed("https://acme.example/other"), LATER),
        resumed,
    ] {
        assert_eq!(transition.unwrap().apply(gone.clone(), LATER), None);
    }
}

#[test]
fn change_without_difference_returns_none() {
    let same = active();
    let event = SubscriptionEvent::Changed {
        url: Some(same.url.clone()),
        event_types: Some(same.event_types.clone()),
        description: Some(None),
    };
    assert_eq!(same.apply(event, LATER), None);
}

#[test]
fn fields_change_independently() {
    let event = SubscriptionEvent::Changed {
        url: None,
        event_types: Some(vec!["ping".to_owned()]),
        description: Some(Some("ours".to_owned())),
    };
    let transition = active().apply(event, LATER).unwrap();
    let expected = Subscription {
        event_types: vec!["ping".to_owned()],
        description: Some("ours".to_owned()),
        updated_at: LATER,
        version: 2,
        ..active()
    };
    assert_eq!(transition, expected);
}
