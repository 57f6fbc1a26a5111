//! Calls with an unknown outcome, and operators' decisions about them.

use super::*;
use crate::SettlementDecision;
use host_domain::console::{AnyBooking, TenantScope, UnresolvedFilter};
use host_domain::id::SettlementId;
use host_domain::page::CursorRequest;
use host_domain::remote_call::AttemptOutcome;
use host_domain::settlement::{SettlementChoice, SettlementState};

on_both_databases!(
    one_decision_about_a_call_waits,
    open_calls_are_listed_with_booking_and_decision,
);

fn decision(number: u32, attempt: u32, state: SettlementState) -> SettlementDecision {
    SettlementDecision {
        tenant: tenant(),
        id: SettlementId::from_bits(u128::from(number)),
        booking_id: BookingId::from_bits(u128::from(attempt)),
        attempt_id: AttemptId::from_bits(u128::from(attempt)),
        choice: SettlementChoice::Refund,
        refund: Some(euros(1_250)),
        reference: None,
        note: "They said so".into(),
        decided_by: "ada@example.com".into(),
        decided_at: NOW.plus_ms(i64::from(number)),
        state,
        result: None,
        seen_state: Some("FAILED".into()),
    }
}

fn deciding(decision: &SettlementDecision) -> UnitOfWork {
    unit(|write| write.insert_settlement(decision))
}

fn scope(organizations: Option<Vec<String>>) -> TenantScope {
    TenantScope {
        organizations,
        mode: tenant().mode,
    }
}

async fn one_decision_about_a_call_waits(db: &TestStore) {
    let commit = |write| conflict(&db.store, write);
    let first = decision(1, 1, SettlementState::Waiting);
    let waiting = Some(Conflict::SettlementWaiting);
    assert_eq!(commit(deciding(&first)).await, None);
    for state in [SettlementState::Waiting, SettlementState::Applied] {
        assert_eq!(commit(deciding(&decision(2, 1, state))).await, waiting);
    }
    let other_call = decision(3, 3, SettlementState::Waiting);
    assert_eq!(commit(deciding(&other_call)).await, None);

    let latest = db
        .store
        .latest_settlement(&tenant(), &first.attempt_id)
        .await;
    assert_eq!(latest.unwrap(), Some(first.clone()));
    let end = || {
        unit(|write| {
            let (state, why) = (SettlementState::Superseded, Some("Found"));
            write.end_settlement(&tenant(), &first.id, state, why)
        })
    };
    assert_eq!(commit(end()).await, None);
    assert_eq!(commit(end()).await, Some(Conflict::SettlementEnded));
    let ended = db.store.settlement(&tenant(), &first.id).await.unwrap();
    let ended = ended.map(|ended| (ended.state, ended.result));
    assert_eq!(
        ended,
        Some((SettlementState::Superseded, Some("Found".into())))
    );
    let latest = db
        .store
        .latest_settlement(&tenant(), &first.attempt_id)
        .await;
    assert_eq!(latest.unwrap(), None);
    let next = decision(4, 1, SettlementState::Applied);
    assert_eq!(commit(deciding(&next)).await, None);
}

async fn open_calls_are_listed_with_booking_and_decision(db: &TestStore) {
    let steps = ["book", "book", "prebook", "decide_refund", "book"];
    for (number, step) in (1..).zip(steps) {
        let booking = booking(number);
        db.store.commit(inserting(&booking)).await.unwrap();
        let id = AttemptId::from_bits(u128::from(number));
        let mut attempt = new_attempt(id, &booking.id, booking.id.as_str());
        attempt.step = step.into();
        let at = NOW.plus_ms(i64::from(number));
        let mut write = unit_at(at, |write| write.record_attempt(&tenant(), &attempt));
        let outcome = match number {
            2 => AttemptOutcome::Succeeded,
            _ => AttemptOutcome::Unknown,
        };
        // A call that was just sent, and the task of an undecided refund, have no outcome yet.
        if number < 4 {
            write.finish_attempt(&tenant(), &attempt.id, outcome, None, None);
        }
        db.store.commit(write).await.unwrap();
    }
    let waiting = decision(9, 4, SettlementState::Waiting);
    db.store.commit(deciding(&waiting)).await.unwrap();

    let list = async |organizations, filter: UnresolvedFilter, limit, after| {
        let page = CursorRequest { after, limit };
        let scope = scope(organizations);
        let listed = db.store.unresolved_page(&scope, &filter, NOW, &page).await;
        listed.unwrap()
    };
    let any = UnresolvedFilter::default;
    let page = list(None, any(), 1, None).await;
    let rows: Vec<_> = page.items.iter().map(|row| row.attempt.number).collect();
    assert_eq!(rows, [1]);
    let rest = list(None, any(), 9, page.next).await;
    let [refund] = &rest.items[..] else {
        panic!("{:?}", rest.items)
    };
    assert_eq!(refund.attempt.call.step, "decide_refund");
    assert_eq!(refund.waiting, Some(waiting));
    assert!(matches!(&refund.booking, AnyBooking::Hotel(hotel) if **hotel == booking(4)));
    assert_eq!(rest.next, None);

    let one = UnresolvedFilter {
        booking: Some(BookingId::from_bits(1)),
        target: Some(supplier()),
    };
    assert_eq!(list(None, one, 9, None).await.items.len(), 1);
    let elsewhere = UnresolvedFilter {
        target: Some(other_supplier()),
        ..any()
    };
    assert!(list(None, elsewhere, 9, None).await.items.is_empty());
    let stranger = Some(vec!["stranger".to_owned()]);
    assert!(
        list(stranger.clone(), any(), 9, None)
            .await
            .items
            .is_empty()
    );
    let (booking, attempt) = (BookingId::from_bits(2), AttemptId::from_bits(2));
    for (organizations, is_found) in [(None, true), (stranger, false)] {
        let scope = scope(organizations);
        let found = db.store.attempt_with_booking(&scope, &booking, &attempt);
        assert_eq!(found.await.unwrap().is_some(), is_found);
    }
    let recent = db.store.recent_settlements(&scope(None), 10).await.unwrap();
    assert_eq!(recent[0].step, "decide_refund");
}
