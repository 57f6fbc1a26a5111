//! Calls of an adapter with chosen responses.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use stopover_sdk::http::{Error, Response};
use stopover_sdk::testing::MockGateway;

use crate::cost::{self, Cost};
use crate::operation::{Answer, Operation, Step};

pub(crate) type Exchange = Result<Response, Error>;

/// The answer of a call and its cost, or the message of its panic.
pub(crate) type CallResult = Result<(Answer, Cost), String>;

pub(crate) fn ordinary_exchanges(operation: &Operation) -> Vec<Exchange> {
    operation.steps.iter().map(ordinary_exchange).collect()
}

pub(crate) fn ordinary_exchange(step: &Step) -> Exchange {
    let status = step.success.first().copied().unwrap_or(200);
    Ok(Response::new(status, step.document.text()))
}

/// Calls an operation with these responses.
pub(crate) fn call(
    operation: &Operation,
    gateway: MockGateway,
    exchanges: impl IntoIterator<Item = Exchange>,
) -> CallResult {
    let gateway = exchanges.into_iter().fold(gateway, MockGateway::exchange);
    catch(|| cost::of(|| (operation.call)(&gateway)))
}

thread_local! {
    static PANIC: Cell<Option<String>> = const { Cell::new(None) };
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Returns the message of a panic, which is not printed.
fn catch<T>(code: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let default = panic::take_hook();
        panic::set_hook(Box::new(move |info| match IS_CAUGHT.get() {
            true => PANIC.set(Some(info.to_string())),
            false => default(info),
        }));
    });
    IS_CAUGHT.set(true);
    let result = panic::catch_unwind(AssertUnwindSafe(code));
    IS_CAUGHT.set(false);
    result.map_err(|_| PANIC.take().unwrap_or_default())
}
