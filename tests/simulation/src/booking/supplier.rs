//! The external side: one supplier and one processor. They keep exactly the guarantees that their
//! adapters declare, and record what they sold and charged.

use super::charge::Charge;
use super::order::{Decision, Order};
use super::remote_call::{Call, Reply, Request};
use super::world::World;
use host_application::booking::interpret::SupplierGuarantees;
use host_domain::money::Money;
use host_domain::payment::PaymentError;
use host_domain::supplier::{ChangeError, Refusal, RefusalReason, SupplierBookingStatus};
use host_domain::time::Timestamp;

impl World<'_> {
    /// Returns the actual state of the order.
    pub(super) fn truth(&self) -> Option<&Order> {
        self.order.last().map(|(_, order)| order)
    }

    pub(super) fn guarantees_of(&self, request: &Request) -> SupplierGuarantees {
        if request.is_of_processor() {
            self.setting.processor
        } else {
            self.setting.supplier
        }
    }

    /// Records that a call is sent. A call may be sent twice with an unknown outcome only if
    /// resending it is safe.
    pub(super) fn leaves(&mut self, request: &Request) {
        let Some(reference) = request.changes() else {
            return;
        };
        // Voiding an authorization twice has the same effect as voiding it once.
        let is_safe = self.guarantees_of(request).supports_idempotent_resend
            || matches!(request.call, Call::Void(_));
        let came_to_nothing = self.left.insert(reference.to_owned(), false);
        if came_to_nothing == Some(false) && !is_safe {
            self.breaks(format!("{reference} was sent twice: {request:?}"));
        }
    }

    /// Records a call that had no effect, as the other side reported or as is certain.
    pub(super) fn came_to_nothing(&mut self, request: &Request, reply: &Reply) {
        let nothing = match reply {
            Reply::Changed(Err(error)) => !matches!(error, ChangeError::Unknown(_)),
            Reply::Paid(Err(error)) | Reply::Refunded(Err(error)) => {
                !matches!(error, PaymentError::Unknown(_))
            }
            _ => false,
        };
        if let (true, Some(reference)) = (nothing, request.changes()) {
            self.left.insert(reference.to_owned(), true);
        }
    }

    pub(super) fn breaks(&mut self, broken: String) {
        self.broken.get_or_insert(broken);
    }

    /// Returns the time from which reads return the effect of a call that arrives now.
    pub(super) fn readable(&self, guarantees: SupplierGuarantees, now: Timestamp) -> Timestamp {
        let late = self.injects_faults && self.random.percent(self.setting.late_reads);
        let lag_ms = i64::from(late) * self.random.between(1, 600_000);
        let seen_from = now.plus_ms(lag_ms);
        match guarantees.reads_consistent_after_ms {
            Some(delay) => seen_from.min(now.plus_ms(i64::from(delay))),
            None => seen_from,
        }
    }

    fn becomes(&mut self, seen_from: Timestamp, order: Order) {
        let before = self.order.last().map_or(seen_from, |(at, _)| *at);
        self.order.push((seen_from.max(before), order));
    }

    /// Processes an incoming call.
    pub(super) fn receive(
        &mut self,
        request: &Request,
        sent_at: Timestamp,
        now: Timestamp,
    ) -> Reply {
        let remembers = self.guarantees_of(request).supports_idempotent_resend;
        let key = request.changes().map(str::to_owned);
        if remembers
            && let Some(key) = &key
            && let Some(reply) = self.answered.get(key).cloned()
        {
            let refusal = self.refuse_resend(request, &reply, now);
            return refusal.unwrap_or_else(|| self.repeat(reply));
        }
        let reference = request.reference.as_str();
        let reply = match &request.call {
            Call::Prebook => Reply::Bound(self.bind()),
            Call::Book => Reply::Changed(self.book(sent_at, now)),
            Call::FindBooking | Call::Refresh if self.is_outdated() => Reply::Found(Ok(None)),
            Call::FindPayment if self.is_outdated() => Reply::FoundPayment(Ok(None)),
            Call::FindRefund if self.is_outdated() => Reply::FoundRefund(Ok(false)),
            Call::FindBooking => Reply::Found(Ok(self.shown(now))),
            Call::Refresh => {
                let outdated = self.outdated_copy();
                Reply::Found(Ok(outdated.or_else(|| self.shown(now))))
            }
            Call::Cancel(rooms) => Reply::Changed(self.cancel(rooms, now)),
            Call::Buy => Reply::Changed(self.sell(reference, now)),
            Call::Authorize(amount) => Reply::Paid(self.hold(reference, *amount, now)),
            Call::Capture(charge) => Reply::Paid(self.take(reference, charge)),
            Call::Void(charge) => Reply::Paid(self.release(charge)),
            Call::FindPayment => {
                let mut charges = self.charges.iter();
                let seen = charges.find(|c| c.reference == reference && c.seen_from <= now);
                Reply::FoundPayment(Ok(seen.map(Charge::state)))
            }
            Call::Refund(charge, amount) => {
                Reply::Refunded(self.refund(reference, charge, *amount, now))
            }
            Call::FindRefund => {
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

    /// Returns the first response again, with the current state of the order.
    fn repeat(&self, first: Reply) -> Reply {
        match (first, self.truth()) {
            (Reply::Changed(Ok(_)), Some(order)) => Reply::Changed(Ok(order.clone())),
            (first, _) => first,
        }
    }

    pub(super) fn happens(&self, percent: i64) -> bool {
        self.random.percent(percent) && self.injects_faults
    }

    /// Shows the effects of all calls to reads that are made from now on.
    pub(super) fn show_all(&mut self, now: Timestamp) {
        let orders = self.order.iter_mut().map(|(seen_from, _)| seen_from);
        let charges = self.charges.iter_mut().flat_map(Charge::seen_times);
        for seen_from in orders.chain(charges) {
            *seen_from = now.min(*seen_from);
        }
    }

    /// Returns the order as reads show it.
    fn shown(&self, now: Timestamp) -> Option<Order> {
        let mut seen = self.order.iter().rev();
        let seen = seen.find(|(at, _)| *at <= now);
        seen.map(|(_, order)| order.clone())
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
            self.breaks("the booking has two orders".to_owned());
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
        let mut order = Order {
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
        if !is_pending && self.setting.loses_room() {
            self.lose_room(&mut order);
        }
        let seen_from = self.readable(self.setting.supplier, now);
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

    /// Executes a pending decision of the supplier.
    pub(super) fn decide(&mut self, decision: &Decision, now: Timestamp) {
        let Some(mut order) = self.truth().cloned() else {
            return;
        };
        match decision {
            Decision::Confirm => {
                order.status = SupplierBookingStatus::Confirmed;
                if self.setting.loses_room() {
                    self.lose_room(&mut order);
                }
            }
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

    /// Cancels the order free of charge, as an operator arranges it with the supplier.
    pub(super) fn cancel_by_hand(&mut self, now: Timestamp) {
        let Some(mut order) = self.truth().cloned() else {
            return;
        };
        order.status = SupplierBookingStatus::Canceled;
        order.kept = Money::zero(order.kept.currency);
        self.becomes(now, order);
    }

    /// Cancels the order on the supplier's own initiative.
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
        // The supplier either reports a fee of zero or reports no fee. Without a reported fee, an
        // operator applies the fare's terms.
        let says = !self.setting.is_flight || self.random.percent(50);
        let extras = self.setting.bag * i64::try_from(order.extras.len()).unwrap();
        let terms = self.setting.fees();
        order.amounts = says.then_some((none, order.kept));
        order.kept.minor = if says { 0 } else { terms + extras };
        self.becomes(now, order);
        true
    }

    fn cancel(&mut self, rooms: &[usize], now: Timestamp) -> Result<Order, ChangeError> {
        let Some(mut order) = self.truth().cloned() else {
            self.breaks("cancellation of a booking that does not exist".to_owned());
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
            // Once the supplier has accepted the cancellation, reads no longer return earlier
            // states.
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
        let seen_from = self.readable(self.setting.supplier, now);
        self.becomes(seen_from, order.clone());
        Ok(order)
    }

    /// Cancels the given rooms, or all if none is given. The refund is the reported one or follows
    /// the terms.
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
        let terms: i64 = going.iter().map(|at| self.setting.rooms[*at].1).sum();
        // The terms of a fare cover only the ticket, so bags are not refunded.
        let terms = terms + i64::from(self.setting.is_flight) * extras;
        let says = self.setting.says_amounts;
        let fee = match says {
            true => self.random.between(0, worth),
            false => terms.min(worth),
        };
        let money = |minor| Money::new(minor, currency);
        let (fees, refunds) = order.amounts.unwrap_or((money(0), money(0)));
        order.amounts =
            says.then_some((money(fees.minor + fee), money(refunds.minor + worth - fee)));
        order.kept = order.kept.less(money(worth - fee));
        order.status = if order.released.iter().all(|released| *released) {
            SupplierBookingStatus::Canceled
        } else {
            SupplierBookingStatus::PartiallyCanceled
        };
    }

    fn sell(&mut self, reference: &str, now: Timestamp) -> Result<Order, ChangeError> {
        let Some(mut order) = self.truth().cloned() else {
            self.breaks("bags for a booking that does not exist".to_owned());
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
        let seen_from = self.readable(self.setting.supplier, now);
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

pub(super) fn no(reason: RefusalReason) -> ChangeError {
    ChangeError::Refused(refusal(reason))
}
