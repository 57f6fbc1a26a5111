//! The other side: one supplier and one processor, with what they keep their word on
//! (what their adapters promise) and nothing else. They count what they sold and took.

use super::Setting;
use crate::flow::judge::Promises;
use crate::simulation::random::Random;
use host_domain::money::Money;
use host_domain::payment::{Decline, PaymentError, ProcessorState, ProcessorStatus};
use host_domain::supplier::{BookingStatus, ChangeError, ReadError, Refusal, RefusalReason};
use host_domain::time::Timestamp;
use std::collections::HashMap;

/// A call on its way out.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Request {
    Prebook,
    Book {
        reference: String,
    },
    FindBooking,
    Cancel {
        reference: String,
        rooms: Vec<usize>,
    },
    Buy {
        reference: String,
    },
    Authorize {
        reference: String,
        amount: Money,
    },
    Capture {
        reference: String,
        charge: String,
    },
    Void {
        reference: String,
        charge: String,
    },
    FindPayment {
        reference: String,
    },
    Refund {
        reference: String,
        charge: String,
        amount: Money,
    },
    FindRefund {
        reference: String,
    },
}

/// What comes back.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Reply {
    Bound(Result<Money, ChangeError>),
    Changed(Result<Order, ChangeError>),
    Found(Result<Option<Order>, ReadError>),
    Paid(Result<ProcessorState, PaymentError>),
    FoundPayment(Result<Option<ProcessorState>, ReadError>),
    Refunded(Result<String, PaymentError>),
    FoundRefund(Result<bool, ReadError>),
}

/// How a call ends of which nothing comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Silence {
    /// It certainly did not leave.
    NotSent,
    /// It did not do anything, and said so.
    RateLimited,
    /// Who knows.
    Unknown,
}

impl Request {
    /// Our reference of a call that may change something.
    pub(super) fn reference(&self) -> Option<&str> {
        match self {
            Self::Book { reference }
            | Self::Cancel { reference, .. }
            | Self::Buy { reference }
            | Self::Authorize { reference, .. }
            | Self::Capture { reference, .. }
            | Self::Void { reference, .. }
            | Self::Refund { reference, .. } => Some(reference),
            Self::Prebook
            | Self::FindBooking
            | Self::FindPayment { .. }
            | Self::FindRefund { .. } => None,
        }
    }

    pub(super) fn silence(&self, silence: Silence) -> Reply {
        let why = || "no answer".to_owned();
        let change = || match silence {
            Silence::NotSent => ChangeError::NotSent(why()),
            Silence::RateLimited => ChangeError::RateLimited {
                retry_after_s: None,
            },
            Silence::Unknown => ChangeError::Unknown(why()),
        };
        let pay = || match silence {
            Silence::NotSent | Silence::RateLimited => PaymentError::NotSent(why()),
            Silence::Unknown => PaymentError::Unknown(why()),
        };
        let read = || ReadError::TimedOut(why());
        match self {
            Self::Prebook => Reply::Bound(Err(change())),
            Self::Book { .. } | Self::Cancel { .. } | Self::Buy { .. } => {
                Reply::Changed(Err(change()))
            }
            Self::FindBooking => Reply::Found(Err(read())),
            Self::Authorize { .. } | Self::Capture { .. } | Self::Void { .. } => {
                Reply::Paid(Err(pay()))
            }
            Self::FindPayment { .. } => Reply::FoundPayment(Err(read())),
            Self::Refund { .. } => Reply::Refunded(Err(pay())),
            Self::FindRefund { .. } => Reply::FoundRefund(Err(read())),
        }
    }

    fn is_of_processor(&self) -> bool {
        match self {
            Self::Prebook
            | Self::Book { .. }
            | Self::FindBooking
            | Self::Cancel { .. }
            | Self::Buy { .. } => false,
            Self::Authorize { .. }
            | Self::Capture { .. }
            | Self::Void { .. }
            | Self::FindPayment { .. }
            | Self::Refund { .. }
            | Self::FindRefund { .. } => true,
        }
    }
}

