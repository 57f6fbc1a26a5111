//! The complete status × event table of a mandate, and the purchases that its terms cover.

use super::*;
use crate::booking::tests::{euros, owner};
use crate::money::Currency;
use crate::owner::Mode;

const NOW: Timestamp = Timestamp(1_800_000_000_000);
const EXPIRES_AT: Timestamp = Timestamp(NOW.0 + 60_000);

fn stay(hotel: u128, check_out: i8) -> MandateScope {
    MandateScope::HotelWatch {
        watch_id: WatchId::from_bits(1),
        hotel_id: HotelId::from_bits(hotel),
        check_in: Date::constant(2027, 5, 1),
        check_out: Date::constant(2027, 5, check_out),
    }
}

fn active() -> Mandate {
    let terms = MandateTerms {
        id: MandateId::from_bits(1),
        owner: owner("ann"),
        amount: euros(20_000),
        instrument: InstrumentId::from_bits(1),
        scope: stay(1, 4),
        created_at: NOW,
        expires_at: EXPIRES_AT,
    };
    Mandate::new(terms, "signed terms".into())
}

fn usage() -> MandateUsage {
    MandateUsage {
        owner: owner("ann"),
        amount: euros(20_000),
        instrument: InstrumentId::from_bits(1),
        scope: stay(1, 4),
        booking: BookingId::from_bits(1),
    }
}

fn in_state(state: MandateState) -> Mandate {
    Mandate { state, ..active() }
}

fn consumed() -> MandateState {
    MandateState::Consumed {
        booking: BookingId::from_bits(1),
        jws: "signed use".into(),
    }
}

fn events() -> [(&'static str, MandateEvent); 3] {
    let jws = "signed use".to_owned();
    let usage = usage();
    [
        ("consumed", MandateEvent::Consumed { usage, jws }),
        ("released", MandateEvent::Released),
        ("revoked", MandateEvent::Revoked),
    ]
}

#[test]
fn transition_table_matches_snapshot() {
    let states = [
        ("active", active()),
        ("consumed", in_state(consumed())),
        ("revoked", in_state(MandateState::Revoked)),
    ];
    let mut table = String::new();
    for (name, mandate) in states {
        let last = EXPIRES_AT.plus_ms(-1);
        for (when, now) in [("in time", last), ("too late", EXPIRES_AT)] {
            let status = mandate.status(now);
            table.push_str(&format!("{name}, {when}: {}\n", status.as_str()));
            for (event_name, event) in events() {
                let after = match mandate.clone().apply(event, now) {
                    Ok(Some(transition)) => transition.status(now).as_str().to_owned(),
                    Ok(None) => "nothing".to_owned(),
                    Err(refusal) => format!("refused: {}", refusal.as_str()),
                };
                table.push_str(&format!("  {event_name:8} -> {after}\n"));
            }
        }
    }
    insta::assert_snapshot!("mandate_table", table);
}

#[test]
fn purchase_that_violates_a_term_is_rejected_with_its_reason() {
    use MandateRejection::{
        CapExceeded, CurrencyMismatch, InstrumentMismatch, OwnerMismatch, ScopeMismatch,
    };
    type Change = fn(&mut MandateUsage);
    let cases: [(Result<(), MandateRejection>, Change); 10] = [
        (Ok(()), |_| {}),
        (Ok(()), |u| u.amount = euros(19_999)),
        (Err(CapExceeded), |u| u.amount = euros(20_001)),
        (Err(CurrencyMismatch), |u| u.amount.currency = Currency::USD),
        (Err(OwnerMismatch), |u| u.owner = owner("bob")),
        (Err(OwnerMismatch), |u| u.owner.tenant.mode = Mode::Live),
        (Err(InstrumentMismatch), |u| {
            u.instrument = InstrumentId::from_bits(2);
        }),
        (Err(ScopeMismatch), |u| u.scope = stay(2, 4)),
        (Err(ScopeMismatch), |u| u.scope = stay(1, 5)),
        (Err(ScopeMismatch), |u| u.scope = MandateScope::Any),
    ];
    for (expected, change) in cases {
        let mut usage = usage();
        change(&mut usage);
        assert_eq!(active().check_usage(&usage, NOW), expected, "{usage:?}");
        let jws = "signed use".into();
        let applied = active().apply(MandateEvent::Consumed { usage, jws }, NOW);
        let is_consumed = applied.map(|transition| transition.is_some());
        assert_eq!(is_consumed, expected.map(|()| true));
    }
}

#[test]
fn mandate_with_any_scope_covers_every_stay() {
    let mut mandate = active();
    mandate.terms.scope = MandateScope::Any;
    for scope in [MandateScope::Any, stay(1, 4), stay(2, 5)] {
        let usage = MandateUsage { scope, ..usage() };
        assert_eq!(mandate.check_usage(&usage, NOW), Ok(()));
    }
}

#[test]
fn mandate_stays_consumed_until_released() {
    let [(_, consume), (_, release), _] = events();
    let used = active().apply(consume, NOW).unwrap().unwrap();
    assert_eq!((&used.state, used.version), (&consumed(), 2));
    // A purchase may end after the mandate has expired.
    let released = used.apply(release, EXPIRES_AT).unwrap().unwrap();
    assert_eq!(released.state, MandateState::Active);
    assert_eq!(released.version, 3);
    assert_eq!(released.status(EXPIRES_AT), MandateStatus::Expired);
}
