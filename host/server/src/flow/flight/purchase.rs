//! Bags on a ticket that exists, each purchase with its own payment: authorize,
//! buy, capture. A key buys once, whatever becomes of the answer.

use crate::app::App;
use crate::flow::bookable::Bookable;
use crate::flow::flight::cancel::reference;
use crate::flow::step::FlowError;
use crate::idempotency::RequestKey;
use crate::instrument::InstrumentError;
use crate::seal::SealError;
use futures::FutureExt;
use host_domain::booking::PaymentCollector;
use host_domain::flight::booking::{
    BookedService, Booking, Event, ServicePurchase as Bought, ServicePurchaseState, ServiceStatus, State,
};
use host_domain::flight::supply::{AvailableService, ServiceType};
use host_domain::id::{BookingId, InstrumentId, PassengerId, PurchaseId, SegmentId, ServiceId};
use host_domain::leg::RemoteCall;
use host_domain::money::Money;
use host_domain::owner::Owner;
use host_domain::payment::{DeclineReason, Payment};
use host_domain::supplier::{Capability, ReadError, SupplierId};
use host_storage::{IdempotencyKey, IdempotencyRecord, UnitOfWork};
use sha2::{Digest, Sha256};
use std::sync::Arc;
use tokio::time::Instant;

/// The operation that purchase keys belong to.
const OPERATION: &str = "flight_services";

/// A bag that can be bought now.
#[derive(Debug, Clone)]
pub(crate) struct BagForSale {
    /// The same whenever the same bag is offered on the same booking.
    pub(crate) id: ServiceId,
    pub(crate) passenger: PassengerId,
    pub(crate) segment_ids: Vec<SegmentId>,
    pub(crate) service: AvailableService,
}

/// A caller's wish to buy.
#[derive(Debug, Clone)]
pub(crate) struct Purchase {
    pub(crate) owner: Owner,
    pub(crate) booking: BookingId,
    pub(crate) key: String,
    /// Of the parsed request.
    pub(crate) fingerprint: String,
    /// Which, and how many.
    pub(crate) services: Vec<(ServiceId, u32)>,
    pub(crate) instrument: InstrumentId,
    pub(crate) request_id: String,
    pub(crate) deadline: Instant,
}

/// What an earlier call with a key came to.
enum Earlier {
    /// On the ticket.
    Bought(Box<Booking>),
    /// Not known yet.
    AtWork,
    /// Nobody was asked for anything: the key is as good as new.
    Nothing,
}

