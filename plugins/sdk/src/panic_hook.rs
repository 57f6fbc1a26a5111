//! Reports a panic to the gateway. A component has no standard error, so that without this hook the
//! operator would see a trap without message and place.

use std::panic::PanicHookInfo;

/// Maximum number of characters of a panic's message that are logged.
const MESSAGE_CHARS_MAX: usize = 200;

/// Logs every panic from now on.
pub fn install() {
    std::panic::set_hook(Box::new(|panic| crate::error!("{}", describe(panic))));
}

fn describe(panic: &PanicHookInfo<'_>) -> String {
    let message = panic.payload_as_str().unwrap_or("no message");
    let message: String = message.chars().take(MESSAGE_CHARS_MAX).collect();
    match panic.location() {
        Some(place) => format!("panic at {}:{}: {message}", place.file(), place.line()),
        None => format!("panic: {message}"),
    }
}
