//! A payment of a booking: authorize, capture, void, refund.
//!
//! A payment knows nothing of what it pays for. Before the supplier's yes every
//! step has an undo; after it every step is retried until it is done.

mod call;
mod card;
mod event;
mod processor;
mod step;

pub use call::PaymentOperation;
pub use card::{Card, CardBrand, Funding, Instrument, Wallet};
pub use event::PaymentEvent;
pub use processor::{PaymentError, ProcessorPayment, ProcessorPaymentStatus};
pub use step::{NextStep, PaymentStep, earliest_step};

use crate::id::{InstrumentId, PaymentId, RefundId};
use crate::leg::RemoteCall;
use crate::money::Money;
use crate::supplier::SupplierId;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Who pays how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PaymentMethod {
    /// A stored instrument. Its token stays sealed where it is stored.
    Instrument {
        /// Which.
        id: InstrumentId,
    },
    /// The payer's browser, through the processor's own form.
    Sdk,
    /// The supplier took it at its own checkout; nothing is left to do here.
    Supplier,
}

/// Where a payment stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PaymentState {
    /// Waits for the payer's browser.
    RequiresAction,
    /// The amount is to be held.
    Authorizing(RemoteCall),
    /// The amount is held.
    Authorized,
    /// The held amount is to be taken.
    Capturing(RemoteCall),
    /// Taken; refunds stand beside it.
    Captured,
    /// The held amount is to be released.
    Voiding(RemoteCall),
    /// Nothing is held.
    Voided,
    /// Nothing was held.
    Failed,
}

/// What the API says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the interface")]
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

/// Money to give back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refund {
    /// Its id.
    pub id: RefundId,
    /// How much.
    pub amount: Money,
    /// None: done.
    pub call: Option<RemoteCall>,
}

/// A payment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Payment {
    /// Its id.
    pub id: PaymentId,
    /// What is held, and taken.
    pub amount: Money,
    /// Who pays how.
    pub method: PaymentMethod,
    /// Which processor.
    pub processor: SupplierId,
    /// The processor's id of it.
    pub processor_reference: Option<String>,
    /// What may be shown.
    pub card: Option<Card>,
    /// Where it stands.
    pub state: PaymentState,
    /// What was given back, or is to be.
    pub refunds: Vec<Refund>,
    /// Why it failed, in the processor's closed words.
    pub decline_reason: Option<DeclineReason>,
    /// When it was begun.
    pub created_at: Timestamp,
}

/// Why a card was declined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum DeclineReason {
    InsufficientFunds,
    ExpiredCard,
    IncorrectDetails,
    SuspectedFraud,
    RequiresAction,
    NotCompleted,
    Other,
}

/// The event does not fit the payment's state.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{event} does not fit a payment that is {state}")]
pub struct InvalidPaymentTransition {
    /// The state's name.
    pub state: &'static str,
    /// The event's name.
    pub event: &'static str,
}

impl PaymentState {
    /// Its name in logs and tables.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::RequiresAction => "requires_action",
            Self::Authorizing(RemoteCall::Pending { .. }) => "authorizing_due",
            Self::Authorizing(_) => "authorizing_sent",
            Self::Authorized => "authorized",
            Self::Capturing(RemoteCall::Pending { .. }) => "capturing_due",
            Self::Capturing(_) => "capturing_sent",
            Self::Captured => "captured",
            Self::Voiding(RemoteCall::Pending { .. }) => "voiding_due",
            Self::Voiding(_) => "voiding_sent",
            Self::Voided => "voided",
            Self::Failed => "failed",
        }
    }
}

