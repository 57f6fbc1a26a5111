//! The steps of a flight booking.

pub(crate) mod cancel;
pub(crate) mod prebook;
pub(crate) mod purchase;
mod secret;

use crate::app::App;
use crate::flow::bookable::{Bookable, Stage};
use crate::flow::hotel::NOT_CONFIGURED;
use crate::flow::judge::{Judgement, flight as judge};
use crate::flow::payment::begin_payment;
use crate::flow::step::{Begin, Call, FlowError, Made, Walker, request_digest};
use crate::id::IdSource;
use crate::render;
use futures::FutureExt;
use futures::future::BoxFuture;
use host_domain::booking::{InvalidTransition, Failure, Expiry, Transition, Notification, PaymentCollector, ChangeSource};
use host_domain::event::Product;
use host_domain::flight::booking::{Booking, Event, State};
use host_domain::flight::step::Step;
use host_domain::flight::supply::{
    BookRequest, SupplierBooking, BuyRequest, CancelRequest, FindRequest, BookingLookup, SupplierService,
    ServiceOrderItem,
};
use host_domain::id::{BookingId, EventId, PaymentId};
use host_domain::leg::RemoteCall;
use host_domain::money::Money;
use host_domain::owner::Owner;
use host_domain::payment::{NextStep, Payment, PaymentEvent};
use host_domain::supplier::{SupplierBookingStatus, ChangeError, ReadError, SupplierId};
use host_domain::time::Timestamp;
use host_storage::{DatabaseError, Store, UnitOfWork};

impl Bookable for Booking {
    type Event = Event;
    type Step = Step;

    const JOB: &'static str = "flight_booking";
    const PRODUCT: Product = Product::Flight;

    fn id(&self) -> &BookingId {
        &self.id
    }

    fn owner(&self) -> &Owner {
        &self.owner
    }

    fn supplier(&self) -> &SupplierId {
        &self.supplier
    }

    fn version(&self) -> i64 {
        self.version
    }

    fn created_at(&self) -> Timestamp {
        self.created_at
    }

    fn updated_at(&self) -> Timestamp {
        self.updated_at
    }

