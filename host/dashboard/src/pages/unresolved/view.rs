//! Contents of the page, and the fields of its form.

use crate::error::PageError;
use crate::form::{FormFields, FormProblems};
use crate::list::{FilterForm, Pager};
use crate::page::PageContext;
use crate::pages::bookings::title_and_dates;
use crate::pages::unresolved::consequence::sentences;
use crate::pages::unresolved::sent_call::SentCallText;
use crate::query::{QueryFields, parse_supplier, path_with};
use crate::text::{State, TimeText, money, number, words};
use askama::Template;
use host_application::account::viewer::Viewer;
use host_application::booking::open_outcome::{OpenChoice, OpenOutcome, SentCall};
use host_application::booking::resolution::{Resolution, ResolveError};
use host_application::booking::settlement::{NOTE_CHARS_MAX, NewSettlement, SettlementError};
use host_application::console::list::ConsoleListRequest;
use host_application::console::unresolved::UnresolvedList;
use host_domain::console::UnresolvedFilter;
use host_domain::id::BookingId;
use host_domain::money::{Currency, Money};
use host_domain::payment::{Payment, PaymentState};
use host_domain::settlement::{SettlementChoice, SettlementState};
use host_domain::time::Timestamp;
use std::collections::BTreeMap;

const BOOKING_PROBLEM: &str = "Enter the whole id of a booking, which begins with bkg_.";

/// Reads the request for the list from a query.
///
/// # Errors
/// [`PageError::NotFound`] if the organization is not an organization's id.
pub(super) fn list_request(
    query: &QueryFields,
) -> Result<ConsoleListRequest<UnresolvedFilter>, PageError> {
    let mut values = query.filter_values();
    let filter = UnresolvedFilter {
        booking: values.parsed("booking", parse_booking),
        target: values.parsed("supplier", parse_supplier),
    };
    values.list_request(filter)
}

fn parse_booking(text: &str) -> Option<BookingId> {
    BookingId::parse(text).ok()
}

/// The decision as it was sent, and what became of it.
#[derive(Default)]
pub(super) struct SentDecision {
    /// The call that the page shows. Empty for the first one.
    call: String,
    choice: String,
    reference: String,
    amount: String,
    note: String,
    problems: FormProblems,
    /// Why the decision has no effect.
    conflict: Option<String>,
}

impl SentDecision {
    pub(super) fn of_call(call: &str) -> Self {
        Self {
            call: call.to_owned(),
            ..Self::default()
        }
    }

    /// Returns the outcome that the page shows as a whole.
    pub(super) fn selected<'a>(&self, list: &'a UnresolvedList) -> Option<&'a OpenOutcome> {
        let mut outcomes = list.outcomes.iter();
        let named = outcomes.find(|outcome| outcome.attempt.call.id.as_str() == self.call);
        named.or(list.outcomes.first())
    }

    pub(super) fn new(
        fields: &FormFields,
        problems: FormProblems,
        conflict: Option<String>,
    ) -> Self {
        let text = |name| fields.text(name).to_owned();
        Self {
            call: text("call"),
            choice: text("choice"),
            reference: text("reference"),
            amount: text("amount"),
            note: text("note"),
            problems,
            conflict,
        }
    }
}

#[derive(Template)]
#[template(path = "unresolved.html")]
pub(super) struct UnresolvedPage {
    page: PageContext,
    filter: FilterForm,
    pager: Pager,
    summary: String,
    conflict: Option<String>,
    show_organization: bool,
    rows: Vec<OutcomeRow>,
    selected: Option<SelectedOutcome>,
    can_settle: bool,
    jobs: Option<Vec<JobRow>>,
    recent: Vec<RecentRow>,
}

/// An open outcome in the list.
struct OutcomeRow {
    /// The page with the form about this call.
    path: String,
    is_selected: bool,
    booking: String,
    organization: String,
    step: String,
    target: String,
    evidence: String,
    sent: TimeText,
    next: Option<TimeText>,
}

