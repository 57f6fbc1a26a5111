//! A payment of a booking: authorize, capture, void, refund.
//!
//! A payment has no data about what it pays for. Before the supplier's confirmation every step can
//! be undone. After it, every step is retried until it succeeds.

mod card;
pub(crate) mod decline;
mod event;
mod operation;
mod processor;
mod step;

pub use card::{Card, CardBrand, Funding, Instrument, Wallet};
pub use decline::DeclineReason;
pub use event::PaymentEvent;
pub use operation::PaymentOperation;
pub use processor::{PaymentError, ProcessorPayment, ProcessorPaymentStatus};
pub use step::PaymentStep;

use crate::id::{InstrumentId, PaymentId, RefundId};
use crate::money::Money;
use crate::remote_call::RemoteCall;
use crate::supplier::SupplierId;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PaymentMethod {
    /// A stored instrument. Its token stays encrypted in storage.
    Instrument { id: InstrumentId },
    /// The payer's browser, through the processor's own form.
    Sdk,
    /// The supplier collected the payment at its own checkout. The gateway has nothing to collect.
    Supplier,
}

/// The stored state of a payment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PaymentState {
    /// The payment waits for the payer's browser.
    RequiresAction,
    Authorizing(RemoteCall),
    Authorized,
    Capturing(RemoteCall),
    /// The amount is captured. Refunds are stored separately.
    Captured,
    Voiding(RemoteCall),
    Voided,
    /// The amount was not authorized.
    Failed,
}

/// The payment status in the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaymentStatus {
    RequiresAction,
    Authorized,
    Captured,
    Voided,
    PartiallyRefunded,
    Refunded,
    Failed,
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refund {
    pub id: RefundId,
    pub amount: Money,
    /// The call to the processor. `None` if the refund is done.
    pub call: Option<RemoteCall>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Payment {
    pub id: PaymentId,
    /// The amount to authorize and capture.
    pub amount: Money,
    pub method: PaymentMethod,
    pub processor: SupplierId,
    /// The processor's id of the payment.
    pub processor_reference: Option<String>,
    pub card: Option<Card>,
    pub state: PaymentState,
    /// The refunds, done and unfinished.
    pub refunds: Vec<Refund>,
    /// The reason why the payment failed, from the processor's closed list.
    pub decline_reason: Option<DeclineReason>,
    pub created_at: Timestamp,
}

/// Error for an event that does not fit the payment's state.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{event} does not fit a payment that is {state}")]
pub struct InvalidPaymentTransition {
    pub state: &'static str,
    pub event: &'static str,
}

impl PaymentState {
    pub const fn name(&self) -> &'static str {
        match self {
            Self::RequiresAction => "requires_action",
            Self::Authorizing(RemoteCall::Pending { .. }) => "authorizing_pending",
            Self::Authorizing(_) => "authorizing_sent",
            Self::Authorized => "authorized",
            Self::Capturing(RemoteCall::Pending { .. }) => "capturing_pending",
            Self::Capturing(_) => "capturing_sent",
            Self::Captured => "captured",
            Self::Voiding(RemoteCall::Pending { .. }) => "voiding_pending",
            Self::Voiding(_) => "voiding_sent",
            Self::Voided => "voided",
            Self::Failed => "failed",
        }
    }

    /// Returns the call that authorizes, captures or voids the amount.
    pub const fn call(&self) -> Option<&RemoteCall> {
        match self {
            Self::Authorizing(call) | Self::Capturing(call) | Self::Voiding(call) => Some(call),
            _ => None,
        }
    }

    /// Changes the call that authorizes, captures or voids the amount, if there is one.
    fn map_call(self, change: impl FnOnce(RemoteCall) -> RemoteCall) -> Self {
        match self {
            Self::Authorizing(call) => Self::Authorizing(change(call)),
            Self::Capturing(call) => Self::Capturing(change(call)),
            Self::Voiding(call) => Self::Voiding(change(call)),
            other @ (Self::RequiresAction
            | Self::Authorized
            | Self::Captured
            | Self::Voided
            | Self::Failed) => other,
        }
    }

    const fn call_mut(&mut self) -> Option<&mut RemoteCall> {
        match self {
            Self::Authorizing(call) | Self::Capturing(call) | Self::Voiding(call) => Some(call),
            _ => None,
        }
    }
}

