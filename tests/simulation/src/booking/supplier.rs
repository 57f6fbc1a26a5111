//! How the simulated supplier and processor receive calls, and what the supplier answers. Both keep
//! exactly the guarantees that their adapters declare, and record what they sold and charged.

use super::charge::Charge;
use super::external_systems::ExternalSystems;
use super::order::{Decision, Order};
use super::remote_call::{Call, Reply, Request};
use host_application::booking::interpret::SupplierGuarantees;
use host_domain::money::Money;
use host_domain::payment::PaymentError;
use host_domain::supplier::{ChangeError, Refusal, RefusalReason, SupplierBookingStatus};
use host_domain::time::Timestamp;

impl ExternalSystems<'_> {
    /// Returns the actual state of the order.
    pub(super) fn actual_order(&self) -> Option<&Order> {
        self.order.last().map(|(_, order)| order)
    }

    pub(super) fn guarantees_of(&self, request: &Request) -> SupplierGuarantees {
        if request.is_of_processor() {
            self.scenario.processor
        } else {
            self.scenario.supplier
        }
    }

    /// Records that a call is sent. A call may be sent twice with an unknown outcome only if
    /// resending it is safe.
    pub(super) fn record_request(&mut self, request: &Request) {
        let Some(reference) = request.change_reference() else {
            return;
        };
        // Voiding an authorization twice has the same effect as voiding it once.
        let is_safe = self.guarantees_of(request).supports_idempotent_resend
            || matches!(request.call, Call::Void(_));
        let had_no_effect = self.sent_requests.insert(reference.to_owned(), false);
        if had_no_effect == Some(false) && !is_safe {
            self.report_violation(format!("{reference} was sent twice: {request:?}"));
        }
    }

    /// Records a call that had no effect, as the other side reported or as is certain.
    pub(super) fn record_no_effect(&mut self, request: &Request, reply: &Reply) {
        let has_no_effect = match reply {
            Reply::Changed(Err(error)) => !matches!(error, ChangeError::Unknown(_)),
            Reply::PaymentChanged(Err(error)) | Reply::Refunded(Err(error)) => {
                !matches!(error, PaymentError::Unknown(_))
            }
            _ => false,
        };
        if let (true, Some(reference)) = (has_no_effect, request.change_reference()) {
            self.sent_requests.insert(reference.to_owned(), true);
        }
    }

    pub(super) fn report_violation(&mut self, violation: String) {
        self.violation.get_or_insert(violation);
    }

    /// Returns the time from which reads return the effect of a call that arrives now.
    pub(super) fn readable(&self, guarantees: SupplierGuarantees, now: Timestamp) -> Timestamp {
        let late = self.injects_faults && self.random.percent(self.scenario.late_reads);
        let lag_ms = i64::from(late) * self.random.between(1, 600_000);
        let readable_from = now.plus_ms(lag_ms);
        match guarantees.reads_consistent_after_ms {
            Some(delay) => readable_from.min(now.plus_ms(i64::from(delay))),
            None => readable_from,
        }
    }

    fn set_order(&mut self, readable_from: Timestamp, order: Order) {
        let before = self.order.last().map_or(readable_from, |(at, _)| *at);
        self.order.push((readable_from.max(before), order));
    }

    /// Processes an incoming call.
    pub(super) fn receive(
        &mut self,
        request: &Request,
        sent_at: Timestamp,
        now: Timestamp,
    ) -> Reply {
        let remembers = self.guarantees_of(request).supports_idempotent_resend;
        let key = request.change_reference().map(str::to_owned);
        if remembers
            && let Some(key) = &key
            && let Some(reply) = self.responses.get(key).cloned()
        {
            let refusal = self.refuse_resend(request, &reply, now);
            return refusal.unwrap_or_else(|| self.repeat(reply));
        }
        let reference = request.reference.as_str();
        let reply = match &request.call {
            Call::Prebook => Reply::Prebooked(self.prebook()),
            Call::Book => Reply::Changed(self.book(sent_at, now)),
            Call::FindBooking | Call::Refresh if self.is_outdated() => Reply::Found(Ok(None)),
            Call::FindPayment if self.is_outdated() => Reply::FoundPayment(Ok(None)),
            Call::FindRefund if self.is_outdated() => Reply::FoundRefund(Ok(false)),
            Call::FindBooking => Reply::Found(Ok(self.readable_order(now))),
            Call::Refresh => {
                let outdated = self.outdated_copy();
                Reply::Found(Ok(outdated.or_else(|| self.readable_order(now))))
            }
            Call::Cancel(rooms) => Reply::Changed(self.cancel(rooms, now)),
            Call::BuyBags => Reply::Changed(self.sell_bags(reference, now)),
            Call::Authorize(amount) => {
                Reply::PaymentChanged(self.authorize(reference, *amount, now))
            }
            Call::Capture(charge) => Reply::PaymentChanged(self.capture(reference, charge)),
            Call::Void(charge) => Reply::PaymentChanged(self.void(charge)),
            Call::FindPayment => {
                let mut charges = self.charges.iter();
                let seen = charges.find(|c| c.reference == reference && c.readable_from <= now);
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
        let is_final = !matches!(
            &reply,
            Reply::Changed(Err(ChangeError::Refused(refusal)))
                if refusal.reason == RefusalReason::PaymentRequired
        );
        if let (true, Some(key)) = (is_final, key) {
            self.responses.insert(key, reply.clone());
        }
        reply
    }

    /// Returns the first response again, with the current state of the order.
    fn repeat(&self, first: Reply) -> Reply {
        match (first, self.actual_order()) {
            (Reply::Changed(Ok(_)), Some(order)) => Reply::Changed(Ok(order.clone())),
            (first, _) => first,
        }
    }

    pub(super) fn injects_fault(&self, percent: i64) -> bool {
        self.random.percent(percent) && self.injects_faults
    }

    /// Shows the effects of all calls to reads that are made from now on.
    pub(super) fn make_readable(&mut self, now: Timestamp) {
        let orders = self
            .order
            .iter_mut()
            .map(|(readable_from, _)| readable_from);
        let charges = self.charges.iter_mut().flat_map(Charge::seen_times);
        for readable_from in orders.chain(charges) {
            *readable_from = now.min(*readable_from);
        }
    }

    /// Returns the order as reads show it.
    fn readable_order(&self, now: Timestamp) -> Option<Order> {
        let mut seen = self.order.iter().rev();
        let seen = seen.find(|(at, _)| *at <= now);
        seen.map(|(_, order)| order.clone())
    }

    fn prebook(&mut self) -> Result<Money, ChangeError> {
        if self.injects_fault(5) {
            return Err(refused(RefusalReason::Unavailable));
        }
        Ok(self.price)
    }

    fn book(&mut self, sent_at: Timestamp, now: Timestamp) -> Result<Order, ChangeError> {
        let was_unpaid = self.unpaid_at.is_some_and(|at| sent_at <= at);
        if was_unpaid || self.scenario.is_paid_at_checkout() && !self.is_checkout_paid {
            if !was_unpaid {
                self.unpaid_at = Some(now);
            }
            return Err(refused(RefusalReason::PaymentRequired));
        }
        if !self.order.is_empty() {
            self.report_violation("the booking has two orders".to_owned());
        }
        if self.injects_fault(12) {
            return Err(refused(self.random.one_of(&[
                RefusalReason::Unavailable,
                RefusalReason::PriceChanged(self.price),
                RefusalReason::Duplicate,
                RefusalReason::Other("x".to_owned()),
            ])));
        }
        let is_pending = self.injects_fault(25);
        let mut order = Order {
            status: if is_pending {
                SupplierBookingStatus::Pending
            } else {
                SupplierBookingStatus::Confirmed
            },
            released: vec![false; self.scenario.rooms.len()],
            extras: Vec::new(),
            amounts: None,
            retained: self.price,
        };
        if !is_pending && self.scenario.loses_room() {
            self.lose_room(&mut order);
        }
        let readable_from = self.readable(self.scenario.supplier, now);
        self.set_order(readable_from, order.clone());
        if is_pending {
            let decision =
                self.random
                    .one_of(&[Decision::Confirm, Decision::Confirm, Decision::Fail]);
            self.schedule_decision(decision, now);
        }
        Ok(order)
    }

    fn schedule_decision(&mut self, decision: Decision, now: Timestamp) {
        let at = now.plus_ms(self.random.between(1, 7_200_000));
        self.decisions.push((at, decision));
    }

    /// Executes a pending decision of the supplier.
    pub(super) fn decide(&mut self, decision: &Decision, now: Timestamp) {
        let Some(mut order) = self.actual_order().cloned() else {
            return;
        };
        match decision {
            Decision::Confirm => {
                order.status = SupplierBookingStatus::Confirmed;
                if self.scenario.loses_room() {
                    self.lose_room(&mut order);
                }
            }
            Decision::Fail => {
                order.status = SupplierBookingStatus::Failed(refusal(RefusalReason::Unavailable));
                order.retained = Money::zero(order.retained.currency);
            }
            Decision::Release { rooms } => self.cancel_rooms(&mut order, rooms),
            Decision::Keep => {
                order.status = if order.released.contains(&true) {
                    SupplierBookingStatus::PartiallyCanceled
                } else {
                    SupplierBookingStatus::Confirmed
                }
            }
        }
        self.set_order(now, order);
    }

    /// Cancels the order free of charge, as an operator arranges it with the supplier.
    pub(super) fn cancel_as_operator(&mut self, now: Timestamp) {
        let Some(mut order) = self.actual_order().cloned() else {
            return;
        };
        order.status = SupplierBookingStatus::Canceled;
        order.retained = Money::zero(order.retained.currency);
        self.set_order(now, order);
    }

    /// Cancels the order on the supplier's own initiative.
    pub(super) fn cancel_as_supplier(&mut self, now: Timestamp) -> bool {
        let Some(mut order) = self.actual_order().cloned() else {
            return false;
        };
        if order.status != SupplierBookingStatus::Confirmed {
            return false;
        }
        order.status = SupplierBookingStatus::Canceled;
        let none = Money::zero(order.retained.currency);
        order.released.fill(true);
        // The supplier either reports a fee of zero or reports no fee. Without a reported fee, an
        // operator applies the fare's terms.
        let reports_amounts = !self.scenario.is_flight || self.random.percent(50);
        let extras = self.scenario.bag * i64::try_from(order.extras.len()).unwrap();
        let terms = self.scenario.fees();
        order.amounts = reports_amounts.then_some((none, order.retained));
        order.retained.minor = if reports_amounts { 0 } else { terms + extras };
        self.set_order(now, order);
        true
    }

    fn cancel(&mut self, rooms: &[usize], now: Timestamp) -> Result<Order, ChangeError> {
        let Some(mut order) = self.actual_order().cloned() else {
            self.report_violation("cancellation of a booking that does not exist".to_owned());
            return Err(refused(RefusalReason::NotCancellable));
        };
        if matches!(
            order.status,
            SupplierBookingStatus::Canceled | SupplierBookingStatus::CancelPending
        ) {
            return Ok(order);
        }
        if self.injects_fault(12) {
            return Err(refused(RefusalReason::NotCancellable));
        }
        let rooms = rooms.to_vec();
        if self.injects_fault(25) {
            order.status = SupplierBookingStatus::CancelPending;
            // Once the supplier has accepted the cancellation, reads no longer return earlier
            // states.
            for (readable_from, _) in &mut self.order {
                *readable_from = now.min(*readable_from);
            }
            self.set_order(now, order.clone());
            let release = Decision::Release { rooms };
            let decision = self
                .random
                .one_of(&[release.clone(), release, Decision::Keep]);
            self.schedule_decision(decision, now);
            return Ok(order);
        }
        self.cancel_rooms(&mut order, &rooms);
        let readable_from = self.readable(self.scenario.supplier, now);
        self.set_order(readable_from, order.clone());
        Ok(order)
    }

    /// Cancels the given rooms, or all if none is given. The refund is the reported one or follows
    /// the terms.
    fn cancel_rooms(&self, order: &mut Order, rooms: &[usize]) {
        let all = rooms.is_empty();
        let room_price = |at: usize| self.scenario.rooms[at].0;
        let mut canceled = Vec::new();
        for (at, released) in order.released.iter_mut().enumerate() {
            if !*released && (all || rooms.contains(&at)) {
                *released = true;
                canceled.push(at);
            }
        }
        let currency = order.retained.currency;
        let extras = self.scenario.bag * i64::try_from(order.extras.len()).unwrap();
        let price_sum = match self.scenario.is_flight {
            true => self.price.minor + extras,
            false => canceled.iter().map(|at| room_price(*at)).sum(),
        };
        let fees: i64 = canceled.iter().map(|at| self.scenario.rooms[*at].1).sum();
        // The terms of a fare cover only the ticket, so bags are not refunded.
        let fees = fees + i64::from(self.scenario.is_flight) * extras;
        let reports_amounts = self.scenario.reports_amounts;
        let fee = match reports_amounts {
            true => self.random.between(0, price_sum),
            false => fees.min(price_sum),
        };
        let money = |minor| Money::new(minor, currency);
        let (earlier_fees, earlier_refunds) = order.amounts.unwrap_or((money(0), money(0)));
        order.amounts = reports_amounts.then_some((
            money(earlier_fees.minor + fee),
            money(earlier_refunds.minor + price_sum - fee),
        ));
        order.retained = order.retained.less(money(price_sum - fee));
        order.status = if order.released.iter().all(|released| *released) {
            SupplierBookingStatus::Canceled
        } else {
            SupplierBookingStatus::PartiallyCanceled
        };
    }

    fn sell_bags(&mut self, reference: &str, now: Timestamp) -> Result<Order, ChangeError> {
        let Some(mut order) = self.actual_order().cloned() else {
            self.report_violation("bags for a booking that does not exist".to_owned());
            return Err(refused(RefusalReason::Invalid));
        };
        if order.status != SupplierBookingStatus::Confirmed || self.injects_fault(12) {
            return Err(refused(RefusalReason::Unavailable));
        }
        let id = format!("on-ticket-{reference}");
        if order.extras.contains(&id) {
            self.report_violation(format!("{reference} was sold twice"));
        }
        order.extras.push(id);
        order.retained.minor += self.scenario.bag;
        let readable_from = self.readable(self.scenario.supplier, now);
        self.set_order(readable_from, order.clone());
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

pub(super) fn refused(reason: RefusalReason) -> ChangeError {
    ChangeError::Refused(refusal(reason))
}
