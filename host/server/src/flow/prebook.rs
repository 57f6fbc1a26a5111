//! Binding an offer, once for each key: store the intent, ask the supplier,
//! store what it said. What is asked differs between hotels and flights; how it
//! is made safe does not.

use crate::app::App;
use crate::flow::bookable::{Bookable, Stage};
use crate::flow::failpoint::Phase;
use crate::flow::judge::{Judgement, Outcome};
use crate::flow::payment::{STATEMENT, intent_reference};
use crate::flow::refusal::Decision;
use crate::flow::step::{FlowError, Walker};
use crate::flow::walk::Told;
use futures::FutureExt;
use futures::future::BoxFuture;
use host_domain::booking::PaymentCollector;
use host_domain::id::{BookingId, PaymentId};
use host_domain::money::Money;
use host_domain::owner::Owner;
use host_domain::payment::{Payment, PaymentError};
use host_domain::supplier::{ChangeError, Checkout, RefusalReason, SupplierId};
use host_domain::time::Timestamp;
use host_runtime::{CallContext, IntentRequest, Supplier};
use host_storage::{BookingHistoryEntry, CommitError, Conflict, IdempotencyKey, UnitOfWork};
use std::sync::Arc;
use tokio::time::Instant;

/// The name of binding, in failpoints and tests.
const STEP: &str = "prebook";

/// Whose call it is, and under which key.
#[derive(Debug, Clone)]
pub(crate) struct PrebookCall {
    pub(crate) key: IdempotencyKey,
    pub(crate) fingerprint: String,
    /// Until when the offer is good.
    pub(crate) expires_at: Timestamp,
    pub(crate) use_payment_sdk: bool,
    pub(crate) request_id: String,
    pub(crate) deadline: Instant,
}

/// How a prebook ends well.
#[derive(Debug)]
pub(crate) enum Prebound<B> {
    /// Bound now. Tokens are shown this once.
    Fresh {
        booking: Box<B>,
        sdk_token: Option<String>,
        checkout: Option<Checkout>,
    },
    /// Made by an earlier call with this key, as it is now.
    Existing(Box<B>),
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
    #[error("an unfinished booking holds the offer")]
    OfferInUse,
    #[error("the supplier decided against it")]
    Decided(Decision),
    #[error("nothing was sent to the supplier")]
    NotSent { overloaded: bool },
    #[error("the supplier's limit is reached")]
    RateLimited { retry_after_s: Option<u32> },
    #[error("the supplier's answer did not come or cannot be used")]
    NoAnswer { timed_out: bool },
    #[error("our account at the supplier does not work")]
    Account,
    #[error("the supplier does not book")]
    Unsupported,
    #[error("what is secret of the booking cannot be sealed")]
    Sealed(#[source] crate::seal::SealError),
}

impl<E: Into<FlowError>> From<E> for PrebookError {
    fn from(error: E) -> Self {
        Self::Flow(error.into())
    }
}

/// A booking that begins.
pub(crate) struct New<B> {
    pub(crate) booking: B,
    /// What is stored in the same transaction, e.g. the end of the mandate that it is
    /// made under.
    pub(crate) along: UnitOfWork,
}

impl<B: Bookable> New<B> {
    /// With nothing along.
    pub(crate) fn alone(booking: B) -> Self {
        let along = UnitOfWork::new(booking.created_at());
        Self { booking, along }
    }
}

/// What the supplier bound.
pub(crate) struct Bound<E> {
    /// The price now.
    pub(crate) total: Money,
    /// Whether it is what was asked for, but for the price.
    pub(crate) fits: bool,
    /// Until when it can be booked, where the supplier says so.
    pub(crate) expires_at: Option<Timestamp>,
    /// Of a supplier that collects payment.
    pub(crate) checkout: Option<Checkout>,
    /// What happens to the booking, with its expiry and the browser's payment.
    pub(crate) event: Box<dyn FnOnce(Timestamp, Option<Payment>) -> E + Send>,
}

/// Asks the supplier to bind.
pub(crate) type Ask<B> = Box<
    dyn FnOnce(
            Supplier,
            CallContext,
            B,
        ) -> BoxFuture<'static, Result<Bound<<B as Bookable>::Event>, ChangeError>>
        + Send,
>;

impl App {
    /// Who takes the payer's money for a supplier's bookings; none: it is not configured.
    pub(crate) fn settlement_of(&self, supplier: &SupplierId) -> Option<PaymentCollector> {
        let supplier = self.runtime.supplier(supplier)?;
        Some(if supplier.info().description.collects_payment {
            PaymentCollector::Supplier
        } else {
            PaymentCollector::Gateway
        })
    }

