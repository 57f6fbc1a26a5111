//! Limits the size of all display texts of one response together. Each text has a limit of its own,
//! but a response may have hundreds of texts, and a booking stores them.

use super::dropped::DroppedItems;
use super::invalid;

/// Maximum size of the display texts of one response, as JSON. A booking has those of its prebook and
/// those of later responses, about 256 KiB: a later response replaces the texts of an earlier one, and
/// only new airline changes are added. Without this limit, a hotel booking of nine rooms could have
/// 2.7 MB of texts, and a flight booking more.
pub(super) const DISPLAY_BYTES_MAX: usize = 128 << 10;

/// The display texts of one response.
#[derive(Default)]
pub(super) struct DisplayTexts<'a>(Vec<DisplayText<'a>>);

enum DisplayText<'a> {
    /// A text that can be shortened.
    Text(&'a mut String),
    /// A text of which a part is useless. It is left out if it is too long.
    Whole(&'a mut Option<String>),
}

impl<'a> DisplayTexts<'a> {
    /// Adds texts that can be shortened.
    pub(super) fn add(&mut self, texts: impl IntoIterator<Item = &'a mut String>) {
        self.0.extend(texts.into_iter().map(DisplayText::Text));
    }

    /// Adds a text of which a part is useless or wrong, such as a web address or a code.
    pub(super) fn add_whole(&mut self, text: &'a mut Option<String>) {
        self.0.push(DisplayText::Whole(text));
    }

    /// Shortens the longest texts to the same size if all texts together are too large. Other texts
    /// stay as they are. Records at most once that it did so.
    pub(super) fn fit(self, dropped: &mut DroppedItems) {
        let sizes = self.0.iter().map(DisplayText::json_bytes).collect();
        let Some(bytes_max) = common_limit(sizes, DISPLAY_BYTES_MAX) else {
            return;
        };
        for text in self.0 {
            text.limit(bytes_max);
        }
        let _: Option<()> = dropped.keep(invalid(
            "display-texts",
            "together larger than 128 KiB, so the longest are shortened",
        ));
    }
}

impl DisplayText<'_> {
    fn json_bytes(&self) -> usize {
        match self {
            Self::Text(text) => json_bytes(text),
            Self::Whole(text) => text.as_deref().map_or(0, json_bytes),
        }
    }

    fn limit(self, bytes_max: usize) {
        match self {
            Self::Text(text) => truncate(text, bytes_max),
            Self::Whole(text) => {
                text.take_if(|text| json_bytes(text) > bytes_max);
            }
        }
    }
}

/// Returns the largest size such that texts of these sizes have together at most `sum_max` bytes if
/// none is larger. Returns `None` if they have so few without a limit.
fn common_limit(mut sizes: Vec<usize>, mut sum_max: usize) -> Option<usize> {
    sizes.sort_unstable();
    let counts = (1..=sizes.len()).rev();
    for (size, count) in sizes.into_iter().zip(counts) {
        let share = sum_max / count;
        if size > share {
            return Some(share);
        }
        sum_max -= size;
    }
    None
}

fn truncate(text: &mut String, bytes_max: usize) {
    let mut size = 0;
    let end = text.char_indices().find_map(|(at, c)| {
        size += char_json_bytes(c);
        (size > bytes_max).then_some(at)
    });
    if let Some(end) = end {
        text.truncate(end);
    }
}

fn json_bytes(text: &str) -> usize {
    text.chars().map(char_json_bytes).sum()
}

/// Returns the size of a character within a JSON text, where some characters are escaped.
const fn char_json_bytes(c: char) -> usize {
    match c {
        '"' | '\\' | '\u{8}' | '\t' | '\n' | '\u{c}' | '\r' => 2,
        '\0'..='\u{1f}' => 6,
        c => c.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longest_texts_are_shortened_to_the_same_size() {
        for (sizes, sum_max, expected) in [
            (vec![], 0, None),
            (vec![4, 3, 3], 10, None),
            (vec![5, 3, 3], 10, Some(4)),
            (vec![100, 1, 100], 11, Some(5)),
            (vec![2, 2, 2], 2, Some(0)),
        ] {
            assert_eq!(common_limit(sizes.clone(), sum_max), expected, "{sizes:?}");
            let limited = sizes.iter().map(|size| *size.min(&expected.unwrap_or(100)));
            assert!(limited.sum::<usize>() <= sum_max, "{sizes:?}");
        }
    }

    #[test]
    fn sizes_are_those_of_json() {
        let characters: String = ('\0'..='\u{7ff}').chain(['€', '😀']).collect();
        let written = serde_json::to_string(&characters).unwrap();
        // The quotation marks around the text are not counted.
        assert_eq!(json_bytes(&characters), written.len() - 2);
        for (bytes_max, expected) in [
            (0, ""),
            (5, "a"),
            (7, "a\u{1}"),
            (10, "a\u{1}€"),
            (99, "a\u{1}€\n"),
        ] {
            let mut text = "a\u{1}€\n".to_owned();
            truncate(&mut text, bytes_max);
            assert_eq!(text, expected, "{bytes_max}");
        }
    }

    #[test]
    fn texts_are_changed_and_recorded_only_beyond_the_limit() {
        for (chars, is_changed) in [(DISPLAY_BYTES_MAX - 105, false), (DISPLAY_BYTES_MAX, true)] {
            let (mut short, mut long) = ("short".to_owned(), "x".repeat(chars));
            let mut kept = Some("k".repeat(100));
            let mut left_out = is_changed.then(|| "l".repeat(DISPLAY_BYTES_MAX));
            let mut dropped = DroppedItems::default();
            let mut texts = DisplayTexts::default();
            texts.add([&mut short, &mut long]);
            texts.add_whole(&mut kept);
            texts.add_whole(&mut left_out);
            texts.fit(&mut dropped);
            assert_eq!(
                (short.as_str(), kept.map(|kept| kept.len())),
                ("short", Some(100))
            );
            assert_eq!(left_out, None);
            assert_eq!(long.len() < chars, is_changed);
            let expected: &[(&str, u64)] = match is_changed {
                true => &[("display-texts", 1)],
                false => &[],
            };
            assert_eq!(dropped.count_by_field(), expected);
        }
    }
}