impl Refund {
    /// Creates a refund that is due at once.
    const fn new(id: RefundId, amount: Money, now: Timestamp) -> Self {
        Self {
            id,
            amount,
            call: Some(RemoteCall::pending(now)),
        }
    }
}

impl Payment {
    fn new(
        id: PaymentId,
        amount: Money,
        method: PaymentMethod,
        processor: SupplierId,
        state: PaymentState,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            amount,
            method,
            processor,
            processor_reference: None,
            card: None,
            state,
            refunds: Vec::new(),
            decline_reason: None,
            created_at: now,
        }
    }

    /// Creates a payment whose authorization is due at once.
    pub fn new_authorization(
        id: PaymentId,
        amount: Money,
        processor: SupplierId,
        instrument: &Instrument,
        now: Timestamp,
    ) -> Self {
        let instrument_id = instrument.id.clone();
        let method = PaymentMethod::Instrument { id: instrument_id };
        let state = PaymentState::Authorizing(RemoteCall::pending(now));
        let mut payment = Self::new(id, amount, method, processor, state, now);
        payment.card = instrument.card.clone();
        payment
    }

    /// Creates a payment that waits for the payer's browser.
    pub fn new_browser_payment(
        id: PaymentId,
        amount: Money,
        processor: SupplierId,
        processor_reference: String,
        now: Timestamp,
    ) -> Self {
        let state = PaymentState::RequiresAction;
        let mut payment = Self::new(id, amount, PaymentMethod::Sdk, processor, state, now);
        payment.processor_reference = Some(processor_reference);
        payment
    }

    /// Creates a captured payment that the supplier collected at its own checkout. The supplier is
    /// stored as the processor.
    pub fn new_supplier_collected(
        id: PaymentId,
        amount: Money,
        supplier: SupplierId,
        now: Timestamp,
    ) -> Self {
        let state = PaymentState::Captured;
        Self::new(id, amount, PaymentMethod::Supplier, supplier, state, now)
    }

    pub fn status(&self) -> PaymentStatus {
        match &self.state {
            PaymentState::RequiresAction => PaymentStatus::RequiresAction,
            PaymentState::Authorizing(_) => PaymentStatus::Unknown,
            PaymentState::Authorized | PaymentState::Capturing(_) | PaymentState::Voiding(_) => {
                PaymentStatus::Authorized
            }
            PaymentState::Voided => PaymentStatus::Voided,
            PaymentState::Failed => PaymentStatus::Failed,
            PaymentState::Captured => match self.refunded().minor {
                0 => PaymentStatus::Captured,
                back if back >= self.amount.minor => PaymentStatus::Refunded,
                _ => PaymentStatus::PartiallyRefunded,
            },
        }
    }

    /// Returns the amount refunded so far, without unfinished refunds.
    pub fn refunded(&self) -> Money {
        let done = self.refunds.iter().filter(|r| r.call.is_none());
        let minor = done.map(|r| r.amount.minor).sum();
        Money::new(minor, self.amount.currency)
    }

    pub fn is_browser_payment(&self) -> bool {
        self.method == PaymentMethod::Sdk
    }

    /// Returns the amount that can still be refunded: the amount less all refunds, done or
    /// unfinished.
    pub fn refundable(&self) -> Money {
        let refunded: i64 = self.refunds.iter().map(|r| r.amount.minor).sum();
        self.amount.less(Money::new(refunded, self.amount.currency))
    }

    /// Returns how many attempts of the current step are known to have had no effect.
    pub fn failed_attempts(&self) -> u32 {
        self.state.call().map_or(0, RemoteCall::failed_attempts)
    }

    /// Returns whether money is authorized or captured, or may be.
    pub const fn has_funds(&self) -> bool {
        match self.state {
            PaymentState::RequiresAction
            | PaymentState::Authorizing(_)
            | PaymentState::Authorized
            | PaymentState::Capturing(_)
            | PaymentState::Captured => true,
            PaymentState::Voiding(_) | PaymentState::Voided | PaymentState::Failed => false,
        }
    }

    /// Starts the capture of an authorized amount, after the supplier's confirmation.
    pub fn begin_capture(&mut self, now: Timestamp) {
        if self.state == PaymentState::Authorized {
            self.state = PaymentState::Capturing(RemoteCall::pending(now));
        }
    }

    /// Starts to void an amount that is, or may be, authorized, because nothing was booked. A
    /// payment whose authorization was never sent fails at once.
    pub fn begin_void(&mut self, now: Timestamp) {
        match self.state {
            PaymentState::Authorizing(ref call @ RemoteCall::Pending { .. })
                if !call.is_resend() =>
            {
                self.state = PaymentState::Failed;
            }
            PaymentState::RequiresAction
            | PaymentState::Authorized
            | PaymentState::Authorizing(_) => {
                self.state = PaymentState::Voiding(RemoteCall::pending(now));
            }
            _ => {}
        }
    }

    /// Starts a refund of `amount`, capped at the refundable remainder, and returns the amount
    /// actually refunded. If nothing was captured yet and the whole amount is refunded, the
    /// authorization is voided instead.
    pub fn begin_refund(&mut self, id: RefundId, amount: Money, now: Timestamp) -> Money {
        let amount = amount.at_most(self.refundable());
        if amount.is_zero() || !self.has_funds() {
            return Money::zero(self.amount.currency);
        }
        let untaken = matches!(
            self.state,
            PaymentState::Authorized | PaymentState::Capturing(RemoteCall::Pending { .. })
        );
        if untaken && amount == self.amount {
            self.state = PaymentState::Voiding(RemoteCall::pending(now));
        } else {
            self.refunds.push(Refund::new(id, amount, now));
        }
        amount
    }

    /// Records a refund that the supplier reports for a payment it collected. Returns the recorded
    /// amount, capped at the refundable remainder.
    pub fn record_supplier_refund(&mut self, id: RefundId, amount: Money) -> Money {
        let amount = amount.at_most(self.refundable());
        if !amount.is_zero() {
            self.refunds.push(Refund {
                id,
                amount,
                call: None,
            });
        }
        amount
    }

    /// Makes sent calls without a known outcome due for reconciliation at `now`, because a change
    /// at the processor was reported. Returns whether there were any.
    pub fn expedite_reconcile(&mut self, now: Timestamp) -> bool {
        let refunds = self.refunds.iter_mut();
        let refunds = refunds.filter_map(|refund| refund.call.as_mut());
        let mut any = false;
        for call in self.state.call_mut().into_iter().chain(refunds) {
            any |= call.expedite_reconcile(now);
        }
        any
    }

    /// Makes waiting refunds due at `now`. Returns whether any due time changed.
    pub fn expedite_refunds(&mut self, now: Timestamp) -> bool {
        let refunds = self.refunds.iter_mut();
        let mut any = false;
        for call in refunds.filter_map(|refund| refund.call.as_mut()) {
            any |= call.expedite(now);
        }
        any
    }

    /// Applies an event to the payment.
    ///
    /// # Errors
    /// Returns [`InvalidPaymentTransition`] if the event does not fit the state.
    pub fn apply(
        mut self,
        event: PaymentEvent,
        now: Timestamp,
    ) -> Result<Self, InvalidPaymentTransition> {
        use PaymentEvent as E;
        use PaymentState as S;
        let conflict = InvalidPaymentTransition {
            state: self.state.name(),
            event: event.name(),
        };
        let refundable = self.refundable();
        self.state = match (self.state, event) {
            (S::Authorizing(call @ RemoteCall::Pending { .. }), E::Sent { reconcile_at }) => {
                S::Authorizing(call.mark_sent(now, reconcile_at))
            }
            (S::Capturing(call @ RemoteCall::Pending { .. }), E::Sent { reconcile_at }) => {
                S::Capturing(call.mark_sent(now, reconcile_at))
            }
            (S::Voiding(call @ RemoteCall::Pending { .. }), E::Sent { reconcile_at }) => {
                S::Voiding(call.mark_sent(now, reconcile_at))
            }
            (
                S::Authorizing(RemoteCall::Sent { .. }),
                E::Authorized {
                    processor_reference,
                    card,
                },
            ) => {
                self.processor_reference = Some(processor_reference);
                self.card = card.or(self.card);
                S::Authorized
            }
            (S::Authorizing(RemoteCall::Sent { .. }), E::Declined(decline)) => {
                self.decline_reason = Some(decline);
                if self.method == PaymentMethod::Sdk && decline == DeclineReason::NotCompleted {
                    S::RequiresAction
                } else {
                    S::Failed
                }
            }
            (S::Authorizing(RemoteCall::Sent { .. }), E::NotAuthorized) => S::Failed,
            (S::Capturing(RemoteCall::Sent { .. }), E::Captured) => S::Captured,
            (S::Voiding(RemoteCall::Sent { .. }), E::Voided) => S::Voided,
            (S::Voiding(RemoteCall::Sent { .. }), E::CapturedDespiteVoid) => {
                let id = RefundId::of(self.id.as_str(), 1);
                self.refunds.push(Refund::new(id, refundable, now));
                S::Captured
            }
            (S::Capturing(call @ RemoteCall::Sent { .. }), E::StepFailed { retry_at }) => {
                S::Capturing(call.schedule_retry(retry_at))
            }
            (S::Voiding(call @ RemoteCall::Sent { .. }), E::StepFailed { retry_at }) => {
                S::Voiding(call.schedule_retry(retry_at))
            }
            (
                state @ (S::Authorizing(RemoteCall::Sent { .. })
                | S::Capturing(RemoteCall::Sent { .. })
                | S::Voiding(RemoteCall::Sent { .. })),
                E::Unresolved { next_at, absence },
            ) => state.map_call(|call| call.mark_unresolved(now, next_at).record_absence(absence)),
            (S::Authorizing(call @ RemoteCall::Sent { .. }), E::ResendScheduled { at }) => {
                S::Authorizing(call.schedule_resend(at))
            }
            (S::Captured, refund) => {
                self.refunds = apply_refund(self.refunds, &refund, now).ok_or(conflict)?;
                S::Captured
            }
            _ => return Err(conflict),
        };
        Ok(self)
    }
}

