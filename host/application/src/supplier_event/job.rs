//! Applies a supplier's or processor's event to its booking. The event only reports that something
//! changed: the booking is then refreshed there. Its content is never taken as fact.

use crate::base::Base;
use crate::booking::aggregate::BookingAggregate;
use crate::booking::execution::WorkflowError;
use crate::booking::history::transition_statements;
use crate::jobs::worker::{JobError, JobHandler};
use crate::supplier::directory::SupplierDirectory;
use crate::supplier_event::service::SupplierEventKey;
use futures::FutureExt;
use futures::future::BoxFuture;
use host_domain::booking::{Booking, BookingEvent, ChangeSource, booking_id_from_reference};
use host_domain::flight::booking::FlightBooking;
use host_domain::hotel::booking::HotelBooking;
use host_domain::id::BookingId;
use host_domain::remote_call::BackoffSchedule;
use host_domain::supplier::SupplierKind;
use host_domain::time::Timestamp;
use host_storage::{
    CommitError, Conflict, DatabaseError, ReadBooking, StoredSupplierEvent, SupplierEventState,
    UnitOfWork,
};
use std::sync::Arc;

/// Seconds after the receipt of an event at which its booking is looked up again. A supplier may
/// send an event about a booking before its own response has given the gateway the booking's
/// reference.
const LOOKUP_SCHEDULE_S: [i64; 9] = [1, 3, 10, 30, 60, 300, 900, 1800, LOOKUP_TIMEOUT_S];

/// Seconds after which the lookups end and the event is ignored.
const LOOKUP_TIMEOUT_S: i64 = 3600;

const CONFLICT_RETRIES_MAX: usize = 8;

enum BookingMatch {
    Hotel(Box<HotelBooking>),
    Flight(Box<FlightBooking>),
    /// No booking was found yet: the response with its reference may still be outstanding.
    NotFoundYet,
    /// No booking matches, and none will.
    NoMatch,
}

enum CommitResult {
    Stored,
    /// Another worker processes this event, so nothing is left to do here.
    LeaseLost,
    Conflict,
}

pub struct SupplierEventJob {
    pub(crate) base: Base,
    pub(crate) suppliers: Arc<SupplierDirectory>,
}

impl SupplierEventJob {
    async fn apply(&self, subject: &str, lease_token: &str) -> Result<(), WorkflowError> {
        let Some(key) = SupplierEventKey::from_job_subject(subject) else {
            tracing::error!(
                subject,
                "a supplier event job has a subject that names no event, so it can apply none; \
                 the gateway writes no such job: find out who changed the table of jobs, and delete it"
            );
            return Ok(());
        };
        let store = &self.base.store;
        let stored = store.supplier_event(key.mode, &key.supplier, &key.id);
        let Some(stored) = stored.await? else {
            tracing::error!(
                subject,
                "a supplier event job names an event that does not exist, so it can apply none; \
                 the state of its booking is read at the supplier's next event or lookup: delete the job"
            );
            return Ok(());
        };
        let application = SupplierEventApplication {
            base: &self.base,
            suppliers: &self.suppliers,
            key,
            stored,
            lease_token,
        };
        if application.stored.state != SupplierEventState::Received {
            return application.finish().await;
        }
        match application.find().await? {
            BookingMatch::Hotel(booking) => application.apply_to_booking(*booking).await,
            BookingMatch::Flight(booking) => application.apply_to_booking(*booking).await,
            BookingMatch::NotFoundYet => application.reschedule_lookup().await,
            BookingMatch::NoMatch => application.ignore().await,
        }
    }
}

impl JobHandler for SupplierEventJob {
    fn kind(&self) -> &'static str {
        SupplierEventKey::JOB_KIND
    }

    fn run<'a>(
        &'a self,
        subject: &'a str,
        lease_token: &'a str,
    ) -> BoxFuture<'a, Result<(), JobError>> {
        async move { Ok(self.apply(subject, lease_token).await?) }.boxed()
    }
}

/// An event that is being applied to its booking.
struct SupplierEventApplication<'a> {
    base: &'a Base,
    suppliers: &'a SupplierDirectory,
    key: SupplierEventKey,
    stored: StoredSupplierEvent,
    lease_token: &'a str,
}

