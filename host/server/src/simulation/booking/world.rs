//! The other side: one supplier and one processor, with what they keep their word on
//! (what their adapters promise) and nothing else. They count what they sold and took.

use super::call::{Reply, Request};
use super::processor::Charge;
use super::setting::Setting;
use crate::flow::judge::SupplierGuarantees;
use crate::simulation::random::Random;
use host_domain::money::Money;
use host_domain::payment::PaymentError;
use host_domain::supplier::{SupplierBookingStatus, ChangeError, Refusal, RefusalReason};
use host_domain::time::Timestamp;
use std::collections::HashMap;

/// A booking, as the supplier has it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Order {
    pub(super) status: SupplierBookingStatus,
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

    pub(super) fn promises_of(&self, request: &Request) -> SupplierGuarantees {
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
            self.promises_of(request).supports_idempotent_retry || matches!(request, Request::Void { .. });
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

    pub(super) fn breaks(&mut self, broken: String) {
        self.broken.get_or_insert(broken);
    }

    /// From when on something can be read that was asked for at `sent_at`.
    pub(super) fn readable(
        &self,
        promises: SupplierGuarantees,
        sent_at: Timestamp,
        now: Timestamp,
    ) -> Timestamp {
        let late = self.troubled && self.random.percent(30);
        let lag_ms = if late {
            self.random.between(1, 600_000)
        } else {
            0
        };
        match promises.reads_consistent_after_ms {
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
        let remembers = self.promises_of(request).supports_idempotent_retry;
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

    pub(super) fn happens(&self, percent: i64) -> bool {
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
                SupplierBookingStatus::Pending
            } else {
                SupplierBookingStatus::Confirmed
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
            Decision::Confirm => order.status = SupplierBookingStatus::Confirmed,
            Decision::Fail => {
                order.status = SupplierBookingStatus::Failed(refusal(RefusalReason::Unavailable));
                order.kept = Money::zero(order.kept.currency);
            }
            Decision::Release { rooms } => self.let_go(&mut order, rooms),
            Decision::Keep => {
                order.status = if order.released.contains(&true) {
                    SupplierBookingStatus::PartiallyCanceled
                } else {
                    SupplierBookingStatus::Confirmed
                }
            }
        }
        self.becomes(now, order);
    }

    /// On its own account: nobody asked for it.
    pub(super) fn cancels_by_itself(&mut self, now: Timestamp) -> bool {
        let Some(mut order) = self.truth().cloned() else {
            return false;
        };
        if order.status != SupplierBookingStatus::Confirmed {
            return false;
        }
        order.status = SupplierBookingStatus::Canceled;
        let none = Money::zero(order.kept.currency);
        order.released.fill(true);
        // Says that it keeps nothing, or nothing; then an operator goes by a fare's terms.
        let says = !self.setting.is_flight || self.random.percent(50);
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
            SupplierBookingStatus::Canceled | SupplierBookingStatus::CancelPending
        ) {
            return Ok(order);
        }
        if self.happens(12) {
            return Err(no(RefusalReason::NotCancellable));
        }
        let rooms = rooms.to_vec();
        if self.happens(25) {
            order.status = SupplierBookingStatus::CancelPending;
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
            SupplierBookingStatus::Canceled
        } else {
            SupplierBookingStatus::PartiallyCanceled
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
        if order.status != SupplierBookingStatus::Confirmed || self.happens(12) {
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