/// Returns the refunds after an event of one of them, or `None` if the event does not fit.
fn apply_refund(
    mut refunds: Vec<Refund>,
    event: &PaymentEvent,
    now: Timestamp,
) -> Option<Vec<Refund>> {
    use PaymentEvent as E;
    let id = match event {
        E::RefundSent { refund, .. }
        | E::Refunded(refund)
        | E::RefundFailed { refund, .. }
        | E::RefundResendScheduled { refund, .. }
        | E::RefundUnresolved { refund, .. } => refund,
        _ => return None,
    };
    let refund = refunds.iter_mut().find(|refund| refund.id == *id)?;
    refund.call = match (refund.call.take()?, event) {
        (call @ RemoteCall::Pending { .. }, E::RefundSent { next_at, .. }) => {
            Some(call.mark_sent(now, *next_at))
        }
        (RemoteCall::Pending { .. }, _) | (_, E::RefundSent { .. }) => return None,
        (call, E::RefundFailed { retry_at, .. }) => Some(call.schedule_retry(*retry_at)),
        (call, E::RefundResendScheduled { at, .. }) => Some(call.schedule_resend(*at)),
        (
            call,
            E::RefundUnresolved {
                next_at, absence, ..
            },
        ) => Some(
            call.mark_unresolved(now, *next_at)
                .record_absence(absence.clone()),
        ),
        (_, _) => None,
    };
    Some(refunds)
}
