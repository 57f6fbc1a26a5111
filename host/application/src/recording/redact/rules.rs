//! The rules of redaction, which are data in `fields.toml`.

use crate::recording::card_number::contains_card_number;
use serde::Deserialize;
use std::sync::LazyLock;

/// Maximum length of the name of something that is sold.
const NAME_CHARS_MAX: usize = 120;

static RULES: LazyLock<Rules> = LazyLock::new(|| {
    toml::from_str(include_str!("fields.toml")).unwrap_or_else(|error| {
        // A test reads the file. Without rules nothing is kept.
        tracing::error!(%error, "the rules of redaction cannot be read; recorded bodies are empty");
        Rules::default()
    })
});

/// Returns the rules of the program.
pub(super) fn rules() -> &'static Rules {
    &RULES
}

/// The rules of redaction.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rules {
    sold: Vec<String>,
    times: Vec<String>,
    drop: Vec<Pattern>,
    personal: Vec<Pattern>,
    codes: Vec<Pattern>,
    pointers: Vec<Pattern>,
    ids: Vec<Pattern>,
    id_prefixes: Vec<String>,
    path_codes: Vec<String>,
    query: Vec<String>,
    problem_sentences: Vec<String>,
    sentence_words: Vec<String>,
}

/// Treatment of the text of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Treatment {
    /// The value is replaced, whatever it is.
    Drop,
    /// The text is kept if it has the form of a code.
    Code,
    /// The text is kept if it is a JSON pointer of names that schemas have.
    Pointer,
    /// The text is kept if it is an identifier of the gateway.
    Id,
    /// The text is kept in what the gateway writes, unless it has words about people or a long
    /// number.
    Sold,
    /// The text is replaced by its length.
    Length,
}

impl Rules {
    /// Returns the treatment of a member. `parent` is the name of its object,
    /// `is_written` whether the gateway wrote the body.
    pub(super) fn of_member(&self, parent: &str, name: &str, is_written: bool) -> Treatment {
        let has = |patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.matches(name));
        let is_sold = |known: &String| match known.split_once('.') {
            Some((object, member)) => (object, member) == (parent, name),
            None => known == name,
        };
        if is_written && self.sold.iter().any(is_sold) {
            Treatment::Sold
        } else if self.times.iter().any(|known| known == name) {
            Treatment::Code
        } else if has(&self.drop) {
            Treatment::Drop
        } else if has(&self.ids) {
            Treatment::Id
        } else if has(&self.pointers) {
            Treatment::Pointer
        } else if has(&self.codes) {
            Treatment::Code
        } else {
            Treatment::Length
        }
    }

    /// Returns whether a member's text is about a person.
    pub(super) fn is_personal(&self, name: &str) -> bool {
        self.personal.iter().any(|pattern| pattern.matches(name))
    }

    pub(super) fn keeps_path_code(&self, name: &str) -> bool {
        self.path_codes.iter().any(|known| known == name)
    }

    pub(super) fn keeps_query(&self, name: &str) -> bool {
        self.query.iter().any(|known| known == name)
    }

    pub(super) fn keeps_problem_sentence(&self, name: &str) -> bool {
        self.problem_sentences.iter().any(|known| known == name)
    }

    pub(super) fn keeps_word(&self, word: &str) -> bool {
        self.sentence_words.iter().any(|known| known == word)
    }

    /// Returns whether a text is an identifier that the gateway made.
    pub(super) fn is_id(&self, text: &str) -> bool {
        let mut prefixes = self.id_prefixes.iter();
        let rest = prefixes.find_map(|prefix| text.strip_prefix(prefix.as_str()));
        let is_hexadecimal = |byte: u8| byte.is_ascii_hexdigit() || byte == b'-';
        rest.is_some_and(|rest| (1..=64).contains(&rest.len()) && rest.bytes().all(is_hexadecimal))
    }
}

/// A name, `beginning*`, `*end` or `*part*`.
#[derive(Debug, Deserialize)]
#[serde(from = "String")]
struct Pattern {
    text: String,
    is_open_before: bool,
    is_open_after: bool,
}

