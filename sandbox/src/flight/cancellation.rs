//! Cancelling a ticket and quoting the cancellation.

use crate::{
    flight::{
        order::{DECISION_MS, requested_order},
        problem::FlightError,
        scenario::Scenario,
        tables::{Order, OrderState},
    },
    ledger::{Cancellation, EntryKind},
    request::Call,
    state::SandboxRecords,
};

pub(super) struct Amounts {
    pub(super) fee: i64,
    pub(super) refund: i64,
}

/// Returns the fee and the refund of a cancellation at the current time. Bags are never refunded.
fn amounts(order: &Order) -> Result<Amounts, FlightError> {
    let fare = order.choice.fare()?;
    let refund = (fare.brand.refund_fee(order.choice.currency))
        .map_or(0, |fee| (order.fare_total - fee).max(0));
    Ok(Amounts {
        fee: order.total() - refund,
        refund,
    })
}

pub(super) fn quote(
    records: &SandboxRecords,
    call: &Call,
) -> Result<(Order, Amounts), FlightError> {
    let order = requested_order(records, call)?;
    check_state(&order)?;
    if order.scenario() == Scenario::NoQuote {
        return Err(FlightError::QuoteUnavailable);
    }
    let amounts = amounts(&order)?;
    Ok((order, amounts))
}

pub(super) fn cancel(
    records: &mut SandboxRecords,
    call: &Call,
    client_ref: &str,
) -> Result<Order, FlightError> {
    let mut order = requested_order(records, call)?;
    check_state(&order)?;
    match order.scenario() {
        Scenario::CancelRefused => Err(FlightError::NotCancellable),
        Scenario::CancelPending => {
            order.state = OrderState::Cancelling;
            order.cancelling = Some(client_ref.to_owned());
            order.due = Some(records.now() + DECISION_MS);
            records.save(order.clone());
            Ok(order)
        }
        _ => Ok(finish(records, order, client_ref)),
    }
}

fn check_state(order: &Order) -> Result<(), FlightError> {
    match order.state {
        OrderState::Ticketed => Ok(()),
        OrderState::Cancelled => Err(FlightError::AlreadyCancelled),
        OrderState::Pending | OrderState::Failed | OrderState::Cancelling => {
            Err(FlightError::WrongState)
        }
    }
}

/// Cancels the ticket at the current time.
pub(super) fn finish(records: &mut SandboxRecords, mut order: Order, client_ref: &str) -> Order {
    let amounts = amounts(&order).unwrap_or(Amounts {
        fee: order.total(),
        refund: 0,
    });
    let reference = records.reference("FCX-");
    let mut entry = order.entry(records, EntryKind::Cancellation, client_ref, amounts.refund);
    entry.reference.clone_from(&reference);
    records.record(entry);
    order.state = OrderState::Cancelled;
    order.cancellation = Some(Cancellation {
        reference,
        fee: amounts.fee,
        refund: amounts.refund,
        at: records.now(),
    });
    records.save(order.clone());
    order
}
