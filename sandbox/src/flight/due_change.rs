//! Pending decisions of airlines whose time has come.

use crate::{
    flight::{cancellation::finish, order::ticket, scenario::Scenario, tables::OrderState},
    state::SandboxRecords,
};

pub(crate) fn apply_due_change(records: &mut SandboxRecords, id: &str) {
    let Some(mut order) = records.flight.orders.get(id).cloned() else {
        return;
    };
    if order.due.is_none_or(|due| due > records.now()) {
        return;
    }
    order.due = None;
    match order.state {
        OrderState::Pending if order.scenario() == Scenario::BookPendingRefused => {
            order.state = OrderState::Failed;
            records.save(order);
        }
        OrderState::Pending => {
            ticket(records, order);
        }
        OrderState::Cancelling => {
            let client_ref = order.cancelling.take().unwrap_or_default();
            finish(records, order, &client_ref);
        }
        OrderState::Ticketed | OrderState::Failed | OrderState::Cancelled => {}
    }
}
