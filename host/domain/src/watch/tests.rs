//! The complete state × event table of a watch, and the times of its price checks.

use super::*;
use crate::hotel::{Occupancy, Stay};
use crate::id::{HotelId, PriceCheckId};
use crate::money::Currency;
use crate::owner::{Mode, Tenant};
use std::collections::BTreeSet;

const NOW: Timestamp = Timestamp(1_800_000_000_000);
const LATER: Timestamp = Timestamp(NOW.0 + 60_000);
const INTERVAL_S: i64 = 900;

fn euros(minor: i64) -> Money {
    Money::new(minor, Currency::parse("EUR").unwrap())
}

fn question() -> PriceQuery {
    PriceQuery {
        target: WatchTarget::Hotel {
            hotel_id: HotelId::from_bits(1),
        },
        stay: Stay {
            check_in: "2027-03-01".parse().unwrap(),
            check_out: "2027-03-03".parse().unwrap(),
            occupancies: vec![Occupancy {
                adults: 2,
                children: vec![],
            }],
            guest_nationality: "GB".into(),
            guest_residence: None,
            currency: Currency::parse("EUR").unwrap(),
        },
    }
}

fn watch(auto_book: bool, armed: bool, state: WatchState) -> Watch {
    let owner = Owner {
        tenant: Tenant {
            organization: "acme".into(),
            mode: Mode::Test,
        },
        user: "ada".into(),
    };
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
    let trigger = Trigger::BelowTotal {
        amount: euros(20_000),
    };
    let id = WatchId::from_bits(1);
    let mut watch = Watch::new(id, owner, question(), trigger, auto_book, NOW);
    watch.mandate_id = armed.then(|| MandateId::from_bits(1));
    watch.state = state;
    watch
}

fn states() -> [(&'static str, Watch); 12] {
    let booking = || BookingId::from_bits(1);
    let failed = |booking| WatchState::PurchaseFailed {
        reason: PurchaseFailureReason::PaymentFailed,
        booking,
    };
    let begun = WatchState::Purchasing {
        booking: Some(booking()),
    };
    [
        ("active", watch(false, false, WatchState::Active)),
        (
            "active, with a draft",
            watch(true, false, WatchState::Active),
        ),
        ("active, armed", watch(true, true, WatchState::Active)),
        ("triggered", watch(false, false, WatchState::Triggered)),
        (
            "triggered, with a draft",
            watch(true, false, WatchState::Triggered),
        ),
        (
            "purchasing",
            watch(true, true, WatchState::Purchasing { booking: None }),
        ),
        ("purchasing, with a booking", watch(true, true, begun)),
        (
            "purchased",
            watch(true, true, WatchState::Purchased { booking: booking() }),
        ),
        (
            "purchase failed",
            watch(true, true, failed(Some(booking()))),
        ),
        (
            "purchase failed, without a booking",
            watch(true, true, failed(None)),
        ),
        ("expired", watch(true, true, WatchState::Expired)),
        ("canceled", watch(false, false, WatchState::Canceled)),
    ]
}

fn events() -> [(&'static str, WatchTransitionEvent); 11] {
    let priced = |minor| WatchTransitionEvent::PriceObserved {
        total: euros(minor),
    };
    [
        ("priced at the cap", priced(20_000)),
        ("priced above it", priced(20_001)),
        (
            "priced otherwise",
            WatchTransitionEvent::PriceObserved {
                total: Money::new(1, Currency::USD),
            },
        ),
        ("unpriced", WatchTransitionEvent::PriceUnavailable),
        (
            "armed",
            WatchTransitionEvent::Armed {
                mandate: MandateId::from_bits(2),
            },
        ),
        (
            "purchase began",
            WatchTransitionEvent::PurchaseStarted {
                booking: BookingId::from_bits(2),
            },
        ),
        ("purchase released", WatchTransitionEvent::PurchaseAborted),
        ("purchased", WatchTransitionEvent::Purchased),
        (
            "purchase failed",
            WatchTransitionEvent::PurchaseFailed {
                reason: PurchaseFailureReason::MandateRevoked,
            },
        ),
        ("expired", WatchTransitionEvent::Expired),
        ("canceled", WatchTransitionEvent::Canceled),
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
    if let Some(told) = transition.notification {
        after.push_str(&format!(", tells {}", told.as_str()));
    }
    if transition.is_purchase_due {
        after.push_str(", buys");
    }
    if transition.is_check_due {
        after.push_str(", asks");
    }
    after
}

#[test]
fn status_names_parse_and_failure_reasons_are_unique() {
    for status in WatchStatus::ALL {
        assert_eq!(WatchStatus::parse(status.as_str()), Some(status));
    }
    assert_eq!(WatchStatus::parse("ACTIVE"), None);
    let reasons: BTreeSet<_> = PurchaseFailureReason::ALL
        .map(PurchaseFailureReason::as_str)
        .into();
    assert_eq!(reasons.len(), PurchaseFailureReason::ALL.len());
}

#[test]
fn watch_expires_when_check_in_day_has_ended_in_every_time_zone() {
    assert_eq!(
        question().expires_at().to_string(),
        "2027-03-02T12:00:00.000Z"
    );
}

#[test]
fn query_is_checked_once_per_interval_and_more_often_near_check_in() {
    let question = question();
    let id = PriceCheckId::from_bits(7);
    for (before_s, interval_s) in [
        (30 * 86_400, INTERVAL_S),
        (7 * 86_400 + 1, INTERVAL_S),
        (7 * 86_400, INTERVAL_S / 2),
        (2 * 86_400, INTERVAL_S / 4),
    ] {
        let now = Timestamp::parse("2027-03-01T00:00:00Z")
            .unwrap()
            .plus_s(-before_s);
        let first = question.next_check(&id, INTERVAL_S, now);
        let wait_ms = first.since(now);
        assert!((1..=interval_s * 1000).contains(&wait_ms), "{wait_ms}");
    }
    let early = question.expires_at().plus_s(-30 * 86_400);
    let first = question.next_check(&id, INTERVAL_S, early);
    let second = question.next_check(&id, INTERVAL_S, first);
    assert_eq!(second.since(first), INTERVAL_S * 1000);
    let late = question.expires_at().plus_ms(-1);
    assert_eq!(
        question.next_check(&id, INTERVAL_S, late),
        question.expires_at()
    );
}

#[test]
fn queries_created_together_are_checked_at_different_times() {
    let question = question();
    let mut buckets = [0_u32; 9];
    for number in 0..9_000 {
        let id = PriceCheckId::from_bits(number);
        let wait_ms = question.next_check(&id, INTERVAL_S, NOW).since(NOW);
        let bucket = usize::try_from((wait_ms - 1) / 100_000).unwrap();
        buckets[bucket] += 1;
    }
    assert!(
        buckets.iter().all(|count| (800..1200).contains(count)),
        "{buckets:?}"
    );
}