impl Payment {
    /// A hold to be asked for at once.
    #[must_use]
    pub fn new_authorization(
        id: PaymentId,
        amount: Money,
        processor: SupplierId,
        instrument: &Instrument,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            amount,
            method: PaymentMethod::Instrument {
                id: instrument.id.clone(),
            },
            processor,
            processor_reference: None,
            card: instrument.card.clone(),
            state: PaymentState::Authorizing(RemoteCall::pending(now)),
            refunds: Vec::new(),
            decline_reason: None,
            created_at: now,
        }
    }

    /// A payment that waits for the payer's browser.
    #[must_use]
    pub fn new_browser_payment(
        id: PaymentId,
        amount: Money,
        processor: SupplierId,
        processor_reference: String,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            amount,
            method: PaymentMethod::Sdk,
            processor,
            processor_reference: Some(processor_reference),
            card: None,
            state: PaymentState::RequiresAction,
            refunds: Vec::new(),
            decline_reason: None,
            created_at: now,
        }
    }

    /// What the supplier took at its own checkout. The supplier stands where a
    /// processor would.
    #[must_use]
    pub fn new_supplier_collected(id: PaymentId, amount: Money, supplier: SupplierId, now: Timestamp) -> Self {
        Self {
            id,
            amount,
            method: PaymentMethod::Supplier,
            processor: supplier,
            processor_reference: None,
            card: None,
            state: PaymentState::Captured,
            refunds: Vec::new(),
            decline_reason: None,
            created_at: now,
        }
    }

    /// What the API says of it.
    #[must_use]
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

    /// What was given back, without what is still to be.
    #[must_use]
    pub fn refunded(&self) -> Money {
        let minor = self
            .refunds
            .iter()
            .filter(|r| r.call.is_none())
            .map(|r| r.amount.minor)
            .sum();
        Money::new(minor, self.amount.currency)
    }

    /// Whether the payer's browser holds it.
    #[must_use]
    pub fn is_browser_payment(&self) -> bool {
        self.method == PaymentMethod::Sdk
    }

    /// What could still be given back: the amount less every refund asked for.
    #[must_use]
    pub fn refundable(&self) -> Money {
        let asked: i64 = self.refunds.iter().map(|r| r.amount.minor).sum();
        self.amount.less(Money::new(asked, self.amount.currency))
    }

    /// How often its present step was tried and is known not to have happened.
    #[must_use]
    pub const fn failed_attempts(&self) -> u32 {
        match &self.state {
            PaymentState::Authorizing(leg)
            | PaymentState::Capturing(leg)
            | PaymentState::Voiding(leg) => leg.failed_attempts(),
            PaymentState::RequiresAction
            | PaymentState::Authorized
            | PaymentState::Captured
            | PaymentState::Voided
            | PaymentState::Failed => 0,
        }
    }

    /// Whether something is held or taken, or may be.
    #[must_use]
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

    /// The supplier said yes: take the held amount.
    pub fn begin_capture(&mut self, now: Timestamp) {
        if self.state == PaymentState::Authorized {
            self.state = PaymentState::Capturing(RemoteCall::pending(now));
        }
    }

    /// Nothing was bought: release what is, or may be, held.
    pub fn begin_void(&mut self, now: Timestamp) {
        match self.state {
            PaymentState::Authorizing(ref leg @ RemoteCall::Pending { .. }) if !leg.is_resend() => {
                self.state = PaymentState::Failed;
            }
            PaymentState::RequiresAction
            | PaymentState::Authorized
            | PaymentState::Authorizing(_) => {
                self.state = PaymentState::Voiding(RemoteCall::pending(now));
            }
            PaymentState::Capturing(_)
            | PaymentState::Captured
            | PaymentState::Voiding(_)
            | PaymentState::Voided
            | PaymentState::Failed => {}
        }
    }

    /// Gives back at most `amount`, capped by what is left; the amount that it
    /// will be. What was never taken is released instead of taken and returned.
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
            self.refunds.push(Refund {
                id,
                amount,
                call: Some(RemoteCall::pending(now)),
            });
        }
        amount
    }

    /// The supplier says that it gave back what it took.
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

    /// A hint that something changed at the processor: what was sent and is not
    /// answered is read back now; whether there was anything.
    pub fn expedite_reconcile(&mut self, now: Timestamp) -> bool {
        let mut any = match &mut self.state {
            PaymentState::Authorizing(leg)
            | PaymentState::Capturing(leg)
            | PaymentState::Voiding(leg) => leg.expedite_reconcile(now),
            PaymentState::RequiresAction
            | PaymentState::Authorized
            | PaymentState::Captured
            | PaymentState::Voided
            | PaymentState::Failed => false,
        };
        let refunds = self.refunds.iter_mut();
        for leg in refunds.filter_map(|refund| refund.call.as_mut()) {
            any |= leg.expedite_reconcile(now);
        }
        any
    }

    /// Refunds that wait for their next try are tried now; whether there were any.
    pub fn expedite_refunds(&mut self, now: Timestamp) -> bool {
        let mut any = false;
        let refunds = self.refunds.iter_mut();
        for leg in refunds.filter_map(|refund| refund.call.as_mut()) {
            any |= leg.expedite(now);
        }
        any
    }

    /// Moves the payment.
    ///
    /// # Errors
    /// [`PaymentConflict`] when the event does not fit the state.
    pub fn apply(mut self, event: PaymentEvent, now: Timestamp) -> Result<Self, InvalidPaymentTransition> {
        use PaymentEvent as E;
        use PaymentState as S;
        let conflict = InvalidPaymentTransition {
            state: self.state.name(),
            event: event.name(),
        };
        self.state = match (self.state, event) {
            (S::Authorizing(leg @ RemoteCall::Pending { .. }), E::Sent { reconcile_at: next_at }) => {
                S::Authorizing(leg.mark_sent(now, next_at))
            }
            (S::Capturing(leg @ RemoteCall::Pending { .. }), E::Sent { reconcile_at: next_at }) => {
                S::Capturing(leg.mark_sent(now, next_at))
            }
            (S::Voiding(leg @ RemoteCall::Pending { .. }), E::Sent { reconcile_at: next_at }) => {
                S::Voiding(leg.mark_sent(now, next_at))
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
            (S::Capturing(leg @ RemoteCall::Sent { .. }), E::StepFailed { retry_at }) => {
                S::Capturing(leg.schedule_retry(retry_at))
            }
            (S::Voiding(leg @ RemoteCall::Sent { .. }), E::StepFailed { retry_at }) => {
                S::Voiding(leg.schedule_retry(retry_at))
            }
            (S::Authorizing(leg @ RemoteCall::Sent { .. }), E::Unresolved { next_at }) => {
                S::Authorizing(leg.mark_unresolved(now, next_at))
            }
            (S::Capturing(leg @ RemoteCall::Sent { .. }), E::Unresolved { next_at }) => {
                S::Capturing(leg.mark_unresolved(now, next_at))
            }
            (S::Voiding(leg @ RemoteCall::Sent { .. }), E::Unresolved { next_at }) => {
                S::Voiding(leg.mark_unresolved(now, next_at))
            }
            (S::Authorizing(leg @ RemoteCall::Sent { .. }), E::ResendScheduled { at }) => {
                S::Authorizing(leg.schedule_resend(at))
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

/// The refunds after an event of one of them; none when it does not fit.
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
        (leg @ RemoteCall::Pending { .. }, E::RefundSent { next_at, .. }) => Some(leg.mark_sent(now, *next_at)),
        (RemoteCall::Pending { .. }, _) | (_, E::RefundSent { .. }) => return None,
        (leg, E::RefundFailed { retry_at, .. }) => Some(leg.schedule_retry(*retry_at)),
        (leg, E::RefundResendScheduled { at, .. }) => Some(leg.schedule_resend(*at)),
        (leg, E::RefundUnresolved { next_at, .. }) => Some(leg.mark_unresolved(now, *next_at)),
        (_, _) => None,
    };
    Some(refunds)
}
