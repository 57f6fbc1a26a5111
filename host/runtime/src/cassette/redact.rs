//! Redaction of recorded exchanges: credentials, names, addresses, and the numbers of telephones,
//! cards and documents. Placeholders have the form of the original values, so that a recorded
//! response can still be parsed.

use super::{Body, RecordedRequest};
use crate::call_log::redact_path;
use host_domain::personal::PersonalWords;
use http::{HeaderMap, header};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use url::{Url, form_urlencoded};

const NAME: &str = "Redacted";
const EMAIL: &str = "guest@example.invalid";
const PHONE: &str = "+10000000000";
const BIRTH: &str = "1990-01-01";
const DOCUMENT: &str = "X0000000";
const SECRET: &str = "redacted";

/// Headers that are recorded. All other headers are dropped.
const KEPT_HEADERS: [&str; 6] = [
    "accept",
    "accept-language",
    "content-type",
    "location",
    "retry-after",
    "x-ratelimit-remaining",
];

const NAME_KEYS: [&str; 16] = [
    "firstname",
    "lastname",
    "givenname",
    "givennames",
    "familyname",
    "surname",
    "middlename",
    "fullname",
    "holdername",
    "guestname",
    "cardholdername",
    "nameoncard",
    "membername",
    "travelername",
    "passengername",
    "contactname",
];
const PHONE_KEYS: [&str; 8] = [
    "phone",
    "phonenumber",
    "telephone",
    "mobile",
    "mobilephone",
    "fax",
    "cellphone",
    "phones",
];
const BIRTH_KEYS: [&str; 6] = [
    "dateofbirth",
    "birthdate",
    "birthday",
    "dob",
    "bornon",
    "birth",
];
const DOCUMENT_KEYS: [&str; 9] = [
    "passport",
    "passportnumber",
    "documentnumber",
    "identitynumber",
    "uniqueidentifier",
    "idnumber",
    "membershipnumber",
    "loyaltynumber",
    "frequentflyernumber",
];
const SECRET_KEYS: [&str; 20] = [
    "apikey",
    "token",
    "accesstoken",
    "refreshtoken",
    "idtoken",
    "authorization",
    "password",
    "secret",
    "secretkey",
    "clientsecret",
    "signature",
    "xsignature",
    "cvc",
    "cvv",
    "securitycode",
    "cardnumber",
    "pan",
    "secrettoken",
    "publishablekey",
    "privatekey",
];
/// Keys below which a plain `name` is the name of a person.
const PERSON_KEYS: [&str; 15] = [
    "guest",
    "guests",
    "holder",
    "contact",
    "passenger",
    "passengers",
    "customer",
    "traveler",
    "travelers",
    "traveller",
    "travellers",
    "payer",
    "lead",
    "paxes",
    "owner",
];
/// Keys that hold a person's address if they occur below [`PERSON_KEYS`].
const ADDRESS_KEYS: [&str; 6] = [
    "address",
    "addressline",
    "street",
    "postalcode",
    "zip",
    "ip",
];

pub(super) fn headers(headers: &HeaderMap) -> BTreeMap<String, String> {
    let kept = headers
        .iter()
        .filter(|(name, _)| KEPT_HEADERS.contains(&name.as_str()));
    kept.filter_map(|(name, value)| {
        Some((name.as_str().to_owned(), redact_text(value.to_str().ok()?)))
    })
    .collect()
}

pub(super) fn path_and_query(url: &Url) -> String {
    let path = redact_path(url.path(), &PersonalWords::default());
    match url.query() {
        Some(query) if !query.is_empty() => format!("{path}?{}", form(query)),
        _ => path,
    }
}

pub(super) fn body(bytes: &[u8], headers: &HeaderMap) -> Body {
    if bytes.is_empty() {
        return Body::None;
    }
    if let Ok(mut value) = serde_json::from_slice(bytes) {
        json(&mut value, false);
        return Body::Json(value);
    }
    let is_form = headers.get(header::CONTENT_TYPE).is_some_and(|value| {
        value
            .as_bytes()
            .starts_with(b"application/x-www-form-urlencoded")
    });
    match std::str::from_utf8(bytes) {
        Ok(text) if is_form => Body::Form(form(text)),
        _ => Body::Omitted(hex::encode(Sha256::digest(bytes))),
    }
}

fn form(text: &str) -> String {
    let mut redacted = form_urlencoded::Serializer::new(String::new());
    for (key, value) in form_urlencoded::parse(text.as_bytes()) {
        let innermost = key.rsplit('[').next().unwrap_or(&key).trim_end_matches(']');
        let person = key
            .split('[')
            .any(|part| PERSON_KEYS.contains(&normalize_key(part).as_str()));
        let placeholder = placeholder(&normalize_key(innermost), person);
        redacted.append_pair(&key, placeholder.unwrap_or(&redact_text(&value)));
    }
    redacted.finish()
}

