//! From offer to booking: re-check the price, bind it, make the browser's payment.
//!
//! Nothing is owed at this stage, so an unanswered prebook may be given up.

use crate::app::App;
use crate::flow::judge::{Judgement, Outcome};
use crate::flow::payment::STATEMENT;
use crate::flow::refusal::Decision;
use crate::flow::step::{FlowError, HOTEL_BOOKING_JOB, Walker};
use futures::FutureExt;
use host_domain::hotel::booking::{Booking, Event, Failure, Room, Settlement, State};
use host_domain::hotel::offer::{Board, Contact, Guest, HotelSummary, Stay};
use host_domain::hotel::supply::{PrebookRequest, Prebooked};
use host_domain::id::{BookingId, GuestId, HotelId, PaymentId, RoomId};
use host_domain::money::Money;
use host_domain::owner::Owner;
use host_domain::payment::{Payment, PaymentError};
use host_domain::supplier::{ChangeError, Checkout, RefusalReason, SupplierId};
use host_domain::time::Timestamp;
use host_runtime::IntentRequest;
use host_storage::{BookingEvent, CommitError, Conflict, IdempotencyKey, Write};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tokio::time::Instant;

/// The operation that prebook keys belong to.
const OPERATION: &str = "hotel_prebook";

/// What an offer reference holds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct OfferTerms {
    pub(crate) supplier: SupplierId,
    pub(crate) hotel_id: HotelId,
    pub(crate) hotel: HotelSummary,
    pub(crate) supplier_offer: String,
    pub(crate) stay: Stay,
    pub(crate) total: Money,
    pub(crate) rooms: Vec<OfferedRoom>,
    pub(crate) expires_at: Timestamp,
}

/// A room of an offer, as far as a booking shows it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct OfferedRoom {
    pub(crate) name: String,
    pub(crate) board: Board,
    pub(crate) board_name: String,
    pub(crate) total: Money,
}

/// A caller's wish to bind an offer.
#[derive(Debug, Clone)]
pub(crate) struct Prebook {
    pub(crate) owner: Owner,
    pub(crate) key: String,
    /// Of the parsed request.
    pub(crate) fingerprint: String,
    pub(crate) offer: OfferTerms,
    pub(crate) reference_id: Option<String>,
    pub(crate) contact: Contact,
    pub(crate) rooms: Vec<Vec<Guest>>,
    pub(crate) use_payment_sdk: bool,
    pub(crate) request_id: String,
    pub(crate) deadline: Instant,
}

/// How a prebook ends well.
#[derive(Debug)]
pub(crate) enum Prebound {
    /// Bound now. Tokens are shown this once.
    Fresh {
        booking: Box<Booking>,
        sdk_token: Option<String>,
        checkout: Option<Checkout>,
    },
    /// Made by an earlier call with this key, as it is now.
    Existing(Box<Booking>),
}

/// How it does not.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PrebookError {
    #[error(transparent)]
    Flow(FlowError),
    #[error("the key was used for another request")]
    KeyReused,
    #[error("an earlier call with this key is running")]
    InProgress,
    #[error("the supplier decided against it")]
    Decided(Decision),
    #[error("nothing was sent to the supplier")]
    NotSent { overloaded: bool },
    #[error("the supplier's answer did not come or cannot be used")]
    NoAnswer { timed_out: bool },
    #[error("our account at the supplier does not work")]
    Account,
    #[error("the supplier does not book")]
    Unsupported,
}

impl<E: Into<FlowError>> From<E> for PrebookError {
    fn from(error: E) -> Self {
        Self::Flow(error.into())
    }
}

impl Prebook {
    fn idempotency_key(&self) -> IdempotencyKey {
        IdempotencyKey {
            owner: self.owner.clone(),
            operation: OPERATION.to_owned(),
            key: self.key.clone(),
        }
    }
}

