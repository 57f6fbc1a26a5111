//! Binds an offer, once for each key: commits the intent, calls the supplier, and stores its
//! response. The request differs between hotels and flights; the way it is made safe does not.

use crate::base::Base;
use crate::booking::aggregate::BookingAggregate;
use crate::booking::engine::WorkflowEngine;
use crate::booking::execution::{ExecutionContext, WorkflowError};
use crate::booking::flight_prebook::{self, PrebookFlightCommand};
use crate::booking::hotel_prebook::{self, PrebookHotelCommand};
use crate::booking::lease::wait_for_next_poll;
use crate::booking::passenger_secrets::PassengerSecrets;
use crate::booking::prebook_call::{BoundOffer, NewBooking, PrebookCall, PrebookContext};
use crate::booking::prebook_refusal::PrebookRefusal;
use crate::booking::steps::payment::{
    STATEMENT_DESCRIPTOR, intent_reference, processor_not_configured,
};
use crate::supplier::directory::SupplierDirectory;
use futures::FutureExt;
use host_domain::booking::{Booking, BookingEvent, BookingPhase, PaymentCollector};
use host_domain::flight::booking::FlightBookingDetails;
use host_domain::hotel::booking::HotelBookingDetails;
use host_domain::id::BookingId;
use host_domain::money::Money;
use host_domain::owner::Owner;
use host_domain::payment::{Payment, PaymentError};
use host_domain::supplier::{
    ChangeError, Checkout, FailureReason, Refusal, RefusalReason, SupplierId,
};
use host_runtime::IntentRequest;
use host_storage::{DatabaseError, IdempotencyKey, UnitOfWork};
use std::sync::Arc;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

/// Name of the prebook step, in failpoints and tests.
pub(super) const STEP_NAME: &str = "prebook";

#[derive(Debug)]
pub enum PrebookOutcome<K: BookingAggregate> {
    /// Bound now. The tokens are returned only this once.
    Created {
        booking: Box<Booking<K>>,
        sdk_token: Option<String>,
        checkout: Option<Checkout>,
    },
    /// Bound by an earlier call with this key; the booking is in its current state.
    Existing(Box<Booking<K>>),
}