    /// Binds an offer; repeated with its key, gives what the first call made. What is
    /// `new` is stored with its booking or not at all.
    pub(crate) async fn prebook<B: Bookable>(
        self: &Arc<Self>,
        call: PrebookCall,
        new: impl Fn() -> Result<New<B>, PrebookError>,
        ask: Ask<B>,
    ) -> Result<Prebound<B>, PrebookError> {
        loop {
            if call.expires_at <= self.clock.now() {
                let existing = self.prebooked_before(&call).await?;
                return existing.ok_or(PrebookError::Decided(Decision::Expired));
            }
            let walker = self.walker(&call.request_id, call.deadline);
            if let Some(booking) = self.begin_prebook(new()?, &call, &walker).await? {
                let app = Arc::clone(self);
                let id: BookingId = Bookable::id(&booking).clone();
                let run = async move {
                    let bind = app.bind(booking, ask, &call, &walker).boxed();
                    app.holding(B::JOB, &id, &walker, bind).await
                };
                return self.run_to_end(run.boxed()).await?;
            }
            if let Some(existing) = self.prebooked_before(&call).await? {
                return Ok(existing);
            }
            // The call that had taken the key has given it back.
        }
    }

    /// What an earlier call with this key made; waits while it is being made.
    async fn prebooked_before<B: Bookable>(
        &self,
        call: &PrebookCall,
    ) -> Result<Option<Prebound<B>>, PrebookError> {
        loop {
            let Some(known) = self.store.idempotency_record(&call.key).await? else {
                return Ok(None);
            };
            if known.fingerprint != call.fingerprint {
                return Err(PrebookError::KeyReused);
            }
            if let Some(refusal) = known.refusal {
                return Err(PrebookError::Decided(Decision::from_text(&refusal)));
            }
            let id = BookingId::parse(&known.resource_id).map_err(|_| PrebookError::InProgress)?;
            // Asked first: what nobody works on any more is then read as it was left.
            let walked = self.is_being_walked(B::JOB, &id).await?;
            let booking = B::load(&self.store, &id)
                .await?
                .ok_or(PrebookError::InProgress)?;
            let unbound = matches!(booking.stage(), Stage::Early);
            if !unbound || !walked {
                return Ok(Some(Prebound::Existing(Box::new(booking))));
            }
            if !self.wait_a_little(call.deadline).await {
                return Err(PrebookError::InProgress);
            }
        }
    }

    /// Stores the booking, the key and the claim on the work in one
    /// transaction; none when the key is taken.
    async fn begin_prebook<B: Bookable>(
        &self,
        New { booking, along }: New<B>,
        call: &PrebookCall,
        walker: &Walker,
    ) -> Result<Option<B>, PrebookError> {
        let mut write = UnitOfWork::new(booking.created_at());
        // The key comes first: of a repeated call, that is what is wrong with it.
        write
            .insert_idempotency_key(&call.key, &call.fingerprint, booking.id().as_str())
            .append(along)
            .append_booking_history(
                &booking.owner().tenant,
                &accepted(&booking, &walker.request_id),
            )
            .insert_leased_job(
                B::JOB,
                booking.id().as_str(),
                &walker.lease_token,
                self.lease_ms(),
            );
        // It is stored as it is when the supplier is asked, with both of its versions told.
        let started = booking.apply(B::prebook_started(), self.clock.now())?;
        started.booking.insert(&mut write);
        let booking = started.booking.clone();
        self.tell(&mut write, &[started], None, &walker.request_id);
        self.reach(STEP, Phase::Chosen);
        match self.store.commit(write).await {
            Ok(()) => {
                self.reach(STEP, Phase::Marked);
                Ok(Some(booking))
            }
            Err(CommitError::Conflict(Conflict::IdempotencyKeyExists)) => Ok(None),
            Err(CommitError::Conflict(Conflict::OfferInUse)) => Err(PrebookError::OfferInUse),
            Err(CommitError::Conflict(conflict)) => {
                tracing::error!(%conflict, "a new booking met a conflict");
                Err(FlowError::Contended(booking.id().clone()).into())
            }
            Err(CommitError::Database(error)) => Err(error.into()),
        }
    }

    async fn bind<B: Bookable>(
        &self,
        booking: B,
        ask: Ask<B>,
        call: &PrebookCall,
        walker: &Walker,
    ) -> Result<Prebound<B>, PrebookError> {
        let Some(supplier) = self.runtime.supplier(booking.supplier()) else {
            return self
                .end_prebook(booking, PrebookError::Unsupported, call, walker)
                .await;
        };
        let offered = booking.price();
        let context = self.call_context(&booking, walker);
        let bound = match ask(supplier, context, booking.clone()).await {
            Ok(bound) => match judge_bound(bound, offered) {
                Ok(bound) => bound,
                Err(error) => return self.end_prebook(booking, error, call, walker).await,
            },
            Err(error) => {
                let error = prebook_error(error, offered, walker.deadline <= Instant::now());
                return self.end_prebook(booking, error, call, walker).await;
            }
        };
        let by_browser = call.use_payment_sdk && booking.settlement() == PaymentCollector::Gateway;
        let made = match by_browser {
            true => self
                .browser_payment(&booking, bound.total, walker)
                .await
                .map(Some),
            false => Ok(None),
        };
        let (payment, sdk_token) = match made {
            Ok(made) => made.unzip(),
            Err(error) => return self.end_prebook(booking, error, call, walker).await,
        };
        let expires_at = bound
            .expires_at
            .unwrap_or_else(|| self.clock.now().plus_s(self.offer_ttl_s()));
        let told = Told {
            step: STEP,
            attempt: None,
            judgement: Judgement {
                event: (bound.event)(expires_at, payment),
                outcome: Outcome::Done,
                evidence: "bound".to_owned(),
                reference: None,
            },
        };
        let booking = self.drive_on(booking, told, walker).await?;
        Ok(Prebound::Fresh {
            booking: Box::new(booking),
            sdk_token,
            checkout: bound.checkout,
        })
    }

