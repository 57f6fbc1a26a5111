//! Redaction of what is recorded. A text is kept only if a rule of `fields.toml` says so; numbers of
//! up to nine digits and booleans are kept unless a rule drops their member.

mod rules;

#[cfg(test)]
mod tests;

use crate::recording::card_number::contains_card_number;
use crate::recording::redact::rules::{
    Rules, Treatment, hides_card_number, is_code, is_sensitive_number, is_sold_name, rules,
};
use host_domain::personal::PersonalWords;
use serde_json::Value;
use std::fmt::Write as _;

/// Length in bytes from which a recorded body is cut off between two members.
const BODY_BYTES_MAX: usize = 7_500;
/// Depth from which members are cut off.
const DEPTH_MAX: usize = 16;
/// Maximum length of a recorded path, query or sentence.
const TEXT_CHARS_MAX: usize = 400;
const DROPPED: &str = "\"[redacted]\"";
const LONG_NUMBER: &str = "\"[number]\"";

/// The origin of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyKind {
    /// A body that somebody else wrote: a request, or the response of a receiver.
    Content,
    /// A response or an event that the gateway wrote.
    Written,
    /// The gateway's description of a problem.
    Problem,
}

/// Returns a JSON body without secrets and personal data, at most 8 KiB long. Returns `None` if it
/// is no JSON.
pub(crate) fn redact_body(body: &[u8], kind: BodyKind) -> Option<String> {
    let value = serde_json::from_slice(body).ok()?;
    Some(write_body(&value, kind, PersonalWords::default()))
}

/// Returns the bodies of an API call as [`redact_body`] does. Codes that are words about the people
/// of the request are hidden too, because some suppliers write sentences and names where others
/// write codes.
pub(super) fn redact_bodies(
    request: Option<&[u8]>,
    (response, response_kind): (Option<&[u8]>, BodyKind),
) -> (Option<String>, Option<String>) {
    let parse = |body: &[u8]| serde_json::from_slice::<Value>(body).ok();
    let (request, response) = (request.and_then(parse), response.and_then(parse));
    let mut texts = Vec::new();
    if let Some(request) = &request {
        collect_personal_texts(request, "", 0, &mut texts);
    }
    let personal = PersonalWords::new(texts);
    let write = |value: &Value, kind| write_body(value, kind, personal.clone());
    (
        request.map(|request| write(&request, BodyKind::Content)),
        response.map(|response| write(&response, response_kind)),
    )
}

fn write_body(value: &Value, kind: BodyKind, personal: PersonalWords) -> String {
    let mut writer = BodyWriter {
        rules: rules(),
        kind,
        personal,
        text: String::new(),
    };
    writer.write(value, ("", ""), 0);
    writer.text
}

