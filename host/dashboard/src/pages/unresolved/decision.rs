//! A decision as its form sends it, and why it has no effect.

use crate::form::{FormFields, FormProblems};
use crate::text::TimeText;
use host_application::booking::resolution::{Resolution, ResolveError};
use host_application::booking::settlement::{NOTE_CHARS_MAX, NewSettlement, SettlementError};
use host_domain::money::{Currency, Money};
use host_domain::settlement::SettlementChoice;
use host_domain::time::Timestamp;

/// The decision as it was sent, and what became of it. The default is the empty form.
#[derive(Default)]
pub(super) struct SubmittedDecision {
    pub(super) choice: String,
    pub(super) reference: String,
    pub(super) amount: String,
    pub(super) note: String,
    pub(super) form: FormProblems,
    /// Why the decision does not fit the call.
    conflict: Option<String>,
}

impl SubmittedDecision {
    pub(super) fn new(fields: &FormFields, form: FormProblems, conflict: Option<String>) -> Self {
        let text = |name| fields.text(name).to_owned();
        Self {
            choice: text("choice"),
            reference: text("reference"),
            amount: text("amount"),
            note: text("note"),
            form,
            conflict,
        }
    }

    /// Returns why the decision has no effect. `None` if no decision was sent.
    pub(super) fn alert(&self) -> Option<String> {
        let is_wrong = !self.form.is_empty();
        let general = "The decision was not applied. Correct the marked fields.";
        let general = is_wrong.then(|| general.to_owned());
        self.conflict.clone().or(general)
    }
}

pub(super) const fn choice_label(choice: SettlementChoice) -> &'static str {
    match choice {
        SettlementChoice::Done => "Done",
        SettlementChoice::NotDone => "Not done",
        SettlementChoice::Refund => "Refund",
    }
}

/// Reads the form. Returns `None` after adding the problems of values that cannot be read.
pub(super) fn new_settlement(
    fields: &FormFields,
    problems: &mut FormProblems,
) -> Option<NewSettlement> {
    let note = fields.text("note").trim();
    if note.is_empty() {
        add_problem(problems, &SettlementError::InvalidNote);
    }
    let reference = fields.text("reference").trim();
    let resolution = match SettlementChoice::parse(fields.text("choice")) {
        Some(SettlementChoice::Done) => Some(Resolution::Done {
            reference: (!reference.is_empty()).then(|| reference.to_owned()),
        }),
        Some(SettlementChoice::NotDone) => Some(Resolution::NotDone),
        Some(SettlementChoice::Refund) => {
            let currency = Currency::parse(fields.text("currency")).ok();
            let amount =
                currency.and_then(|currency| Money::parse_major(fields.text("amount"), currency));
            if amount.is_none() {
                let error = SettlementError::Resolve(ResolveError::InvalidRefundAmount);
                add_problem(problems, &error);
            }
            amount.map(Resolution::Refund)
        }
        None => {
            problems.add("choice", "Choose what happened.");
            None
        }
    };
    let resolution = resolution.filter(|_| problems.is_empty())?;
    Some(NewSettlement {
        resolution,
        note: note.to_owned(),
        seen_state: Some(fields.text("seen_state").to_owned()),
    })
}

/// Adds the problem of a field. Returns `false` if the error is about no field.
pub(super) fn add_problem(problems: &mut FormProblems, error: &SettlementError) -> bool {
    match error {
        SettlementError::InvalidNote => {
            let text = format!("Write why, in at most {NOTE_CHARS_MAX} characters.");
            problems.add("note", text);
        }
        SettlementError::Resolve(ResolveError::ReferenceRequired) => {
            problems.add("reference", "Enter the id of the booking or payment there.");
        }
        SettlementError::Resolve(ResolveError::InvalidRefundAmount) => {
            problems.add(
                "amount",
                "Enter an amount from 0 to the amount paid, e.g. 12.50.",
            );
        }
        SettlementError::Resolve(_)
        | SettlementError::AlreadyDecided(_)
        | SettlementError::OutcomeKnown { .. }
        | SettlementError::Storage(_) => return false,
    }
    true
}

/// Returns why a decision has no effect, or `None` if the error has another cause.
pub(super) fn conflict_text(error: &SettlementError, now: Timestamp) -> Option<String> {
    match error {
        SettlementError::AlreadyDecided(decision) => {
            let choice = choice_label(decision.choice);
            let at = TimeText::new(decision.decided_at, now).text;
            let (by, note) = (&decision.decided_by, &decision.note);
            Some(format!(
                "{by} decided “{choice}” about this call {at}: “{note}”. Your decision was not applied."
            ))
        }
        SettlementError::OutcomeKnown { evidence } => {
            let evidence = evidence.as_deref().unwrap_or("the call has an outcome");
            Some(format!(
                "The gateway learned the outcome first: {evidence}. Your decision was not applied."
            ))
        }
        SettlementError::Resolve(
            ResolveError::InProgress
            | ResolveError::NothingUnresolved(_)
            | ResolveError::StateChanged(_),
        ) => {
            Some("The booking has changed meanwhile. Look at it again and decide anew.".to_owned())
        }
        SettlementError::Resolve(_)
        | SettlementError::InvalidNote
        | SettlementError::Storage(_) => None,
    }
}
