//! The rule: which answers a response allows. It reads the response and the operation's table, never
//! the adapter.
//!
//! *Done* needs a proof that the answer is about this request. *Refused* needs a documented refusal with
//! a documented status. *Not sent* needs that no change was requested. *Nothing* needs a readable
//! statement. Everything else is unknown, or for a read an error.

use crate::document::Node;
use crate::operation::{Absence, ErrorRow, Kind, Role, Step, Verdict};

/// A response as the rule sees it.
pub(crate) struct Seen<'a> {
    pub(crate) status: u16,
    /// The document, or `None` if the body is not JSON.
    pub(crate) document: Option<&'a Node>,
    /// A member that is written twice. Which of the two counts is not defined.
    pub(crate) repeated: Option<&'a str>,
    /// Whether an error document is not the ordinary one.
    pub(crate) is_odd: bool,
    /// Whether the document is the response of another operation.
    pub(crate) is_foreign: bool,
}

/// Returns the kinds of answers that a response to this step allows.
pub(crate) fn allowed(step: &Step, seen: &Seen<'_>) -> Vec<Kind> {
    let fixed = step
        .statuses
        .iter()
        .find(|(status, _)| *status == seen.status);
    if let Some((_, kinds)) = fixed {
        return kinds.to_vec();
    }
    let mut kinds = unusable(step).to_vec();
    let is_success = (200..300).contains(&seen.status);
    let code = seen.document.and_then(|document| code(step, document));
    if let Some((code, document)) = code.zip(seen.document) {
        let is_whole =
            !seen.is_odd && (step.error_needs.iter()).all(|need| document.get(need).is_some());
        for row in step.errors.iter().filter(|row| row.matches(code, document)) {
            let is_documented = row.statuses.contains(&seen.status);
            if is_documented && is_whole {
                return vec![row.kind];
            }
            if is_documented || row.also.contains(&seen.status) {
                kinds.push(row.kind);
            }
        }
        // A read may be rejected by any error of the supplier in a status that blames the request.
        if step.role == Role::Read && seen.status < 500 {
            kinds.push(Kind::Refused);
        }
    } else if is_success {
        kinds = of_success(step, seen, kinds);
    }
    if seen.status == 429 && step.is_limited {
        kinds.push(Kind::Limited);
    }
    kinds
}

/// Returns the kinds of answers to a 2xx response without an error.
fn of_success(step: &Step, seen: &Seen<'_>, unusable: Vec<Kind>) -> Vec<Kind> {
    let Some(document) = seen.document else {
        return unusable;
    };
    if let Some(absence) = step.nothing
        && absence.is_proven(document)
    {
        return [unusable, vec![absence.kind]].concat();
    }
    if let (true, Some(absence)) = (seen.is_foreign, step.nothing) {
        match absence.reference {
            // The same object in another operation's response, which is not a list.
            Some((_, requested)) if document.text().contains(requested) => {
                return [unusable, step.open.to_vec()].concat();
            }
            // Whether the items of another list are items of this one is not in the table.
            None if matches!(document.get(absence.list), Some(Node::List(_))) => {
                return [unusable, step.open.to_vec(), vec![absence.kind]].concat();
            }
            Some(_) | None => {}
        }
    }
    let is_documented = step.success.contains(&seen.status);
    match verdict(step, document, seen.repeated) {
        Verdict::Disproven => unusable,
        Verdict::Proven if is_documented && !seen.is_foreign => vec![Kind::Done],
        Verdict::Proven | Verdict::Open => [unusable, step.open.to_vec()].concat(),
        Verdict::Changed => {
            let refused = vec![Kind::Refused];
            [unusable, step.open.to_vec(), refused].concat()
        }
    }
}

/// Returns what a response means that cannot be used.
pub(crate) const fn unusable(step: &Step) -> &'static [Kind] {
    match step.role {
        Role::Read => &[Kind::Failed],
        Role::Prepare => &[Kind::NotSent, Kind::Unknown],
        Role::Change => &[Kind::Unknown],
        Role::Follow => step.open,
    }
}

/// Returns whether a document makes all needed statements.
pub(crate) fn is_proven(step: &Step, seen: &Seen<'_>) -> bool {
    let verdict = |document| verdict(step, document, seen.repeated);
    seen.document.map(verdict) == Some(Verdict::Proven)
}

fn verdict(step: &Step, document: &Node, repeated: Option<&str>) -> Verdict {
    let is_ambiguous =
        |pointer: &str| repeated.is_some_and(|repeated| is_within(pointer, repeated));
    let verdicts = step.needs.iter().map(|(pointer, need)| {
        let (found, ordinary) = (document.get(pointer), step.document.get(pointer));
        let verdict = need.verdict(found, ordinary);
        if is_ambiguous(pointer) {
            verdict.min(Verdict::Open)
        } else {
            verdict
        }
    });
    verdicts.min().unwrap_or(Verdict::Proven)
}

/// Returns whether a pointer is this one or one within it.
pub(crate) fn is_within(pointer: &str, outer: &str) -> bool {
    pointer
        .strip_prefix(outer)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn code<'a>(step: &Step, document: &'a Node) -> Option<&'a str> {
    let code = |pointer: &&'static str| document.get(pointer)?.scalar();
    let mut codes = step.codes.iter().filter_map(code);
    codes.find(|code| !code.is_empty())
}

impl ErrorRow {
    fn matches(&self, code: &str, document: &Node) -> bool {
        let has_code = self.codes.contains(&code) || self.codes == ["*"];
        has_code && document.text().contains(self.words)
    }
}

impl Absence {
    /// Returns whether the document lists no object that may be the requested one.
    fn is_proven(&self, document: &Node) -> bool {
        match document.get(self.list) {
            Some(Node::List(items)) => items.iter().all(|item| self.is_of_another(item)),
            Some(Node::Written(text)) => text == "[]",
            Some(Node::Object(_)) | None => false,
        }
    }

    fn is_of_another(&self, item: &Node) -> bool {
        let Some((pointer, requested)) = self.reference else {
            return false;
        };
        let reference = item.get(pointer);
        match reference.map(Node::scalar) {
            None | Some(Some("")) => self.may_lack_reference && matches!(item, Node::Object(_)),
            // A reference that is sent as a number is another one.
            Some(Some(reference)) => {
                let is_possible = !self.is_filtered || reference.eq_ignore_ascii_case(requested);
                reference != requested && is_possible
            }
            Some(None) => false,
        }
    }
}