/// Adds the texts about people of a member. Items of an array have the name of the array.
fn collect_personal_texts<'a>(
    value: &'a Value,
    name: &str,
    depth: usize,
    texts: &mut Vec<&'a str>,
) {
    match value {
        Value::String(text) if rules().is_personal(name) => texts.push(text),
        Value::Array(items) if depth < DEPTH_MAX => {
            for item in items {
                collect_personal_texts(item, name, depth + 1, texts);
            }
        }
        Value::Object(members) if depth < DEPTH_MAX => {
            for (name, value) in members {
                collect_personal_texts(value, name, depth + 1, texts);
            }
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => {}
    }
}

struct BodyWriter {
    rules: &'static Rules,
    kind: BodyKind,
    /// Words about the people of the call.
    personal: PersonalWords,
    text: String,
}

impl BodyWriter {
    /// Writes the value of a member, which is named after that of its object. Items of an array have
    /// the name of the array.
    fn write(&mut self, value: &Value, (parent, name): (&str, &str), depth: usize) {
        let is_written = self.kind == BodyKind::Written;
        let treatment = self.rules.of_member(parent, name, is_written);
        match value {
            Value::Null => self.text.push_str("null"),
            _ if treatment == Treatment::Drop && !self.is_problem_sentence(name) => {
                self.text.push_str(DROPPED);
            }
            Value::Number(number) if is_sensitive_number(&number.to_string()) => {
                self.text.push_str(LONG_NUMBER);
            }
            Value::Bool(_) | Value::Number(_) => {
                // Writing to a `String` never fails.
                let _ = write!(self.text, "{value}");
            }
            Value::String(text) => self.write_text(text, name, treatment),
            Value::Array(items) => self.write_array(items, (parent, name), depth),
            Value::Object(members) => {
                self.text.push('{');
                for (position, (member, value)) in members.iter().enumerate() {
                    if self.separate(position, depth) {
                        let left = members.len() - position;
                        let _ = write!(self.text, "\"[more]\":{left}");
                        break;
                    }
                    let shown = if is_member_name(member) {
                        member
                    } else {
                        "[member]"
                    };
                    let _ = write!(self.text, "\"{shown}\":");
                    self.write(value, (name, member), depth + 1);
                }
                self.text.push('}');
            }
        }
    }

    fn write_array(&mut self, items: &[Value], names: (&str, &str), depth: usize) {
        self.text.push('[');
        for (position, item) in items.iter().enumerate() {
            if self.separate(position, depth) {
                let left = items.len() - position;
                let _ = write!(self.text, "\"[{left} more]\"");
                break;
            }
            self.write(item, names, depth + 1);
        }
        self.text.push(']');
    }

    /// Writes the comma before an item. Returns whether the rest is cut off.
    fn separate(&mut self, position: usize, depth: usize) -> bool {
        if position > 0 {
            self.text.push(',');
        }
        self.text.len() > BODY_BYTES_MAX || depth >= DEPTH_MAX
    }

    fn write_text(&mut self, text: &str, name: &str, treatment: Treatment) {
        let is_kept = match treatment {
            Treatment::Code => is_code(text) && !self.personal.occur_in(text),
            Treatment::Sold => is_sold_name(text) && !self.personal.occur_in(text),
            Treatment::Pointer => is_pointer(text),
            Treatment::Id => self.rules.is_id(text),
            Treatment::Drop => self.is_problem_sentence(name),
            Treatment::Length => false,
        };
        if is_kept && !hides_card_number(text) {
            let _ = write!(self.text, "{}", Value::from(text));
        } else {
            let _ = write!(self.text, "\"[text, {}]\"", text.chars().count());
        }
    }

    fn is_problem_sentence(&self, name: &str) -> bool {
        self.kind == BodyKind::Problem && self.rules.keeps_problem_sentence(name)
    }
}

/// Returns whether a name has the form of the names in schemas. Other names may be anything that a
/// client sent.
fn is_member_name(name: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let digits = name.bytes().filter(u8::is_ascii_digit).count();
    (1..=40).contains(&name.len()) && digits <= 3 && name.bytes().all(is_allowed)
}

/// Returns whether a text is a JSON pointer of names that schemas have.
fn is_pointer(text: &str) -> bool {
    let is_known = |part: &str| part.is_empty() || is_member_name(part);
    text.split('/').all(is_known)
}

/// Returns the path and the query of an API call. `route` is the template of the path, `None` if
/// the path is unknown: then nothing is kept.
pub(super) fn redact_uri(route: Option<&str>, path: &str, query: Option<&str>) -> String {
    let Some(route) = route else {
        return String::new();
    };
    let rules = rules();
    let segments = route.split('/').zip(path.split('/'));
    let segments = segments.map(|(template, segment)| {
        let name = template.strip_prefix('{');
        let name = name.and_then(|name| name.strip_suffix('}'));
        let is_kept = name.is_none_or(|name| {
            rules.is_id(segment) || (rules.keeps_path_code(name) && is_code(segment))
        });
        let is_kept = is_kept && !hides_card_number(segment);
        if is_kept { segment } else { "…" }
    });
    let mut text = segments.collect::<Vec<_>>().join("/");
    let pairs = query.into_iter().flat_map(|query| query.split('&'));
    for (position, pair) in pairs.filter(|pair| !pair.is_empty()).enumerate() {
        text.push(if position == 0 { '?' } else { '&' });
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let is_kept = rules.keeps_query(name) && (is_value(value) || rules.is_id(value));
        // A plus sign is a space here.
        let is_kept = is_kept && !hides_card_number(&value.replace('+', " "));
        let shown = if is_member_name(name) { name } else { "…" };
        let value = if is_kept { value } else { "…" };
        let _ = write!(text, "{shown}={value}");
    }
    shorten(&text)
}

/// Returns whether a text is a number, a date, a time, or a code in capitals.
fn is_value(text: &str) -> bool {
    is_code(text) && !text.bytes().any(|byte| byte.is_ascii_lowercase())
}

/// Returns method, origin and path of an HTTP request of a plugin, without those parts of the path
/// that may be a reference or a name.
pub(super) fn redact_target(method: &str, origin: &str, path: &str) -> String {
    let segments = path
        .split('/')
        .map(|segment| if is_word(segment) { segment } else { "…" });
    let path = segments.collect::<Vec<_>>().join("/");
    shorten(&format!("{method} {origin}{path}"))
}

/// Returns the sentence of a plugin or of the runtime with the words that a person's name, an
/// address or a reference cannot be: words in lower case and short numbers.
pub(super) fn redact_sentence(sentence: &str) -> String {
    let rules = rules();
    let words = sentence.split_whitespace().map(|word| {
        let core = word.trim_matches(|c: char| c.is_ascii_punctuation());
        let is_quoted = word.starts_with(['"', '\'', '`']) || word.ends_with(['"', '\'', '`']);
        let is_kept = !is_quoted && (is_word(core) || rules.keeps_word(core));
        if is_kept { word } else { "…" }
    });
    let mut kept: Vec<&str> = words.collect();
    // Each group of a card number is a short number.
    if contains_card_number(&kept.join(" ")) {
        for word in &mut kept {
            if word.bytes().any(|byte| byte.is_ascii_digit()) {
                *word = "…";
            }
        }
    }
    kept.dedup_by(|one, other| one == other && *one == "…");
    shorten(&kept.join(" "))
}

/// Returns whether a text has only lower-case letters, digits and separators, and no long number.
/// Tokens of cards and other identifiers have an underscore; names of settings have a dot besides.
fn is_word(text: &str) -> bool {
    let is_allowed =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_.-".contains(&byte);
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let is_identifier = text.contains('_') && !text.contains('.');
    text.len() <= 40 && digits <= 5 && !is_identifier && text.bytes().all(is_allowed)
}

fn shorten(text: &str) -> String {
    text.chars().take(TEXT_CHARS_MAX).collect()
}
