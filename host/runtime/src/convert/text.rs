//! Conversion of texts from guests. References must be present and complete; display texts are
//! truncated.

use super::{ConvertResult, valid_if};
use host_domain::time::is_time_zone;

/// Maximum size of a supplier's reference.
const REFERENCE_BYTES_MAX: usize = 256;
/// Maximum size of a unique key. Every database can index keys of this size.
const KEY_BYTES_MAX: usize = 1 << 10;
/// Maximum size of opaque state that an adapter returns and receives again.
pub(super) const OPAQUE_BYTES_MAX: usize = 4 << 10;
const URL_BYTES_MAX: usize = 2 << 10;
/// Maximum size of a time-zone name that is looked up. The longest existing name has 32 bytes.
const TIME_ZONE_BYTES_MAX: usize = 64;
/// Maximum length of a name, title or address.
pub(super) const LINE_CHARS: usize = 300;
/// Maximum length of a paragraph.
pub(super) const TEXT_CHARS: usize = 20_000;
const SENTENCE_CHARS: usize = 500;

/// Validates an identifier: it must not be empty or too long, or contain control characters.
pub(super) fn reference(field: &'static str, text: String) -> ConvertResult<String> {
    identifier(field, text, REFERENCE_BYTES_MAX)
}

/// Validates an identifier that may be as long as that of a whole offer.
pub(super) fn key(field: &'static str, text: String) -> ConvertResult<String> {
    identifier(field, text, KEY_BYTES_MAX)
}

fn identifier(field: &'static str, text: String, bytes_max: usize) -> ConvertResult<String> {
    let is_valid = !text.is_empty() && text.len() <= bytes_max && !has_control(&text);
    let reason = "empty, too long, or not an identifier";
    valid_if(is_valid, text, field, reason)
}

/// Checks byte by byte without branches, which the compiler vectorizes. A large response has
/// thousands of texts, and hardly any contains a control character.
fn has_control(text: &str) -> bool {
    // The UTF-8 encodings of U+0080 to U+009F begin with 0xC2. Other characters begin with it too,
    // so matches are checked again.
    let may_be = |byte| (byte < 0x20) | (byte == 0x7f) | (byte == 0xc2);
    let found = text.bytes().fold(false, |found, byte| found | may_be(byte));
    found && text.chars().any(char::is_control)
}

/// Validates an optional identifier. An empty one becomes `None`.
pub(super) fn optional_reference(
    field: &'static str,
    text: Option<String>,
) -> ConvertResult<Option<String>> {
    let text = text.filter(|text| !text.is_empty());
    text.map(|text| reference(field, text)).transpose()
}

/// Validates the opaque state of an adapter: it must not be empty or too long, or contain NUL.
pub(super) fn opaque(field: &'static str, text: String) -> ConvertResult<String> {
    let is_valid = (1..=OPAQUE_BYTES_MAX).contains(&text.len()) && !text.contains('\0');
    valid_if(is_valid, text, field, "empty, or larger than 4 KiB")
}

/// Truncates a display text to a number of characters and removes NUL, which databases do not
/// accept.
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

/// Truncates an optional display text. A blank one becomes `None`.
pub(super) fn optional_display(text: Option<String>, chars_max: usize) -> Option<String> {
    text.map(|text| truncate(text, chars_max))
        .filter(|text| !text.trim().is_empty())
}

/// Converts a message for operators: truncates it and replaces control characters.
pub(super) fn operator_message(text: String) -> String {
    let text = truncate(text, SENTENCE_CHARS);
    if has_control(&text) {
        text.replace(char::is_control, " ")
    } else {
        text
    }
}

/// Returns the text if it is an absolute web address.
pub(super) fn url(text: Option<String>) -> Option<String> {
    let is_web = |text: &String| text.starts_with("https://") || text.starts_with("http://");
    text.filter(|text| {
        is_web(text) && text.len() <= URL_BYTES_MAX && !text.contains(' ') && !has_control(text)
    })
}

/// Returns the text if it consists of two capital letters.
pub(super) fn country(text: Option<String>) -> Option<String> {
    text.filter(|text| text.len() == 2 && text.bytes().all(|b| b.is_ascii_uppercase()))
}

/// Returns the text if it is the name of an existing time zone.
pub(super) fn time_zone(text: Option<String>) -> Option<String> {
    text.filter(|text| text.len() <= TIME_ZONE_BYTES_MAX && is_time_zone(text))
}

/// Returns whether the text has the form `HH:MM`.
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

/// Returns the text if it has the form `HH:MM`.
pub(super) fn clock_time(text: Option<String>) -> Option<String> {
    text.filter(|text| is_clock_time(text))
}

/// Validates the IATA code of an airport or city: three capital letters.
pub(super) fn airport_code(field: &'static str, text: String) -> ConvertResult<String> {
    let is_code = text.len() == 3 && text.bytes().all(|b| b.is_ascii_uppercase());
    valid_if(is_code, text, field, "not the IATA code of an airport")
}

/// Validates the IATA code of an airline: two capital letters or digits.
pub(super) fn airline_code(field: &'static str, text: String) -> ConvertResult<String> {
    let is_code = text.len() == 2 && text.bytes().all(is_capital_or_digit);
    valid_if(is_code, text, field, "not the IATA code of an airline")
}

/// Returns the text if it is the IATA code of an airline.
pub(super) fn optional_airline_code(text: Option<String>) -> Option<String> {
    text.and_then(|text| airline_code("", text).ok())
}

/// Returns the text if it is an ICAO code of `length` characters.
pub(super) fn icao_code(text: Option<String>, length: usize) -> Option<String> {
    text.filter(|text| text.len() == length && text.bytes().all(is_capital_or_digit))
}

const fn is_capital_or_digit(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}
