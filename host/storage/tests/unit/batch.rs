//! Combining statements for PostgreSQL: which are combined, and that the result is the same.

use super::*;
use crate::combined_statement::combinable_runs;

on_both_databases!(
    combined_statements_return_conflict_of_first_failing_one,
    later_statement_sees_changes_of_earlier_ones,
);

fn attempt(booking: &HotelBooking, number: u32, client_reference: &str) -> NewAttempt {
    let id = AttemptId::from_bits(u128::from(number));
    new_attempt(id, &booking.id, client_reference)
}

/// Stores a new booking with its history and the lease on its job.
fn beginning(booking: &HotelBooking) -> UnitOfWork {
    let mut write = inserting(booking);
    write
        .append_booking_history(&tenant(), &history_entry(booking, booking.version))
        .insert_leased_job("hotel_booking", booking.id.as_str(), "mine", LEASE_MS);
    write
}

/// Returns the number of statements in each combination.
fn sizes(write: &UnitOfWork) -> Vec<usize> {
    combinable_runs(&write.statements).map(<[_]>::len).collect()
}

#[test]
fn only_independent_statements_are_combined() {
    let first = booking(1);
    let next = moved(&first, BookingState::ReadyForComplete);
    let mut write = beginning(&first);
    assert_eq!(sizes(&write), [3]);
    // The updated booking is the one that the previous statements insert.
    write.append(updating(&next));
    write.append_booking_history(&tenant(), &history_entry(&next, next.version));
    assert_eq!(sizes(&write), [3, 2]);
    // An insert of a new call can follow the end of another. The two statements that complete a job
    // can be combined too.
    write.record_attempt(&tenant(), &attempt(&first, 1, "a"));
    write.complete_job("hotel_booking", first.id.as_str(), "mine");
    assert_eq!(sizes(&write), [3, 5]);
    assert!(sizes(&UnitOfWork::new(NOW)).is_empty());
}

async fn combined_statements_return_conflict_of_first_failing_one(db: &TestStore) {
    let taken = booking(1);
    db.store.commit(beginning(&taken)).await.unwrap();
    let later = unit(|write| {
        write
            .append_booking_history(&tenant(), &history_entry(&booking(2), 1))
            .append_booking_history(&tenant(), &history_entry(&taken, taken.version))
            .renew_job_lease("hotel_booking", taken.id.as_str(), "theirs", LEASE_MS)
    });
    for (write, expected) in [
        (beginning(&taken), Conflict::BookingExists),
        (later, Conflict::BookingHistorySequence),
    ] {
        assert_eq!(conflict(&db.store, write).await, Some(expected));
    }
    assert_eq!(history(&db.store, &booking(2).id).await, []);
}

async fn later_statement_sees_changes_of_earlier_ones(db: &TestStore) {
    let first = booking(1);
    let next = moved(&first, BookingState::ReadyForComplete);
    let mut write = beginning(&first);
    write.append(updating(&next));
    write.complete_job("hotel_booking", first.id.as_str(), "mine");
    db.store.commit(write).await.unwrap();
    assert_eq!(stored(&db.store, &first.id).await, Some(next));
    let job = db.store.job("hotel_booking", first.id.as_str()).await;
    assert_eq!(job.unwrap(), None);
}