    fn status_name(&self) -> &'static str {
        self.status().as_str()
    }

    fn stage(&self) -> Stage<'_> {
        match &self.state {
            State::Created | State::PrebookInProgress { .. } => Stage::Early,
            State::ReadyForComplete => Stage::Ready,
            State::CompleteInProgress { book } => Stage::Completing(book),
            State::Confirmed { .. } => Stage::Confirmed,
            State::CancelInProgress { .. } | State::Canceled => Stage::Leaving,
            State::Failed => Stage::Failed {
                bound: self.supplier_prebook.is_some(),
            },
            State::Expired => Stage::Expired,
        }
    }

    fn payments(&self) -> &[Payment] {
        &self.payments
    }

    fn settlement(&self) -> PaymentCollector {
        self.payment_collector
    }

    fn use_payment_sdk(&self) -> bool {
        self.use_payment_sdk
    }

    fn price(&self) -> Money {
        self.ticket_total.unwrap_or(self.offered_total)
    }

    fn expires_at(&self) -> Timestamp {
        self.offer_expires_at
    }

    fn apply(self, event: Event, now: Timestamp) -> Result<Transition<Self>, InvalidTransition> {
        Booking::apply(self, event, now)
    }

    fn next(&self, now: Timestamp) -> NextStep<Step> {
        Booking::next_step(self, now)
    }

    fn step_name(step: &Step) -> &'static str {
        step.name()
    }

    fn begin(&self, step: &Step, next_at: Timestamp) -> Option<Begin<Event>> {
        let mark = |event, client_reference: String, digest| {
            let call = Call {
                target: self.supplier.clone(),
                client_reference,
                request_digest: digest,
            };
            Begin::Mark(event, call)
        };
        Some(match step {
            Step::Book => {
                let digest = request_digest(&(&self.supplier_prebook, self.ticket_total));
                mark(Event::BookSent { next_at }, self.id.to_string(), digest)
            }
            Step::ReconcileBooking => Begin::Read(Made::by("book")),
            Step::Refresh => Begin::Read(Made::by("reread")),
            Step::Cancel => {
                let request = cancel_request(self)?;
                let digest = request_digest(&request);
                mark(
                    Event::CancelSent { next_at },
                    request.client_reference,
                    digest,
                )
            }
            Step::ReconcileCancellation => Begin::Read(Made::by("cancel")),
            Step::BuyServices => {
                let request = buy_request(self)?;
                let digest = request_digest(&request);
                mark(
                    Event::PurchaseSent { next_at },
                    request.client_reference,
                    digest,
                )
            }
            Step::ReconcilePurchase => Begin::Read(Made::by("buy")),
            Step::Payment(step) => return begin_payment(self, step, next_at),
        })
    }

    fn act<'a>(
        &'a self,
        step: &'a Step,
        app: &'a App,
        walker: &'a Walker,
    ) -> BoxFuture<'a, Result<Judgement<Event>, FlowError>> {
        app.act_flight(self, step, walker).boxed()
    }

    fn payment_event(id: PaymentId, event: PaymentEvent) -> Event {
        Event::Payment { id, event }
    }

    fn prebook_started() -> Event {
        Event::PrebookStarted
    }

    fn prebook_refused() -> Event {
        Event::PrebookRefused(Failure::new(
            "prebook_failed",
            "The supplier did not bind the fare.",
        ))
    }

    fn lapsed(lapse: Expiry) -> Event {
        match lapse {
            Expiry::Prebook => Event::PrebookTimedOut,
            Expiry::Offer => Event::OfferExpired,
        }
    }

    fn hinted(by: ChangeSource) -> Event {
        Event::ChangeReported(by)
    }

    fn book_started(payment: Option<Payment>) -> Event {
        Event::BookStarted { payment }
    }

    fn open_call(&self) -> Option<(&'static str, &RemoteCall)> {
        match &self.state {
            State::CompleteInProgress { book } => Some(("book", book)),
            State::CancelInProgress { cancel } => Some(("cancel", cancel)),
            State::Confirmed { .. } => {
                let leg = self.open_purchase().and_then(|purchase| purchase.call());
                leg.map(|leg| ("buy", leg))
            }
            State::Created
            | State::PrebookInProgress { .. }
            | State::ReadyForComplete
            | State::Canceled
            | State::Failed
            | State::Expired => None,
        }
    }

    fn held_refund(&self) -> Option<fn(Money) -> Event> {
        self.is_refund_undecided()
            .then_some(Event::RefundDecided as fn(Money) -> Event)
    }

    fn settled(&self, step: &'static str, reference: Option<&str>, ids: &dyn IdSource) -> Event {
        let failure = Failure::new;
        match (step, reference) {
            ("book", Some(reference)) => Event::BookConfirmed {
                state: Box::new(believed(self, reference, SupplierBookingStatus::Confirmed)),
                payment: PaymentId::from_bits(ids.bits()),
            },
            ("book", None) => {
                Event::BookRefused(failure("book_failed", "The supplier has no such booking."))
            }
            ("buy", Some(reference)) => Event::PurchaseSucceeded(Box::new(believed(
                self,
                reference,
                SupplierBookingStatus::Confirmed,
            ))),
            ("buy", None) => Event::PurchaseRefused(failure(
                "purchase_failed",
                "The supplier did not sell the extras.",
            )),
            (_, Some(reference)) => {
                Event::CancelSucceeded(Box::new(believed(self, reference, SupplierBookingStatus::Canceled)))
            }
            (_, None) => Event::CancelRefused(failure(
                "cancel_refused",
                "The supplier refused the cancellation.",
            )),
        }
    }

    fn supplier_reference(&self) -> Option<&str> {
        self.supplier_reference.as_deref()
    }

    fn insert(&self, write: &mut UnitOfWork) {
        write.insert_flight_booking(self);
    }

    fn update(&self, read_version: i64, write: &mut UnitOfWork) {
        write.update_flight_booking(self, read_version);
    }

    fn payload(&self, id: &EventId, notice: &Notification) -> String {
        render::flight_event_payload(id, notice, self)
    }

    fn load<'a>(
        store: &'a Store,
        id: &'a BookingId,
    ) -> BoxFuture<'a, Result<Option<Self>, DatabaseError>> {
        store.flight_booking_unscoped(id).boxed()
    }

    fn find<'a>(
        store: &'a Store,
        owner: &'a Owner,
        id: &'a BookingId,
    ) -> BoxFuture<'a, Result<Option<Self>, DatabaseError>> {
        store.flight_booking(owner, id).boxed()
    }
}

impl App {
    async fn act_flight(
        &self,
        booking: &Booking,
        step: &Step,
        walker: &Walker,
    ) -> Result<Judgement<Event>, FlowError> {
        let promises = self.promises(&booking.supplier);
        let gone = || FlowError::Gone(booking.id.clone());
        let asked_at = self.clock.now();
        let times = || self.times().asked_at(asked_at);
        Ok(match step {
            Step::Book => {
                let answer = self.book_flight(booking, walker).await;
                judge::booked(booking, answer, self.new_payment(), times())
            }
            Step::ReconcileBooking => {
                let answer = self.read_flight_back(booking, walker).await;
                let payment = self.new_payment();
                judge::found(booking, answer, payment, promises, times())
            }
            Step::Refresh => {
                let answer = self.read_flight_back(booking, walker).await;
                judge::reread(booking, answer, times())
            }
            Step::Cancel => {
                let request = cancel_request(booking).ok_or_else(gone)?;
                let answer = match self.runtime.supplier(&booking.supplier) {
                    Some(supplier) => {
                        let context = self.call_context(booking, walker);
                        supplier.cancel_flight(&context, request).await
                    }
                    None => Err(not_configured()),
                };
                judge::canceled(booking, answer, times())
            }
            Step::ReconcileCancellation => {
                let answer = self.read_flight_back(booking, walker).await;
                judge::found_canceling(booking, answer, promises, times())
            }
            Step::BuyServices => {
                let request = buy_request(booking).ok_or_else(gone)?;
                let answer = match self.runtime.supplier(&booking.supplier) {
                    Some(supplier) => {
                        let context = self.call_context(booking, walker);
                        supplier.buy_flight_services(&context, request).await
                    }
                    None => Err(not_configured()),
                };
                judge::bought(booking, answer, times())
            }
            Step::ReconcilePurchase => {
                let answer = self.read_flight_back(booking, walker).await;
                judge::found_purchase(booking, answer, promises, times())
            }
            Step::Payment(step) => return self.act_payment(booking, step, walker).await,
        })
    }

