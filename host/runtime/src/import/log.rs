//! Host import `log`: log lines of guests, with the id of the request that caused them. Lines are
//! truncated, counted and stripped of control characters, so that a guest cannot forge lines or
//! fill a disk.

use crate::bindings::stopover::host::log;
use crate::call_state::GuestState;

impl log::Host for GuestState {
    fn log(&mut self, level: log::Level, message: String) -> wasmtime::Result<()> {
        self.log_lines = self.log_lines.saturating_add(1);
        let limits = &self.provision.limits;
        if matches!(level, log::Level::Error) {
            // Kept even above the limit of lines, because it may be the reason of a trap.
            self.last_error = Some(clean(&message, limits.log_line_chars_max));
        }
        if self.log_lines > limits.log_lines_max {
            if self.log_lines == limits.log_lines_max + 1 {
                emit(
                    self,
                    log::Level::Warn,
                    "the plugin logged more lines than its limit; the rest of this call is dropped",
                );
            }
            return Ok(());
        }
        emit(self, level, &clean(&message, limits.log_line_chars_max));
        Ok(())
    }
}

fn emit(state: &GuestState, level: log::Level, message: &str) {
    macro_rules! line {
        ($level:ident) => {
            tracing::$level!(
                target: "plugin",
                supplier = state.provision.supplier.as_str(),
                operation = state.scope.capability.map(|capability| capability.as_str()),
                request_id = state.scope.origin.request_id,
                booking = state.scope.origin.booking,
                "{message}"
            )
        };
    }
    match level {
        log::Level::Debug => line!(debug),
        log::Level::Info => line!(info),
        log::Level::Warn => line!(warn),
        log::Level::Error => line!(error),
    }
}

fn clean(message: &str, chars_max: usize) -> String {
    let mut chars = message
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c });
    let mut line: String = chars.by_ref().take(chars_max).collect();
    if chars.next().is_some() {
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_lines_are_truncated_and_cannot_be_forged() {
        assert_eq!(clean("short", 10), "short");
        assert_eq!(
            clean("a\nERROR forged\u{1b}[31m", 100),
            "a ERROR forged [31m"
        );
        assert_eq!(clean("0123456789ä", 10), "0123456789…");
    }
}
