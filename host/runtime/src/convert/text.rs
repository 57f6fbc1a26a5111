//! Texts from guests: references must be there and whole, display texts are cut.

use super::{ConvertResult, invalid};
use host_domain::time::is_time_zone;

/// Longest reference of a supplier.
const REFERENCE_BYTES_MAX: usize = 256;
/// Longest key that nothing else may have: every database takes it into an index.
const KEY_BYTES_MAX: usize = 1 << 10;
/// Longest opaque state that an adapter gives and gets back.
pub(super) const OPAQUE_BYTES_MAX: usize = 4 << 10;
const URL_BYTES_MAX: usize = 2 << 10;
/// Longest name of a time zone that is worth looking up; the longest is 32.
const TIME_ZONE_BYTES_MAX: usize = 64;
/// Longest name, title or address.
pub(super) const LINE_CHARS: usize = 300;
/// Longest paragraph.
pub(super) const TEXT_CHARS: usize = 20_000;
const SENTENCE_CHARS: usize = 500;

/// An identifier: neither empty nor too long, without control characters.
pub(super) fn reference(field: &'static str, text: String) -> ConvertResult<String> {
    identifier(field, text, REFERENCE_BYTES_MAX)
}

/// An identifier that may be a whole offer's.
pub(super) fn key(field: &'static str, text: String) -> ConvertResult<String> {
    identifier(field, text, KEY_BYTES_MAX)
}

fn identifier(field: &'static str, text: String, bytes_max: usize) -> ConvertResult<String> {
    if text.is_empty() || text.len() > bytes_max || has_control(&text) {
        return invalid(field, "empty, too long, or not an identifier");
    }
    Ok(text)
}

/// Byte by byte without a branch, which the compiler makes many at once of: a large answer
/// has thousands of texts, and hardly one holds any.
fn has_control(text: &str) -> bool {
    // U+0080 to U+009F begin with 0xC2, as a few others do.
    let may_be = |byte| (byte < 0x20) | (byte == 0x7f) | (byte == 0xc2);
    let found = text.bytes().fold(false, |found, byte| found | may_be(byte));
    found && text.chars().any(char::is_control)
}

/// An identifier, or none where there is nothing in it.
pub(super) fn optional_reference(field: &'static str, text: Option<String>) -> ConvertResult<Option<String>> {
    let text = text.filter(|text| !text.is_empty());
    text.map(|text| reference(field, text)).transpose()
}

/// State of an adapter: neither empty nor too long, anything else goes.
pub(super) fn opaque(field: &'static str, text: String) -> ConvertResult<String> {
    if text.is_empty() || text.len() > OPAQUE_BYTES_MAX || text.contains('\0') {
        return invalid(field, "empty, or larger than 4 KiB");
    }
    Ok(text)
}

/// Display text, cut at a number of characters; NUL, which no database takes, is dropped.
pub(super) fn truncate(mut text: String, chars_max: usize) -> String {
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

pub(super) fn display_line(text: String) -> String {
    truncate(text, LINE_CHARS)
}

/// Display text that is none when there is nothing in it.
pub(super) fn optional_display(text: Option<String>, chars_max: usize) -> Option<String> {
    text.map(|text| truncate(text, chars_max))
        .filter(|text| !text.trim().is_empty())
}

/// One sentence for operators.
pub(super) fn operator_message(text: String) -> String {
    let text = truncate(text, SENTENCE_CHARS);
    if has_control(&text) {
        text.replace(char::is_control, " ")
    } else {
        text
    }
}

/// An absolute web address, or none.
pub(super) fn url(text: Option<String>) -> Option<String> {
    let is_web = |text: &String| text.starts_with("https://") || text.starts_with("http://");
    text.filter(|text| {
        is_web(text) && text.len() <= URL_BYTES_MAX && !text.contains(' ') && !has_control(text)
    })
}

/// Two capital letters, or none.
pub(super) fn country(text: Option<String>) -> Option<String> {
    text.filter(|text| text.len() == 2 && text.bytes().all(|b| b.is_ascii_uppercase()))
}

/// The name of a time zone that exists, or none.
pub(super) fn time_zone(text: Option<String>) -> Option<String> {
    text.filter(|text| text.len() <= TIME_ZONE_BYTES_MAX && is_time_zone(text))
}

/// `HH:MM`.
pub(super) fn is_clock_time(text: &str) -> bool {
    let Some((hours, minutes)) = text.split_once(':') else {
        return false;
    };
    let below = |part: &str, limit: u8| {
        part.len() == 2
            && part.bytes().all(|b| b.is_ascii_digit())
            && part.parse::<u8>().is_ok_and(|n| n < limit)
    };
    below(hours, 24) && below(minutes, 60)
}

/// `HH:MM`, or none.
pub(super) fn clock_time(text: Option<String>) -> Option<String> {
    text.filter(|text| is_clock_time(text))
}

/// The IATA code of an airport or city: three capital letters.
pub(super) fn airport_code(field: &'static str, text: String) -> ConvertResult<String> {
    if text.len() == 3 && text.bytes().all(|b| b.is_ascii_uppercase()) {
        Ok(text)
    } else {
        invalid(field, "not the IATA code of an airport")
    }
}

/// The IATA code of an airline: two capital letters or digits.
pub(super) fn airline_code(field: &'static str, text: String) -> ConvertResult<String> {
    if text.len() == 2 && text.bytes().all(is_capital_or_digit) {
        Ok(text)
    } else {
        invalid(field, "not the IATA code of an airline")
    }
}

/// An ICAO code of so many characters, or none.
pub(super) fn icao_code(text: Option<String>, length: usize) -> Option<String> {
    text.filter(|text| text.len() == length && text.bytes().all(is_capital_or_digit))
}

const fn is_capital_or_digit(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}
