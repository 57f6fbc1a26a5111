//! The rule: which answers a response allows. It reads the response and the operation's table, never
//! the adapter.
//!
//! *Done* needs a proof that the answer is about this request. *Refused* needs a documented refusal with
//! a documented status. *Not sent* needs that no change was requested. *Absent* needs a readable
//! statement. Everything else is unknown, or for a read an error.

use crate::document::Node;
use crate::operation::{Absence, AnswerKind, ErrorRow, Proof, Step, StepRole};

/// A response as the rule sees it.
pub(crate) struct ReceivedResponse<'a> {
    pub(crate) status: u16,
    /// The document, or `None` if the body is not JSON.
    pub(crate) document: Option<&'a Node>,
    /// A member that is written twice. Which of the two counts is not defined.
    pub(crate) repeated: Option<&'a str>,
    /// Whether an error document is not the ordinary one.
    pub(crate) is_changed: bool,
    /// Whether the document is the response of another operation.
    pub(crate) is_of_other_operation: bool,
}

/// Returns the kinds of answers that a response to this step allows.
pub(crate) fn allowed(step: &Step, response: &ReceivedResponse<'_>) -> Vec<AnswerKind> {
    let fixed = step
        .statuses
        .iter()
        .find(|(status, _)| *status == response.status);
    if let Some((_, kinds)) = fixed {
        return kinds.to_vec();
    }
    let mut kinds = unusable(step).to_vec();
    let is_success = (200..300).contains(&response.status);
    let code = response.document.and_then(|document| code(step, document));
    if let Some((code, document)) = code.zip(response.document) {
        let is_whole = !response.is_changed
            && (step.error_requirements.iter())
                .all(|requirement| document.get(requirement).is_some());
        for row in step.errors.iter().filter(|row| row.matches(code, document)) {
            let is_documented = row.statuses.contains(&response.status);
            if is_documented && is_whole {
                return vec![row.kind];
            }
            if is_documented || row.possible_statuses.contains(&response.status) {
                kinds.push(row.kind);
            }
        }
        // A read may be rejected by any error of the supplier in a status that blames the request.
        if step.role == StepRole::Read && response.status < 500 {
            kinds.push(AnswerKind::Refused);
        }
    } else if is_success {
        kinds = of_success(step, response, kinds);
    }
    if response.status == 429 && step.is_limited {
        kinds.push(AnswerKind::Limited);
    }
    kinds
}

/// Returns the kinds of answers to a 2xx response without an error.
fn of_success(
    step: &Step,
    response: &ReceivedResponse<'_>,
    unusable: Vec<AnswerKind>,
) -> Vec<AnswerKind> {
    let Some(document) = response.document else {
        return unusable;
    };
    if let Some(absence) = step.absence
        && absence.is_proven(document)
    {
        return [unusable, vec![absence.kind]].concat();
    }
    if let (true, Some(absence)) = (response.is_of_other_operation, step.absence) {
        match absence.reference {
            // The same object in another operation's response, which is not a list.
            Some((_, requested)) if document.text().contains(requested) => {
                return [unusable, step.kinds_if_undecided.to_vec()].concat();
            }
            // Whether the items of another list are items of this one is not in the table.
            None if matches!(document.get(absence.list), Some(Node::List(_))) => {
                return [
                    unusable,
                    step.kinds_if_undecided.to_vec(),
                    vec![absence.kind],
                ]
                .concat();
            }
            Some(_) | None => {}
        }
    }
    let is_documented = step.success.contains(&response.status);
    match proof(step, document, response.repeated) {
        Proof::Disproven => unusable,
        Proof::Proven if is_documented && !response.is_of_other_operation => vec![AnswerKind::Done],
        Proof::Proven | Proof::Undecided => [unusable, step.kinds_if_undecided.to_vec()].concat(),
        Proof::Changed => {
            let refused = vec![AnswerKind::Refused];
            [unusable, step.kinds_if_undecided.to_vec(), refused].concat()
        }
    }
}

/// Returns what a response means that cannot be used.
pub(crate) const fn unusable(step: &Step) -> &'static [AnswerKind] {
    match step.role {
        StepRole::Read => &[AnswerKind::Failed],
        StepRole::Prepare => &[AnswerKind::NotSent, AnswerKind::Unknown],
        StepRole::Change => &[AnswerKind::Unknown],
        StepRole::FollowUp => step.kinds_if_undecided,
    }
}

/// Returns whether a document makes all needed statements.
pub(crate) fn is_proven(step: &Step, response: &ReceivedResponse<'_>) -> bool {
    let proof = |document| proof(step, document, response.repeated);
    response.document.map(proof) == Some(Proof::Proven)
}

fn proof(step: &Step, document: &Node, repeated: Option<&str>) -> Proof {
    let is_ambiguous =
        |pointer: &str| repeated.is_some_and(|repeated| is_within(pointer, repeated));
    let proofs = step.requirements.iter().map(|(pointer, requirement)| {
        let (found, ordinary) = (document.get(pointer), step.document.get(pointer));
        let proof = requirement.proof(found, ordinary);
        if is_ambiguous(pointer) {
            proof.min(Proof::Undecided)
        } else {
            proof
        }
    });
    proofs.min().unwrap_or(Proof::Proven)
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
