//! Which steps go to PostgreSQL as one statement, and that nobody can tell.

use super::*;
use crate::batch::combinable_runs;
use crate::{BookingHistoryEntry, NewAttempt};
use host_domain::id::AttemptId;

on_both_databases!(
    steps_that_go_together_do_what_they_do_one_by_one,
    the_first_step_that_fails_is_the_one_that_is_told,
    a_step_sees_what_the_ones_before_it_did,
);

const LEASE_MS: i64 = 60_000;

fn event(booking: &Booking) -> BookingHistoryEntry {
    BookingHistoryEntry {
        booking_id: booking.id.clone(),
        sequence: booking.version,
        event: "made".to_owned(),
        from_status: None,
        to_status: booking.status().as_str().to_owned(),
        reason: None,
        request_id: None,
        occurred_at: booking.updated_at,
    }
}

fn attempt(booking: &Booking, number: u32, client_reference: &str) -> NewAttempt {
    NewAttempt {
        id: AttemptId::from_bits(u128::from(number)),
        booking_id: booking.id.clone(),
        step: "book".to_owned(),
        target: supplier(),
        client_reference: client_reference.to_owned(),
        plugin_digest: "digest".to_owned(),
        request_digest: "digest".to_owned(),
    }
}

/// A new booking with its history and the claim on its work.
fn beginning(booking: &Booking) -> UnitOfWork {
    let mut write = inserting(booking);
    write
        .append_booking_history(&tenant(), &event(booking))
        .insert_leased_job("hotel_booking", booking.id.as_str(), "mine", LEASE_MS);
    write
}

/// How many steps go together, one number a statement.
fn sizes(write: &UnitOfWork) -> Vec<usize> {
    combinable_runs(&write.steps).map(<[_]>::len).collect()
}

#[test]
fn only_steps_that_cannot_see_each_other_go_together() {
    let first = booking(1);
    let next = moved(&first, State::ReadyForComplete);
    let mut write = beginning(&first);
    assert_eq!(sizes(&write), [3]);
    // The booking that is changed is the one that was stored.
    write.append(updating(&next));
    write.append_booking_history(&tenant(), &event(&next));
    assert_eq!(sizes(&write), [3, 2]);
    // A new call joins the end of another, and so do the two ways in which a job ends.
    write.record_attempt(&tenant(), &attempt(&first, 1, "a"));
    write.complete_job("hotel_booking", first.id.as_str(), "mine");
    assert_eq!(sizes(&write), [3, 5]);
    assert!(sizes(&UnitOfWork::new(NOW)).is_empty());
}

async fn steps_that_go_together_do_what_they_do_one_by_one(db: &TestDatabase) {
    let first = booking(1);
    db.store.commit(beginning(&first)).await.unwrap();
    let next = moved(&first, State::ReadyForComplete);
    let mut write = updating(&next);
    write
        .append_booking_history(&tenant(), &event(&next))
        .record_attempt(&tenant(), &attempt(&first, 1, "a"))
        .record_attempt(&tenant(), &attempt(&first, 2, "b"))
        .renew_job_lease("hotel_booking", first.id.as_str(), "mine", LEASE_MS);
    db.store.commit(write).await.unwrap();
    let stored = db.store.hotel_booking_unscoped(&first.id).await.unwrap();
    assert_eq!(stored, Some(next));
    let history = db.store.booking_history(&tenant(), &first.id).await.unwrap();
    assert_eq!(history.len(), 2);
    // Two calls in one write count on, though neither sees the other.
    let calls = db.store.attempts(&tenant(), &first.id).await.unwrap();
    let ordinals: Vec<i64> = calls.iter().map(|call| call.ordinal).collect();
    assert_eq!(ordinals, [1, 2]);
}

async fn the_first_step_that_fails_is_the_one_that_is_told(db: &TestDatabase) {
    let taken = booking(1);
    db.store.commit(beginning(&taken)).await.unwrap();
    let mut later = UnitOfWork::new(NOW);
    later
        .append_booking_history(&tenant(), &event(&booking(2)))
        .append_booking_history(&tenant(), &event(&taken))
        .renew_job_lease("hotel_booking", taken.id.as_str(), "theirs", LEASE_MS);
    for (write, expected) in [
        (beginning(&taken), Conflict::BookingExists),
        (later, Conflict::BookingHistorySequence),
    ] {
        assert_eq!(conflict(&db.store, write).await, Some(expected));
    }
    let id = booking(2).id;
    let history = db.store.booking_history(&tenant(), &id).await.unwrap();
    assert!(history.is_empty());
}

async fn a_step_sees_what_the_ones_before_it_did(db: &TestDatabase) {
    let first = booking(1);
    let next = moved(&first, State::ReadyForComplete);
    let mut write = beginning(&first);
    write.append(updating(&next));
    write.complete_job("hotel_booking", first.id.as_str(), "mine");
    db.store.commit(write).await.unwrap();
    let stored = db.store.hotel_booking_unscoped(&first.id).await.unwrap();
    assert_eq!(stored, Some(next));
    let job = db.store.job("hotel_booking", first.id.as_str()).await;
    assert_eq!(job.unwrap(), None);
}
