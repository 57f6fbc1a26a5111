//! The tables that describe an adapter's operations, and the answers of its calls.

use std::fmt::Debug;

use serde_json::Value;
use stopover_sdk::testing::{self, MockGateway};

use crate::document::Node;

/// What a call's answer says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AnswerKind {
    /// The change is made, or the object is found.
    Done,
    /// There is no such object, nothing is for sale, or there is no quote.
    Absent,
    /// The supplier definitely refused, declined or rejected the request.
    Refused,
    /// Nothing was changed, and the call may be repeated.
    NotSent,
    /// The supplier's rate limit stopped a change before it was made.
    Limited,
    /// The change may be made or not.
    Unknown,
    /// A read has no result.
    Failed,
}

/// The answer of a call.
#[derive(Debug, Clone)]
pub struct Answer {
    /// What the answer says.
    pub kind: AnswerKind,
    /// Id and status of the object, or an error's text for a person who reads a failure.
    pub identity: String,
    /// The parts that stand alone, such as offers.
    pub items: Vec<String>,
}

/// The result of a successful call.
#[derive(Debug, Default)]
pub struct ObjectSummary {
    identity: String,
    items: Vec<String>,
    is_other: bool,
}

impl ObjectSummary {
    /// Creates the summary of an object from its id and status. They never change with an optional part.
    pub fn new(identity: impl Debug) -> Self {
        Self {
            identity: format!("{identity:?}"),
            ..Self::default()
        }
    }

    /// Adds parts of the object that stand alone.
    #[must_use]
    pub fn with_items<T: Debug>(mut self, items: impl IntoIterator<Item = T>) -> Self {
        let items = items.into_iter().map(|item| format!("{item:?}"));
        self.items.extend(items);
        self
    }

    /// Checks what the gateway checks of every answer, too. An invalid answer counts as none.
    #[must_use]
    pub const fn valid_if(mut self, is_valid: bool) -> Self {
        self.is_other |= !is_valid;
        self
    }

    /// Compares a reference in the answer with the requested one, as the gateway does with every
    /// booking. An answer about another object counts as none.
    #[must_use]
    pub fn about(mut self, found: Option<&str>, requested: &str) -> Self {
        self.is_other |= found.is_some_and(|found| found != requested);
        self
    }
}

impl Absence {
    /// An empty list proves that there is no object.
    pub const fn of_list(list: &'static str) -> Self {
        Self {
            kind: AnswerKind::Absent,
            list,
            reference: None,
            is_filtered: false,
            may_lack_reference: false,
        }
    }
}

impl Answer {
    /// Describes the answer of a change.
    pub fn of_change<T, E>(result: Result<T, E>, summary: impl FnOnce(T) -> ObjectSummary) -> Self
    where
        E: Debug,
        for<'e> testing::Outcome: From<&'e E>,
    {
        Self::new(result.map(Some), summary, true)
    }

    /// Describes the answer of a read. `None` is its statement that there is no such object.
    pub fn of_read<T, E>(
        result: Result<Option<T>, E>,
        summary: impl FnOnce(T) -> ObjectSummary,
    ) -> Self
    where
        E: Debug,
        for<'e> testing::Outcome: From<&'e E>,
    {
        Self::new(result, summary, false)
    }

    /// Describes the answer of a read whose items stand alone.
    pub fn of_list<T, E>(result: Result<Vec<T>, E>) -> Self
    where
        T: Debug,
        E: Debug,
        for<'e> testing::Outcome: From<&'e E>,
    {
        let found = result.map(|items| (!items.is_empty()).then_some(items));
        Self::of_read(found, |items| ObjectSummary::default().with_items(items))
    }

