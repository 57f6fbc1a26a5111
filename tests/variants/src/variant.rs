//! The variants of a response: every change of one value, and every body with every status.

use stopover_sdk::http::{Error, Response};

use crate::document::{Edit, Node, Repeated};
use crate::operation::{Operation, Step};
use crate::rule::{self, ReceivedResponse};

/// The changes of one value, by name.
const EDITS: [(&str, Edit); 27] = [
    ("removed", Edit::Remove),
    ("null", Edit::Replace("null")),
    ("empty text", Edit::Replace("\"\"")),
    ("other text", Edit::Replace("\"x-odd\"")),
    ("space", Edit::Replace("\" \"")),
    ("number in a text", Edit::Replace("\"-1\"")),
    (
        "control character",
        Edit::Replace("\"\\u0000<b>&#x110000;\""),
    ),
    ("half a surrogate pair", Edit::Replace("\"\\ud800\"")),
    ("zero", Edit::Replace("0")),
    ("number", Edit::Replace("7")),
    ("negative", Edit::Replace("-1")),
    ("fraction", Edit::Replace("0.001")),
    ("2^64 - 1", Edit::Replace("18446744073709551615")),
    ("1e300", Edit::Replace("1e300")),
    ("1e999", Edit::Replace("1e999")),
    ("tiny", Edit::Replace("-1e-400")),
    ("true", Edit::Replace("true")),
    ("false", Edit::Replace("false")),
    ("empty list", Edit::Replace("[]")),
    ("list of null", Edit::Replace("[null]")),
    ("nested lists", Edit::Replace("[[[[[[[[1]]]]]]]]")),
    ("empty object", Edit::Replace("{}")),
    ("other object", Edit::Replace("{\"odd\":1}")),
    ("repeated after itself", Edit::RepeatAfter(Repeated::Same)),
    (
        "repeated before with null",
        Edit::RepeatBefore(Repeated::Other("null")),
    ),
    (
        "repeated before with text",
        Edit::RepeatBefore(Repeated::Other("\"x-odd\"")),
    ),
    (
        "repeated after with text",
        Edit::RepeatAfter(Repeated::Other("\"x-odd\"")),
    ),
];

/// The statuses with which each body is sent.
const STATUSES: [u16; 31] = [
    200, 201, 202, 203, 204, 206, 300, 301, 302, 304, 307, 400, 401, 402, 403, 404, 405, 406, 408,
    409, 410, 413, 422, 425, 429, 451, 500, 502, 503, 504, 520,
];

/// Bodies that are no document of the supplier, by name.
const BODIES: [(&str, &str); 9] = [
    ("no body", ""),
    ("spaces", " \n"),
    ("HTML", "<html><body>404 not_found</body></html>"),
    ("half a member", "{\"data\""),
    ("{}", "{}"),
    ("[]", "[]"),
    ("null", "null"),
    ("a text", "\"ok\""),
    ("data null", "{\"data\":null}"),
];

/// Number of levels that no parser reads by recursion.
const DEEP_LEVELS: usize = 10_000;

/// A list that stands for the nested ones, so that the rule sees a list.
const DEEP_MARK: &str = "[\"@deep\"]";

/// A code that no supplier documents.
const UNLISTED_CODE: &str = "not_a_documented_code";

/// A variant of a response to one step.
#[derive(Debug, Clone)]
pub(crate) struct Variant {
    pub(crate) step: usize,
    pub(crate) status: u16,
    pub(crate) change: VariantChange,
}

#[derive(Debug, Clone)]
pub(crate) enum VariantChange {
    /// The ordinary document with one value changed, by the position of the change in `EDITS`.
    Edited(String, usize),
    /// The value under this pointer is a deeply nested list.
    Deep(String),
    /// The ordinary document of this step.
    Ordinary,
    /// The ordinary document about another object.
    OtherObject,
    /// The ordinary document of the first step of another operation.
    OtherOperation(usize),
    /// The ordinary document, cut off after this many eighths.
    Cut(usize),
    Body(usize),
    /// A documented error, by its row and the position of its code, and a change of it.
    Error(usize, usize, Option<(String, usize)>),
    /// An error with a code that is not documented.
    UnlistedError,
    /// No response, by the position in `failures`.
    Failure(usize),
}

/// A response to send, and the document in it.
pub(crate) struct BuiltResponse {
    pub(crate) response: Result<Response, Error>,
    document: Option<Node>,
    repeated: Option<String>,
    is_changed: bool,
    is_of_other_operation: bool,
}

impl BuiltResponse {
    pub(crate) fn received(&self) -> Option<ReceivedResponse<'_>> {
        Some(ReceivedResponse {
            status: self.response.as_ref().ok()?.status,
            document: self.document.as_ref(),
            repeated: self.repeated.as_deref(),
            is_changed: self.is_changed,
            is_of_other_operation: self.is_of_other_operation,
        })
    }
}