    async fn browser_payment<B: Bookable>(
        &self,
        booking: &B,
        total: Money,
        walker: &Walker,
    ) -> Result<(Payment, String), PrebookError> {
        let processor = self
            .suppliers
            .processor(booking.owner().tenant.mode)
            .and_then(|id| self.runtime.supplier(id));
        let processor = processor.ok_or(PrebookError::Unsupported)?;
        let id = PaymentId::from_bits(self.ids.bits());
        let request = IntentRequest {
            client_reference: intent_reference(booking, &id),
            amount: total,
            description: STATEMENT.to_owned(),
        };
        let context = self.call_context(booking, walker);
        let intent = processor.create_intent(&context, request).await;
        let intent = intent.map_err(|error| match error {
            PaymentError::NotSent(_) => PrebookError::NotSent { overloaded: false },
            PaymentError::Declined(_) | PaymentError::Refused(_) | PaymentError::Unknown(_) => {
                PrebookError::NoAnswer { timed_out: false }
            }
        })?;
        let (processor, reference) = (processor.info().id.clone(), intent.processor_reference);
        let payment = Payment::new_browser_payment(id, total, processor, reference, self.clock.now());
        Ok((payment, intent.token))
    }

    /// Ends a prebook that did not bind, and says why again when asked again.
    async fn end_prebook<B: Bookable>(
        &self,
        booking: B,
        error: PrebookError,
        call: &PrebookCall,
        walker: &Walker,
    ) -> Result<Prebound<B>, PrebookError> {
        if matches!(error, PrebookError::NoAnswer { .. }) {
            // It may have been bound: kept until the timer of this stage, and only this stage, decides.
            self.drive(booking, walker).await?;
            return Err(error);
        }
        let (id, read_version) = (booking.id().clone(), booking.version());
        let moved = booking.apply(B::prebook_refused(), self.clock.now())?;
        let why = error.to_string();
        let mut write = self.write_of(read_version, &[moved], Some(&why), &walker.request_id);
        write.complete_job(B::JOB, id.as_str(), &walker.lease_token);
        match &error {
            PrebookError::Decided(decision) => write.store_idempotent_refusal(&call.key, &decision.to_text()),
            _ => write.delete_idempotency_key(&call.key),
        };
        match self.store.commit(write).await {
            Ok(()) => Err(error),
            Err(CommitError::Conflict(_)) => Err(FlowError::LeaseLost(id).into()),
            Err(CommitError::Database(error)) => Err(error.into()),
        }
    }
}

/// Dearer than offered is never bound; something else than asked for cannot be.
fn judge_bound<E>(bound: Bound<E>, offered: Money) -> Result<Bound<E>, PrebookError> {
    if !bound.fits || bound.total.currency != offered.currency {
        return Err(PrebookError::NoAnswer { timed_out: false });
    }
    if bound.total.minor > offered.minor {
        let current = bound.total;
        let decision = Decision::PriceChanged { offered, current };
        return Err(PrebookError::Decided(decision));
    }
    Ok(bound)
}

/// The first line of a booking's history.
fn accepted<B: Bookable>(booking: &B, request_id: &str) -> BookingHistoryEntry {
    BookingHistoryEntry {
        booking_id: booking.id().clone(),
        sequence: booking.version(),
        event: "accepted".to_owned(),
        from_status: None,
        to_status: booking.status_name().to_owned(),
        reason: None,
        request_id: Some(request_id.to_owned()),
        occurred_at: booking.created_at(),
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
        ChangeError::RateLimited { retry_after_s } => PrebookError::RateLimited { retry_after_s },
        ChangeError::Overloaded => PrebookError::NotSent { overloaded: true },
        ChangeError::Unknown(_) => PrebookError::NoAnswer { timed_out },
    }
}

/// The key of a prebook.
pub(crate) fn prebook_key(owner: &Owner, operation: &str, key: &str) -> IdempotencyKey {
    IdempotencyKey {
        owner: owner.clone(),
        operation: operation.to_owned(),
        key: key.to_owned(),
    }
}