/// The call that the page shows as a whole.
struct SelectedOutcome {
    call: String,
    organization: String,
    /// State that the decision is about, as the form sends it back.
    seen_state: String,
    booking: String,
    heading: String,
    title: String,
    dates: String,
    price: String,
    sent: TimeText,
    /// What the log of calls has.
    logged: Option<SentCallText>,
    /// Response to the call itself.
    answer: String,
    lookups: String,
    /// Response to the last lookup.
    last_lookup: String,
    next: Option<TimeText>,
    client_reference: String,
    known_reference: String,
    payments: Vec<String>,
    waiting: Option<WaitingDecision>,
    choices: Vec<ChoiceText>,
    has_reference: bool,
    has_amount: bool,
    amount_hint: String,
    reference: String,
    amount: String,
    note: String,
    currency: &'static str,
    form: FormProblems,
}

/// The decision that waits for the end of a lookup.
struct WaitingDecision {
    id: String,
    sentence: String,
}

struct ChoiceText {
    value: &'static str,
    label: &'static str,
    hint: String,
    is_chosen: bool,
}

struct JobRow {
    kind: String,
    subject: String,
    /// Empty if the job is about no organization's object.
    organization: String,
    attempts: i64,
    error: String,
    parked: Option<TimeText>,
}

struct RecentRow {
    booking: String,
    organization: String,
    what: String,
    choice: String,
    note: String,
    by: String,
    at: TimeText,
    state: State,
    result: String,
}

impl UnresolvedPage {
    pub(super) fn new(
        page: PageContext,
        viewer: &Viewer,
        query: &QueryFields,
        list: UnresolvedList,
        sent: &SentDecision,
        now: Timestamp,
    ) -> Self {
        let filter = FilterForm::builder("/unresolved", query)
            .parsed_text("Booking", "booking", BOOKING_PROBLEM, parse_booking)
            .supplier()
            .organization(viewer.reads_several_organizations(), &list.organizations)
            .build();
        let selected = sent.selected(&list);
        let selected_call = selected.map(|outcome| &outcome.attempt.call.id);
        let is_sent = selected_call.is_some_and(|call| call.as_str() == sent.call);
        let rows = list.outcomes.iter().map(|outcome| OutcomeRow {
            path: row_path(query, &filter, outcome),
            is_selected: selected_call == Some(&outcome.attempt.call.id),
            ..OutcomeRow::new(outcome, now)
        });
        let nothing = SentDecision::default();
        let form = if is_sent { sent } else { &nothing };
        Self {
            page: page
                .titled("Unresolved")
                .about(filter.value("organization")),
            pager: filter.pager(list.next.as_ref()),
            summary: summary(&list),
            conflict: sent.conflict.clone(),
            show_organization: viewer.reads_several_organizations(),
            rows: rows.collect(),
            selected: selected.map(|outcome| SelectedOutcome::new(outcome, form, now)),
            can_settle: list.can_settle,
            jobs: list.jobs.as_ref().map(|jobs| {
                let rows = jobs.iter().map(|parked| JobRow {
                    kind: parked.job.kind.clone(),
                    subject: parked.job.subject.clone(),
                    organization: parked.organization.clone().unwrap_or_default(),
                    attempts: parked.job.attempts,
                    error: parked.job.last_error.clone().unwrap_or_default(),
                    parked: parked.job.parked_at.map(|at| TimeText::new(at, now)),
                });
                rows.collect()
            }),
            recent: recent_rows(&list, now),
            filter,
        }
    }
}

impl UnresolvedPage {
    /// Adds what was sent for the selected outcome.
    pub(super) fn show_sent_call(&mut self, sent: Option<SentCall>, now: Timestamp) {
        if let Some(selected) = &mut self.selected {
            selected.logged = sent.map(|sent| SentCallText::new(sent, now));
        }
    }
}

fn row_path(query: &QueryFields, filter: &FilterForm, outcome: &OpenOutcome) -> String {
    let parameters = [
        ("booking", filter.value("booking")),
        ("supplier", filter.value("supplier")),
        ("organization", filter.value("organization")),
        ("after", query.text("after")),
        ("call", outcome.attempt.call.id.as_str()),
    ];
    path_with("/unresolved", &parameters)
}

