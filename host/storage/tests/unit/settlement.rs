//! Calls with an unknown outcome, and operators' decisions about them.

use super::*;
use crate::SettlementDecision;
use host_domain::console::{AnyBooking, TenantScope, UnresolvedFilter};
use host_domain::id::{CallLogId, RequestLogId, SettlementId};
use host_domain::page::CursorRequest;
use host_domain::remote_call::AttemptOutcome;
use host_domain::request_log::{LoggedCall, LoggedCallKind, LoggedRequest};
use host_domain::settlement::{SettlementChoice, SettlementState};

on_both_databases!(
    one_decision_about_a_call_waits,
    open_calls_are_listed_with_booking_and_decision,
    calls_of_an_attempt_say_whether_the_log_has_their_requests,
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

fn logged_call(number: u32, request_id: &str) -> LoggedCall {
    LoggedCall {
        id: CallLogId::at(NOW, u128::from(number)),
        organization: tenant().organization,
        mode: tenant().mode,
        request_id: request_id.to_owned(),
        kind: LoggedCallKind::Plugin,
        supplier: supplier(),
        capability: "hotel_booking".to_owned(),
        function: "book".to_owned(),
        target: String::new(),
        started_at: NOW.plus_ms(i64::from(number)),
        duration_us: 9,
        outcome: "timed_out".to_owned(),
        is_failure: true,
        detail: None,
        status: None,
        request_bytes: 0,
        response_bytes: 0,
    }
}

fn logged_request(organization: &str, request_id: &str) -> LoggedRequest {
    LoggedRequest {
        id: RequestLogId::at(NOW, 1),
        organization: organization.to_owned(),
        mode: tenant().mode,
        request_id: request_id.to_owned(),
        at: NOW,
        method: "POST".to_owned(),
        route: "/v1/a".to_owned(),
        path: "/v1/a".to_owned(),
        status: 500,
        duration_us: 1_500,
        key: None,
        user: "org".to_owned(),
        booking: None,
        code: None,
        host: "host-1".to_owned(),
    }
}

async fn calls_of_an_attempt_say_whether_the_log_has_their_requests(db: &TestStore) {
    let (store, booking) = (&db.store, booking(1));
    let new = new_attempt(AttemptId::from_bits(1), &booking.id, "reference");
    let requests = [
        (logged_request(&tenant().organization, "req_1"), None),
        // Another organization sent the same id.
        (logged_request("another", "req_2"), None),
    ];
    let calls = [(1, "req_1"), (2, "req_2"), (3, "job_1"), (4, "req_9")];
    let calls = calls.map(|(number, request)| logged_call(number, request));
    let mut write = inserting(&booking);
    write.record_attempt(&tenant(), &new);
    write.insert_request_log(&requests).insert_call_log(&calls);
    for (sequence, request) in (1..).zip(["req_1", "req_2", "job_1"]) {
        let mut entry = history_entry(&booking, sequence);
        entry.request_id = Some(request.to_owned());
        write.append_booking_history(&tenant(), &entry);
    }
    store.commit(write).await.unwrap();
    let attempts = store.attempts(&tenant(), &booking.id).await.unwrap();
    let found = store.calls_since_attempt(&attempts[0], 9).await.unwrap();
    let found = found.into_iter();
    let found: Vec<_> = found
        .map(|found| (found.call.request_id, found.has_request))
        .collect();
    let of = |request: &str, has_request| (request.to_owned(), has_request);
    assert_eq!(
        found,
        [of("req_1", true), of("req_2", false), of("job_1", false)]
    );
}