impl SupplierEventApplication<'_> {
    async fn find(&self) -> Result<BookingMatch, DatabaseError> {
        match self.find_by_client_reference().await? {
            Some(found) => Ok(found),
            None => self.find_by_supplier_reference().await,
        }
    }

    async fn find_by_client_reference(&self) -> Result<Option<BookingMatch>, DatabaseError> {
        let reference = self.stored.event.client_reference.as_deref();
        let Some(id) = reference.and_then(booking_id_from_reference) else {
            return Ok(None);
        };
        if let Some(booking) = self.base.store.booking_unscoped(&id).await? {
            return Ok(Some(self.verify_ownership(booking, BookingMatch::Hotel)));
        }
        let booking = self.base.store.booking_unscoped(&id).await?;
        Ok(booking.map(|booking| self.verify_ownership(booking, BookingMatch::Flight)))
    }

    /// Checks that the booking belongs to the sender of the event and to its mode. A supplier may
    /// report only its own bookings, and a processor only its own payments.
    fn verify_ownership<K: BookingAggregate>(
        &self,
        booking: Booking<K>,
        found: impl FnOnce(Box<Booking<K>>) -> BookingMatch,
    ) -> BookingMatch {
        let supplier = &self.key.supplier;
        let mut payments = booking.payments.iter();
        let is_theirs =
            booking.supplier == *supplier || payments.any(|payment| payment.processor == *supplier);
        if is_theirs && booking.owner.tenant.mode == self.key.mode {
            found(Box::new(booking))
        } else {
            BookingMatch::NoMatch
        }
    }

    async fn find_by_supplier_reference(&self) -> Result<BookingMatch, DatabaseError> {
        let (store, mode, supplier) = (&self.base.store, self.key.mode, &self.key.supplier);
        let event = &self.stored.event;
        let configured = self.suppliers.config(supplier);
        let kind = configured.map(|configured| configured.kind);
        if let Some(reference) = &event.supplier_reference {
            let found = match kind {
                Some(SupplierKind::Hotel) => {
                    self.find_by_reference(reference, BookingMatch::Hotel)
                        .await?
                }
                Some(SupplierKind::Flight) => {
                    self.find_by_reference(reference, BookingMatch::Flight)
                        .await?
                }
                // Payments are found only by the gateway's references.
                Some(SupplierKind::Payment) | None => Some(BookingMatch::NoMatch),
            };
            if let Some(found) = found {
                return Ok(found);
            }
        }
        if let (Some(offer), Some(SupplierKind::Flight)) = (&event.supplier_offer, kind) {
            let found = store.flight_booking_by_offer_unscoped(mode, supplier, offer);
            if let Some(booking) = found.await? {
                return Ok(BookingMatch::Flight(Box::new(booking)));
            }
        }
        // An offer is known before a supplier has a booking for it; the supplier's reference is
        // not.
        Ok(match event.supplier_reference {
            Some(_) => BookingMatch::NotFoundYet,
            None => BookingMatch::NoMatch,
        })
    }

    async fn find_by_reference<K: BookingAggregate>(
        &self,
        reference: &str,
        found: impl FnOnce(Box<Booking<K>>) -> BookingMatch,
    ) -> Result<Option<BookingMatch>, DatabaseError> {
        let (store, mode, supplier) = (&self.base.store, self.key.mode, &self.key.supplier);
        let booking = store.booking_by_supplier_reference_unscoped(mode, supplier, reference);
        Ok(booking.await?.map(|booking| found(Box::new(booking))))
    }

    /// Commits the reported change, the booking's job and the processed event in one transaction.
    async fn apply_to_booking<K: BookingAggregate>(
        &self,
        mut booking: Booking<K>,
    ) -> Result<(), WorkflowError> {
        let id = booking.id.clone();
        let (base, key) = (self.base, &self.key);
        let source = if booking.supplier == key.supplier {
            ChangeSource::Supplier
        } else {
            ChangeSource::Processor
        };
        for _ in 0..CONFLICT_RETRIES_MAX {
            let (now, read) = (base.now(), ReadBooking::of(&booking));
            let mut write = match booking.apply(BookingEvent::ChangeReported(source), now) {
                Ok(transition) => {
                    let reason = format!("{} at {}", self.stored.event.kind.as_str(), key.supplier);
                    let request_id = format!("job_{:032x}", base.ids.generate());
                    let mut write = transition_statements(
                        base,
                        &read,
                        &[transition],
                        Some(&reason),
                        &request_id,
                    );
                    write.schedule_job(K::JOB_KIND, id.as_str(), now);
                    write
                }
                // The booking's state has nothing that a reported change could affect.
                Err(_) => base.unit_of_work(),
            };
            write.mark_supplier_event_processed(key.mode, &key.supplier, &key.id, Some(&id));
            let result = self.finish_with(write, "applied", Some(&id)).await?;
            if !matches!(result, CommitResult::Conflict) {
                return Ok(());
            }
            let current = base.store.booking_unscoped(&id).await?;
            booking = current.ok_or_else(|| WorkflowError::BookingMissing(id.clone()))?;
        }
        Err(WorkflowError::TooManyConflicts(id))
    }

    async fn reschedule_lookup(&self) -> Result<(), WorkflowError> {
        let Some(at) = next_lookup_at(self.stored.received_at, self.base.now()) else {
            return self.ignore().await;
        };
        let (mut write, subject) = (self.base.unit_of_work(), self.key.job_subject());
        write.release_job(SupplierEventKey::JOB_KIND, &subject, self.lease_token, at);
        self.commit(write).await.map(|_| ())
    }

    async fn ignore(&self) -> Result<(), WorkflowError> {
        let (key, mut write) = (&self.key, self.base.unit_of_work());
        write.mark_supplier_event_processed(key.mode, &key.supplier, &key.id, None);
        self.finish_with(write, "ignored", None).await.map(|_| ())
    }

    async fn finish(&self) -> Result<(), WorkflowError> {
        let mut write = self.base.unit_of_work();
        self.complete_job_in(&mut write);
        self.commit(write).await.map(|_| ())
    }

    fn complete_job_in(&self, write: &mut UnitOfWork) {
        let subject = self.key.job_subject();
        write.complete_job(SupplierEventKey::JOB_KIND, &subject, self.lease_token);
    }

    /// Stores the result of the event and finishes its job.
    async fn finish_with(
        &self,
        mut write: UnitOfWork,
        outcome: &'static str,
        booking: Option<&BookingId>,
    ) -> Result<CommitResult, WorkflowError> {
        self.complete_job_in(&mut write);
        let ended = self.commit(write).await?;
        if matches!(ended, CommitResult::Stored) {
            self.key
                .log_and_count(&self.stored.event.kind, outcome, booking);
        }
        Ok(ended)
    }

    async fn commit(&self, write: UnitOfWork) -> Result<CommitResult, WorkflowError> {
        match self.base.store.commit(write).await {
            Ok(()) => Ok(CommitResult::Stored),
            Err(CommitError::Conflict(Conflict::LeaseLost | Conflict::SupplierEventProcessed)) => {
                Ok(CommitResult::LeaseLost)
            }
            Err(CommitError::Conflict(_)) => Ok(CommitResult::Conflict),
            Err(CommitError::Database(error)) => Err(error.into()),
        }
    }
}

/// Returns when the booking of an event is looked up again, or `None` if the lookups are over.
fn next_lookup_at(received_at: Timestamp, now: Timestamp) -> Option<Timestamp> {
    let is_over = now >= received_at.plus_s(LOOKUP_TIMEOUT_S);
    let looks = BackoffSchedule::new(LOOKUP_SCHEDULE_S.to_vec());
    (!is_over).then(|| looks.next_after(received_at, now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_without_booking_is_looked_up_for_an_hour() {
        let (mut now, mut looks) = (Timestamp(0), Vec::new());
        while let Some(at) = next_lookup_at(Timestamp(0), now) {
            looks.push(at.0 / 1000);
            now = at;
        }
        assert_eq!(looks, LOOKUP_SCHEDULE_S);
    }
}