/// Returns how many outcomes are open and how much money they hold, by currency.
fn summary(list: &UnresolvedList) -> String {
    let mut held = BTreeMap::<&str, Money>::new();
    let payments = list
        .outcomes
        .iter()
        .flat_map(|outcome| outcome.booking.payments());
    for amount in payments
        .filter(|payment| is_held(payment))
        .map(|payment| payment.amount)
    {
        let sum = held.entry(amount.currency.code());
        let sum = sum.or_insert_with(|| Money::zero(amount.currency));
        *sum = sum.plus(amount).unwrap_or(*sum);
    }
    let count = u64::try_from(list.outcomes.len()).unwrap_or(u64::MAX);
    let more = if list.next.is_some() {
        "more than "
    } else {
        ""
    };
    let noun = if count == 1 {
        "outcome is"
    } else {
        "outcomes are"
    };
    let mut parts = vec![format!("{more}{} {noun} open", number(count))];
    parts.extend(
        held.into_values()
            .map(|amount| format!("{} held", money(amount))),
    );
    parts.join(" · ")
}

/// Returns whether the amount of a payment is neither captured nor given back.
const fn is_held(payment: &Payment) -> bool {
    match &payment.state {
        PaymentState::Authorized | PaymentState::Capturing(_) | PaymentState::Voiding(_) => true,
        PaymentState::Authorizing(_)
        | PaymentState::RequiresAction
        | PaymentState::Captured
        | PaymentState::Voided
        | PaymentState::Failed => false,
    }
}

/// Returns an amount with what became of it.
fn payment_text(payment: &Payment) -> String {
    let state = match &payment.state {
        PaymentState::RequiresAction => "waits for the payer",
        PaymentState::Authorizing(_) => "is being authorized",
        PaymentState::Authorized => "is authorized",
        PaymentState::Capturing(_) => "is being captured",
        PaymentState::Captured => "is captured",
        PaymentState::Voiding(_) => "is being released",
        PaymentState::Voided => "is released",
        PaymentState::Failed => "was not authorized",
    };
    format!("{} {state}", money(payment.amount))
}

impl OutcomeRow {
    fn new(outcome: &OpenOutcome, now: Timestamp) -> Self {
        let (attempt, call) = (&outcome.attempt, &outcome.attempt.call);
        Self {
            path: String::new(),
            is_selected: false,
            booking: call.booking_id.to_string(),
            organization: attempt.tenant.organization.clone(),
            step: words(&call.step),
            target: call.target.to_string(),
            evidence: attempt.evidence.clone().unwrap_or_default(),
            sent: TimeText::new(attempt.last_sent_at, now),
            next: outcome.next_lookup_at.map(|at| TimeText::new(at, now)),
        }
    }
}