/// Exchanges without a complete response, and whether the request may have arrived.
fn failures() -> [(&'static str, Error, bool); 5] {
    let text = || "closed".to_owned();
    [
        ("not sent", Error::NotSent(text()), false),
        ("denied", Error::Denied(text()), false),
        ("connection lost", Error::ConnectionLost(text()), true),
        ("timed out", Error::TimedOut(text()), true),
        ("too large", Error::TooLarge(8 << 20), true),
    ]
}

impl Variant {
    /// Returns the text that names the variant in a failure and selects it on the command line.
    pub(crate) fn name(&self, operations: &[Operation], operation: &Operation) -> String {
        let change = match &self.change {
            VariantChange::Edited(pointer, edit) => format!("{pointer} {}", EDITS[*edit].0),
            VariantChange::Deep(pointer) => format!("{pointer} deeply nested"),
            VariantChange::Ordinary => "ordinary document".to_owned(),
            VariantChange::OtherObject => "document of another object".to_owned(),
            VariantChange::OtherOperation(index) => {
                format!("document of {}", operations[*index].name)
            }
            VariantChange::Cut(eighths) => format!("cut off after {eighths}/8"),
            VariantChange::Body(body) => format!("body {}", BODIES[*body].0),
            VariantChange::Error(row, code, edit) => {
                let row = &operation.steps[self.step].errors[*row];
                let edit = edit.as_ref();
                let edit = edit.map(|(pointer, edit)| format!(" {pointer} {}", EDITS[*edit].0));
                let words = if row.words.is_empty() {
                    String::new()
                } else {
                    format!(" ({})", row.words)
                };
                format!(
                    "error {}{words}{}",
                    row.codes[*code],
                    edit.unwrap_or_default()
                )
            }
            VariantChange::UnlistedError => "unlisted error".to_owned(),
            VariantChange::Failure(failure) => failures()[*failure].0.to_owned(),
        };
        format!("{}#{} {} {change}", operation.name, self.step, self.status)
    }

    /// Returns the part of the name that similar variants share: without status and positions in lists,
    /// and without the kind of the change, because one value is often odd in many ways.
    pub(crate) fn group(&self, operations: &[Operation], operation: &Operation) -> String {
        let change = match self.pointer() {
            Some(pointer) => {
                let parts = pointer.split('/');
                let parts = parts.map(|part| part.parse::<usize>().map_or(part, |_| "*"));
                parts.collect::<Vec<_>>().join("/")
            }
            None => match &self.change {
                VariantChange::OtherOperation(_) => "document of another operation".to_owned(),
                VariantChange::Error(row, _, edit) => {
                    let code = operation.steps[self.step].errors[*row].codes[0];
                    let changed = edit.as_ref().map(|(pointer, _)| pointer.as_str());
                    format!("error such as {code} {}", changed.unwrap_or_default())
                }
                _ => {
                    let name = self.name(operations, operation);
                    let change = name.rsplit(&format!(" {} ", self.status)).next();
                    change.unwrap_or_default().to_owned()
                }
            },
        };
        format!("{}#{} {change}", operation.name, self.step)
    }

    /// Returns the pointer of the changed value in the ordinary document.
    pub(crate) fn pointer(&self) -> Option<&str> {
        match &self.change {
            VariantChange::Edited(pointer, _) | VariantChange::Deep(pointer) => Some(pointer),
            _ => None,
        }
    }

    /// Returns whether the variant removes this value.
    pub(crate) fn removes(&self, removed: &str) -> bool {
        matches!(&self.change, VariantChange::Edited(pointer, edit)
            if pointer == removed && EDITS[*edit].1 == Edit::Remove)
    }

    /// Returns whether the variant changes something that decides the answer. A sample has all of them.
    pub(crate) fn is_decisive(&self, step: &Step) -> bool {
        self.pointer().is_none_or(|pointer| {
            let required = step.requirements.iter().map(|(pointer, _)| *pointer);
            let absence = step.absence.map(|absence| absence.list);
            let mut decisive = required.chain(absence);
            decisive.any(|requirement| rule::is_within(requirement, pointer))
        })
    }

    /// Returns whether the request of a failed exchange may have arrived; `None` for a response.
    pub(crate) fn may_have_arrived(&self) -> Option<bool> {
        match self.change {
            VariantChange::Failure(failure) => Some(failures()[failure].2),
            _ => None,
        }
    }

    /// Creates the response. Returns `None` if the change does not apply.
    pub(crate) fn build(&self, operations: &[Operation], step: &Step) -> Option<BuiltResponse> {
        let of = |node: Node| (node.text(), Some(node));
        let mut repeated = None;
        let mut is_changed = false;
        let (body, document) = match &self.change {
            VariantChange::Edited(pointer, edit) => {
                let edit = EDITS[*edit].1;
                if edit == Edit::Remove && moves_requirement(step, pointer) {
                    return None;
                }
                let is_repeat = matches!(edit, Edit::RepeatBefore(_) | Edit::RepeatAfter(_));
                repeated = is_repeat.then(|| pointer.clone());
                of(step.document.edited(pointer, edit)?)
            }
            VariantChange::Deep(pointer) => {
                let nested = "[".repeat(DEEP_LEVELS) + &"]".repeat(DEEP_LEVELS);
                let marked = step.document.edited(pointer, Edit::Replace(DEEP_MARK))?;
                (marked.text().replace(DEEP_MARK, &nested), Some(marked))
            }
            VariantChange::Ordinary => of(step.document.clone()),
            VariantChange::OtherObject => of(document_of_other_object(step)?),
            VariantChange::OtherOperation(index) => {
                of(operations[*index].steps.first()?.document.clone())
            }
            VariantChange::Cut(eighths) => {
                let text = step.document.text();
                let mut end = text.len() * eighths / 8;
                while !text.is_char_boundary(end) {
                    end -= 1;
                }
                (text[..end].to_owned(), None)
            }
            VariantChange::Body(body) => {
                let text = BODIES[*body].1;
                let is_json = ["{}", "[]", "null", "\"ok\"", "{\"data\":null}"].contains(&text);
                (text.to_owned(), is_json.then(|| Node::parse(text)))
            }
            VariantChange::Error(row, code, edit) => {
                let row = &step.errors[*row];
                let error = Node::from((step.error_document)(row.codes[*code], row.words));
                is_changed = edit.is_some();
                match edit {
                    None => of(error),
                    Some((pointer, edit)) => of(error.edited(pointer, EDITS[*edit].1)?),
                }
            }
            VariantChange::UnlistedError => {
                of(Node::from((step.error_document)(UNLISTED_CODE, "")))
            }
            VariantChange::Failure(failure) => {
                return Some(BuiltResponse {
                    response: Err(failures()[*failure].1.clone()),
                    document: None,
                    repeated,
                    is_changed,
                    is_of_other_operation: false,
                });
            }
        };
        Some(BuiltResponse {
            response: Ok(Response::new(self.status, body)),
            document,
            repeated,
            is_changed,
            is_of_other_operation: matches!(self.change, VariantChange::OtherOperation(_)),
        })
    }
}

/// Returns the ordinary document about another object. Returns `None` if the table names no text of it.
fn document_of_other_object(step: &Step) -> Option<Node> {
    let text = step.document.text();
    let mut pairs = step.other_object.iter();
    let text = pairs.try_fold(text, |text, (from, to)| {
        text.contains(from).then(|| text.replace(from, to))
    })?;
    Some(Node::parse(&text))
}

/// Returns whether the removal of an item moves one that an answer requires.
fn moves_requirement(step: &Step, pointer: &str) -> bool {
    let Some((list, item)) = pointer.rsplit_once('/') else {
        return false;
    };
    let is_item = item.parse::<usize>().is_ok();
    let mut requirements = step.requirements.iter();
    is_item
        && requirements.any(|(required, _)| *required != list && rule::is_within(required, list))
}

/// Returns the variants of all responses of an operation.
pub(crate) fn of_operation(operations: &[Operation], operation: &Operation) -> Vec<Variant> {
    let mut variants = Vec::new();
    for (index, step) in operation.steps.iter().enumerate() {
        let usual = step.success.first().copied().unwrap_or(200);
        let mut add = |status, change| {
            variants.push(Variant {
                step: index,
                status,
                change,
            });
        };
        for pointer in step.document.pointers() {
            add(usual, VariantChange::Deep(pointer.clone()));
            for edit in 0..EDITS.len() {
                add(usual, VariantChange::Edited(pointer.clone(), edit));
            }
        }
        add(usual, VariantChange::OtherObject);
        for failure in 0..failures().len() {
            add(0, VariantChange::Failure(failure));
        }
        for status in STATUSES {
            add(status, VariantChange::Ordinary);
            add(status, VariantChange::UnlistedError);
            for eighths in [1, 4, 7] {
                add(status, VariantChange::Cut(eighths));
            }
            for body in 0..BODIES.len() {
                add(status, VariantChange::Body(body));
            }
            for (row, errors) in step.errors.iter().enumerate() {
                for code in 0..errors.codes.len() {
                    add(status, VariantChange::Error(row, code, None));
                }
            }
        }
        for (row, errors) in step.errors.iter().enumerate() {
            let document = Node::from((step.error_document)(errors.codes[0], errors.words));
            for pointer in document.pointers() {
                for edit in 0..EDITS.len() {
                    for status in errors.statuses {
                        add(
                            *status,
                            VariantChange::Error(row, 0, Some((pointer.clone(), edit))),
                        );
                    }
                }
            }
        }
        let is_of_other_operation = |(_, other): &(usize, &Operation)| {
            other.name != operation.name
                && other
                    .steps
                    .first()
                    .is_some_and(|first| first.document != step.document)
        };
        for (other, _) in operations.iter().enumerate().filter(is_of_other_operation) {
            add(usual, VariantChange::OtherOperation(other));
        }
    }
    variants
}