impl From<String> for Pattern {
    fn from(pattern: String) -> Self {
        Self {
            is_open_before: pattern.starts_with('*'),
            is_open_after: pattern.ends_with('*'),
            text: pattern.trim_matches('*').to_owned(),
        }
    }
}

impl Pattern {
    fn matches(&self, name: &str) -> bool {
        match (self.is_open_before, self.is_open_after) {
            (false, false) => name == self.text,
            (false, true) => name.starts_with(&self.text),
            (true, false) => name.ends_with(&self.text),
            (true, true) => name.contains(&self.text),
        }
    }
}

/// Returns whether a text has the form of a code, a date or a time.
pub(super) fn is_code(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._:/+-*".contains(&byte);
    text.len() <= 80 && text.bytes().all(is_allowed) && !is_personal_number(text)
}

/// Returns whether a text may be the number of a card, a document or a telephone: more than four
/// digits with separators at most, and neither a date, a time nor a decimal number.
fn is_personal_number(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let has_other = text
        .bytes()
        .any(|byte| !byte.is_ascii_digit() && !b"+-._:/*".contains(&byte));
    if digits <= 4 || has_other {
        return false;
    }
    let form: String = text
        .chars()
        .map(|c| if c.is_ascii_digit() { '0' } else { c })
        .collect();
    let is_date_or_time = matches!(form.as_str(), "0000-00-00" | "00:00:00");
    let is_decimal =
        form.trim_start_matches('-')
            .split_once('.')
            .is_some_and(|(whole, decimals)| {
                let is_digits =
                    |part: &str| !part.is_empty() && part.bytes().all(|byte| byte == b'0');
                is_digits(whole) && is_digits(decimals) && !is_long_number(text)
            });
    !is_date_or_time && !is_decimal
}

/// Returns whether a text may be the name of something that is sold: short, and without a number
/// that a card or a telephone could have.
pub(super) fn is_sold_name(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    text.chars().count() <= NAME_CHARS_MAX && digits <= 4 && !text.contains('@')
}

/// Returns whether a text contains the number of a card. Identifiers that the gateway generated are
/// excepted: the digits of one of a thousand happen to have the form of a card number.
pub(super) fn hides_card_number(text: &str) -> bool {
    contains_card_number(text) && {
        let parts = text.split(['_', '-']).filter(|part| !is_generated(part));
        contains_card_number(&parts.collect::<Vec<_>>().join("-"))
    }
}

/// Returns whether a part of an identifier is a UUID of version 7 without hyphens.
fn is_generated(part: &str) -> bool {
    let bytes = part.as_bytes();
    bytes.len() == 32
        && bytes.get(12) == Some(&b'7')
        && matches!(bytes.get(16), Some(b'8' | b'9' | b'a' | b'b'))
        && bytes.iter().all(u8::is_ascii_hexdigit)
}

/// Returns whether a number has digits that may be those of a card or a telephone.
pub(super) fn is_sensitive_number(number: &str) -> bool {
    is_long_number(number) || contains_card_number(number)
}

/// Returns whether the whole part of a decimal number has more than nine digits, as the numbers of
/// cards and telephones have.
fn is_long_number(number: &str) -> bool {
    let digits = number.trim_start_matches('-').bytes();
    digits.take_while(u8::is_ascii_digit).count() > 9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_can_be_read() {
        let rules: Rules = toml::from_str(include_str!("fields.toml")).unwrap();
        for (name, treatment) in [
            ("first_name", Treatment::Drop),
            ("card_token", Treatment::Drop),
            ("booking_id", Treatment::Id),
            ("currency", Treatment::Code),
            ("created_at", Treatment::Code),
            ("offer_expires_at", Treatment::Code),
            ("board_name", Treatment::Drop),
            ("pointer", Treatment::Pointer),
            ("description", Treatment::Length),
        ] {
            let found = rules.of_member("", name, false);
            assert_eq!(found, treatment, "{name}");
        }
    }
}