impl SelectedOutcome {
    fn new(outcome: &OpenOutcome, sent: &SentDecision, now: Timestamp) -> Self {
        let (attempt, call) = (&outcome.attempt, &outcome.attempt.call);
        let (title, dates) = title_and_dates(&outcome.booking);
        let first = outcome.first_evidence.clone();
        let answer = first.or_else(|| attempt.evidence.clone());
        let last_lookup = attempt.evidence.clone().filter(|_| outcome.lookups > 0);
        let has = |choice| outcome.choices.iter().any(|known| known.choice == choice);
        let currency = refund_currency(outcome);
        let waiting = outcome.waiting.as_ref();
        Self {
            call: call.id.to_string(),
            organization: attempt.tenant.organization.clone(),
            seen_state: outcome.seen_state.clone(),
            booking: call.booking_id.to_string(),
            heading: format!("{} at {}", words(&call.step), call.target),
            title,
            dates,
            price: money(outcome.booking.price()),
            sent: TimeText::new(attempt.last_sent_at, now),
            logged: None,
            answer: answer.unwrap_or_else(|| "none".to_owned()),
            last_lookup: last_lookup.unwrap_or_default(),
            lookups: match outcome.lookups {
                0 => String::new(),
                1 => "once, without an answer that decides".to_owned(),
                times => format!("{times} times, without an answer that decides"),
            },
            next: outcome.next_lookup_at.map(|at| TimeText::new(at, now)),
            client_reference: call.client_reference.clone(),
            known_reference: outcome.known_reference.clone().unwrap_or_default(),
            payments: outcome.booking.payments().iter().map(payment_text).collect(),
            waiting: waiting.map(|decision| {
                let choice = choice_label(decision.choice).to_lowercase();
                let (by, at) = (&decision.decided_by, TimeText::new(decision.decided_at, now));
                WaitingDecision {
                    id: decision.id.to_string(),
                    sentence: format!("{by} decided “{choice}” {}. It is applied when the lookup that is under way ends.", at.text),
                }
            }),
            choices: choices(outcome, sent),
            has_reference: has(SettlementChoice::Done),
            has_amount: has(SettlementChoice::Refund),
            amount_hint: format!("In {}, from 0 to the amount paid", currency.code()),
            reference: sent.reference.clone(),
            amount: sent.amount.clone(),
            note: sent.note.clone(),
            currency: currency.code(),
            form: sent.problems.clone(),
        }
    }
}

fn refund_currency(outcome: &OpenOutcome) -> Currency {
    outcome.booking.price().currency
}

fn choices(outcome: &OpenOutcome, sent: &SentDecision) -> Vec<ChoiceText> {
    let status = outcome.booking.status();
    let text = |choice: &OpenChoice| {
        let mut hint = choice.consequence.as_ref().map_or_else(
            || "The amount that you enter is refunded.".to_owned(),
            |consequence| sentences(consequence, status),
        );
        if choice.needs_reference {
            hint.push_str(" Needs the reference.");
        }
        ChoiceText {
            value: choice.choice.as_str(),
            label: choice_label(choice.choice),
            hint,
            is_chosen: outcome.choices.len() == 1 || sent.choice == choice.choice.as_str(),
        }
    };
    outcome.choices.iter().map(text).collect()
}

const fn choice_label(choice: SettlementChoice) -> &'static str {
    match choice {
        SettlementChoice::Done => "Done",
        SettlementChoice::NotDone => "Not done",
        SettlementChoice::Refund => "Refund",
    }
}

fn recent_rows(list: &UnresolvedList, now: Timestamp) -> Vec<RecentRow> {
    let rows = list.recent.iter().map(|recent| {
        let decision = &recent.decision;
        let choice = choice_label(decision.choice);
        let (tone, label) = match decision.state {
            SettlementState::Waiting => ("wait", "Waiting"),
            SettlementState::Applied => ("good", "Applied"),
            SettlementState::Superseded => ("bad", "Superseded"),
            SettlementState::Withdrawn => ("", "Withdrawn"),
        };
        RecentRow {
            booking: decision.booking_id.to_string(),
            organization: decision.tenant.organization.clone(),
            what: format!("{} at {}", words(&recent.step), recent.target),
            choice: match decision.refund {
                Some(refund) => format!("{choice} {}", money(refund)),
                None => choice.to_owned(),
            },
            note: decision.note.clone(),
            by: decision.decided_by.clone(),
            at: TimeText::new(decision.decided_at, now),
            state: State { tone, label },
            result: decision.result.clone().unwrap_or_default(),
        }
    });
    rows.collect()
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
        Some(SettlementChoice::Done) => Some(Resolution::Succeeded {
            reference: (!reference.is_empty()).then(|| reference.to_owned()),
        }),
        Some(SettlementChoice::NotDone) => Some(Resolution::NotExecuted),
        Some(SettlementChoice::Refund) => {
            let currency = Currency::parse(fields.text("currency")).ok();
            let amount =
                currency.and_then(|currency| Money::parse_major(fields.text("amount"), currency));
            if amount.is_none() {
                let error = SettlementError::Resolve(ResolveError::InvalidRefundAmount);
                add_problem(problems, &error);
            }
            amount.map(Resolution::RefundAmount)
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