#[derive(Debug, thiserror::Error)]
pub enum PrebookError {
    #[error(transparent)]
    Workflow(WorkflowError),
    #[error("the key was used for another request")]
    IdempotencyKeyReused,
    #[error("an earlier call with this key is still in progress")]
    IdempotencyInProgress,
    #[error("another unfinished booking uses the offer")]
    OfferInUse,
    #[error("the supplier refused the offer")]
    Refused(PrebookRefusal),
    #[error("nothing was sent to the supplier: {reason}")]
    NotSent {
        overloaded: bool,
        reason: FailureReason,
    },
    #[error("the supplier's rate limit is reached")]
    RateLimited { retry_after_s: Option<u32> },
    /// The booking has ended, and its key is free: the supplier reserves and charges nothing at
    /// this stage.
    #[error("the supplier's response did not arrive or is invalid: {reason}")]
    NoResponse {
        timed_out: bool,
        reason: FailureReason,
    },
    /// The supplier may have made a checkout. The booking waits for its timer.
    #[error("the supplier may have made a checkout for booking {booking}: {reason}")]
    Unresolved {
        booking: BookingId,
        timed_out: bool,
        reason: FailureReason,
    },
    /// Storing continues, and ends the booking if its supplier was not called.
    #[error("the database has not confirmed in time what became of booking {booking}")]
    Unconfirmed { booking: BookingId },
    /// The payment that the payer completes in a browser was not created, so nothing is bound.
    #[error("processor {processor} did not create the payment: {error}")]
    PaymentNotCreated {
        processor: SupplierId,
        error: PaymentError,
    },
    #[error("no payment processor is configured for this mode")]
    NoProcessor,
    #[error("the supplier rejected the gateway's account: {message}")]
    SupplierAccount { message: String },
    #[error("the supplier is not configured or does not support booking")]
    Unsupported,
    #[error("the secret data of the booking cannot be encrypted")]
    Seal(#[source] crate::sealer::SealError),
}

impl PrebookError {
    /// Returns whether the same request cannot succeed before somebody has corrected something at
    /// the gateway or at the supplier.
    pub const fn requires_correction(&self) -> bool {
        match self {
            Self::NotSent { reason, .. }
            | Self::NoResponse { reason, .. }
            | Self::Unresolved { reason, .. }
            | Self::PaymentNotCreated {
                error: PaymentError::NotSent(reason) | PaymentError::Unknown(reason),
                ..
            } => reason.requires_correction,
            Self::SupplierAccount { .. }
            | Self::PaymentNotCreated {
                error:
                    PaymentError::Declined(_)
                    | PaymentError::Refused(_)
                    | PaymentError::RefusedByAdapter(_),
                ..
            } => true,
            Self::Workflow(_)
            | Self::IdempotencyKeyReused
            | Self::IdempotencyInProgress
            | Self::OfferInUse
            | Self::Refused(_)
            | Self::RateLimited { .. }
            | Self::Unconfirmed { .. }
            | Self::NoProcessor
            | Self::Unsupported
            | Self::Seal(_) => false,
        }
    }
}

/// A prebook that did not bind, with its reason for operators.
pub(super) struct FailedPrebook {
    pub(super) error: PrebookError,
    pub(super) evidence: String,
}

impl From<PrebookError> for FailedPrebook {
    fn from(error: PrebookError) -> Self {
        let evidence = error.to_string();
        Self { error, evidence }
    }
}

impl<E: Into<WorkflowError>> From<E> for PrebookError {
    fn from(error: E) -> Self {
        Self::Workflow(error.into())
    }
}

/// Turns offers into bookings: checks the price again and binds it.
pub struct PrebookService {
    pub(crate) base: Base,
    pub(crate) engine: Arc<WorkflowEngine>,
    pub(crate) suppliers: Arc<SupplierDirectory>,
    pub(crate) passenger_secrets: PassengerSecrets,
    /// Validity of an offer whose supplier names no expiry, in seconds.
    pub(crate) offer_ttl_s: i64,
    /// Ends the repetition of commits that the database does not answer.
    pub(crate) shutdown: CancellationToken,
}

impl PrebookService {
    /// Binds a hotel offer. A repeat with the same key returns the booking of the first call.
    pub async fn prebook_hotel(
        self: &Arc<Self>,
        command: PrebookHotelCommand,
    ) -> Result<PrebookOutcome<HotelBookingDetails>, PrebookError> {
        let id = BookingId::from_bits(self.base.ids.generate());
        let no_statements = self.base.unit_of_work();
        self.prebook_hotel_with(command, id, no_statements).await
    }

    /// Binds a hotel offer as this booking. Commits further statements with the intent, or neither.
    pub async fn prebook_hotel_with(
        self: &Arc<Self>,
        command: PrebookHotelCommand,
        id: BookingId,
        extra_statements: UnitOfWork,
    ) -> Result<PrebookOutcome<HotelBookingDetails>, PrebookError> {
        let collector = self.payment_collector_of(&command.offer.supplier);
        let collector = collector.ok_or(PrebookError::Unsupported)?;
        let new_booking = || {
            let booking = hotel_prebook::new_booking(&self.base, id.clone(), &command, collector);
            Ok((booking, extra_statements.clone()))
        };
        let call = hotel_prebook::prebook_call(&command);
        self.prebook(command.to_context(), new_booking, call).await
    }

    /// Binds a fare. A repeat with the same key returns the booking of the first call.
    pub async fn prebook_flight(
        self: &Arc<Self>,
        mut command: PrebookFlightCommand,
    ) -> Result<PrebookOutcome<FlightBookingDetails>, PrebookError> {
        // The passengers are put in the order in which they were priced, because suppliers identify
        // them by that order.
        let passengers = &mut command.passengers;
        passengers.sort_by_key(|(_, passenger)| passenger.passenger_type);
        let collector = self.payment_collector_of(&command.offer.supplier);
        let collector = collector.ok_or(PrebookError::Unsupported)?;
        let new_booking = || {
            let booking = flight_prebook::new_booking(
                &self.base,
                &self.passenger_secrets,
                &self.suppliers,
                &command,
                collector,
            );
            let booking = booking.map_err(PrebookError::Seal)?;
            Ok((booking, self.base.unit_of_work()))
        };
        let call = flight_prebook::prebook_call(&command);
        self.prebook(command.to_context(), new_booking, call).await
    }

