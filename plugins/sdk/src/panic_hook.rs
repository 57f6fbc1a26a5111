//! Reports a panic to the gateway. A component has no standard error, so that without this hook the
//! operator would see a trap without message and place.

use std::any::Any;
use std::panic::Location;

/// Logs every panic from now on.
#[cfg(target_arch = "wasm32")]
pub fn install() {
    std::panic::set_hook(Box::new(|panic| {
        crate::error!("{}", describe(panic.payload(), panic.location()));
    }));
}

/// Describes a panic by its place, and by its message if the code has it as a literal. A formatted
/// message may quote the supplier's data.
fn describe(payload: &(dyn Any + Send), location: Option<&Location<'_>>) -> String {
    let message = payload.downcast_ref::<&'static str>();
    let message = message.copied().unwrap_or("no literal message");
    match location {
        Some(place) => format!("panic at {}:{}: {message}", place.file(), place.line()),
        None => format!("panic: {message}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_literal_message_is_described() {
        let place = Location::caller();
        let prefix = format!("panic at {}:{}", place.file(), place.line());
        let formatted = "Ann Example".to_owned();
        let describe_at = |payload: &(dyn Any + Send)| describe(payload, Some(place));
        assert_eq!(describe_at(&"no room"), format!("{prefix}: no room"));
        assert_eq!(
            describe_at(&formatted),
            format!("{prefix}: no literal message")
        );
        assert_eq!(describe(&"no room", None), "panic: no room");
    }
}
