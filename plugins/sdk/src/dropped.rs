//! Parts of a supplier's responses that a plugin leaves out because they cannot be used. The gateway
//! counts them by reason, and one log message a call names the first of them.

use std::collections::BTreeMap;
use std::fmt;

pub use crate::bindings::imports_v1_1::stopover::host1_1_0::report::DropReason;

use crate::host;
use crate::json::DecodeError;
use crate::lenient::{LenientList, Part};

/// Maximum number of causes that the log message names.
const CAUSES_MAX: usize = 5;

/// The parts that are left out of the responses of one call. They are reported when the value goes
/// out of scope.
///
/// ```ignore
/// let mut dropped = DroppedItems::default();
/// for (index, written) in dropped.readable(format_args!("/data"), page.data) {
///     offers.extend(dropped.keep(format_args!("/data/{index}"), convert(written)));
/// }
/// dropped.check_remaining(!offers.is_empty())?;
/// ```
#[derive(Debug, Default)]
pub struct DroppedItems {
    counts: BTreeMap<DropReason, u32>,
    /// The first different causes.
    causes: Vec<Cause>,
    /// The first error of a part that is not only unsupported.
    first_failure: Option<DecodeError>,
}

/// Returns the reason to leave out a part that was decoded and cannot be converted.
pub const fn reason_of(error: &DecodeError) -> DropReason {
    match error.is_missing() {
        true => DropReason::MissingValue,
        false => DropReason::InvalidValue,
    }
}

#[derive(Debug)]
struct Cause {
    error: DecodeError,
    /// JSON pointer of the first part.
    pointer: String,
    count: u32,
}

impl DroppedItems {
    /// Leaves a part out. `pointer` is its JSON pointer in the response, such as `/data/3`; it is
    /// formatted only if it is logged.
    pub fn add(&mut self, pointer: fmt::Arguments<'_>, reason: DropReason, error: DecodeError) {
        let count = self.counts.entry(reason).or_default();
        *count = count.saturating_add(1);
        if self.first_failure.is_none() && reason != DropReason::Unsupported {
            self.first_failure = Some(error.clone());
        }
        let is_full = self.causes.len() >= CAUSES_MAX;
        match self.causes.iter_mut().find(|known| known.error == error) {
            Some(cause) => cause.count = cause.count.saturating_add(1),
            None if is_full => {}
            None => self.causes.push(Cause {
                error,
                pointer: pointer.to_string(),
                count: 1,
            }),
        }
    }

    /// Returns a converted part, or leaves it out because a value in it is missing or not allowed.
    pub fn keep<T>(
        &mut self,
        pointer: fmt::Arguments<'_>,
        part: Result<T, DecodeError>,
    ) -> Option<T> {
        match part {
            Ok(part) => Some(part),
            Err(error) => {
                self.leave_out(pointer, error);
                None
            }
        }
    }

    /// Leaves a part out because a value in it is missing or not allowed.
    pub fn leave_out(&mut self, pointer: fmt::Arguments<'_>, error: DecodeError) {
        self.add(pointer, reason_of(&error), error);
    }

    /// Returns a part of an object if it is there and readable. An unreadable part is left out.
    pub fn readable_part<T>(&mut self, pointer: fmt::Arguments<'_>, part: Part<T>) -> Option<T> {
        match part {
            Part::Decoded(part) => Some(part),
            Part::Missing => None,
            Part::Unreadable(error) => {
                self.add_undecoded(pointer, error);
                None
            }
        }
    }

    /// Returns the readable items of the list at `pointer`, each with its position in the response.
    /// The others are left out.
    pub fn readable<T>(
        &mut self,
        pointer: fmt::Arguments<'_>,
        list: LenientList<T>,
    ) -> impl Iterator<Item = (usize, T)> + use<T> {
        for item in list.unreadable() {
            let pointer = format_args!("{pointer}/{}", item.index);
            self.add_undecoded(pointer, item.error.clone());
        }
        list.into_indexed()
    }

    /// Converts the items of the list at `pointer`, up to `limit` of them. Items for which `convert`
    /// returns `None` are skipped. Those that cannot be read or converted are left out.
    pub fn convert<T, U>(
        &mut self,
        pointer: fmt::Arguments<'_>,
        list: LenientList<T>,
        limit: usize,
        mut convert: impl FnMut(T) -> Result<Option<U>, DecodeError>,
    ) -> Vec<U> {
        let mut converted = Vec::new();
        for (at, item) in self.readable(pointer, list) {
            if converted.len() == limit {
                break;
            }
            let item = self.keep(format_args!("{pointer}/{at}"), convert(item));
            converted.extend(item.flatten());
        }
        converted
    }