    /// Returns why the supplier refused to bind the hotel offer of a request that was made with a
    /// key. Returns `None` if no refusal is stored.
    pub async fn find_prebook_refusal(
        &self,
        owner: &Owner,
        key: &str,
    ) -> Result<Option<PrebookRefusal>, DatabaseError> {
        let key = IdempotencyKey::new(owner, hotel_prebook::OPERATION, key);
        let record = self.base.store.idempotency_record(&key).await?;
        let refusal = record.and_then(|record| record.refusal);
        Ok(refusal.map(|text| PrebookRefusal::from_json(&text)))
    }

    /// Deletes the key of a prebook whose booking is deleted.
    pub fn forget_prebook_in(&self, write: &mut UnitOfWork, owner: &Owner, key: &str) {
        write.delete_idempotency_key(&IdempotencyKey::new(owner, hotel_prebook::OPERATION, key));
    }

    /// Returns who collects a supplier's payments, or `None` if the supplier is not configured.
    fn payment_collector_of(&self, supplier: &SupplierId) -> Option<PaymentCollector> {
        let supplier = self.suppliers.loaded(supplier)?;
        Some(if supplier.info().description.collects_payment {
            PaymentCollector::Supplier
        } else {
            PaymentCollector::Gateway
        })
    }

    /// Binds an offer. A repeat with the same key returns the booking of the first call. The
    /// statements of `new_booking` are committed together with the booking or not at all.
    async fn prebook<K: BookingAggregate>(
        self: &Arc<Self>,
        prebook: PrebookContext,
        new_booking: impl Fn() -> Result<NewBooking<K>, PrebookError>,
        call: PrebookCall<K>,
    ) -> Result<PrebookOutcome<K>, PrebookError> {
        loop {
            if prebook.expires_at <= self.base.now() {
                let existing = self.find_existing_booking(&prebook).await?;
                return existing.ok_or(PrebookError::Refused(PrebookRefusal::Expired));
            }
            let engine = &self.engine;
            let execution = engine.execution_context(&prebook.request_id, prebook.deadline);
            let new_booking = new_booking()?;
            let booking = new_booking.0.id.clone();
            let (service, call, context) = (Arc::clone(self), Arc::clone(&call), prebook.clone());
            // The task creates the booking, too: a caller that disconnects leaves no booking behind
            // that nobody works on.
            let run = async move {
                let created = service.create_and_bind(new_booking, call, &context, &execution);
                created.await
            };
            let run = timeout_at(prebook.deadline, engine.run_to_completion(run.boxed()));
            let Ok(ended) = run.await else {
                return Err(PrebookError::Unconfirmed { booking });
            };
            if let Some(outcome) = ended?? {
                return Ok(outcome);
            }
            if let Some(existing) = self.find_existing_booking(&prebook).await? {
                return Ok(existing);
            }
            // The call that had claimed the key has released it again.
        }
    }

    /// Creates the booking and binds its offer. Returns `None` if the key is already used.
    async fn create_and_bind<K: BookingAggregate>(
        &self,
        new_booking: NewBooking<K>,
        call: PrebookCall<K>,
        prebook: &PrebookContext,
        execution: &ExecutionContext,
    ) -> Result<Option<PrebookOutcome<K>>, PrebookError> {
        let created = self.create_booking(new_booking, prebook, execution).await?;
        let Some(booking) = created else {
            return Ok(None);
        };
        let id = booking.id.clone();
        let bind = self.bind_offer(booking, call, prebook, execution).boxed();
        let leases = self.engine.leases();
        let bound = leases.with_lease(K::JOB_KIND, &id, execution, bind);
        bound.await.map(Some)
    }