fn json(value: &mut Value, person: bool) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                let key = normalize_key(key);
                match (placeholder(&key, person), &member) {
                    (Some(placeholder), Value::String(_) | Value::Number(_)) => {
                        *member = Value::from(placeholder)
                    }
                    _ => json(member, person || PERSON_KEYS.contains(&key.as_str())),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| json(item, person)),
        Value::String(text) => *text = redact_text(text),
        Value::Number(number) if is_card_like(&number.to_string()) => *value = Value::from(0),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Normalizes a key by removing case and separators, so that `first_name` and `firstName` are
/// equal.
fn normalize_key(key: &str) -> String {
    key.chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect()
}

fn placeholder(key: &str, person: bool) -> Option<&'static str> {
    let is = |keys: &[&str]| keys.contains(&key);
    if is(&SECRET_KEYS) {
        Some(SECRET)
    } else if key.contains("email") {
        Some(EMAIL)
    } else if is(&PHONE_KEYS) {
        Some(PHONE)
    } else if is(&BIRTH_KEYS) {
        Some(BIRTH)
    } else if is(&DOCUMENT_KEYS) {
        Some(DOCUMENT)
    } else if is(&NAME_KEYS) || (person && (key == "name" || is(&ADDRESS_KEYS))) {
        Some(NAME)
    } else {
        None
    }
}

/// Masks e-mail addresses, international telephone numbers and card numbers within a longer text.
fn redact_text(text: &str) -> String {
    let words = text.split_inclusive(ends_word).map(|word| {
        let end = word.trim_end_matches(ends_word).len();
        let (word, separator) = word.split_at(end);
        if is_email(word) {
            EMAIL.to_owned() + separator
        } else {
            word.to_owned() + separator
        }
    });
    mask_numbers(&words.collect::<String>())
}

fn ends_word(c: char) -> bool {
    c.is_whitespace()
        || matches!(
            c,
            ',' | ';' | '<' | '>' | '"' | '\'' | '(' | ')' | '=' | '&' | '?' | '/' | ':'
        )
}

fn is_email(word: &str) -> bool {
    let parts = word.split_once('@').or_else(|| word.split_once("%40"));
    parts.is_some_and(|(local, host)| !local.is_empty() && host.contains('.'))
}

/// Masks card numbers, whose digit groups may be separated by blanks or dashes, and telephone
/// numbers of `+` and 8 to 15 digits.
fn mask_numbers(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit() || c == '+') {
        let (before, run) = rest.split_at(start);
        masked.push_str(before);
        let joined = |c: char| c.is_ascii_digit() || matches!(c, ' ' | '-' | '+');
        let end = run.find(|c: char| !joined(c)).unwrap_or(run.len());
        let (run, after) = run.split_at(end);
        let trimmed = run.trim_end_matches([' ', '-', '+']);
        let digits: String = trimmed.chars().filter(char::is_ascii_digit).collect();
        let in_word = before.ends_with(char::is_alphanumeric)
            || (trimmed.len() == run.len() && after.starts_with(char::is_alphabetic));
        if !in_word && trimmed.starts_with('+') && (8..=15).contains(&digits.len()) {
            masked.push_str(PHONE);
        } else if !in_word && is_grouped(trimmed) && is_card_like(&digits) {
            masked.push_str(&"0".repeat(digits.len()));
        } else {
            masked.push_str(trimmed);
        }
        masked.push_str(run.get(trimmed.len()..).unwrap_or(""));
        rest = after;
    }
    masked + rest
}

/// Returns whether the digits are grouped as on a card and not as in a date.
fn is_grouped(run: &str) -> bool {
    run.split([' ', '-']).all(|group| group.len() >= 4)
}

/// Returns whether a text has 14 to 19 digits, begins like a card number and has a valid check
/// digit. Timestamps in milliseconds and microseconds do not match because they begin with 1.
fn is_card_like(digits: &str) -> bool {
    let begins = digits.starts_with(['2', '3', '4', '5', '6']);
    if !begins || !(14..=19).contains(&digits.len()) || !digits.bytes().all(|b| b.is_ascii_digit())
    {
        return false;
    }
    let sum: u32 = digits
        .bytes()
        .rev()
        .zip(0_u32..)
        .fold(0, |sum, (byte, position)| {
            let digit = u32::from(byte - b'0') * (1 + position % 2);
            sum + digit / 10 + digit % 10
        });
    sum.is_multiple_of(10)
}

const ID_DIGITS: usize = 32;

/// Returns the gateway ids in a text, which are runs of 32 hexadecimal digits.
fn id_runs(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_hexdigit())
        .filter(|run| run.len() == ID_DIGITS)
}

/// Replaces every gateway id in a text by the same placeholder.
pub(super) fn replace_ids(text: &str) -> String {
    let zeros = "0".repeat(ID_DIGITS);
    id_runs(text).fold(text.to_owned(), |text, run| text.replace(run, &zeros))
}

/// Returns the distinct gateway ids of a request in the order of their first occurrence.
pub(super) fn ids(request: &RecordedRequest) -> Vec<String> {
    let text = format!(
        "{} {}",
        request.path,
        String::from_utf8_lossy(&request.body.bytes())
    );
    let mut found: Vec<String> = Vec::new();
    for run in id_runs(&text) {
        if !found.iter().any(|known| known == run) {
            found.push(run.to_owned());
        }
    }
    found
}
