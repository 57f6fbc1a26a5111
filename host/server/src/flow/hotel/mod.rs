//! The steps of a hotel booking.

pub(crate) mod cancel;
pub(crate) mod prebook;

use crate::app::App;
use crate::flow::bookable::{Bookable, Stage};
use crate::flow::judge::{Judgement, hotel as judge};
use crate::flow::payment::begin_payment;
use crate::flow::step::{Begin, Call, FlowError, Made, Walker, request_digest};
use crate::id::IdSource;
use crate::render;
use futures::FutureExt;
use futures::future::BoxFuture;
use host_domain::booking::{InvalidTransition, Failure, Expiry, Transition, Notification, PaymentCollector, ChangeSource};
use host_domain::event::Product;
use host_domain::hotel::booking::{Booking, CancellationStatus, Event, State};
use host_domain::hotel::step::Step;
use host_domain::hotel::supply::{
    BookRequest, SupplierBooking, CancelRequest, FindRequest, BookingLookup, RoomReference,
};
use host_domain::id::{BookingId, CancellationId, EventId, PaymentId, RefundId};
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

    const JOB: &'static str = "hotel_booking";
    const PRODUCT: Product = Product::Hotel;

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
            State::CancelInProgress { .. } | State::PartiallyCanceled { .. } | State::Canceled => {
                Stage::Leaving
            }
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
        self.total
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
        Some(match step {
            Step::Book => {
                let request = book_request(self);
                let call = Call {
                    target: self.supplier.clone(),
                    client_reference: request.client_reference.clone(),
                    request_digest: request_digest(&request),
                };
                Begin::Mark(Event::BookSent { reconcile_at: next_at }, call)
            }
            Step::ReconcileBooking => Begin::Read(Made::by("book")),
            Step::Refresh => Begin::Read(Made::by("reread")),
            Step::Cancel => {
                let request = cancel_request(self)?;
                let call = Call {
                    target: self.supplier.clone(),
                    client_reference: request.client_reference.clone(),
                    request_digest: request_digest(&request),
                };
                Begin::Mark(Event::CancelSent { next_at }, call)
            }
            Step::ReconcileCancellation => Begin::Read(Made::by("cancel")),
            Step::Payment(step) => return begin_payment(self, step, next_at),
        })
    }

    fn act<'a>(
        &'a self,
        step: &'a Step,
        app: &'a App,
        walker: &'a Walker,
    ) -> BoxFuture<'a, Result<Judgement<Event>, FlowError>> {
        app.act_hotel(self, step, walker).boxed()
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
            "The supplier did not bind the offer.",
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
            State::CancelInProgress { cancel, .. } => Some(("cancel", cancel)),
            State::Created
            | State::PrebookInProgress { .. }
            | State::ReadyForComplete
            | State::Confirmed { .. }
            | State::PartiallyCanceled { .. }
            | State::Canceled
            | State::Failed
            | State::Expired => None,
        }
    }

    fn settled(&self, step: &'static str, reference: Option<&str>, ids: &dyn IdSource) -> Event {
        match (step, reference) {
            ("book", Some(reference)) => {
                let state = believed(self, reference, SupplierBookingStatus::Confirmed);
                Event::BookConfirmed(Box::new(state))
            }
            ("book", None) => Event::BookRefused(Failure::new(
                "book_failed",
                "The supplier has no such booking.",
            )),
            (_, Some(reference)) => Event::CancelSucceeded {
                supplier_booking: Box::new(believed(self, reference, SupplierBookingStatus::Canceled)),
                refund: RefundId::from_bits(ids.bits()),
            },
            (_, None) => Event::CancelRefused(Failure::new(
                "cancel_refused",
                "The supplier refused the cancellation.",
            )),
        }
    }

    fn supplier_reference(&self) -> Option<&str> {
        self.supplier_reference.as_deref()
    }

    fn insert(&self, write: &mut UnitOfWork) {
        write.insert_hotel_booking(self);
    }

    fn update(&self, read_version: i64, write: &mut UnitOfWork) {
        write.update_hotel_booking(self, read_version);
    }

    fn payload(&self, id: &EventId, notice: &Notification) -> String {
        render::event_payload(id, notice, self)
    }

    fn load<'a>(
        store: &'a Store,
        id: &'a BookingId,
    ) -> BoxFuture<'a, Result<Option<Self>, DatabaseError>> {
        store.hotel_booking_unscoped(id).boxed()
    }

    fn find<'a>(
        store: &'a Store,
        owner: &'a Owner,
        id: &'a BookingId,
    ) -> BoxFuture<'a, Result<Option<Self>, DatabaseError>> {
        store.hotel_booking(owner, id).boxed()
    }
}