    async fn book_flight(
        &self,
        booking: &Booking,
        walker: &Walker,
    ) -> Result<SupplierBooking, ChangeError> {
        let passengers = self
            .open_passengers(booking)
            .map_err(|error| ChangeError::NotSent(error.to_string()))?;
        let request = BookRequest {
            client_reference: booking.id.to_string(),
            supplier_prebook: booking.supplier_prebook.clone().unwrap_or_default(),
            total: Bookable::price(booking),
            contact: booking.contact.clone(),
            passengers,
        };
        let supplier = self.runtime.supplier(&booking.supplier);
        let supplier = supplier.ok_or_else(not_configured)?;
        let context = self.call_context(booking, walker);
        let answer = supplier.book_flight(&context, request).await;
        if let Ok(state) = &answer
            && Some(state.total) != booking.ticket_total
        {
            tracing::warn!(booking = %booking.id, "the supplier booked at another total than it bound");
        }
        answer
    }

    async fn read_flight_back(
        &self,
        booking: &Booking,
        walker: &Walker,
    ) -> Result<BookingLookup, ReadError> {
        let request = FindRequest {
            client_reference: booking.id.to_string(),
            supplier_reference: booking.supplier_reference.clone(),
            supplier_prebook: booking.supplier_prebook.clone(),
            since: booking.created_at,
        };
        match self.runtime.supplier(&booking.supplier) {
            Some(supplier) => {
                let context = self.call_context(booking, walker);
                supplier.find_flight_booking(&context, request).await
            }
            None => Err(ReadError::Misconfigured(NOT_CONFIGURED.to_owned())),
        }
    }

    /// An id for what a supplier that collects payment will have collected.
    fn new_payment(&self) -> PaymentId {
        PaymentId::from_bits(self.ids.bits())
    }
}

fn not_configured() -> ChangeError {
    ChangeError::NotSent(NOT_CONFIGURED.to_owned())
}

fn cancel_request(booking: &Booking) -> Option<CancelRequest> {
    Some(CancelRequest {
        client_reference: booking.cancellation_client_reference(),
        booking_client_reference: booking.id.to_string(),
        supplier_reference: booking.supplier_reference.clone()?,
    })
}

fn buy_request(booking: &Booking) -> Option<BuyRequest> {
    let purchase = booking.open_purchase()?;
    let bought = booking.services.iter();
    let bought = bought.filter(|service| purchase.services.contains(&service.id));
    Some(BuyRequest {
        client_reference: booking.purchase_client_reference(&purchase.id),
        booking_client_reference: booking.id.to_string(),
        supplier_reference: booking.supplier_reference.clone()?,
        total: purchase.total,
        services: bought
            .map(|service| ServiceOrderItem {
                supplier_service_id: service.supplier_service_id.clone(),
                quantity: service.quantity,
                unit_amount: service.unit_amount,
            })
            .collect(),
    })
}

/// The booking as the operator says that the supplier has it.
fn believed(booking: &Booking, supplier_reference: &str, status: SupplierBookingStatus) -> SupplierBooking {
    let on_ticket = booking.services.iter().map(|service| SupplierService {
        supplier_service_id: service.supplier_service_id.clone(),
        service_type: service.service_type,
        passenger: Some(service.passenger),
        supplier_segment_ids: service.supplier_segment_ids.clone(),
        baggage: service.baggage,
        quantity: service.quantity,
        unit_amount: service.unit_amount,
    });
    SupplierBooking {
        status,
        supplier_reference: supplier_reference.to_owned(),
        client_reference: Some(booking.id.to_string()),
        airline_pnr: booking.airline_pnr.clone(),
        total: booking.total().unwrap_or(booking.offered_total),
        fare: None,
        fare_tax: None,
        journeys: Vec::new(),
        services: on_ticket.collect(),
        changes: Vec::new(),
        cancellation: None,
    }
}
