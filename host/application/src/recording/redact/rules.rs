//! The rules of redaction, which are data in `fields.toml`.

use serde::Deserialize;
use std::sync::LazyLock;

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
    drop: Vec<Pattern>,
    codes: Vec<Pattern>,
    ids: Vec<Pattern>,
    id_prefixes: Vec<String>,
    path_codes: Vec<String>,
    query: Vec<String>,
    problem_sentences: Vec<String>,
    sentence_words: Vec<String>,
}

/// How the text of a member is treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Treatment {
    /// The value is replaced, whatever it is.
    Drop,
    /// The text is kept if it has the form of a code.
    Code,
    /// The text is kept if it is an identifier of the gateway.
    Id,
    /// The text is replaced by its length.
    Length,
}

impl Rules {
    pub(super) fn of_member(&self, name: &str) -> Treatment {
        let has = |patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.matches(name));
        if has(&self.drop) {
            Treatment::Drop
        } else if has(&self.ids) {
            Treatment::Id
        } else if has(&self.codes) {
            Treatment::Code
        } else {
            Treatment::Length
        }
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
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    // A date with a time has 17 digits. Numbers of cards and documents have no other characters.
    let is_number = digits > 4 && digits == text.len();
    text.len() <= 80 && text.bytes().all(is_allowed) && !is_number
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
            ("description", Treatment::Length),
        ] {
            assert_eq!(rules.of_member(name), treatment, "{name}");
        }
    }
}
