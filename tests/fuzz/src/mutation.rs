//! Documents made from valid ones by changing bytes and, if they contain JSON, its fields.

use crate::Choice;
use serde_json::{Value, json};

/// Bytes that have a meaning in most formats.
const BYTES: &[u8] = b"\0\t\r\n \"'#%&+,-./0129:;=?@AFZ[\\]_afz{|}\x7f\x80\xc3\xff";

/// Words that have a meaning in most formats.
const TOKENS: [&str; 24] = [
    "0",
    "-1",
    "1e400",
    "-0",
    "0x10",
    "1.5",
    "9223372036854775808",
    "18446744073709551616",
    "null",
    "true",
    "NaN",
    "\"\"",
    "\\u0000",
    "\\ud800",
    "%00",
    "%2e%2e%2f",
    "\u{e9}",
    "\u{fe0f}",
    "\u{ff0e}",
    "\r\n",
    "//",
    "localhost",
    "127.0.0.1",
    "[::1]",
];

/// Texts that have a meaning for an API about dates, money and places.
const TEXTS: [&str; 16] = [
    "",
    " ",
    "\0",
    "EUR",
    "eur",
    "XXX",
    "GB",
    "2026-02-30",
    "0000-01-01",
    "9999-12-31",
    "-009999-01-01",
    "2026-12-01T25:00",
    "AAAAAAAAAAAAAAAAAAAAAA",
    "bkg_1",
    "+1",
    "\u{1f}",
];

pub(crate) struct Mutation<'a> {
    seeds: &'a [Vec<u8>],
    tokens: &'a [&'a str],
}

impl<'a> Mutation<'a> {
    pub(crate) const fn new(seeds: &'a [Vec<u8>], tokens: &'a [&'a str]) -> Self {
        Self { seeds, tokens }
    }

    /// Returns a seed with one to six changes.
    pub(crate) fn draw(&self, choice: &mut Choice<'_>) -> Vec<u8> {
        let mut document = choice.pick(self.seeds);
        for _ in 0..=choice.below(6) {
            let structural = choice.below(3) > 0;
            document = match structural.then(|| json_part(&document)).flatten() {
                Some((head, value)) => [head, self.member(choice, value).as_slice()].concat(),
                None => self.bytes(choice, document),
            };
        }
        document
    }

    fn token(&self, choice: &mut Choice<'_>) -> &'a str {
        if self.tokens.is_empty() || choice.one_in(3) {
            choice.pick(&TOKENS)
        } else {
            choice.pick(self.tokens)
        }
    }

    /// Changes some bytes.
    fn bytes(&self, choice: &mut Choice<'_>, mut document: Vec<u8>) -> Vec<u8> {
        let at = choice.below(document.len() + 1);
        let length = choice.pick(&[1, 1, 1, 2, 3, 4, 8, 16, 64]);
        let range = at..(at + length).min(document.len());
        match choice.below(8) {
            0 => {
                let bit = 1 << choice.below(8);
                document[range]
                    .iter_mut()
                    .take(1)
                    .for_each(|byte| *byte ^= bit);
            }
            1 => {
                let new = choice.pick(BYTES);
                document[range]
                    .iter_mut()
                    .take(1)
                    .for_each(|byte| *byte = new);
            }
            2 => drop(document.drain(range)),
            3 => {
                let part = document[range].repeat(choice.pick(&[1, 1, 2, 40]));
                document.splice(at..at, part);
            }
            4 => drop(document.splice(at..at, self.token(choice).bytes())),
            5 => drop(document.splice(range, self.token(choice).bytes())),
            6 => {
                let other = choice.pick(self.seeds);
                let from = choice.below(other.len() + 1);
                document.truncate(at);
                document.extend_from_slice(&other[from..]);
            }
            _ => document.truncate(at),
        }
        document
    }

    /// Changes one value at any depth and encodes the document again.
    fn member(&self, choice: &mut Choice<'_>, mut document: Value) -> Vec<u8> {
        let copy = nth(&mut document.clone(), &mut choice.below(count(&document))).cloned();
        let mut at = choice.below(count(&document));
        if let Some(value) = nth(&mut document, &mut at) {
            match (choice.below(6), &mut *value) {
                (0, value) => *value = copy.unwrap_or_default(),
                (1..4, Value::Object(members)) if !members.is_empty() => {
                    change_object(choice, members);
                }
                (1..4, Value::Array(items)) if !items.is_empty() => change_array(choice, items),
                (1..5, Value::String(text)) => {
                    let changed = self.bytes(choice, text.clone().into_bytes());
                    *text = String::from_utf8_lossy(&changed).into_owned();
                }
                (1..4, Value::Number(number)) => {
                    let near = number.as_i64().unwrap_or_default();
                    *value = json!(near.wrapping_add(choice.pick(&[-1, 1, 100, i64::MAX])));
                }
                (_, value) => *value = odd(choice),
            }
        }
        document.to_string().into_bytes()
    }
}

/// Returns the JSON of a document: all of it, or the part after its first line.
fn json_part(document: &[u8]) -> Option<(&[u8], Value)> {
    let (_, rest) = crate::lines(document);
    [document, rest].into_iter().find_map(|part| {
        let (head, part) = document.split_at(document.len() - part.len());
        Some((head, serde_json::from_slice(part).ok()?))
    })
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(members) => members.values().map(count).sum(),
        _ => 0,
    }
}

/// Returns the value after `n` others, counted from the outside in.
fn nth<'v>(value: &'v mut Value, n: &mut usize) -> Option<&'v mut Value> {
    if *n == 0 {
        return Some(value);
    }
    *n -= 1;
    match value {
        Value::Array(items) => items.iter_mut().find_map(|item| nth(item, n)),
        Value::Object(members) => members.values_mut().find_map(|member| nth(member, n)),
        _ => None,
    }
}

fn change_object(choice: &mut Choice<'_>, members: &mut serde_json::Map<String, Value>) {
    let names: Vec<String> = members.keys().cloned().collect();
    let (name, other) = (choice.pick(&names), choice.pick(&names));
    match choice.below(3) {
        0 => drop(members.remove(&name)),
        1 => {
            let value = members.remove(&name).unwrap_or_default();
            members.insert(choice.pick(&TEXTS).to_owned() + &name, value);
        }
        _ => {
            let value = members[&other].clone();
            members.insert(name, value);
        }
    }
}

fn change_array(choice: &mut Choice<'_>, items: &mut Vec<Value>) {
    let at = choice.below(items.len());
    match choice.below(3) {
        0 => drop(items.remove(at)),
        1 => items.extend(vec![items[at].clone(); choice.pick(&[1, 1, 9, 300])]),
        _ => items.reverse(),
    }
}

fn odd(choice: &mut Choice<'_>) -> Value {
    match choice.below(8) {
        0 => Value::Null,
        1 => json!(choice.one_in(2)),
        2 => json!(choice.integer()),
        3 => json!(choice.float()),
        4 => json!([]),
        5 => json!({}),
        6 => json!(choice.text()),
        _ => json!(choice.pick(&TEXTS)),
    }
}
