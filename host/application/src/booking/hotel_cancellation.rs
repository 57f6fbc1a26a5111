//! Starts hotel cancellations and quotes their cost. The cancellation itself runs in the
//! background.

use crate::application::Application;
use crate::booking::aggregate::BookingAggregate;
use crate::booking::cancellation::{CancelError, CancellationQuoteError};
use crate::idempotency::{IdempotentRequest, claim_in};
use host_domain::hotel::Restriction;
use host_domain::hotel::booking::{Booking, Event, State};
use host_domain::hotel::quote::CancellationQuote;
use host_domain::id::{BookingId, CancellationId, RoomId};
use host_domain::owner::Owner;
use host_domain::supplier::{Capability, ReadError, SupplierId};
use host_storage::CommitError;
use tokio::time::Instant;

/// A caller's request to cancel.
#[derive(Debug, Clone)]
pub struct CancelHotelBookingCommand {
    pub owner: Owner,
    pub booking: BookingId,
    /// The rooms to cancel. Empty for the whole booking.
    pub rooms: Vec<RoomId>,
    pub key: Option<IdempotentRequest>,
    pub request_id: String,
}

impl Application {
    /// Starts a cancellation once. A request with the same key never starts another one, whatever
    /// the outcome of the first. Returns the booking as it is then.
    pub async fn cancel_hotel_booking(
        &self,
        command: &CancelHotelBookingCommand,
    ) -> Result<Booking, CancelError> {
        loop {
            let asked = self.is_repeat(command.key.as_ref()).await?;
            let booking = self
                .store
                .hotel_booking(&command.owner, &command.booking)
                .await?;
            let booking = booking.ok_or(CancelError::NotFound)?;
            if let Some(unknown) = command
                .rooms
                .iter()
                .find(|id| booking.rooms.iter().all(|room| room.id != **id))
            {
                return Err(CancelError::UnknownRoom(unknown.clone()));
            }
            if asked || booking.is_canceled_or_canceling(&command.rooms) {
                let new = command.key.as_ref().filter(|_| !asked);
                self.claim_key(new, &booking.id).await?;
                return Ok(booking);
            }
            match booking.state {
                State::Confirmed { .. } | State::PartiallyCanceled { .. } => {}
                // In `CancelInProgress` other rooms are being cancelled; only one cancellation runs
                // at a time.
                State::CancelInProgress { .. }
                | State::Canceled
                | State::Created
                | State::PrebookInProgress { .. }
                | State::ReadyForComplete
                | State::CompleteInProgress { .. }
                | State::Failed
                | State::Expired => {
                    return Err(CancelError::InvalidState(booking.status().as_str()));
                }
            }
            let room_ids = self.rooms_to_cancel(&booking, &command.rooms)?;
            let read_version = booking.version;
            let event = Event::CancelStarted {
                id: CancellationId::from_bits(self.ids.generate()),
                room_ids,
            };
            let moved = booking
                .apply(event, self.clock.now())
                .map_err(|conflict| CancelError::InvalidState(conflict.status))?;
            let moves = [moved];
            let mut write =
                self.transition_statements(read_version, &moves, None, &command.request_id);
            let [moved] = moves;
            write.schedule_job(
                Booking::JOB_KIND,
                moved.booking.id.as_str(),
                self.clock.now(),
            );
            claim_in(&mut write, command.key.as_ref(), moved.booking.id.as_str());
            match self.store.commit(write).await {
                Ok(()) => return Ok(moved.booking),
                Err(CommitError::Conflict(_)) => {}
                Err(CommitError::Database(error)) => return Err(error.into()),
            }
        }
    }

    /// Returns the rooms to name to the supplier. Returns none if all rooms that are not cancelled
    /// are to be cancelled.
    fn rooms_to_cancel(
        &self,
        booking: &Booking,
        wanted: &[RoomId],
    ) -> Result<Vec<RoomId>, CancelError> {
        let supplier = self
            .runtime
            .supplier(&booking.supplier)
            .filter(|s| s.supports(Capability::HotelCancellation));
        let supplier = supplier.ok_or(CancelError::Unsupported)?;
        let mut standing = booking
            .rooms
            .iter()
            .filter(|room| room.canceled_at.is_none());
        if wanted.is_empty() || standing.clone().all(|room| wanted.contains(&room.id)) {
            return Ok(Vec::new());
        }
        let named: Vec<RoomId> = standing
            .clone()
            .filter(|room| wanted.contains(&room.id))
            .map(|room| room.id.clone())
            .collect();
        let separable =
            standing.all(|room| !named.contains(&room.id) || room.supplier_reference.is_some());
        if supplier.info().description.supports_partial_cancellation && separable {
            Ok(named)
        } else {
            Err(CancelError::Unsupported)
        }
    }

    /// Returns the current cost of cancelling, freshly read, with the supplier that quoted it.
    /// Stale terms are never returned.
    pub async fn quote_hotel_cancellation(
        &self,
        owner: &Owner,
        id: &BookingId,
        request_id: &str,
        deadline: Instant,
    ) -> Result<(SupplierId, CancellationQuote), CancellationQuoteError> {
        let booking = self
            .store
            .hotel_booking(owner, id)
            .await?
            .ok_or(CancellationQuoteError::NotFound)?;
        let reference = match booking.state {
            State::Confirmed { .. } | State::PartiallyCanceled { .. } => {
                booking.supplier_reference.clone().unwrap_or_default()
            }
            _ => {
                return Err(CancellationQuoteError::InvalidState(
                    booking.status().as_str(),
                ));
            }
        };
        if booking
            .policy
            .as_ref()
            .is_some_and(|policy| policy.forbids_cancellation(self.clock.now()))
        {
            return Err(CancellationQuoteError::CancellationRestricted);
        }
        let supplier = self.runtime.supplier(&booking.supplier).ok_or_else(|| {
            CancellationQuoteError::Supplier(booking.supplier.clone(), ReadError::Unsupported)
        })?;
        let context = self.call_context(&booking, &self.execution_context(request_id, deadline));
        let answer = supplier
            .quote_hotel_cancellation(&context, reference, booking.id.to_string())
            .await;
        let answer = answer
            .map_err(|error| CancellationQuoteError::Supplier(booking.supplier.clone(), error))?;
        let quote = CancellationQuote::from_supplier(
            answer,
            booking.active_total(),
            booking.policy.as_ref(),
            self.clock.now(),
        );
        let current = self
            .store
            .hotel_booking(owner, id)
            .await?
            .ok_or(CancellationQuoteError::NotFound)?;
        if current.version != booking.version {
            return Err(CancellationQuoteError::BookingChanged);
        }
        let forbids = |restriction: &Restriction| {
            restriction.code == Restriction::NO_CANCELLATION
                && restriction.is_active(quote.checked_at)
        };
        if quote.restrictions.iter().any(forbids) {
            Err(CancellationQuoteError::CancellationRestricted)
        } else {
            Ok((booking.supplier, quote))
        }
    }
}
