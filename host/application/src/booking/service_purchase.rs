//! Purchases of bags for an existing ticket. Each purchase has its own payment: authorize, buy,
//! capture. A key buys only once, even if the response is lost.

use crate::base::Base;
use crate::booking::aggregate::BookingAggregate;
use crate::booking::completion::new_authorization;
use crate::booking::engine::WorkflowEngine;
use crate::booking::execution::{ExecutionContext, NotSentCause, WorkflowError};
use crate::booking::flight_cancellation::booking_reference;
use crate::booking::lease::wait_for_next_poll;
use crate::idempotency::IdempotentRequest;
use crate::payment_instrument::{InstrumentError, PaymentInstrumentService};
use crate::sealer::SealError;
use crate::supplier::directory::SupplierDirectory;
use host_domain::booking::{BookingKind, BookingState, PaymentCollector};
use host_domain::flight::ServiceType;
use host_domain::flight::booking::{
    BookedService, FlightBookedState, FlightBooking, FlightBookingDetails, FlightEvent,
    ServicePurchase, ServicePurchaseState, ServiceStatus,
};
use host_domain::flight::supplier_api::AvailableService;
use host_domain::id::{BookingId, InstrumentId, PassengerId, PurchaseId, SegmentId, ServiceId};
use host_domain::money::Money;
use host_domain::owner::Owner;
use host_domain::payment::{DeclineReason, Payment};
use host_domain::remote_call::RemoteCall;
use host_domain::supplier::{Capability, ReadError, SupplierId};
use host_storage::{IdempotencyRecord, UnitOfWork};
use sha2::{Digest, Sha256};
use std::sync::Arc;
use tokio::time::Instant;

const OPERATION: &str = "flight_services";

#[derive(Debug, Clone)]
pub struct AvailableBag {
    /// Stable id: it stays the same whenever the same bag is offered for the same booking.
    pub id: ServiceId,
    pub passenger: PassengerId,
    pub segment_ids: Vec<SegmentId>,
    pub service: AvailableService,
}

#[derive(Debug, Clone)]
pub struct PurchaseServicesCommand {
    pub owner: Owner,
    pub booking: BookingId,
    pub key: String,
    pub fingerprint: String,
    pub services: Vec<(ServiceId, u32)>,
    pub instrument: InstrumentId,
    pub request_id: String,
    pub deadline: Instant,
}

/// The outcome of an earlier call with the same key.
enum PreviousPurchase {
    Completed(Box<FlightBooking>),
    InProgress,
    /// The supplier was never called, so the key can be used as if it were new.
    NotStarted,
}