impl App {
    /// Binds an offer; repeated with its key, gives what the first call made.
    pub(crate) async fn prebook_hotel(
        self: &Arc<Self>,
        wish: Prebook,
    ) -> Result<Prebound, PrebookError> {
        let supplier = self
            .runtime
            .supplier(&wish.offer.supplier)
            .ok_or(PrebookError::Unsupported)?;
        let settlement = if supplier.info().description.collects_payment {
            Settlement::Supplier
        } else {
            Settlement::Gateway
        };
        loop {
            if let Some(existing) = self.prebooked_before(&wish).await? {
                return Ok(existing);
            }
            if wish.offer.expires_at <= self.clock.now() {
                return Err(PrebookError::Decided(Decision::Expired));
            }
            let walker = self.walker(&wish.request_id, wish.deadline);
            let booking = self.new_hotel_booking(&wish, settlement);
            match self.begin_prebook(booking, &wish, &walker).await? {
                Some(booking) => {
                    let app = Arc::clone(self);
                    let use_sdk = wish.use_payment_sdk && settlement == Settlement::Gateway;
                    let id = booking.id.clone();
                    let run = async move {
                        app.holding(
                            &id,
                            &walker,
                            app.bind(booking, use_sdk, &wish, &walker).boxed(),
                        )
                        .await
                    };
                    return self.run_to_end(run.boxed()).await?;
                }
                // Another call with the same key was faster.
                None => continue,
            }
        }
    }

    /// What an earlier call with this key made; waits while it is being made.
    async fn prebooked_before(&self, wish: &Prebook) -> Result<Option<Prebound>, PrebookError> {
        loop {
            let Some(known) = self.store.idempotency(&wish.idempotency_key()).await? else {
                return Ok(None);
            };
            if known.fingerprint != wish.fingerprint {
                return Err(PrebookError::KeyReused);
            }
            if let Some(refusal) = known.refusal {
                return Err(PrebookError::Decided(Decision::from_text(&refusal)));
            }
            let id = BookingId::parse(&known.resource_id).map_err(|_| PrebookError::InProgress)?;
            let booking = self
                .store
                .load_hotel_booking(&id)
                .await?
                .ok_or(PrebookError::InProgress)?;
            let unbound = matches!(
                booking.state,
                State::Created | State::PrebookInProgress { .. }
            );
            if !unbound || !self.is_being_walked(&id).await? {
                return Ok(Some(Prebound::Existing(Box::new(booking))));
            }
            if !self.wait_a_little(wish.deadline).await {
                return Err(PrebookError::InProgress);
            }
        }
    }

    /// Stores the booking, the key and the claim on the work in one
    /// transaction; none when the key is taken.
    async fn begin_prebook(
        &self,
        booking: Booking,
        wish: &Prebook,
        walker: &Walker,
    ) -> Result<Option<Booking>, PrebookError> {
        let mut write = Write::new(booking.created_at);
        write
            .take_idempotency_key(
                &wish.idempotency_key(),
                &wish.fingerprint,
                booking.id.as_str(),
            )
            .insert_hotel_booking(&booking)
            .record_booking_event(
                &booking.owner.tenant,
                &accepted(&booking, &walker.request_id),
            )
            .insert_claimed_job(
                HOTEL_BOOKING_JOB,
                booking.id.as_str(),
                &walker.lease_token,
                self.lease_ms(),
            );
        let started = booking.apply(Event::PrebookStarted, self.clock.now())?;
        write.append(self.write_of(&started, None, &walker.request_id));
        match self.store.commit(write).await {
            Ok(()) => Ok(Some(started.booking)),
            Err(CommitError::Conflict(Conflict::IdempotencyKeyTaken)) => Ok(None),
            Err(CommitError::Conflict(conflict)) => {
                tracing::error!(%conflict, "a new booking met a conflict");
                Err(FlowError::Contended(started.booking.id).into())
            }
            Err(CommitError::Database(error)) => Err(error.into()),
        }
    }