/// A booking, as the supplier has it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Order {
    pub(super) status: BookingStatus,
    /// Room by room.
    pub(super) released: Vec<bool>,
    /// Ids of the extras on it.
    pub(super) extras: Vec<String>,
    /// Fee and refund of the last cancellation, where it says them.
    pub(super) amounts: Option<(Money, Money)>,
    /// What it has not given back of what it sold.
    pub(super) kept: Money,
}

/// What it decides later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Decision {
    Confirm,
    Fail,
    Release { rooms: Vec<usize> },
    Keep,
}

/// A hold, and what became of it.
#[derive(Debug)]
pub(super) struct Charge {
    pub(super) reference: String,
    pub(super) status: ProcessorStatus,
    pub(super) amount: Money,
    /// By our reference, with when it can be read.
    pub(super) refunds: Vec<(String, Money, Timestamp)>,
    seen_from: Timestamp,
    captured_by: Option<String>,
}

impl Charge {
    pub(super) fn refunded(&self) -> i64 {
        self.refunds.iter().map(|(_, amount, _)| amount.minor).sum()
    }

    /// Whether the payer's money is held or taken.
    pub(super) fn is_live(&self) -> bool {
        matches!(
            self.status,
            ProcessorStatus::Authorized | ProcessorStatus::Captured
        )
    }

    fn state(&self) -> ProcessorState {
        let none = Money::zero(self.amount.currency);
        let captured = self.status == ProcessorStatus::Captured;
        let held = captured || self.status == ProcessorStatus::Authorized;
        ProcessorState {
            status: self.status,
            processor_reference: self.reference.clone(),
            authorized: if held { self.amount } else { none },
            captured: if captured { self.amount } else { none },
            refunded: Money::new(self.refunded(), self.amount.currency),
            card: None,
            expires_at: None,
        }
    }
}

pub(super) struct World<'a> {
    pub(super) random: &'a Random,
    pub(super) setting: &'a Setting,
    /// Whether things go wrong at all.
    pub(super) troubled: bool,
    /// What can be read of the order from when on; the last is the truth.
    order: Vec<(Timestamp, Order)>,
    pub(super) charges: Vec<Charge>,
    /// What was answered to a reference, where that is remembered.
    answered: HashMap<String, Reply>,
    /// What left under a reference, and whether it is known to have come to nothing.
    left: HashMap<String, bool>,
    /// When it was last said that the checkout is not paid: what left before that gets
    /// the same answer, whenever it arrives.
    unpaid_at: Option<Timestamp>,
    /// What the supplier sold it for.
    pub(super) price: Money,
    pub(super) is_checkout_paid: bool,
    /// What the supplier will decide, and when.
    pub(super) decisions: Vec<(Timestamp, Decision)>,
    pub(super) broken: Option<String>,
}

impl<'a> World<'a> {
    pub(super) fn new(random: &'a Random, setting: &'a Setting) -> Self {
        Self {
            random,
            setting,
            troubled: true,
            order: Vec::new(),
            charges: Vec::new(),
            answered: HashMap::new(),
            left: HashMap::new(),
            unpaid_at: None,
            price: setting.offered(),
            is_checkout_paid: false,
            decisions: Vec::new(),
            broken: None,
        }
    }

    /// What is true of the order now.
    pub(super) fn truth(&self) -> Option<&Order> {
        self.order.last().map(|(_, order)| order)
    }

    pub(super) fn promises_of(&self, request: &Request) -> Promises {
        if request.is_of_processor() {
            self.setting.processor
        } else {
            self.setting.supplier
        }
    }

    /// A call leaves. The same one twice, without knowing what became of the first,
    /// only where that is safe.
    pub(super) fn leaves(&mut self, request: &Request) {
        let Some(reference) = request.reference() else {
            return;
        };
        // Releasing twice what is held releases it once.
        let is_safe =
            self.promises_of(request).repeats_are_safe || matches!(request, Request::Void { .. });
        let came_to_nothing = self.left.insert(reference.to_owned(), false);
        if came_to_nothing == Some(false) && !is_safe {
            self.breaks(format!("{reference} left twice: {request:?}"));
        }
    }

