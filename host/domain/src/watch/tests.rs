//! The complete state × event table of a watch, and the times of its price checks.

use super::*;
use crate::booking::tests::{euros, owner};
use crate::id::PriceCheckId;
use crate::money::Currency;
use serde_json::json;

const NOW: Timestamp = Timestamp(1_800_000_000_000);
const LATER: Timestamp = Timestamp(NOW.0 + 60_000);
const INTERVAL_S: i64 = 900;

/// Returns a query as it is stored.
fn query() -> PriceQuery {
    let stored = json!({
        "target": { "kind": "hotel", "hotel_id": "htl_1" },
        "stay": {
            "check_in": "2027-03-01",
            "check_out": "2027-03-03",
            "occupancies": [{ "adults": 2, "children": [] }],
            "guest_nationality": "GB",
            "currency": "EUR",
        },
    });
    serde_json::from_value(stored).unwrap()
}

fn watch(auto_book: bool, armed: bool, state: WatchState) -> Watch {
    let auto_book = auto_book.then(|| AutoBook {
        payment_instrument_id: InstrumentId::from_bits(1),
        contact: Contact {
            first_name: "Ada".into(),
            last_name: "Lovelace".into(),
            email: "ada@example.com".into(),
            phone: "+4912345678".into(),
        },
        rooms: vec![],
    });
    let amount = euros(20_000);
    let trigger = Trigger::BelowTotal { amount };
    let id = WatchId::from_bits(1);
    let mut watch = Watch::new(id, owner("ada"), query(), trigger, auto_book, NOW);
    watch.mandate_id = armed.then(|| MandateId::from_bits(1));
    watch.state = state;
    watch
}

fn states() -> [(&'static str, Watch); 12] {
    use WatchState::{Active, Canceled, Expired, PurchaseFailed, Purchased, Purchasing, Triggered};
    let plain = |state| watch(false, false, state);
    let drafted = |state| watch(true, false, state);
    let armed = |state| watch(true, true, state);
    let booking = BookingId::from_bits(1);
    let booked = Some(booking.clone());
    let reason = PurchaseFailureReason::PaymentFailed;
    let unbooked = PurchaseFailed {
        reason,
        booking: None,
    };
    let failed = PurchaseFailed {
        reason,
        booking: booked.clone(),
    };
    [
        ("active", plain(Active)),
        ("active, with a draft", drafted(Active)),
        ("active, armed", armed(Active)),
        ("triggered", plain(Triggered)),
        ("triggered, with a draft", drafted(Triggered)),
        ("purchasing", armed(Purchasing { booking: None })),
        (
            "purchasing, with a booking",
            armed(Purchasing { booking: booked }),
        ),
        ("purchased", armed(Purchased { booking })),
        ("purchase failed", armed(failed)),
        ("purchase failed, without a booking", armed(unbooked)),
        ("expired", armed(Expired)),
        ("canceled", plain(Canceled)),
    ]
}

fn events() -> [(&'static str, WatchTransitionEvent); 11] {
    use WatchTransitionEvent as Event;
    let priced = |total| Event::PriceObserved { total };
    let mandate = MandateId::from_bits(2);
    let booking = BookingId::from_bits(2);
    let reason = PurchaseFailureReason::MandateRevoked;
    [
        ("price at the cap", priced(euros(20_000))),
        ("price above it", priced(euros(20_001))),
        ("price otherwise", priced(Money::new(1, Currency::USD))),
        ("price unavailable", Event::PriceUnavailable),
        ("armed", Event::Armed { mandate }),
        ("purchase started", Event::PurchaseStarted { booking }),
        ("purchase aborted", Event::PurchaseAborted),
        ("purchased", Event::Purchased),
        ("purchase failed", Event::PurchaseFailed { reason }),
        ("expired", Event::Expired),
        ("canceled", Event::Canceled),
    ]
}

#[test]
fn transition_table_matches_snapshot() {
    let mut table = String::new();
    for (name, watch) in states() {
        table.push_str(&format!("{name}\n"));
        for (event_name, event) in events() {
            let after = match watch.clone().apply(event, LATER) {
                Err(_) => "conflict".to_owned(),
                Ok(None) => "nothing".to_owned(),
                Ok(Some(transition)) => {
                    assert_eq!(transition.watch.version, watch.version + 1);
                    assert_eq!(transition.watch.updated_at, LATER);
                    shown(&transition)
                }
            };
            table.push_str(&format!("  {event_name:18} -> {after}\n"));
        }
    }
    insta::assert_snapshot!("watch_table", table);
}

fn shown(transition: &WatchTransition) -> String {
    let watch = &transition.watch;
    let mut after = watch.status().as_str().to_owned();
    if watch.is_armed() {
        after.push_str(", armed");
    }
    if let Some(booking) = watch.booking_id() {
        let number = booking.as_str().chars().last().unwrap();
        after.push_str(&format!(", booking {number}"));
    }
    if let Some(event) = transition.notification {
        after.push_str(&format!(", publishes {}", event.as_str()));
    }
    if transition.is_purchase_due {
        after.push_str(", buys");
    }
    if transition.is_check_due {
        after.push_str(", checks the price");
    }
    after
}

#[test]
fn watch_expires_when_check_in_day_has_ended_in_every_time_zone() {
    let expires_at = query().expires_at().to_string();
    assert_eq!(expires_at, "2027-03-02T12:00:00.000Z");
}

#[test]
fn query_is_checked_once_per_interval_and_more_often_near_check_in() {
    let query = query();
    let id = PriceCheckId::from_bits(7);
    for (before_s, interval_s) in [
        (30 * 86_400, INTERVAL_S),
        (7 * 86_400 + 1, INTERVAL_S),
        (7 * 86_400, INTERVAL_S / 2),
        (2 * 86_400, INTERVAL_S / 4),
    ] {
        let check_in = Timestamp::parse("2027-03-01T00:00:00Z").unwrap();
        let now = check_in.plus_s(-before_s);
        let first = query.next_check(&id, INTERVAL_S, now);
        let wait_ms = first.since(now);
        assert!((1..=interval_s * 1000).contains(&wait_ms), "{wait_ms}");
    }
    let expires_at = query.expires_at();
    let early = expires_at.plus_s(-30 * 86_400);
    let first = query.next_check(&id, INTERVAL_S, early);
    let second = query.next_check(&id, INTERVAL_S, first);
    assert_eq!(second.since(first), INTERVAL_S * 1000);
    let late = expires_at.plus_ms(-1);
    assert_eq!(query.next_check(&id, INTERVAL_S, late), expires_at);
}

#[test]
fn queries_created_together_are_checked_at_different_times() {
    let query = query();
    let mut buckets = [0_u32; 9];
    for number in 0..9_000 {
        let id = PriceCheckId::from_bits(number);
        let wait_ms = query.next_check(&id, INTERVAL_S, NOW).since(NOW);
        let bucket = usize::try_from((wait_ms - 1) / 100_000).unwrap();
        buckets[bucket] += 1;
    }
    assert!(
        buckets.iter().all(|count| (800..1200).contains(count)),
        "{buckets:?}"
    );
}