    fn new<T, E>(
        result: Result<Option<T>, E>,
        summary: impl FnOnce(T) -> ObjectSummary,
        is_change: bool,
    ) -> Self
    where
        E: Debug,
        for<'e> testing::Outcome: From<&'e E>,
    {
        let outcome = testing::outcome(&result);
        let (kind, summary) = match result {
            Ok(Some(found)) => {
                let summary = summary(found);
                let kind = match (summary.is_other, is_change) {
                    (false, _) => AnswerKind::Done,
                    (true, true) => AnswerKind::Unknown,
                    (true, false) => AnswerKind::Failed,
                };
                (kind, summary)
            }
            Ok(None) => (AnswerKind::Absent, ObjectSummary::default()),
            Err(error) => (kind(outcome, is_change), ObjectSummary::new(error)),
        };
        Self {
            kind,
            identity: summary.identity,
            items: summary.items,
        }
    }
}

fn kind(outcome: testing::Outcome, is_change: bool) -> AnswerKind {
    use testing::Outcome;
    match outcome {
        Outcome::Done => AnswerKind::Done,
        Outcome::NotFound => AnswerKind::Absent,
        Outcome::Rejected(_) | Outcome::Refused(_) | Outcome::Declined => AnswerKind::Refused,
        Outcome::RateLimited if is_change => AnswerKind::Limited,
        Outcome::NotSent => AnswerKind::NotSent,
        Outcome::Unknown => AnswerKind::Unknown,
        Outcome::RateLimited
        | Outcome::TimedOut
        | Outcome::Unavailable
        | Outcome::InvalidResponse
        | Outcome::Misconfigured
        | Outcome::Failed
        | Outcome::InvalidSignature
        | Outcome::Malformed => AnswerKind::Failed,
    }
}

/// An operation of an adapter: a call, and the exchanges with the supplier that it makes.
pub struct Operation {
    /// The name, which is unique in its adapter.
    pub name: &'static str,
    /// The exchanges in their order.
    pub steps: Vec<Step>,
    /// Makes the call with a gateway that has the responses.
    pub call: fn(&MockGateway) -> Answer,
}

/// Which request of a call a response answers. It decides what an unusable response means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepRole {
    /// A read. Without a usable response it fails.
    Read,
    /// A request before the change, which changes nothing. Without a usable response, the call may be
    /// repeated.
    Prepare,
    /// The change. Without a usable response, its outcome is unknown.
    Change,
    /// A read after a change whose own response is complete. It adds to the answer and decides nothing.
    FollowUp,
}

/// An exchange of a call.
pub struct Step {
    /// Which request the response answers.
    pub role: StepRole,
    /// The document of the ordinary response.
    pub document: Node,
    /// The statuses that the supplier documents for it.
    pub success: &'static [u16],
    /// Statements that a definite answer requires, by JSON pointer.
    pub requirements: &'static [(&'static str, Requirement)],
    /// Kinds of answer that are allowed if a required statement is [undecided](Proof::Undecided).
    pub kinds_if_undecided: &'static [AnswerKind],
    /// Pointers of the lists whose items are independent; `*` is any position.
    pub lists: &'static [&'static str],
    /// The list that proves absence if it is empty, or if all its items have other references.
    pub absence: Option<Absence>,
    /// The documented errors.
    pub errors: &'static [ErrorRow],
    /// Creates an error document from a code and the words that describe it.
    pub error_document: fn(&str, &str) -> Value,
    /// JSON pointers at which a code may be.
    pub codes: &'static [&'static str],
    /// JSON pointers of statements that an error document needs beside its code.
    pub error_requirements: &'static [&'static str],
    /// Whether a status of 429 stops the request before the supplier does anything.
    pub is_limited: bool,
    /// Statuses that the supplier documents, which count whatever the body is.
    pub statuses: &'static [(u16, &'static [AnswerKind])],
    /// Texts of the ordinary response with their replacements in the response about another object.
    pub other_object: &'static [(&'static str, &'static str)],
}

/// When a list proves that there is no object.
#[derive(Debug, Clone, Copy)]
pub struct Absence {
    /// Kind of the answer in this case.
    pub kind: AnswerKind,
    /// Pointer of the list.
    pub list: &'static str,
    /// Pointer of the reference in an item, and the requested reference. Without one, only an empty
    /// list proves it.
    pub reference: Option<(&'static str, &'static str)>,
    /// Whether the supplier filters the list by the reference, ignoring case. A reference that differs
    /// not only in case shows that it did not filter, so that the list proves nothing.
    pub is_filtered: bool,
    /// Whether an item without a reference was not made by the gateway.
    pub may_lack_reference: bool,
}