    /// The other side said, or we know, that nothing came of it.
    pub(super) fn came_to_nothing(&mut self, request: &Request, reply: &Reply) {
        let nothing = match reply {
            Reply::Changed(Err(error)) => !matches!(error, ChangeError::Unknown(_)),
            Reply::Paid(Err(error)) => !matches!(error, PaymentError::Unknown(_)),
            Reply::Refunded(Err(error)) => !matches!(error, PaymentError::Unknown(_)),
            _ => false,
        };
        if let (true, Some(reference)) = (nothing, request.reference()) {
            self.left.insert(reference.to_owned(), true);
        }
    }

    fn breaks(&mut self, broken: String) {
        self.broken.get_or_insert(broken);
    }

    /// From when on something can be read that was asked for at `sent_at`.
    fn readable(&self, promises: Promises, sent_at: Timestamp, now: Timestamp) -> Timestamp {
        let late = self.troubled && self.random.percent(30);
        let lag_ms = if late {
            self.random.between(1, 600_000)
        } else {
            0
        };
        match promises.consistent_after_ms {
            Some(delay) => now
                .plus_ms(lag_ms)
                .min(sent_at.plus_ms(i64::from(delay)))
                .max(now),
            None => now.plus_ms(lag_ms),
        }
    }

    fn becomes(&mut self, seen_from: Timestamp, order: Order) {
        let before = self.order.last().map_or(seen_from, |(at, _)| *at);
        self.order.push((seen_from.max(before), order));
    }

    /// A call arrives.
    pub(super) fn receive(
        &mut self,
        request: &Request,
        sent_at: Timestamp,
        now: Timestamp,
    ) -> Reply {
        let remembers = self.promises_of(request).repeats_are_safe;
        let key = request.reference().map(str::to_owned);
        if remembers
            && let Some(key) = &key
            && let Some(reply) = self.answered.get(key)
        {
            return self.again(reply.clone());
        }
        let reply = match request {
            Request::Prebook => Reply::Bound(self.bind()),
            Request::Book { .. } => Reply::Changed(self.book(sent_at, now)),
            Request::FindBooking => {
                let mut seen = self.order.iter().rev();
                let seen = seen.find(|(at, _)| *at <= now);
                Reply::Found(Ok(seen.map(|(_, order)| order.clone())))
            }
            Request::Cancel { rooms, .. } => Reply::Changed(self.cancel(rooms, sent_at, now)),
            Request::Buy { reference } => Reply::Changed(self.sell(reference, sent_at, now)),
            Request::Authorize { reference, amount } => {
                Reply::Paid(self.hold(reference, *amount, sent_at, now))
            }
            Request::Capture { reference, charge } => Reply::Paid(self.take(reference, charge)),
            Request::Void { charge, .. } => Reply::Paid(self.release(charge)),
            Request::FindPayment { reference } => {
                let mut charges = self.charges.iter();
                let seen = charges.find(|c| c.reference == *reference && c.seen_from <= now);
                Reply::FoundPayment(Ok(seen.map(Charge::state)))
            }
            Request::Refund {
                reference,
                charge,
                amount,
            } => Reply::Refunded(self.give_back(reference, charge, *amount, sent_at, now)),
            Request::FindRefund { reference } => {
                let mut refunds = self.charges.iter().flat_map(|charge| &charge.refunds);
                let is_seen = refunds.any(|(known, _, at)| known == reference && *at <= now);
                Reply::FoundRefund(Ok(is_seen))
            }
        };
        let is_last_word = !matches!(
            &reply,
            Reply::Changed(Err(ChangeError::Refused(refusal)))
                if refusal.reason == RefusalReason::PaymentRequired
        );
        if let (true, Some(key)) = (is_last_word, key) {
            self.answered.insert(key, reply.clone());
        }
        reply
    }

