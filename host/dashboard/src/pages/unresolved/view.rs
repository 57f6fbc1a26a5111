//! Contents of the page, and the fields of its form.

use crate::error::PageError;
use crate::form::FormProblems;
use crate::list::{FilterForm, Pager};
use crate::page::PageContext;
use crate::pages::bookings::title_and_dates;
use crate::pages::unresolved::consequence::sentences;
use crate::pages::unresolved::decision::{SubmittedDecision, choice_label};
use crate::pages::unresolved::sent_call::SentCallText;
use crate::query::{QueryFields, parse_supplier, path_with};
use crate::text::{State, TimeText, money, number, words};
use askama::Template;
use host_application::account::viewer::Viewer;
use host_application::booking::engine::DECIDE_REFUND_STEP;
use host_application::booking::open_outcome::{OpenChoice, OpenOutcome, SentCall};
use host_application::console::list::ConsoleListRequest;
use host_application::console::unresolved::{ParkedJobs, UnresolvedList};
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

/// Returns a path with the parameters of the list, by which links and forms lead back to the same page,
/// and with more parameters.
pub(super) fn path_from_list(path: &str, query: &QueryFields, more: &[(&str, &str)]) -> String {
    let after = ("after", query.text("after"));
    filtered_path(path, query, &[&[after], more].concat())
}

/// Returns the path of the first page with the filter of the list and the name of a notice of `page.rs`.
/// After a decision a later page may have no outcomes any more.
pub(super) fn path_with_notice(query: &QueryFields, notice: &str) -> String {
    filtered_path("/unresolved", query, &[("done", notice)])
}

fn filtered_path(path: &str, query: &QueryFields, more: &[(&str, &str)]) -> String {
    let kept = ["booking", "supplier", "organization"];
    let kept = kept.map(|name| (name, query.text(name)));
    path_with(path, &[&kept[..], more].concat())
}

fn parse_booking(text: &str) -> Option<BookingId> {
    BookingId::parse(text).ok()
}

#[derive(Template)]
#[template(path = "unresolved.html")]
pub(super) struct UnresolvedPage {
    page: PageContext,
    filter: FilterForm,
    pager: Pager,
    summary: String,
    /// Why the decision that was sent has no effect.
    alert: Option<String>,
    show_organization: bool,
    rows: Vec<OutcomeRow>,
    selected: Option<SelectedOutcome>,
    can_settle: bool,
    actions: FormActions,
    jobs: Option<Vec<JobRow>>,
    /// Number of listed jobs, if there are more.
    jobs_max: Option<usize>,
    recent: Vec<RecentRow>,
}

/// Where the forms are sent, with the parameters of the list.
struct FormActions {
    settle: String,
    withdraw: String,
    retry: String,
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
    /// What happened at the time `sent`. Nothing is sent for an undecided refund.
    sent_label: &'static str,
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
    /// Builds the page of a list. `selected` is the outcome that it shows as a whole, and `sent` what the
    /// form about it has.
    pub(super) fn new(
        page: PageContext,
        viewer: &Viewer,
        query: &QueryFields,
        list: &UnresolvedList,
        selected: Option<(&OpenOutcome, Option<SentCall>)>,
        sent: &SubmittedDecision,
        now: Timestamp,
    ) -> Self {
        let filter = FilterForm::builder("/unresolved", query)
            .parsed_text("Booking", "booking", BOOKING_PROBLEM, parse_booking)
            .supplier()
            .organization(viewer.reads_several_organizations(), &list.organizations)
            .build();
        let selected_call = selected
            .as_ref()
            .map(|(outcome, _)| &outcome.attempt.call.id);
        let rows = list.outcomes.iter().map(|outcome| {
            let call = &outcome.attempt.call.id;
            OutcomeRow {
                path: path_from_list("/unresolved", query, &[("call", call.as_str())]),
                is_selected: selected_call == Some(call),
                ..OutcomeRow::new(outcome, now)
            }
        });
        let parked = list.jobs.as_ref();
        let action = |path| path_from_list(path, query, &[]);
        Self {
            page: page
                .titled("Unresolved")
                .about(filter.value("organization")),
            pager: filter.pager(list.next.as_ref()),
            summary: summary(list),
            alert: sent.alert(),
            show_organization: viewer.reads_several_organizations(),
            rows: rows.collect(),
            actions: FormActions {
                settle: action("/unresolved/settle"),
                withdraw: action("/unresolved/withdraw"),
                retry: action("/unresolved/retry"),
            },
            can_settle: list.can_settle,
            jobs: parked.map(|parked| job_rows(parked, now)),
            jobs_max: parked
                .filter(|parked| parked.has_more)
                .map(|parked| parked.jobs.len()),
            recent: recent_rows(list, now),
            selected: selected.map(|(outcome, call)| SelectedOutcome {
                logged: call.map(|call| SentCallText::new(call, now)),
                ..SelectedOutcome::new(outcome, sent, now)
            }),
            filter,
        }
    }
}

fn job_rows(parked: &ParkedJobs, now: Timestamp) -> Vec<JobRow> {
    let rows = parked.jobs.iter().map(|parked| {
        let (job, tenant) = (&parked.job, parked.tenant.as_ref());
        JobRow {
            kind: job.kind.clone(),
            subject: job.subject.clone(),
            organization: tenant.map_or_else(String::new, |tenant| tenant.organization.clone()),
            attempts: job.attempts,
            error: job.last_error.clone().unwrap_or_default(),
            parked: job.parked_at.map(|at| TimeText::new(at, now)),
        }
    });
    rows.collect()
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
    fn new(outcome: &OpenOutcome, sent: &SubmittedDecision, now: Timestamp) -> Self {
        let (attempt, call) = (&outcome.attempt, &outcome.attempt.call);
        let (title, dates) = title_and_dates(&outcome.booking);
        let first = outcome.first_evidence.clone();
        let answer = first.or_else(|| attempt.evidence.clone());
        let is_refund = call.step == DECIDE_REFUND_STEP;
        let no_answer = if is_refund { "" } else { "none" };
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
            sent_label: if is_refund { "Undecided since" } else { "Sent" },
            sent: TimeText::new(attempt.last_sent_at, now),
            logged: None,
            answer: answer.unwrap_or_else(|| no_answer.to_owned()),
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
            form: sent.form.clone(),
        }
    }
}

fn refund_currency(outcome: &OpenOutcome) -> Currency {
    outcome.booking.price().currency
}

fn choices(outcome: &OpenOutcome, sent: &SubmittedDecision) -> Vec<ChoiceText> {
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