    fn add_undecoded(&mut self, pointer: fmt::Arguments<'_>, error: DecodeError) {
        let reason = match error.is_missing() {
            true => DropReason::MissingValue,
            false => DropReason::Unreadable,
        };
        self.add(pointer, reason, error);
    }

    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Returns the number of parts that are left out.
    pub fn count(&self) -> u32 {
        let counts = self.counts.values();
        counts.fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// Checks that something is left of a response. If everything was left out, the response would
    /// look like one that found nothing. Parts that are only unsupported do not count.
    ///
    /// # Errors
    /// Fails with the first cause if parts are left out and nothing is left.
    pub fn check_remaining(&self, is_anything_left: bool) -> Result<(), DecodeError> {
        match &self.first_failure {
            Some(error) if !is_anything_left => Err(error.clone()),
            Some(_) | None => Ok(()),
        }
    }
}

impl fmt::Display for DroppedItems {
    /// Formats the number of parts and the first causes, each with the number of its parts and the
    /// pointer of the first of them.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.count();
        write!(
            formatter,
            "{count} parts of the supplier's response left out"
        )?;
        for (at, cause) in self.causes.iter().enumerate() {
            let separator = if at == 0 { ":" } else { ";" };
            let Cause {
                error,
                pointer,
                count,
                ..
            } = cause;
            write!(
                formatter,
                "{separator} {error} ({count}, first at {pointer})"
            )?;
        }
        Ok(())
    }
}

impl Drop for DroppedItems {
    fn drop(&mut self) {
        if self.is_empty() {
            return;
        }
        for (reason, count) in &self.counts {
            host::dropped_items(*reason, *count);
        }
        crate::warn!("{self}");
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use crate::json;
    use crate::log::Level;
    use crate::testing::MockGateway;

    #[test]
    fn parts_left_out_are_counted_by_reason_and_logged_once() {
        let gateway = MockGateway::new();
        gateway.run(|| {
            let list: LenientList<u8> = json::decode(br#"["a", 7, {}, "b", null]"#).unwrap();
            let mut dropped = DroppedItems::default();
            let readable = dropped.readable(format_args!("/data"), list);
            assert_eq!(readable.collect::<Vec<_>>(), [(1, 7)]);
            for error in [
                DecodeError::missing("it has no price"),
                DecodeError::new("its price is negative"),
            ] {
                assert_eq!(
                    dropped.keep::<u8>(format_args!("/data/1"), Err(error)),
                    None
                );
            }
            assert_eq!(dropped.keep(format_args!("/data/1"), Ok(7)), Some(7));
            assert_eq!(dropped.check_remaining(true), Ok(()));
            assert!(dropped.check_remaining(false).is_err());
        });
        let counts = [
            (DropReason::Unreadable, 3),
            (DropReason::MissingValue, 2),
            (DropReason::InvalidValue, 1),
        ];
        assert_eq!(gateway.dropped_items(), counts);
        let message = "6 parts of the supplier's response left out: \
                       expected u8 at line 1 column 3 (2, first at /data/0); \
                       expected u8 at line 1 column 0 (1, first at /data/2); \
                       it is null (1, first at /data/4); \
                       it has no price (1, first at /data/1); \
                       its price is negative (1, first at /data/1)";
        assert_eq!(gateway.logs(), [(Level::Warn, message.to_owned())]);
    }

    #[test]
    fn response_without_usable_part_is_an_error_unless_all_are_unsupported() {
        MockGateway::new().run(|| {
            let mut dropped = DroppedItems::default();
            for kind in 0..2 * CAUSES_MAX {
                let error = DecodeError::new(format!("kind {kind} is not for sale"));
                dropped.add(format_args!("/data/{kind}"), DropReason::Unsupported, error);
            }
            assert_eq!(dropped.check_remaining(false), Ok(()));
            let error = DecodeError::new("it has no price");
            dropped.keep::<u8>(format_args!("/data/99"), Err(error.clone()));
            assert_eq!(dropped.check_remaining(true), Ok(()));
            assert_eq!(dropped.check_remaining(false), Err(error));
        });
    }

    #[test]
    fn nothing_is_reported_if_nothing_is_left_out() {
        let gateway = MockGateway::new();
        gateway.run(|| drop(DroppedItems::default()));
        assert_eq!(gateway.dropped_items(), []);
        assert_eq!(gateway.logs(), []);
    }
}