    /// Returns the booking of an earlier call with this key. Waits while that call is in progress.
    /// Frees the key of a booking that ended before anything was bound, unless it was refused.
    async fn find_existing_booking<K: BookingAggregate>(
        &self,
        prebook: &PrebookContext,
    ) -> Result<Option<PrebookOutcome<K>>, PrebookError> {
        loop {
            let Some(record) = self.base.store.idempotency_record(&prebook.key).await? else {
                return Ok(None);
            };
            if record.fingerprint != prebook.fingerprint {
                return Err(PrebookError::IdempotencyKeyReused);
            }
            if let Some(refusal) = record.refusal {
                return Err(PrebookError::Refused(PrebookRefusal::from_json(&refusal)));
            }
            let id = BookingId::parse(&record.resource_id)
                .map_err(|_| PrebookError::IdempotencyInProgress)?;
            // The lease is checked first: if no worker holds it, the booking read afterwards is in
            // the state that the last one left.
            let is_running = self.engine.leases().is_held(K::JOB_KIND, &id).await?;
            let booking: Option<Booking<K>> = self.base.store.booking_unscoped(&id).await?;
            let booking = booking.ok_or(PrebookError::IdempotencyInProgress)?;
            match booking.phase() {
                BookingPhase::Prebooking if is_running => {}
                // The process of the earlier call has ended, and a worker is about to end the
                // booking.
                BookingPhase::Prebooking
                    if booking.payment_collector == PaymentCollector::Gateway => {}
                BookingPhase::Failed {
                    was_prebooked: false,
                } => {
                    let mut write = self.base.unit_of_work();
                    write.delete_idempotency_key_of(&prebook.key, id.as_str());
                    self.base.try_commit(write).await?;
                    return Ok(None);
                }
                BookingPhase::Prebooking
                | BookingPhase::ReadyToComplete
                | BookingPhase::Completing(_)
                | BookingPhase::Confirmed
                | BookingPhase::Canceling
                | BookingPhase::Failed {
                    was_prebooked: true,
                }
                | BookingPhase::Expired => {
                    return Ok(Some(PrebookOutcome::Existing(Box::new(booking))));
                }
            }
            if !wait_for_next_poll(prebook.deadline).await {
                return Err(PrebookError::IdempotencyInProgress);
            }
        }
    }

    async fn bind_offer<K: BookingAggregate>(
        &self,
        booking: Booking<K>,
        call: PrebookCall<K>,
        prebook: &PrebookContext,
        execution: &ExecutionContext,
    ) -> Result<PrebookOutcome<K>, PrebookError> {
        let Some(supplier) = self.suppliers.loaded(&booking.supplier) else {
            let failed = PrebookError::Unsupported.into();
            return self
                .abort_prebook(booking, failed, prebook, execution)
                .await;
        };
        if execution.deadline <= Instant::now() {
            // The database answered too late for the caller.
            let error = PrebookError::NotSent {
                overloaded: true,
                reason: "the request's time was over before the call"
                    .to_owned()
                    .into(),
            };
            return self
                .abort_prebook(booking, error.into(), prebook, execution)
                .await;
        }
        let offered = booking.details.booked_price();
        let context = execution.call_context(&booking);
        let bound = call(supplier, context, booking.clone()).await;
        let timed_out = execution.deadline <= Instant::now();
        let bound = bound.map_err(|error| map_supplier_error(error, offered, timed_out));
        let bound = match bound.and_then(|bound| validate_bound_offer(bound, offered)) {
            Ok(bound) => bound,
            Err(failed) => {
                return self
                    .abort_prebook(booking, failed, prebook, execution)
                    .await;
            }
        };
        let is_browser_payment =
            prebook.use_payment_sdk && booking.payment_collector == PaymentCollector::Gateway;
        let created = match is_browser_payment {
            true => {
                let created = self.create_browser_payment(&booking, bound.total, execution);
                created.await.map(Some)
            }
            false => Ok(None),
        };
        let (payment, sdk_token) = match created {
            Ok(payment_and_token) => payment_and_token.unzip(),
            Err(error) => {
                let failed = error.into();
                return self
                    .abort_prebook(booking, failed, prebook, execution)
                    .await;
            }
        };
        let latest = || self.base.now().plus_s(self.offer_ttl_s);
        let event = BookingEvent::PrebookConfirmed {
            prebook: bound.response,
            expires_at: bound.expires_at.unwrap_or_else(latest),
            payment,
        };
        let booking = self.store_bound(booking, event, execution).await?;
        Ok(PrebookOutcome::Created {
            booking: Box::new(booking),
            sdk_token,
            checkout: bound.checkout,
        })
    }

