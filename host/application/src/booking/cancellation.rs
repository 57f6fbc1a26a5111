//! Starts cancellations and quotes their cost. The cancellation itself runs in the background.

use crate::base::Base;
use crate::booking::aggregate::BookingAggregate;
use crate::booking::cancel_error::{CancelError, CancellationQuoteError};
use crate::booking::engine::WorkflowEngine;
use crate::booking::flight_cancellation;
use crate::booking::history::transition_statements;
use crate::booking::hotel_cancellation::{self, CancelHotelBookingCommand};
use crate::idempotency::{IdempotentRequest, claim_in};
use crate::supplier::directory::SupplierDirectory;
use host_domain::booking::{Booking, BookingState, Transition};
use host_domain::flight::booking::{FlightBookedState, FlightBooking, FlightEvent};
use host_domain::flight::supplier_api::FlightSupplierQuote;
use host_domain::hotel::booking::{HotelBooking, HotelEvent};
use host_domain::hotel::quote::HotelCancellationQuote;
use host_domain::id::{BookingId, CancellationId};
use host_domain::owner::Owner;
use host_domain::supplier::{Capability, ReadError, SupplierId};
use host_domain::{flight, hotel};
use host_storage::ReadBooking;
use std::sync::Arc;
use tokio::time::Instant;

pub struct CancellationService {
    pub(crate) base: Base,
    pub(crate) engine: Arc<WorkflowEngine>,
    pub(crate) suppliers: Arc<SupplierDirectory>,
}

impl CancellationService {
    /// Starts a cancellation once. A request with the same key never starts another one, whatever
    /// the outcome of the first. Returns the booking as it is then.
    pub async fn cancel_hotel_booking(
        &self,
        command: &CancelHotelBookingCommand,
    ) -> Result<HotelBooking, CancelError> {
        loop {
            let is_repeat = self.is_repeat(command.key.as_ref()).await?;
            let store = &self.base.store;
            let booking: Option<HotelBooking> =
                store.booking(&command.owner, &command.booking).await?;
            let booking = booking.ok_or(CancelError::NotFound)?;
            if let Some(unknown) = command
                .rooms
                .iter()
                .find(|id| booking.details.rooms.iter().all(|room| room.id != **id))
            {
                return Err(CancelError::UnknownRoom(unknown.clone()));
            }
            if is_repeat || booking.is_canceled_or_canceling(&command.rooms) {
                let unclaimed = command.key.as_ref().filter(|_| !is_repeat);
                self.claim_key(unclaimed, &booking.id).await?;
                return Ok(booking);
            }
            hotel_cancellation::check_state(&booking)?;
            let supplier = self.suppliers.loaded(&booking.supplier);
            let room_ids =
                hotel_cancellation::rooms_to_cancel(supplier.as_ref(), &booking, &command.rooms)?;
            let read = ReadBooking::of(&booking);
            let event = HotelEvent::CancelStarted {
                id: CancellationId::from_bits(self.base.ids.generate()),
                room_ids,
            };
            let transition = booking
                .apply(event.into(), self.base.now())
                .map_err(|conflict| CancelError::InvalidState(conflict.status))?;
            let booking = transition.booking.clone();
            let key = command.key.as_ref();
            let started = self.commit_start(&read, transition, key, &command.request_id);
            if started.await? {
                return Ok(booking);
            }
        }
    }