    /// The first answer once more, with the order as it is now.
    fn again(&self, first: Reply) -> Reply {
        match (first, self.truth()) {
            (Reply::Changed(Ok(_)), Some(order)) => Reply::Changed(Ok(order.clone())),
            (first, _) => first,
        }
    }

    fn happens(&self, percent: i64) -> bool {
        self.random.percent(percent) && self.troubled
    }

    fn bind(&mut self) -> Result<Money, ChangeError> {
        if self.happens(5) {
            return Err(no(RefusalReason::Unavailable));
        }
        Ok(self.price)
    }

    fn book(&mut self, sent_at: Timestamp, now: Timestamp) -> Result<Order, ChangeError> {
        let was_unpaid = self.unpaid_at.is_some_and(|at| sent_at <= at);
        if was_unpaid || self.setting.is_paid_at_checkout() && !self.is_checkout_paid {
            if !was_unpaid {
                self.unpaid_at = Some(now);
            }
            return Err(no(RefusalReason::PaymentRequired));
        }
        if !self.order.is_empty() {
            self.breaks("two orders of one booking".to_owned());
        }
        if self.happens(12) {
            return Err(no(self.random.one_of(&[
                RefusalReason::Unavailable,
                RefusalReason::PriceChanged(self.price),
                RefusalReason::Duplicate,
                RefusalReason::Other("x".to_owned()),
            ])));
        }
        let is_pending = self.happens(25);
        let order = Order {
            status: if is_pending {
                BookingStatus::Pending
            } else {
                BookingStatus::Confirmed
            },
            released: vec![false; self.setting.rooms.len()],
            extras: Vec::new(),
            amounts: None,
            kept: self.price,
        };
        let seen_from = self.readable(self.setting.supplier, sent_at, now);
        self.becomes(seen_from, order.clone());
        if is_pending {
            let decides =
                self.random
                    .one_of(&[Decision::Confirm, Decision::Confirm, Decision::Fail]);
            self.will(decides, now);
        }
        Ok(order)
    }

    fn will(&mut self, decision: Decision, now: Timestamp) {
        let at = now.plus_ms(self.random.between(1, 7_200_000));
        self.decisions.push((at, decision));
    }

    /// The supplier decides what it has left open.
    pub(super) fn decide(&mut self, decision: &Decision, now: Timestamp) {
        let Some(mut order) = self.truth().cloned() else {
            return;
        };
        match decision {
            Decision::Confirm => order.status = BookingStatus::Confirmed,
            Decision::Fail => {
                order.status = BookingStatus::Failed(refusal(RefusalReason::Unavailable));
                order.kept = Money::zero(order.kept.currency);
            }
            Decision::Release { rooms } => self.let_go(&mut order, rooms),
            Decision::Keep => {
                order.status = if order.released.contains(&true) {
                    BookingStatus::PartiallyCanceled
                } else {
                    BookingStatus::Confirmed
                }
            }
        }
        self.becomes(now, order);
    }

    /// On its own account: nobody asked for it.
    pub(super) fn airline_cancels(&mut self, now: Timestamp) -> bool {
        let Some(mut order) = self.truth().cloned() else {
            return false;
        };
        if order.status != BookingStatus::Confirmed {
            return false;
        }
        order.status = BookingStatus::Canceled;
        let none = Money::zero(order.kept.currency);
        // Says that it keeps nothing, or nothing; then the terms are all that anybody knows.
        let says = self.random.percent(50);
        let extras = self.setting.bag * i64::try_from(order.extras.len()).unwrap();
        let terms: i64 = self.setting.rooms.iter().map(|(_, fee)| fee).sum();
        order.amounts = says.then_some((none, order.kept));
        order.kept.minor = if says { 0 } else { terms + extras };
        self.becomes(now, order);
        true
    }