    async fn create_browser_payment<K: BookingAggregate>(
        &self,
        booking: &Booking<K>,
        total: Money,
        execution: &ExecutionContext,
    ) -> Result<(Payment, String), PrebookError> {
        let processor = self.suppliers.processor(booking.owner.tenant.mode);
        let processor = processor.ok_or(PrebookError::NoProcessor)?;
        let failed = |error| PrebookError::PaymentNotCreated {
            processor: processor.clone(),
            error,
        };
        let loaded = self.suppliers.loaded(processor);
        let loaded = loaded.ok_or_else(|| failed(processor_not_configured()))?;
        let id = booking.next_payment_id();
        let request = IntentRequest {
            client_reference: intent_reference(booking, &id),
            amount: total,
            description: STATEMENT_DESCRIPTOR.to_owned(),
        };
        let context = execution.call_context(booking);
        let intent = loaded.create_intent(&context, request).await;
        let intent = intent.map_err(failed)?;
        let (processor, reference) = (processor.clone(), intent.processor_reference);
        let payment =
            Payment::new_browser_payment(id, total, processor, reference, self.base.now());
        Ok((payment, intent.token))
    }
}

/// Checks the supplier's response. A higher price than offered is never bound, and neither is
/// something other than was requested or something that cannot be sold to the caller.
fn validate_bound_offer<K: BookingAggregate>(
    bound: BoundOffer<K>,
    offered: Money,
) -> Result<BoundOffer<K>, FailedPrebook> {
    if !bound.matches_request || bound.total.currency != offered.currency {
        let message = "the supplier bound something other than was requested";
        let error = PrebookError::NoResponse {
            timed_out: false,
            reason: FailureReason::requiring_correction(message),
        };
        return Err(error.into());
    }
    if let Some(reason) = bound.unsellable {
        return Err(FailedPrebook {
            error: PrebookError::Refused(PrebookRefusal::Unavailable),
            evidence: format!("the offer that the supplier bound cannot be sold: {reason}"),
        });
    }
    if bound.total.minor > offered.minor {
        let current = bound.total;
        let refusal = PrebookRefusal::PriceChanged { offered, current };
        return Err(FailedPrebook {
            error: PrebookError::Refused(refusal),
            evidence: format!("the supplier bound at {current}, but offered at {offered}"),
        });
    }
    Ok(bound)
}

fn map_supplier_error(error: ChangeError, offered: Money, timed_out: bool) -> FailedPrebook {
    let evidence = match &error {
        ChangeError::Refused(Refusal {
            supplier_code: Some(code),
            ..
        })
        | ChangeError::RefusedByAdapter(Refusal {
            supplier_code: Some(code),
            ..
        }) => format!("{error} ({code})"),
        error => error.to_string(),
    };
    let error = match error {
        ChangeError::Unsupported => PrebookError::Unsupported,
        ChangeError::Refused(refusal) | ChangeError::RefusedByAdapter(refusal)
            if refusal.reason == RefusalReason::Account =>
        {
            PrebookError::SupplierAccount {
                message: refusal.message,
            }
        }
        // An adapter may know that its supplier does not take such a request, and not ask.
        ChangeError::Refused(refusal) | ChangeError::RefusedByAdapter(refusal) => {
            PrebookError::Refused(PrebookRefusal::from_supplier_refusal(&refusal, offered))
        }
        ChangeError::NotSent(reason) => PrebookError::NotSent {
            overloaded: false,
            reason,
        },
        ChangeError::RateLimited { retry_after_s } => PrebookError::RateLimited { retry_after_s },
        error @ ChangeError::Overloaded => PrebookError::NotSent {
            overloaded: true,
            reason: error.to_string().into(),
        },
        ChangeError::Unknown(reason) => PrebookError::NoResponse { timed_out, reason },
    };
    FailedPrebook { error, evidence }
}