#[derive(Debug, thiserror::Error)]
pub enum ServicePurchaseError {
    #[error(transparent)]
    Workflow(WorkflowError),
    #[error("no such booking")]
    NotFound,
    #[error("the booking is {0}")]
    InvalidState(&'static str),
    #[error("the key was used for another request")]
    IdempotencyKeyReused,
    #[error("the supplier does not sell services after booking")]
    Unsupported,
    #[error("the service is not offered for this booking at the moment")]
    NotOffered(usize),
    #[error("the quantity exceeds the maximum")]
    QuantityExceeded { at: usize, max: u8 },
    #[error("the payment instrument does not exist or cannot be used")]
    InstrumentInvalid,
    #[error("the payment instrument cannot be decrypted")]
    InstrumentUnreadable(#[source] SealError),
    #[error("the payment was declined")]
    PaymentFailed {
        processor: SupplierId,
        requires_action: bool,
    },
    #[error("the supplier refused the purchase")]
    Rejected(SupplierId),
    #[error("the outcome of the purchase is not known yet")]
    Unknown,
    #[error("nothing was sent to {supplier}")]
    NotSent {
        /// The supplier or processor that was not called.
        supplier: SupplierId,
        cause: NotSentCause,
    },
    #[error("the supplier's list of available services could not be read")]
    Supplier(SupplierId, ReadError),
}

impl<E: Into<WorkflowError>> From<E> for ServicePurchaseError {
    fn from(error: E) -> Self {
        Self::Workflow(error.into())
    }
}

impl From<InstrumentError> for ServicePurchaseError {
    fn from(error: InstrumentError) -> Self {
        match error {
            InstrumentError::Database(error) => error.into(),
            InstrumentError::Seal(error) => Self::InstrumentUnreadable(error),
        }
    }
}

pub struct ServicePurchaseService {
    pub(crate) base: Base,
    pub(crate) engine: Arc<WorkflowEngine>,
    pub(crate) suppliers: Arc<SupplierDirectory>,
    pub(crate) instruments: Arc<PaymentInstrumentService>,
}

impl ServicePurchaseService {
    /// Returns the bags that the airline sells for a booking at the moment.
    pub async fn available_services(
        &self,
        owner: &Owner,
        id: &BookingId,
        request_id: &str,
        deadline: Instant,
    ) -> Result<(SupplierId, Vec<AvailableBag>), ServicePurchaseError> {
        let booking = require_confirmed(self.find_booking(owner, id).await?)?;
        let execution = self.engine.execution_context(request_id, deadline);
        match self.suppliers.loaded(&booking.supplier) {
            Some(supplier) if supplier.supports(Capability::FlightServices) => {}
            Some(_) | None => return Ok((booking.supplier, Vec::new())),
        }
        let bags = self.fetch_available_bags(&booking, &execution).await?;
        Ok((booking.supplier, bags))
    }

    async fn find_booking(
        &self,
        owner: &Owner,
        id: &BookingId,
    ) -> Result<FlightBooking, ServicePurchaseError> {
        let found = self.base.store.booking(owner, id).await?;
        found.ok_or(ServicePurchaseError::NotFound)
    }

    /// Fetches the bags that the supplier sells. A booking that includes bags gets none.
    async fn fetch_available_bags(
        &self,
        booking: &FlightBooking,
        execution: &ExecutionContext,
    ) -> Result<Vec<AvailableBag>, ServicePurchaseError> {
        if booking.has_bags() {
            return Ok(Vec::new());
        }
        let failed = |error| ServicePurchaseError::Supplier(booking.supplier.clone(), error);
        let supplier = self.suppliers.loaded(&booking.supplier);
        let supplier = supplier.ok_or_else(|| failed(ReadError::Unsupported))?;
        let context = execution.call_context(booking);
        let sold = supplier.list_flight_services(&context, booking_reference(booking));
        let sold = sold.await;
        let price = booking.details.booked_price();
        let bags = sold
            .map_err(failed)?
            .into_iter()
            .filter(|service| service.service_type == ServiceType::Baggage)
            // A price in another currency cannot be added to the booking's price.
            .filter(|service| service.unit_amount.currency == price.currency)
            .filter_map(|service| to_available_bag(booking, service));
        Ok(bags.collect())
    }

    /// Buys bags, once for each key. Returns the booking with the bags on it.
    pub async fn purchase_services(
        &self,
        command: PurchaseServicesCommand,
    ) -> Result<FlightBooking, ServicePurchaseError> {
        let (owner, fingerprint) = (&command.owner, command.fingerprint.clone());
        let key = IdempotentRequest::new(owner, OPERATION, &command.key, fingerprint);
        loop {
            // The booking is read before the key: if this booking version already has a purchase
            // under the key, the key is found, too.
            let booking = self.find_booking(&command.owner, &command.booking).await?;
            let record = self.base.store.idempotency_record(&key.key).await?;
            let previous = match &record {
                Some(record) => self.previous_purchase(record, &command).await?,
                None => PreviousPurchase::NotStarted,
            };
            match previous {
                PreviousPurchase::Completed(booking) => return Ok(*booking),
                PreviousPurchase::InProgress => {}
                PreviousPurchase::NotStarted => {
                    let booking = require_confirmed(booking)?;
                    match self.start_purchase(booking, &key, &command).await {
                        // The bags may be missing because another call with this key has bought
                        // them since the key was read.
                        Err(ServicePurchaseError::NotOffered(_))
                            if self.base.store.idempotency_record(&key.key).await? != record => {}
                        started => {
                            if let Some(booking) = started? {
                                return Ok(booking);
                            }
                        }
                    }
                }
            }
            if !wait_for_next_poll(command.deadline).await {
                return Err(ServicePurchaseError::Unknown);
            }
        }
    }

    async fn previous_purchase(
        &self,
        record: &IdempotencyRecord,
        command: &PurchaseServicesCommand,
    ) -> Result<PreviousPurchase, ServicePurchaseError> {
        if record.fingerprint != command.fingerprint {
            return Err(ServicePurchaseError::IdempotencyKeyReused);
        }
        // The lease is checked first: if no worker holds it, the booking read afterwards is in the
        // state that the last one left.
        let (leases, kind) = (self.engine.leases(), FlightBookingDetails::JOB_KIND);
        let is_running = leases.is_held(kind, &command.booking).await?;
        let booking = self.find_booking(&command.owner, &command.booking).await?;
        let id =
            PurchaseId::parse(&record.resource_id).map_err(|_| ServicePurchaseError::Unknown)?;
        let is_open = booking.purchase(&id).is_some_and(|p| p.call().is_some());
        if is_open && is_running {
            return Ok(PreviousPurchase::InProgress);
        }
        match purchase_result(booking, &id) {
            Ok(booking) => Ok(PreviousPurchase::Completed(Box::new(booking))),
            // This case includes a purchase whose caller disconnected before the result.
            Err(ServicePurchaseError::NotSent { .. }) => Ok(PreviousPurchase::NotStarted),
            Err(error) => Err(error),
        }
    }

    /// Commits the intent and executes the steps. Returns `None` if another process is faster.
    async fn start_purchase(
        &self,
        booking: FlightBooking,
        key: &IdempotentRequest,
        command: &PurchaseServicesCommand,
    ) -> Result<Option<FlightBooking>, ServicePurchaseError> {
        let engine = &self.engine;
        let mut execution = engine.execution_context(&command.request_id, command.deadline);
        let supplier = self.suppliers.loaded(&booking.supplier);
        let sells = supplier.is_some_and(|s| s.supports(Capability::FlightServices));
        if !sells || booking.payment_collector == PaymentCollector::Supplier {
            return Err(ServicePurchaseError::Unsupported);
        }
        if booking.open_purchase().is_some() {
            return Err(invalid_state(&booking));
        }
        let for_sale = self.fetch_available_bags(&booking, &execution).await?;
        let chosen = select_services(&for_sale, &command.services)?;
        let total = total_price(&chosen, booking.details.booked_price());
        let (instruments, owner) = (&self.instruments, &command.owner);
        let instrument = instruments.open(owner, &command.instrument).await?;
        let instrument = instrument.ok_or(ServicePurchaseError::InstrumentInvalid)?;
        let (id, now) = (booking.next_payment_id(), self.base.now());
        let payment = new_authorization(id, total, &instrument, now);
        execution.instrument = Some(instrument);
        let event = self.purchase_started_event(&chosen, total, payment);
        let FlightEvent::PurchaseStarted { purchase, .. } = &event else {
            return Err(ServicePurchaseError::Unknown);
        };
        let id = purchase.id.clone();
        let claim_key = |write: &mut UnitOfWork| {
            // The key may belong to a purchase that was never sent and whose booking has not
            // changed since.
            write.delete_idempotency_key(&key.key);
            write.insert_idempotency_key(&key.key, &key.fingerprint, id.as_str());
        };
        let started = engine.start(booking, event.into(), &execution, claim_key);
        let Some((booking, next)) = started.await? else {
            return Ok(None);
        };
        let findings = execution.findings.clone();
        let run = engine.run_steps_to_completion(booking, next, execution);
        let Ok(result) = tokio::time::timeout_at(command.deadline, run).await else {
            // The workflow continues after the caller's deadline.
            return Err(ServicePurchaseError::Unknown);
        };
        purchase_result(result?, &id)
            .map(Some)
            .map_err(|error| match error {
                ServicePurchaseError::NotSent { supplier, .. } => ServicePurchaseError::NotSent {
                    supplier,
                    cause: findings.not_sent_cause(),
                },
                error => error,
            })
    }

    fn purchase_started_event(
        &self,
        chosen: &[(&AvailableBag, u8)],
        total: Money,
        payment: Payment,
    ) -> FlightEvent {
        let services: Vec<BookedService> = chosen
            .iter()
            .map(|(bag, quantity)| {
                let place = bag.service.passenger;
                BookedService {
                    id: ServiceId::from_bits(self.base.ids.generate()),
                    status: ServiceStatus::Pending,
                    supplier_service_id: bag.service.supplier_service_id.clone(),
                    supplier_ticket_service_id: None,
                    service_type: bag.service.service_type,
                    passenger: place,
                    supplier_segment_ids: bag.service.supplier_segment_ids.clone(),
                    segment_ids: bag.segment_ids.clone(),
                    baggage: bag.service.baggage,
                    quantity: *quantity,
                    unit_amount: bag.service.unit_amount,
                    payment: payment.id.clone(),
                }
            })
            .collect();
        let now = self.base.now();
        let purchase = ServicePurchase {
            id: PurchaseId::from_bits(self.base.ids.generate()),
            services: services.iter().map(|service| service.id.clone()).collect(),
            payment: payment.id.clone(),
            total,
            state: ServicePurchaseState::InProgress {
                call: RemoteCall::pending(now),
            },
            failure: None,
            created_at: now,
        };
        FlightEvent::PurchaseStarted {
            purchase: Box::new(purchase),
            services,
            payment: Box::new(payment),
        }
    }
}

/// Returns the booking if bags can be added to it.
fn require_confirmed(booking: FlightBooking) -> Result<FlightBooking, ServicePurchaseError> {
    match booking.state {
        BookingState::Booked(FlightBookedState::Confirmed { .. }) => Ok(booking),
        BookingState::Created
        | BookingState::PrebookInProgress { .. }
        | BookingState::ReadyForComplete
        | BookingState::CompleteInProgress { .. }
        | BookingState::Booked(
            FlightBookedState::CancelInProgress { .. } | FlightBookedState::Canceled,
        )
        | BookingState::Failed { .. }
        | BookingState::Expired => Err(invalid_state(&booking)),
    }
}

fn invalid_state(booking: &FlightBooking) -> ServicePurchaseError {
    ServicePurchaseError::InvalidState(booking.status().as_str())
}

/// Returns the result of a purchase whose workflow is not being executed.
fn purchase_result(
    booking: FlightBooking,
    id: &PurchaseId,
) -> Result<FlightBooking, ServicePurchaseError> {
    let purchase = booking.purchase(id).ok_or(ServicePurchaseError::Unknown)?;
    match &purchase.state {
        ServicePurchaseState::InProgress { .. } => Err(ServicePurchaseError::Unknown),
        ServicePurchaseState::Succeeded => Ok(booking),
        ServicePurchaseState::Declined => {
            let payment = booking.payment(&purchase.payment);
            let payment = payment.ok_or(ServicePurchaseError::Unknown)?;
            let processor = payment.processor.clone();
            match payment.decline_reason {
                Some(decline) => Err(ServicePurchaseError::PaymentFailed {
                    processor,
                    requires_action: decline == DeclineReason::RequiresAction,
                }),
                // The processor was never called.
                None => Err(not_sent(processor)),
            }
        }
        ServicePurchaseState::Refused => Err(ServicePurchaseError::Rejected(booking.supplier)),
        ServicePurchaseState::NotSent => Err(not_sent(booking.supplier)),
    }
}

/// Returns the error of a purchase that was not sent, before it is known why.
const fn not_sent(supplier: SupplierId) -> ServicePurchaseError {
    ServicePurchaseError::NotSent {
        supplier,
        cause: NotSentCause::Temporary,
    }
}

fn select_services<'a>(
    for_sale: &'a [AvailableBag],
    requested: &[(ServiceId, u32)],
) -> Result<Vec<(&'a AvailableBag, u8)>, ServicePurchaseError> {
    let chosen = requested.iter().enumerate().map(|(at, (id, quantity))| {
        let bag = for_sale.iter().find(|bag| bag.id == *id);
        let bag = bag.ok_or(ServicePurchaseError::NotOffered(at))?;
        let max = bag.service.max_quantity;
        let quantity = u8::try_from(*quantity)
            .ok()
            .filter(|requested| *requested <= max);
        let quantity = quantity.ok_or(ServicePurchaseError::QuantityExceeded { at, max })?;
        Ok((bag, quantity))
    });
    chosen.collect()
}

fn total_price(chosen: &[(&AvailableBag, u8)], price: Money) -> Money {
    let amounts = chosen.iter().map(|(bag, quantity)| {
        let unit_amount = bag.service.unit_amount;
        unit_amount.minor.saturating_mul(i64::from(*quantity))
    });
    Money::new(amounts.sum(), price.currency)
}

fn to_available_bag(booking: &FlightBooking, service: AvailableService) -> Option<AvailableBag> {
    let passengers = &booking.details.passengers;
    let passenger = passengers.get(usize::from(service.passenger))?;
    let mut hash = Sha256::new();
    hash.update(booking.id.as_str());
    hash.update(&service.supplier_service_id);
    let digest = hash.finalize();
    let (bits, _) = digest.split_first_chunk::<16>()?;
    Some(AvailableBag {
        id: ServiceId::from_bits(u128::from_be_bytes(*bits)),
        passenger: passenger.id.clone(),
        segment_ids: booking.segment_ids(&service.supplier_segment_ids),
        service,
    })
}
