//! Texts about people, which records of calls do not contain.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Minimum length of a word in characters. Initials are too common in other texts.
const WORD_CHARS_MIN: usize = 2;

/// Minimum number of digits of a number that is recognized in groups, such as a telephone number.
const GROUPED_DIGITS_MIN: usize = 6;

/// Maximum number of characters between two groups of a number, as in `+44 (0) 20`.
const GROUP_GAP_MAX: usize = 3;

/// Maximum number of words that are kept, many more than the people of a booking have.
const WORDS_MAX: usize = 1_000;

/// Replacement of a hidden text.
const MASK: &str = "…";

/// The words of texts about people: names, e-mail addresses, numbers of telephones and documents.
/// They are found in other texts in any capitalization. Cloning is cheap.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct PersonalWords(Arc<BTreeSet<String>>);

impl fmt::Debug for PersonalWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PersonalWords({})", self.0.len())
    }
}

impl PersonalWords {
    /// Collects the words of texts.
    pub fn new<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        Self::default().with(texts)
    }

    /// Returns these words and those of further texts.
    #[must_use]
    pub fn with<'a>(&self, texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut words = BTreeSet::clone(&self.0);
        for text in texts {
            // The last part of an e-mail address is no word about a person.
            let text = match text.rsplit_once('.') {
                Some((begin, _)) if text.contains('@') => begin,
                _ => text,
            };
            let found = word_ranges(text).map(|range| text[range].to_lowercase());
            words.extend(found.filter(|word| word.chars().count() >= WORD_CHARS_MIN));
            if words.len() >= WORDS_MAX {
                break;
            }
        }
        Self(Arc::new(words))
    }

    /// Returns whether a text has one of the words.
    pub fn occur_in(&self, text: &str) -> bool {
        !self.0.is_empty() && self.first_in(text, 0).is_some()
    }

    /// Replaces each of the words in a text.
    pub fn mask<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.0.is_empty() {
            return Cow::Borrowed(text);
        }
        let (mut masked, mut end) = (String::new(), 0);
        while let Some(found) = self.first_in(text, end) {
            masked.push_str(&text[end..found.start]);
            masked.push_str(MASK);
            end = found.end;
        }
        if end == 0 {
            return Cow::Borrowed(text);
        }
        masked.push_str(&text[end..]);
        Cow::Owned(masked)
    }

    /// Finds the first of the words from a position on, or a number that is written in groups.
    fn first_in(&self, text: &str, from: usize) -> Option<Range<usize>> {
        let rest = &text[from..];
        let mut group: Option<(Range<usize>, String)> = None;
        for range in word_ranges(rest) {
            let word = &rest[range.clone()];
            if self.0.contains(&word.to_lowercase()) {
                return Some(from + range.start..from + range.end);
            }
            if !word.bytes().all(|byte| byte.is_ascii_digit()) {
                group = None;
                continue;
            }
            let (span, digits) = match group.take() {
                Some((span, digits)) if is_gap(&rest[span.end..range.start]) => {
                    (span.start..range.end, digits + word)
                }
                Some(_) | None => (range, word.to_owned()),
            };
            if self.has_number(&digits) {
                return Some(from + span.start..from + span.end);
            }
            group = Some((span, digits));
        }
        None
    }

    /// Returns whether digits are those of a known number, perhaps in its national form: without the
    /// code of the country.
    fn has_number(&self, digits: &str) -> bool {
        let digits = digits.trim_start_matches('0');
        let mut words = self.0.iter();
        digits.len() >= GROUPED_DIGITS_MIN && words.any(|word| word.ends_with(digits))
    }
}

/// Returns whether a text may stand between two groups of a number.
fn is_gap(text: &str) -> bool {
    text.chars().count() <= GROUP_GAP_MAX && text.chars().all(|c| " ()-./".contains(c))
}

/// Returns the positions of the words of a text: letters and digits without a gap.
fn word_ranges(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut rest = 0;
    std::iter::from_fn(move || {
        let start = rest + text[rest..].find(char::is_alphanumeric)?;
        let length = text[start..].find(|c: char| !c.is_alphanumeric());
        let end = length.map_or(text.len(), |length| start + length);
        rest = end;
        Some(start..end)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_masked_in_any_capitalization_but_not_within_words() {
        let texts = ["Ada", "Müller-Lyon", "O", "ada.king@mail.example", "AB-123"];
        let words = PersonalWords::new(texts);
        for (text, masked) in [
            ("no guest ada is known", "no guest … is known"),
            ("ADA'S ROOM", "…'S ROOM"),
            ("adaptive", "adaptive"),
            ("MÜLLER, lyon", "…, …"),
            ("o is short", "o is short"),
            ("to Ada.King@mail.example", "to ….…@….example"),
            ("passport ab-123", "passport …-…"),
            ("", ""),
        ] {
            assert_eq!(words.mask(text), masked);
            assert_eq!(words.occur_in(text), text != masked, "{text}");
        }
        let none = PersonalWords::default();
        assert_eq!(none.mask("guest ada"), "guest ada");
        assert_eq!(format!("{words:?}"), "PersonalWords(7)");
    }

    #[test]
    fn numbers_are_masked_in_groups_and_without_the_code_of_the_country() {
        let words = PersonalWords::new(["+442079460123"]);
        for (text, masked) in [
            ("call 442079460123 now", "call … now"),
            ("call +44 20 7946 0123 now", "call +… now"),
            ("call 020 7946-0123 now", "call … now"),
            ("call 0123 now", "call 0123 now"),
            ("3 of 20 after 7946 ms", "3 of 20 after 7946 ms"),
            ("HTTP 503 after 30 ms", "HTTP 503 after 30 ms"),
        ] {
            assert_eq!(words.mask(text), masked);
        }
    }
}