    async fn bind(
        &self,
        booking: Booking,
        use_sdk: bool,
        wish: &Prebook,
        walker: &Walker,
    ) -> Result<Prebound, PrebookError> {
        let target = booking.supplier.clone();
        let request = prebook_request(&booking);
        let Some(supplier) = self.runtime.supplier(&target) else {
            return Err(PrebookError::Unsupported);
        };
        let answer = supplier
            .prebook_hotel(&self.call_context(&booking, walker), request)
            .await;
        let bound = match answer {
            Ok(bound)
                if bound.total.currency != booking.total.currency
                    || bound.rooms.len() != booking.rooms.len() =>
            {
                return self
                    .end_prebook(
                        booking,
                        PrebookError::NoAnswer { timed_out: false },
                        wish,
                        walker,
                    )
                    .await;
            }
            Ok(bound) if bound.total.minor > booking.total.minor => {
                let decision = Decision::PriceChanged {
                    offered: booking.total,
                    current: bound.total,
                };
                return self
                    .end_prebook(booking, PrebookError::Decided(decision), wish, walker)
                    .await;
            }
            Ok(bound) => bound,
            Err(error) => {
                let error = prebook_error(error, booking.total, walker.deadline <= Instant::now());
                return self.end_prebook(booking, error, wish, walker).await;
            }
        };
        let (payment, sdk_token) = match self
            .browser_payment(&booking, &bound, use_sdk, walker)
            .await
        {
            Ok(made) => made,
            Err(error) => return self.end_prebook(booking, error, wish, walker).await,
        };
        let checkout = bound.checkout.clone();
        let expires_at = bound
            .expires_at
            .unwrap_or_else(|| self.clock.now().plus_s(self.offer_ttl_s()));
        let event = Event::PrebookBound {
            bound: Box::new(bound),
            expires_at,
            payment,
        };
        let judgement = Judgement {
            event,
            outcome: Outcome::Done,
            evidence: "bound".to_owned(),
            reference: None,
        };
        let booking = self
            .record(booking, "prebook", None, judgement, walker)
            .await?;
        let booking = self.drive_hotel(booking, walker).await?;
        Ok(Prebound::Fresh {
            booking: Box::new(booking),
            sdk_token,
            checkout,
        })
    }

    async fn browser_payment(
        &self,
        booking: &Booking,
        bound: &Prebooked,
        use_sdk: bool,
        walker: &Walker,
    ) -> Result<(Option<Payment>, Option<String>), PrebookError> {
        if !use_sdk {
            return Ok((None, None));
        }
        let processor = self
            .suppliers
            .processor(booking.owner.tenant.mode)
            .and_then(|id| self.runtime.supplier(id));
        let processor = processor.ok_or(PrebookError::Unsupported)?;
        let id = PaymentId::from_bits(self.ids.bits());
        let request = IntentRequest {
            client_reference: booking.payment_reference(&id, "intent", 0),
            amount: bound.total,
            description: STATEMENT.to_owned(),
        };
        let intent = processor
            .create_intent(&self.call_context(booking, walker), request)
            .await;
        let intent = intent.map_err(|error| match error {
            PaymentError::NotSent(_) => PrebookError::NotSent { overloaded: false },
            PaymentError::Declined(_) | PaymentError::Refused(_) | PaymentError::Unknown(_) => {
                PrebookError::NoAnswer { timed_out: false }
            }
        })?;
        let payment = Payment::by_browser(
            id,
            bound.total,
            processor.info().id.clone(),
            intent.processor_reference,
            self.clock.now(),
        );
        Ok((Some(payment), Some(intent.token)))
    }

    /// Ends a prebook that did not bind, and says why again when asked again.
    async fn end_prebook(
        &self,
        booking: Booking,
        error: PrebookError,
        wish: &Prebook,
        walker: &Walker,
    ) -> Result<Prebound, PrebookError> {
        if matches!(error, PrebookError::NoAnswer { .. }) {
            // It may have been bound: kept until the timer of this stage, and only this stage, decides.
            self.drive_hotel(booking, walker).await?;
            return Err(error);
        }
        let failure = Failure {
            code: "prebook_failed".to_owned(),
            description: "The supplier did not bind the offer.".to_owned(),
        };
        let moved = booking.apply(Event::PrebookRefused(failure), self.clock.now())?;
        let mut write = self.write_of(&moved, Some(&error.to_string()), &walker.request_id);
        write.finish_job(
            HOTEL_BOOKING_JOB,
            moved.booking.id.as_str(),
            &walker.lease_token,
        );
        match &error {
            PrebookError::Decided(decision) => {
                write.keep_refusal(&wish.idempotency_key(), &decision.to_text())
            }
            _ => write.free_idempotency_key(&wish.idempotency_key()),
        };
        match self.store.commit(write).await {
            Ok(()) => Err(error),
            Err(CommitError::Conflict(_)) => Err(FlowError::LeaseLost(moved.booking.id).into()),
            Err(CommitError::Database(error)) => Err(error.into()),
        }
    }