    /// Returns the cost of cancelling, never from stale terms, with the supplier that quoted it. A
    /// stored restriction that is active before or after the supplier's reads forbids it.
    ///
    /// # Errors
    /// [`CancellationQuoteError`].
    pub async fn quote_hotel_cancellation(
        &self,
        owner: &Owner,
        id: &BookingId,
        request_id: &str,
        deadline: Instant,
    ) -> Result<(SupplierId, HotelCancellationQuote), CancellationQuoteError> {
        let booking = self.hotel_booking(owner, id).await?;
        if hotel_cancellation::check_state(&booking).is_err() {
            let status = booking.status().as_str();
            return Err(CancellationQuoteError::InvalidState(status));
        }
        hotel_cancellation::check_restrictions(&booking, self.base.now())?;
        let quote = self.read_hotel_quote(&booking, request_id, deadline).await;
        let current = self.hotel_booking(owner, id).await?;
        if hotel_cancellation::check_state(&current).is_ok() {
            hotel_cancellation::check_restrictions(&current, self.base.now())?;
        }
        let mut quote = quote
            .map_err(|error| CancellationQuoteError::Supplier(booking.supplier.clone(), error))?;
        let mut is_current = current.version == booking.version;
        if is_current && let Some(policy) = quote.changed_policy.take() {
            is_current = self.commit_policy(&booking, policy, request_id).await?;
        }
        if !is_current {
            return Err(CancellationQuoteError::BookingChanged);
        }
        let mut restrictions = quote.restrictions.iter();
        if restrictions.any(|restriction| restriction.forbids_cancellation(quote.checked_at)) {
            Err(CancellationQuoteError::CancellationRestricted)
        } else {
            Ok((booking.supplier, quote))
        }
    }

    /// Requests a quote from the supplier.
    async fn read_hotel_quote(
        &self,
        booking: &HotelBooking,
        request_id: &str,
        deadline: Instant,
    ) -> Result<HotelCancellationQuote, ReadError> {
        let supplier = self.suppliers.loaded(&booking.supplier);
        let supplier = supplier.ok_or(ReadError::Unsupported)?;
        let execution = self.engine.execution_context(request_id, deadline);
        let context = execution.call_context(booking);
        let reference = booking.supplier_reference.clone().unwrap_or_default();
        let booked = (booking.details.total, booking.details.rooms.len());
        let supplier_quote = supplier
            .quote_hotel_cancellation(&context, reference, booking.id.to_string(), booked)
            .await?;
        let quote = HotelCancellationQuote::new(booking, supplier_quote, self.base.now());
        quote.map_err(|unusable| ReadError::InvalidResponse(unusable.to_string()))
    }

    async fn hotel_booking(
        &self,
        owner: &Owner,
        id: &BookingId,
    ) -> Result<HotelBooking, CancellationQuoteError> {
        let found: Option<HotelBooking> = self.base.store.booking(owner, id).await?;
        found.ok_or(CancellationQuoteError::NotFound)
    }

    /// Stores the policy that a quote follows, so that a cancellation costs what the quote showed.
    /// Returns `false` if another process changed the booking first.
    async fn commit_policy(
        &self,
        booking: &HotelBooking,
        policy: hotel::CancellationPolicy,
        request_id: &str,
    ) -> Result<bool, CancellationQuoteError> {
        let event = HotelEvent::PolicyRead(policy);
        let transition = booking.clone().apply(event.into(), self.base.now());
        let transition =
            transition.map_err(|conflict| CancellationQuoteError::InvalidState(conflict.status))?;
        let (base, read) = (&self.base, ReadBooking::of(booking));
        let write = transition_statements(base, &read, &[transition], None, request_id);
        Ok(base.try_commit(write).await?)
    }

