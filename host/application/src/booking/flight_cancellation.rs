//! Starts flight cancellations and quotes their cost. The cancellation itself runs in the
//! background.

use crate::application::Application;
use crate::booking::aggregate::BookingAggregate;
use crate::booking::cancellation::{CancelError, CancellationQuoteError};
use crate::idempotency::{IdempotentRequest, claim_in};
use host_domain::flight::booking::{Booking, Event, State};
use host_domain::flight::quote::CancellationQuote;
use host_domain::flight::supplier_api::{BookingReference, SupplierQuote};
use host_domain::id::BookingId;
use host_domain::owner::Owner;
use host_domain::supplier::{Capability, ReadError, SupplierId};
use host_storage::CommitError;
use tokio::time::Instant;

impl Application {
    /// Starts a cancellation once. If it is requested again, a cancellation or refund that waits
    /// for its next attempt is tried now. A cancellation that was refused is started again, but not
    /// under the same key. Returns the booking as it is then.
    pub async fn cancel_flight_booking(
        &self,
        owner: &Owner,
        id: &BookingId,
        key: Option<&IdempotentRequest>,
        request_id: &str,
    ) -> Result<Booking, CancelError> {
        loop {
            let asked = self.is_repeat(key).await?;
            let booking = self.store.flight_booking(owner, id).await?;
            let booking = booking.ok_or(CancelError::NotFound)?;
            let event = match booking.state {
                State::Confirmed { .. } if asked => return Ok(booking),
                State::Confirmed { .. } if !self.supports_cancellation(&booking.supplier) => {
                    return Err(CancelError::Unsupported);
                }
                State::Confirmed { .. } => Event::CancelStarted,
                State::CancelInProgress { .. } | State::Canceled => Event::CancelExpedited,
                State::Created
                | State::PrebookInProgress { .. }
                | State::ReadyForComplete
                | State::CompleteInProgress { .. }
                | State::Failed
                | State::Expired => {
                    return Err(CancelError::InvalidState(booking.status().as_str()));
                }
            };
            let read_version = booking.version;
            let moved = match booking.clone().apply(event.clone(), self.clock.now()) {
                Ok(moved) => moved,
                // Nothing is waiting: the cancellation is running, or everything is done.
                Err(_) if event == Event::CancelExpedited => {
                    self.claim_key(key.filter(|_| !asked), id).await?;
                    return Ok(booking);
                }
                // A purchase of bags is in progress, and its outcome is unknown.
                Err(conflict) => return Err(CancelError::InvalidState(conflict.status)),
            };
            let booking = moved.booking.clone();
            let mut write = self.transition_statements(read_version, &[moved], None, request_id);
            write.schedule_job(Booking::JOB_KIND, booking.id.as_str(), self.clock.now());
            claim_in(&mut write, key.filter(|_| !asked), id.as_str());
            match self.store.commit(write).await {
                Ok(()) => return Ok(booking),
                Err(CommitError::Conflict(_)) => {}
                Err(CommitError::Database(error)) => return Err(error.into()),
            }
        }
    }

    fn supports_cancellation(&self, supplier: &SupplierId) -> bool {
        let supplier = self.runtime.supplier(supplier);
        supplier.is_some_and(|supplier| supplier.supports(Capability::FlightCancellation))
    }

    /// Returns the current cost of cancelling, with the supplier that quotes it. No money is moved.
    pub async fn quote_flight_cancellation(
        &self,
        owner: &Owner,
        id: &BookingId,
        request_id: &str,
        deadline: Instant,
    ) -> Result<(SupplierId, CancellationQuote), CancellationQuoteError> {
        let booking = self.store.flight_booking(owner, id).await?;
        let booking = booking.ok_or(CancellationQuoteError::NotFound)?;
        if !matches!(booking.state, State::Confirmed { .. }) {
            return Err(CancellationQuoteError::InvalidState(
                booking.status().as_str(),
            ));
        }
        let answer = match self.runtime.supplier(&booking.supplier) {
            Some(supplier) => {
                let context =
                    self.call_context(&booking, &self.execution_context(request_id, deadline));
                let asked =
                    supplier.quote_flight_cancellation(&context, booking_reference(&booking));
                asked.await
            }
            None => Err(ReadError::Unsupported),
        };
        let answer = match answer {
            Ok(answer) => answer,
            // The airline cannot give a quote, so the quote is based on the stored terms alone.
            Err(
                error @ (ReadError::Unsupported
                | ReadError::Rejected(_)
                | ReadError::TimedOut(_)
                | ReadError::Unavailable(_)
                | ReadError::Failed(_)
                | ReadError::InvalidResponse(_)),
            ) => SupplierQuote::Unavailable(error.to_string()),
            Err(
                error @ (ReadError::NotFound(_)
                | ReadError::RateLimited { .. }
                | ReadError::Misconfigured(_)
                | ReadError::Overloaded),
            ) => return Err(CancellationQuoteError::Supplier(booking.supplier, error)),
        };
        if let SupplierQuote::Unavailable(why) = &answer {
            tracing::info!(booking = %booking.id, why, "the airline returned no quote; the stored terms are used");
        }
        let quote = CancellationQuote::new(&booking, &answer, self.clock.now());
        Ok((booking.supplier, quote))
    }
}

/// Returns the references that identify a ticket at the supplier.
pub fn booking_reference(booking: &Booking) -> BookingReference {
    BookingReference {
        supplier_reference: booking.supplier_reference.clone().unwrap_or_default(),
        client_reference: booking.id.to_string(),
    }
}