    fn cancel(
        &mut self,
        rooms: &[usize],
        sent_at: Timestamp,
        now: Timestamp,
    ) -> Result<Order, ChangeError> {
        let Some(mut order) = self.truth().cloned() else {
            self.breaks("a cancellation of what was never booked".to_owned());
            return Err(no(RefusalReason::NotCancellable));
        };
        if matches!(
            order.status,
            BookingStatus::Canceled | BookingStatus::CancelPending
        ) {
            return Ok(order);
        }
        if self.happens(12) {
            return Err(no(RefusalReason::NotCancellable));
        }
        let rooms = rooms.to_vec();
        if self.happens(25) {
            order.status = BookingStatus::CancelPending;
            // What it accepted, it knows: nobody reads what was before.
            for (seen_from, _) in &mut self.order {
                *seen_from = now.min(*seen_from);
            }
            self.becomes(now, order.clone());
            let release = Decision::Release { rooms };
            let decides = self
                .random
                .one_of(&[release.clone(), release, Decision::Keep]);
            self.will(decides, now);
            return Ok(order);
        }
        self.let_go(&mut order, &rooms);
        let seen_from = self.readable(self.setting.supplier, sent_at, now);
        self.becomes(seen_from, order.clone());
        Ok(order)
    }

    /// Releases rooms, none named: all, and gives back what it says or what the terms say.
    fn let_go(&self, order: &mut Order, rooms: &[usize]) {
        let all = rooms.is_empty();
        let price = |at: usize| self.setting.rooms[at].0;
        let mut going = Vec::new();
        for (at, released) in order.released.iter_mut().enumerate() {
            if !*released && (all || rooms.contains(&at)) {
                *released = true;
                going.push(at);
            }
        }
        let currency = order.kept.currency;
        let extras = self.setting.bag * i64::try_from(order.extras.len()).unwrap();
        let worth = match self.setting.is_flight {
            true => self.price.minor + extras,
            false => going.iter().map(|at| price(*at)).sum(),
        };
        let terms: i64 = if all {
            self.setting.rooms.iter().map(|(_, fee)| fee).sum()
        } else {
            going.iter().map(|at| self.setting.rooms[*at].1).sum()
        };
        // The terms of a fare speak of the ticket: bags are lost.
        let terms = if self.setting.is_flight {
            terms + extras
        } else {
            terms
        };
        let says = self.setting.says_amounts;
        let fee = if says {
            self.random.between(0, worth)
        } else {
            terms.min(worth)
        };
        let money = |minor| Money::new(minor, currency);
        order.amounts = says.then_some((money(fee), money(worth - fee)));
        order.kept = order.kept.less(money(worth - fee));
        order.status = if order.released.iter().all(|released| *released) {
            BookingStatus::Canceled
        } else {
            BookingStatus::PartiallyCanceled
        };
    }

    fn sell(
        &mut self,
        reference: &str,
        sent_at: Timestamp,
        now: Timestamp,
    ) -> Result<Order, ChangeError> {
        let Some(mut order) = self.truth().cloned() else {
            self.breaks("bags for what was never booked".to_owned());
            return Err(no(RefusalReason::Invalid));
        };
        if order.status != BookingStatus::Confirmed || self.happens(12) {
            return Err(no(RefusalReason::Unavailable));
        }
        let id = format!("on-ticket-{reference}");
        if order.extras.contains(&id) {
            self.breaks(format!("{reference} was sold twice"));
        }
        order.extras.push(id);
        order.kept.minor += self.setting.bag;
        let seen_from = self.readable(self.setting.supplier, sent_at, now);
        self.becomes(seen_from, order.clone());
        Ok(order)
    }

    /// What the payer's browser completes.
    pub(super) fn intend(&mut self, reference: String, amount: Money, now: Timestamp) {
        self.charges.push(Charge {
            reference,
            status: ProcessorStatus::RequiresAction,
            amount,
            refunds: Vec::new(),
            seen_from: now,
            captured_by: None,
        });
    }

