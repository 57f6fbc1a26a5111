//! Texts from guests: references must be there and whole, display texts are cut.

use super::{Read, bad};

/// Longest reference of a supplier.
const REFERENCE_BYTES_MAX: usize = 256;
/// Longest opaque state that an adapter gives and gets back.
pub(super) const OPAQUE_BYTES_MAX: usize = 4 << 10;
const URL_BYTES_MAX: usize = 2 << 10;
/// Longest name, title or address.
pub(super) const LINE_CHARS: usize = 300;
/// Longest paragraph.
pub(super) const TEXT_CHARS: usize = 20_000;
const SENTENCE_CHARS: usize = 500;

/// An identifier: neither empty nor too long, without control characters.
pub(super) fn reference(field: &'static str, text: String) -> Read<String> {
    if text.is_empty() || text.len() > REFERENCE_BYTES_MAX || text.chars().any(char::is_control) {
        return bad(field, "empty, too long, or not an identifier");
    }
    Ok(text)
}

/// State of an adapter: neither empty nor too long, anything else goes.
pub(super) fn opaque(field: &'static str, text: String) -> Read<String> {
    if text.is_empty() || text.len() > OPAQUE_BYTES_MAX || text.contains('\0') {
        return bad(field, "empty, or larger than 4 KiB");
    }
    Ok(text)
}

/// Display text, cut at a number of characters; NUL, which no database takes, is dropped.
pub(super) fn cut(mut text: String, chars_max: usize) -> String {
    if text.len() > chars_max
        && let Some((end, _)) = text.char_indices().nth(chars_max)
    {
        text.truncate(end);
    }
    if text.contains('\0') {
        text.retain(|c| c != '\0');
    }
    text
}

pub(super) fn line(text: String) -> String {
    cut(text, LINE_CHARS)
}

/// Display text that is none when there is nothing in it.
pub(super) fn some(text: Option<String>, chars_max: usize) -> Option<String> {
    text.map(|text| cut(text, chars_max))
        .filter(|text| !text.trim().is_empty())
}

/// One sentence for operators.
pub(super) fn sentence(text: String) -> String {
    let text = cut(text, SENTENCE_CHARS);
    if text.chars().any(char::is_control) {
        text.replace(char::is_control, " ")
    } else {
        text
    }
}

/// An absolute web address, or none.
pub(super) fn url(text: Option<String>) -> Option<String> {
    let is_web = |text: &String| text.starts_with("https://") || text.starts_with("http://");
    text.filter(|text| {
        is_web(text)
            && text.len() <= URL_BYTES_MAX
            && !text.contains(|c: char| c.is_control() || c == ' ')
    })
}

/// Two capital letters, or none.
pub(super) fn country(text: Option<String>) -> Option<String> {
    text.filter(|text| text.len() == 2 && text.bytes().all(|b| b.is_ascii_uppercase()))
}

/// An IANA name by its form, or none.
pub(super) fn time_zone(text: Option<String>) -> Option<String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '-' | '+');
    text.filter(|text| !text.is_empty() && text.len() <= 64 && text.chars().all(fits))
}

/// `HH:MM`, or none.
pub(super) fn clock_time(text: Option<String>) -> Option<String> {
    text.filter(|text| {
        let Some((hours, minutes)) = text.split_once(':') else {
            return false;
        };
        let below = |part: &str, limit: u8| {
            part.len() == 2
                && part.bytes().all(|b| b.is_ascii_digit())
                && part.parse::<u8>().is_ok_and(|n| n < limit)
        };
        below(hours, 24) && below(minutes, 60)
    })
}