    fn new_hotel_booking(&self, wish: &Prebook, settlement: Settlement) -> Booking {
        let now = self.clock.now();
        let offer = &wish.offer;
        let rooms = offer
            .rooms
            .iter()
            .zip(&wish.rooms)
            .zip(&offer.stay.occupancies)
            .map(|((room, guests), occupancy)| Room {
                id: RoomId::from_bits(self.ids.bits()),
                name: room.name.clone(),
                board: room.board,
                board_name: room.board_name.clone(),
                adults: occupancy.adults,
                children: occupancy.children.clone(),
                total: room.total,
                due_at_property: None,
                policy: None,
                supplier_reference: None,
                hotel_confirmation_code: None,
                canceled_at: None,
                guests: guests
                    .iter()
                    .map(|guest| (GuestId::from_bits(self.ids.bits()), guest.clone()))
                    .collect(),
            });
        Booking {
            id: BookingId::from_bits(self.ids.bits()),
            owner: wish.owner.clone(),
            version: 1,
            supplier: offer.supplier.clone(),
            hotel_id: offer.hotel_id.clone(),
            hotel: offer.hotel.clone(),
            reference_id: wish.reference_id.clone(),
            supplier_offer: offer.supplier_offer.clone(),
            supplier_prebook: None,
            supplier_reference: None,
            stay: offer.stay.clone(),
            contact: wish.contact.clone(),
            rooms: rooms.collect(),
            total: offer.total,
            policy: None,
            promotions: Vec::new(),
            loyalty: None,
            use_payment_sdk: wish.use_payment_sdk,
            settlement,
            hotel_confirmation_code: None,
            hotel_remarks: None,
            offer_expires_at: offer.expires_at,
            state: State::Created,
            payments: Vec::new(),
            cancellations: Vec::new(),
            failure: None,
            created_at: now,
            updated_at: now,
            confirmed_at: None,
            canceled_at: None,
        }
    }
}

/// The first line of a booking's history.
fn accepted(booking: &Booking, request_id: &str) -> BookingEvent {
    BookingEvent {
        booking_id: booking.id.clone(),
        sequence: booking.version,
        event: "accepted".to_owned(),
        from: None,
        to: booking.status().as_str().to_owned(),
        why: None,
        request_id: Some(request_id.to_owned()),
        at: booking.created_at,
    }
}

fn prebook_request(booking: &Booking) -> PrebookRequest {
    PrebookRequest {
        client_reference: booking.id.to_string(),
        supplier_hotel_id: booking.hotel.supplier_hotel_id.clone(),
        supplier_offer: booking.supplier_offer.clone(),
        stay: booking.stay.clone(),
        total: booking.total,
        contact: booking.contact.clone(),
        rooms: crate::flow::hotel::guests(booking),
        use_payment_sdk: booking.use_payment_sdk,
    }
}

fn prebook_error(error: ChangeError, offered: Money, timed_out: bool) -> PrebookError {
    match error {
        ChangeError::Unsupported => PrebookError::Unsupported,
        ChangeError::Refused(refusal) if refusal.reason == RefusalReason::Account => {
            PrebookError::Account
        }
        ChangeError::Refused(refusal) => {
            PrebookError::Decided(Decision::of_refusal(&refusal, offered))
        }
        ChangeError::NotSent(_) => PrebookError::NotSent { overloaded: false },
        ChangeError::Overloaded => PrebookError::NotSent { overloaded: true },
        ChangeError::Unknown(_) => PrebookError::NoAnswer { timed_out },
    }
}