    /// Starts a cancellation once. If it is requested again, a cancellation or refund that waits
    /// for its next attempt is tried now. A cancellation that was refused is started again, but not
    /// under the same key. Returns the booking as it is then.
    pub async fn cancel_flight_booking(
        &self,
        owner: &Owner,
        id: &BookingId,
        key: Option<&IdempotentRequest>,
        request_id: &str,
    ) -> Result<FlightBooking, CancelError> {
        loop {
            let is_repeat = self.is_repeat(key).await?;
            let booking: Option<FlightBooking> = self.base.store.booking(owner, id).await?;
            let booking = booking.ok_or(CancelError::NotFound)?;
            let BookingState::Booked(state) = &booking.state else {
                return Err(CancelError::InvalidState(booking.status().as_str()));
            };
            let event = match state {
                FlightBookedState::Confirmed { .. } if is_repeat => return Ok(booking),
                FlightBookedState::Confirmed { .. } => {
                    let supplier = self.suppliers.loaded(&booking.supplier);
                    let supplier = supplier.filter(|s| s.supports(Capability::FlightCancellation));
                    supplier.ok_or(CancelError::Unsupported)?;
                    FlightEvent::CancelStarted
                }
                FlightBookedState::CancelInProgress { .. } | FlightBookedState::Canceled => {
                    FlightEvent::CancelExpedited
                }
            };
            let read = ReadBooking::of(&booking);
            let unclaimed = key.filter(|_| !is_repeat);
            let transition = match booking.clone().apply(event.clone().into(), self.base.now()) {
                Ok(transition) => transition,
                // Nothing is waiting: the cancellation is running, or everything is done.
                Err(_) if event == FlightEvent::CancelExpedited => {
                    self.claim_key(unclaimed, id).await?;
                    return Ok(booking);
                }
                // A purchase of bags is in progress, and its outcome is unknown.
                Err(conflict) => return Err(CancelError::InvalidState(conflict.status)),
            };
            let booking = transition.booking.clone();
            let started = self.commit_start(&read, transition, unclaimed, request_id);
            if started.await? {
                return Ok(booking);
            }
        }
    }

    /// Returns the current cost of cancelling, with the supplier that quotes it. No money is moved.
    pub async fn quote_flight_cancellation(
        &self,
        owner: &Owner,
        id: &BookingId,
        request_id: &str,
        deadline: Instant,
    ) -> Result<(SupplierId, flight::quote::FlightCancellationQuote), CancellationQuoteError> {
        let booking: Option<FlightBooking> = self.base.store.booking(owner, id).await?;
        let booking = booking.ok_or(CancellationQuoteError::NotFound)?;
        if !matches!(
            booking.state,
            BookingState::Booked(FlightBookedState::Confirmed { .. })
        ) {
            return Err(CancellationQuoteError::InvalidState(
                booking.status().as_str(),
            ));
        }
        let response = match self.suppliers.loaded(&booking.supplier) {
            Some(supplier) => {
                let execution = self.engine.execution_context(request_id, deadline);
                let context = execution.call_context(&booking);
                let reference = flight_cancellation::booking_reference(&booking);
                supplier
                    .quote_flight_cancellation(&context, reference)
                    .await
            }
            None => Err(ReadError::Unsupported),
        };
        let supplier_quote = flight_cancellation::quote_or_unavailable(response);
        if let FlightSupplierQuote::Unavailable(why) = &supplier_quote {
            tracing::info!(booking = %booking.id, why, "the airline returned no quote; the stored terms are used");
        }
        let quote =
            flight::quote::FlightCancellationQuote::new(&booking, &supplier_quote, self.base.now());
        Ok((booking.supplier, quote))
    }

    /// Returns whether the same request was made before, so that it must not start anything again.
    async fn is_repeat(&self, key: Option<&IdempotentRequest>) -> Result<bool, CancelError> {
        Ok(self.base.find_idempotent_result(key).await?.is_some())
    }

    /// Claims the key of a request that has nothing left to start.
    async fn claim_key(
        &self,
        key: Option<&IdempotentRequest>,
        booking: &BookingId,
    ) -> Result<(), CancelError> {
        if let Some(key) = key {
            self.base
                .claim_idempotency_key(key, booking.as_str())
                .await?;
        }
        Ok(())
    }

    /// Stores the start of a cancellation, schedules the job that executes it and claims the key.
    /// Returns `false` if another process changed the booking first.
    async fn commit_start<K: BookingAggregate>(
        &self,
        read: &ReadBooking,
        transition: Transition<Booking<K>>,
        key: Option<&IdempotentRequest>,
        request_id: &str,
    ) -> Result<bool, CancelError> {
        let id = transition.booking.id.clone();
        let mut write = transition_statements(&self.base, read, &[transition], None, request_id);
        write.schedule_job(K::JOB_KIND, id.as_str(), self.base.now());
        claim_in(&mut write, key, id.as_str());
        Ok(self.base.try_commit(write).await?)
    }
}