/// How it does not succeed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PurchaseError {
    #[error(transparent)]
    Flow(FlowError),
    #[error("no such booking")]
    NotFound,
    #[error("the booking is {0}")]
    State(&'static str),
    #[error("the key was used for another request")]
    KeyReused,
    #[error("the supplier sells nothing after booking")]
    Unsupported,
    #[error("not offered on this booking now")]
    NotOffered(usize),
    #[error("more than can be bought")]
    TooMany { at: usize, max: u8 },
    #[error("the payment instrument is not good")]
    InstrumentInvalid,
    #[error("the payment instrument cannot be opened")]
    InstrumentSealed(#[source] SealError),
    #[error("the payment was declined")]
    PaymentFailed { requires_action: bool },
    #[error("the supplier refused")]
    Refused(SupplierId),
    #[error("nobody knows yet")]
    Unknown,
    #[error("nothing was sent to the supplier")]
    NotSent { overloaded: bool },
    #[error("the supplier did not say what it sells")]
    Supplier(SupplierId, ReadError),
}

impl<E: Into<FlowError>> From<E> for PurchaseError {
    fn from(error: E) -> Self {
        Self::Flow(error.into())
    }
}

impl From<InstrumentError> for PurchaseError {
    fn from(error: InstrumentError) -> Self {
        match error {
            InstrumentError::Database(error) => error.into(),
            InstrumentError::Sealed(error) => Self::InstrumentSealed(error),
        }
    }
}

impl App {
    /// The bags that the airline sells on a booking right now.
    pub(crate) async fn bags_for_sale(
        &self,
        owner: &Owner,
        id: &BookingId,
        request_id: &str,
        deadline: Instant,
    ) -> Result<(SupplierId, Vec<BagForSale>), PurchaseError> {
        let booking = ticket(self.owned(owner, id).await?)?;
        let walker = self.walker(request_id, deadline);
        match self.runtime.supplier(&booking.supplier) {
            Some(supplier) if supplier.supports(Capability::FlightServices) => {}
            Some(_) | None => return Ok((booking.supplier, Vec::new())),
        }
        let bags = self.ask_for_bags(&booking, &walker).await?;
        Ok((booking.supplier, bags))
    }

    async fn owned(&self, owner: &Owner, id: &BookingId) -> Result<Booking, PurchaseError> {
        let found = self.store.flight_booking(owner, id).await?;
        found.ok_or(PurchaseError::NotFound)
    }

    /// None are sold to a booking that carries bags already.
    async fn ask_for_bags(
        &self,
        booking: &Booking,
        walker: &crate::flow::step::Walker,
    ) -> Result<Vec<BagForSale>, PurchaseError> {
        if booking.has_bags() {
            return Ok(Vec::new());
        }
        let failed = |error| PurchaseError::Supplier(booking.supplier.clone(), error);
        let supplier = self.runtime.supplier(&booking.supplier);
        let supplier = supplier.ok_or_else(|| failed(ReadError::Unsupported))?;
        let context = self.call_context(booking, walker);
        let sold = supplier
            .list_flight_services(&context, reference(booking))
            .await;
        let price = Bookable::price(booking);
        let bags = sold
            .map_err(failed)?
            .into_iter()
            .filter(|service| service.service_type == ServiceType::Baggage)
            // What costs in another currency cannot be added to the booking's price.
            .filter(|service| service.unit_amount.currency == price.currency)
            .filter_map(|service| for_sale(booking, service));
        Ok(bags.collect())
    }

    /// Buys bags, once for each key. The booking with the bags on it.
    pub(crate) async fn buy_bags(
        self: &Arc<Self>,
        wish: Purchase,
    ) -> Result<Booking, PurchaseError> {
        let key = RequestKey {
            key: IdempotencyKey {
                owner: wish.owner.clone(),
                operation: OPERATION.to_owned(),
                key: wish.key.clone(),
            },
            fingerprint: wish.fingerprint.clone(),
        };
        loop {
            // Before the key: what the booking holds by this key, the key then tells.
            let booking = self.owned(&wish.owner, &wish.booking).await?;
            let earlier = match self.store.idempotency_record(&key.key).await? {
                Some(known) => self.earlier(&known, &wish).await?,
                None => Earlier::Nothing,
            };
            match earlier {
                Earlier::Bought(booking) => return Ok(*booking),
                Earlier::AtWork => {}
                Earlier::Nothing => {
                    let begun = self.begin_purchase(ticket(booking)?, &key, &wish);
                    if let Some(booking) = begun.await? {
                        return Ok(booking);
                    }
                }
            }
            if !self.wait_a_little(wish.deadline).await {
                return Err(PurchaseError::Unknown);
            }
        }
    }

    /// What an earlier call with this key came to.
    async fn earlier(
        &self,
        known: &IdempotencyRecord,
        wish: &Purchase,
    ) -> Result<Earlier, PurchaseError> {
        if known.fingerprint != wish.fingerprint {
            return Err(PurchaseError::KeyReused);
        }
        // Asked first: what nobody works on any more is then read as it was left.
        let walked = self.is_being_walked(Booking::JOB, &wish.booking).await?;
        let booking = self.owned(&wish.owner, &wish.booking).await?;
        let id = PurchaseId::parse(&known.resource_id).map_err(|_| PurchaseError::Unknown)?;
        let is_open = booking.purchase(&id).is_some_and(|p| p.call().is_some());
        if is_open && walked {
            return Ok(Earlier::AtWork);
        }
        match ended(booking, &id) {
            Ok(booking) => Ok(Earlier::Bought(Box::new(booking))),
            // Also when nobody was there any more to tell that it was not sent.
            Err(PurchaseError::NotSent { .. }) => Ok(Earlier::Nothing),
            Err(error) => Err(error),
        }
    }

    /// Stores the intent and walks; none when somebody else is at the booking.
    async fn begin_purchase(
        self: &Arc<Self>,
        booking: Booking,
        key: &RequestKey,
        wish: &Purchase,
    ) -> Result<Option<Booking>, PurchaseError> {
        let mut walker = self.walker(&wish.request_id, wish.deadline);
        let supplier = self.runtime.supplier(&booking.supplier);
        let sells = supplier.is_some_and(|s| s.supports(Capability::FlightServices));
        if !sells || booking.payment_collector == PaymentCollector::Supplier {
            return Err(PurchaseError::Unsupported);
        }
        if booking.open_purchase().is_some() {
            return Err(PurchaseError::State(booking.status().as_str()));
        }
        let for_sale = self.ask_for_bags(&booking, &walker).await?;
        let chosen = choose(&for_sale, &wish.services)?;
        let total = total(&chosen, Bookable::price(&booking));
        let instrument = self.open_instrument(&wish.owner, &wish.instrument).await?;
        let instrument = instrument.ok_or(PurchaseError::InstrumentInvalid)?;
        let payment = self.hold(total, &instrument);
        walker.instrument = Some(instrument);
        let event = self.purchase_started(&chosen, total, payment);
        let Event::PurchaseStarted { purchase, .. } = &event else {
            return Err(PurchaseError::Unknown);
        };
        let id = purchase.id.clone();
        let take_key = |write: &mut UnitOfWork| {
            // Of a purchase that was never sent, whose booking has not moved since.
            write.delete_idempotency_key(&key.key);
            write.insert_idempotency_key(&key.key, &key.fingerprint, id.as_str());
        };
        let started = self.start(booking, event, &walker, take_key).await?;
        let Some((booking, then)) = started else {
            return Ok(None);
        };
        let app = Arc::clone(self);
        let run = async move { app.go_on(booking, then, &walker).await };
        let walk = self.run_to_end(run.boxed());
        let Ok(walked) = tokio::time::timeout_at(wish.deadline, walk).await else {
            // The walk goes on; the caller's time is over.
            return Err(PurchaseError::Unknown);
        };
        ended(walked??, &id).map(Some)
    }

    fn purchase_started(
        &self,
        chosen: &[(&BagForSale, u8)],
        total: Money,
        payment: Payment,
    ) -> Event {
        let services: Vec<BookedService> = chosen
            .iter()
            .map(|(bag, quantity)| {
                let place = bag.service.passenger;
                BookedService {
                    id: ServiceId::from_bits(self.ids.bits()),
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
        let now = self.clock.now();
        let purchase = Bought {
            id: PurchaseId::from_bits(self.ids.bits()),
            services: services.iter().map(|service| service.id.clone()).collect(),
            payment: payment.id.clone(),
            total,
            state: ServicePurchaseState::InProgress { call: RemoteCall::pending(now) },
            failure: None,
            created_at: now,
        };
        Event::PurchaseStarted {
            purchase: Box::new(purchase),
            services,
            payment: Box::new(payment),
        }
    }
}

/// A booking to which bags can be added.
fn ticket(booking: Booking) -> Result<Booking, PurchaseError> {
    match booking.state {
        State::Confirmed { .. } => Ok(booking),
        State::Created
        | State::PrebookInProgress { .. }
        | State::ReadyForComplete
        | State::CompleteInProgress { .. }
        | State::CancelInProgress { .. }
        | State::Canceled
        | State::Failed
        | State::Expired => Err(PurchaseError::State(booking.status().as_str())),
    }
}

/// What became of a purchase that nobody is working on.
fn ended(booking: Booking, id: &PurchaseId) -> Result<Booking, PurchaseError> {
    let purchase = booking.purchase(id).ok_or(PurchaseError::Unknown)?;
    match &purchase.state {
        ServicePurchaseState::InProgress { .. } => Err(PurchaseError::Unknown),
        ServicePurchaseState::Succeeded => Ok(booking),
        ServicePurchaseState::Declined => {
            let payment = booking.payments.iter().find(|p| p.id == purchase.payment);
            let decline = payment.and_then(|payment| payment.decline_reason);
            match decline {
                Some(decline) => Err(PurchaseError::PaymentFailed {
                    requires_action: decline == DeclineReason::RequiresAction,
                }),
                // The processor was never asked.
                None => Err(PurchaseError::NotSent { overloaded: false }),
            }
        }
        ServicePurchaseState::Refused => Err(PurchaseError::Refused(booking.supplier)),
        ServicePurchaseState::NotSent => Err(PurchaseError::NotSent { overloaded: false }),
    }
}

fn choose<'a>(
    for_sale: &'a [BagForSale],
    wanted: &[(ServiceId, u32)],
) -> Result<Vec<(&'a BagForSale, u8)>, PurchaseError> {
    let chosen = wanted.iter().enumerate().map(|(at, (id, quantity))| {
        let bag = for_sale.iter().find(|bag| bag.id == *id);
        let bag = bag.ok_or(PurchaseError::NotOffered(at))?;
        let max = bag.service.max_quantity;
        let quantity = u8::try_from(*quantity).ok().filter(|wanted| *wanted <= max);
        let quantity = quantity.ok_or(PurchaseError::TooMany { at, max })?;
        Ok((bag, quantity))
    });
    chosen.collect()
}

fn total(chosen: &[(&BagForSale, u8)], price: Money) -> Money {
    let amounts = chosen.iter().map(|(bag, quantity)| {
        bag.service
            .unit_amount
            .minor
            .saturating_mul(i64::from(*quantity))
    });
    Money::new(amounts.sum(), price.currency)
}

fn for_sale(booking: &Booking, service: AvailableService) -> Option<BagForSale> {
    let passenger = booking.passengers.get(usize::from(service.passenger))?;
    let mut hash = Sha256::new();
    hash.update(booking.id.as_str());
    hash.update(&service.supplier_service_id);
    let digest = hash.finalize();
    let (bits, _) = digest.split_first_chunk::<16>()?;
    Some(BagForSale {
        id: ServiceId::from_bits(u128::from_be_bytes(*bits)),
        passenger: passenger.id.clone(),
        segment_ids: booking.segment_ids(&service.supplier_segment_ids),
        service,
    })
}