/// A documented error.
pub struct ErrorRow {
    /// The codes, or `*` for any code.
    pub codes: &'static [&'static str],
    /// Words that the description must have.
    pub words: &'static str,
    /// The statuses with which the supplier documents it. The answer must be of this kind.
    pub statuses: &'static [u16],
    /// Further statuses with which the answer may be of this kind.
    pub possible_statuses: &'static [u16],
    /// Kind of the answer.
    pub kind: AnswerKind,
}

/// A statement that a document must make, compared with the one of the ordinary document.
#[derive(Debug, Clone, Copy)]
pub enum Requirement {
    /// The same value: an id, or a status.
    SameValue,
    /// A text that begins with this: an id of which only the form is known.
    StartsWith(&'static str),
    /// A value. Another one than the ordinary one leaves the answer undecided.
    AnyValue,
    /// No other reference. It may be missing.
    NoOtherReference,
    /// The ordinary value. Another one, or none, leaves the answer undecided.
    OrdinaryValue,
    /// The terms of an offer. Other ones may be refused.
    Terms,
    /// A list.
    List,
}

/// Whether a document makes the statements that an answer needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Proof {
    /// It contradicts one, or lacks one.
    Disproven,
    /// Its terms differ.
    Changed,
    /// It may be read either way.
    Undecided,
    /// It makes all of them.
    Proven,
}

impl Requirement {
    /// Judges the value at the requirement's pointer.
    pub fn proof(self, found: Option<&Node>, ordinary: Option<&Node>) -> Proof {
        let text = found.filter(|node| node.is_text());
        let text = text.and_then(Node::scalar).map_or("", str::trim);
        let is_given = found
            .and_then(Node::scalar)
            .is_some_and(|scalar| !scalar.is_empty());
        // Half of a surrogate pair is a text that nobody can read.
        let is_readable = !text.contains("\\ud800");
        match self {
            Self::SameValue
            | Self::AnyValue
            | Self::NoOtherReference
            | Self::OrdinaryValue
            | Self::Terms
                if found == ordinary =>
            {
                Proof::Proven
            }
            Self::StartsWith(start) if text.starts_with(start) => Proof::Proven,
            Self::List if matches!(found, Some(Node::List(_))) => Proof::Proven,
            Self::List if matches!(found, Some(Node::Written(list)) if list.starts_with('[')) => {
                Proof::Undecided
            }
            Self::SameValue | Self::StartsWith(_) | Self::List => Proof::Disproven,
            Self::AnyValue if !is_given => Proof::Disproven,
            Self::NoOtherReference if !text.is_empty() && is_readable => Proof::Disproven,
            Self::Terms => Proof::Changed,
            Self::AnyValue | Self::NoOtherReference | Self::OrdinaryValue => Proof::Undecided,
        }
    }
}

/// No error of the supplier is documented.
fn no_error(_: &str, _: &str) -> Value {
    Value::Null
}

impl Step {
    /// Creates a step with a document as its ordinary response, of status 200.
    pub fn new(role: StepRole, document: &str) -> Self {
        Self {
            role,
            document: Node::parse(document),
            success: &[200],
            requirements: &[],
            kinds_if_undecided: match role {
                StepRole::Prepare | StepRole::Change => &[AnswerKind::Done, AnswerKind::Unknown],
                StepRole::Read => &[AnswerKind::Done, AnswerKind::Failed],
                StepRole::FollowUp => &[AnswerKind::Done],
            },
            lists: &[],
            absence: None,
            errors: &[],
            error_document: no_error,
            codes: &[],
            error_requirements: &[],
            is_limited: true,
            statuses: &[],
            other_object: &[],
        }
    }
}
