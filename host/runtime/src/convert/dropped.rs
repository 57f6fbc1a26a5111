//! Items of a response that are left out because they break a rule of the interface.

use super::{ConvertResult, InvalidResponse, invalid, valid_if};

/// Maximum number of reasons that one log line names.
const REASONS_MAX: usize = 5;

/// The items that are left out of one response, in the order of the response. It holds names of
/// fields and rules, but no value of the response, because a value may be personal data.
#[derive(Debug, Default)]
pub(crate) struct DroppedItems(Vec<InvalidResponse>);

impl DroppedItems {
    /// Returns a valid item, or records why it is left out.
    pub(super) fn keep<T>(&mut self, item: ConvertResult<T>) -> Option<T> {
        item.map_err(|reason| self.0.push(reason)).ok()
    }

    /// Converts the valid items of a list, at most `items_max` of them, and records that others are
    /// left out.
    pub(super) fn keep_valid<T, U>(
        &mut self,
        field: &'static str,
        items: Vec<T>,
        items_max: usize,
        read: impl FnMut(T) -> ConvertResult<U>,
    ) -> Vec<U> {
        let items = self.keep_each(field, items, items_max, read);
        items.into_iter().flatten().collect()
    }

    /// Converts the first `items_max` items of a list and records that others are left out. `None`
    /// stands for an invalid item.
    pub(super) fn keep_each<T, U>(
        &mut self,
        field: &'static str,
        items: Vec<T>,
        items_max: usize,
        mut read: impl FnMut(T) -> ConvertResult<U>,
    ) -> Vec<Option<U>> {
        let is_surplus = items.len() > items_max;
        self.keep(valid_if(
            !is_surplus,
            (),
            field,
            "more items than plausible",
        ));
        let items = items.into_iter().take(items_max);
        items.map(|item| self.keep(read(item))).collect()
    }

    /// Records what `other` records.
    pub(super) fn append(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Rejects a response of which nothing is left, with the reason of its first item. Otherwise a
    /// response that cannot be used would look like one that found nothing.
    pub(super) fn check_remaining(&self, is_anything_left: bool) -> ConvertResult<()> {
        match self.0.first() {
            Some(reason) if !is_anything_left => invalid(reason.field, reason.reason),
            _ => Ok(()),
        }
    }

    pub(crate) const fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns how many items are left out for each field that breaks a rule, in the order of the
    /// response.
    pub(crate) fn count_by_field(&self) -> Vec<(&'static str, u64)> {
        let mut counts: Vec<(&'static str, u64)> = Vec::new();
        for InvalidResponse { field, .. } in &self.0 {
            match counts.iter_mut().find(|(known, _)| known == field) {
                Some((_, count)) => *count += 1,
                None => counts.push((field, 1)),
            }
        }
        counts
    }

    /// Returns the first different reasons, each with its field.
    pub(crate) fn first_reasons(&self) -> String {
        let mut reasons: Vec<&InvalidResponse> = Vec::new();
        for reason in &self.0 {
            if reasons.len() < REASONS_MAX && !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        let reasons: Vec<String> = reasons.iter().map(ToString::to_string).collect();
        reasons.join("; ")
    }
}