    pub(super) fn browser_acts(&mut self) -> bool {
        let declines = self.happens(20);
        let mut charges = self.charges.iter_mut();
        let waits = charges.find(|charge| charge.status == ProcessorStatus::RequiresAction);
        let Some(charge) = waits else { return false };
        charge.status = if declines {
            ProcessorStatus::Declined
        } else {
            ProcessorStatus::Authorized
        };
        true
    }

    fn hold(
        &mut self,
        reference: &str,
        amount: Money,
        sent_at: Timestamp,
        now: Timestamp,
    ) -> Result<ProcessorState, PaymentError> {
        if self.happens(12) {
            let declines = [Decline::InsufficientFunds, Decline::RequiresAction];
            return Err(PaymentError::Declined(self.random.one_of(&declines)));
        }
        if self
            .charges
            .iter()
            .any(|charge| charge.reference == *reference)
        {
            self.breaks(format!("{reference} is held twice"));
        }
        let charge = Charge {
            reference: reference.to_owned(),
            status: ProcessorStatus::Authorized,
            amount,
            refunds: Vec::new(),
            seen_from: self.readable(self.setting.processor, sent_at, now),
            captured_by: None,
        };
        let state = charge.state();
        self.charges.push(charge);
        Ok(state)
    }

    fn charge(&mut self, id: &str) -> Result<&mut Charge, PaymentError> {
        let found = self
            .charges
            .iter_mut()
            .find(|charge| charge.reference == id);
        found.ok_or_else(|| PaymentError::Refused("no such charge".to_owned()))
    }

    fn take(&mut self, reference: &str, id: &str) -> Result<ProcessorState, PaymentError> {
        let refuses = self.happens(8);
        let charge = self.charge(id)?;
        match charge.status {
            ProcessorStatus::Authorized if refuses => {
                Err(PaymentError::Refused("not now".to_owned()))
            }
            ProcessorStatus::Authorized => {
                charge.status = ProcessorStatus::Captured;
                charge.captured_by = Some(reference.to_owned());
                Ok(charge.state())
            }
            ProcessorStatus::Captured if charge.captured_by.as_deref() == Some(reference) => {
                Ok(charge.state())
            }
            // Perhaps it was this call, under another reference: no definite no.
            ProcessorStatus::Captured => Err(PaymentError::Unknown("already captured".to_owned())),
            _ => Err(PaymentError::Refused("nothing is held".to_owned())),
        }
    }

    fn release(&mut self, id: &str) -> Result<ProcessorState, PaymentError> {
        let charge = self.charge(id)?;
        match charge.status {
            ProcessorStatus::Captured => Err(PaymentError::Refused("it is taken".to_owned())),
            ProcessorStatus::Declined => Err(PaymentError::Refused("nothing is held".to_owned())),
            _ => {
                charge.status = ProcessorStatus::Voided;
                Ok(charge.state())
            }
        }
    }

    fn give_back(
        &mut self,
        reference: &str,
        id: &str,
        amount: Money,
        sent_at: Timestamp,
        now: Timestamp,
    ) -> Result<String, PaymentError> {
        if self.happens(8) {
            return Err(PaymentError::Refused("not now".to_owned()));
        }
        let seen_from = self.readable(self.setting.processor, sent_at, now);
        let charge = self.charge(id)?;
        if charge.status != ProcessorStatus::Captured {
            return Err(PaymentError::Refused("nothing is taken".to_owned()));
        }
        if charge.refunded() + amount.minor > charge.amount.minor {
            let broken = format!("{reference} gives back more than was taken");
            self.breaks(broken);
            return Err(PaymentError::Refused("too much".to_owned()));
        }
        charge
            .refunds
            .push((reference.to_owned(), amount, seen_from));
        Ok(reference.to_owned())
    }
}

fn refusal(reason: RefusalReason) -> Refusal {
    Refusal {
        reason,
        supplier_code: None,
        message: "no".to_owned(),
    }
}

fn no(reason: RefusalReason) -> ChangeError {
    ChangeError::Refused(refusal(reason))
}