impl App {
    async fn act_hotel(
        &self,
        booking: &Booking,
        step: &Step,
        walker: &Walker,
    ) -> Result<Judgement<Event>, FlowError> {
        let asked_at = self.clock.now();
        match step {
            Step::Book => Ok(self.book_hotel(booking, walker).await),
            Step::ReconcileBooking => {
                let answer = self.read_hotel_back(booking, walker).await;
                let promises = self.promises(&booking.supplier);
                let times = self.times().asked_at(asked_at);
                Ok(judge::found(booking, answer, promises, times))
            }
            Step::Refresh => {
                let answer = self.read_hotel_back(booking, walker).await;
                let cancellation = CancellationId::from_bits(self.ids.bits());
                let refund = self.new_refund();
                let times = self.times().asked_at(asked_at);
                Ok(judge::reread(booking, answer, cancellation, refund, times))
            }
            Step::Cancel => self.cancel_hotel(booking, walker).await,
            Step::ReconcileCancellation => {
                let answer = self.read_hotel_back(booking, walker).await;
                let promises = self.promises(&booking.supplier);
                let refund = self.new_refund();
                let times = self.times().asked_at(asked_at);
                Ok(judge::found_canceling(
                    booking, answer, refund, promises, times,
                ))
            }
            Step::Payment(step) => self.act_payment(booking, step, walker).await,
        }
    }

    async fn book_hotel(&self, booking: &Booking, walker: &Walker) -> Judgement<Event> {
        let answer = match self.runtime.supplier(&booking.supplier) {
            Some(supplier) => {
                let context = self.call_context(booking, walker);
                supplier.book_hotel(&context, book_request(booking)).await
            }
            None => Err(ChangeError::NotSent(NOT_CONFIGURED.to_owned())),
        };
        if let Ok(state) = &answer
            && state.total != booking.total
        {
            tracing::warn!(booking = %booking.id, "the supplier booked at another total than it bound");
        }
        judge::booked(booking, answer, self.times())
    }

    async fn cancel_hotel(
        &self,
        booking: &Booking,
        walker: &Walker,
    ) -> Result<Judgement<Event>, FlowError> {
        let request = cancel_request(booking).ok_or_else(|| FlowError::Gone(booking.id.clone()))?;
        let answer = match self.runtime.supplier(&booking.supplier) {
            Some(supplier) => {
                let context = self.call_context(booking, walker);
                let currency = booking.total.currency;
                supplier.cancel_hotel(&context, request, currency).await
            }
            None => Err(ChangeError::NotSent(NOT_CONFIGURED.to_owned())),
        };
        let refund = self.new_refund();
        Ok(judge::canceled(booking, answer, refund, self.times()))
    }

    fn new_refund(&self) -> RefundId {
        RefundId::from_bits(self.ids.bits())
    }

    async fn read_hotel_back(
        &self,
        booking: &Booking,
        walker: &Walker,
    ) -> Result<BookingLookup, ReadError> {
        let request = FindRequest {
            client_reference: booking.id.to_string(),
            supplier_reference: booking.supplier_reference.clone(),
            supplier_prebook: booking.supplier_prebook.clone(),
        };
        match self.runtime.supplier(&booking.supplier) {
            Some(supplier) => {
                let context = self.call_context(booking, walker);
                supplier.find_hotel_booking(&context, request).await
            }
            None => Err(ReadError::Misconfigured(NOT_CONFIGURED.to_owned())),
        }
    }
}

/// Why a call was not made whose supplier was taken out of the configuration.
pub(crate) const NOT_CONFIGURED: &str = "the supplier is not configured";

fn book_request(booking: &Booking) -> BookRequest {
    BookRequest {
        client_reference: booking.id.to_string(),
        supplier_prebook: booking.supplier_prebook.clone().unwrap_or_default(),
        supplier_hotel_id: booking.hotel.supplier_hotel_id.clone(),
        stay: booking.stay.clone(),
        total: booking.total,
        contact: booking.contact.clone(),
        rooms: guests(booking),
    }
}

/// Everybody's names, room by room.
pub(crate) fn guests(booking: &Booking) -> Vec<Vec<host_domain::hotel::Guest>> {
    let rooms = booking.rooms.iter();
    rooms
        .map(|room| room.guests.iter().map(|(_, guest)| guest.clone()).collect())
        .collect()
}

pub(crate) fn cancel_request(booking: &Booking) -> Option<CancelRequest> {
    let running = booking
        .cancellations
        .iter()
        .find(|c| c.status == CancellationStatus::InProgress)?;
    let rooms = booking
        .rooms
        .iter()
        .enumerate()
        .filter(|(_, room)| running.is_partial && running.room_ids.contains(&room.id));
    let rooms = rooms.filter_map(|(position, room)| {
        Some(RoomReference {
            position: u8::try_from(position).ok()?,
            supplier_room_reference: room.supplier_reference.clone(),
        })
    });
    Some(CancelRequest {
        client_reference: booking.cancellation_client_reference(&running.id),
        booking_client_reference: booking.id.to_string(),
        supplier_reference: booking.supplier_reference.clone()?,
        rooms: rooms.collect(),
    })
}

/// The booking as the operator says that the supplier has it.
fn believed(booking: &Booking, supplier_reference: &str, status: SupplierBookingStatus) -> SupplierBooking {
    SupplierBooking {
        status,
        supplier_reference: supplier_reference.to_owned(),
        client_reference: Some(booking.id.to_string()),
        total: booking.total,
        hotel_confirmation_code: booking.hotel_confirmation_code.clone(),
        remarks: booking.hotel_remarks.clone(),
        rooms: Vec::new(),
        policy: booking.policy.clone(),
        cancellation: None,
    }
}
