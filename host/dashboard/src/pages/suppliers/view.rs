//! Contents of the pages of suppliers, and the fields of their forms.

use crate::form::{FormFields, FormProblems};
use crate::page::PageContext;
use crate::path_text::path_segment;
use crate::text::{State, TimeText, duration_us, number, words};
use askama::Template;
use host_application::account::viewer::Viewer;
use host_application::supplier::overrides::SupplierChange;
use host_application::supplier::plugin_report::{PluginReport, SupplierStatus, SupplierSummary};
use host_application::supplier::reader::{ListedSupplier, SupplierDetails};
use host_domain::request_log::LoggedCall;
use host_domain::statistics::CallStatistics;
use host_domain::supplier::{Capability, CircuitStatus, Health, Rank, SupplierKind};
use host_domain::time::Timestamp;
use std::cmp::Reverse;
use std::collections::BTreeMap;

#[derive(Template)]
#[template(path = "suppliers.html")]
pub(super) struct SuppliersPage {
    page: PageContext,
    rows: Vec<SupplierRow>,
    /// Whether the person sees how suppliers are called and chosen.
    is_operator: bool,
}

struct SupplierRow {
    id: String,
    name: String,
    kind: &'static str,
    state: State,
    is_drained: bool,
    calls: CallText,
    capacity: CapacityText,
}

/// Calls of the last 24 hours. Durations are "–" without calls.
struct CallText {
    count: String,
    failed: String,
    p50: String,
    p99: String,
}

/// Circuit, calls under way and rank of a supplier.
struct CapacityText {
    circuit: State,
    /// Calls under way against the limit. Empty while no plugin is loaded.
    in_flight: String,
    rank: String,
}

#[derive(Template)]
#[template(path = "supplier.html")]
pub(super) struct SupplierPage {
    page: PageContext,
    pub(super) alert: Option<String>,
    pub(super) rank: RankForm,
    id: String,
    name: String,
    kind: &'static str,
    state: State,
    is_drained: bool,
    capabilities: Vec<&'static str>,
    functions: Vec<(String, CallText)>,
    internals: Option<Internals>,
}

/// The properties of a supplier that only operators see.
struct Internals {
    capacity: CapacityText,
    waiting: String,
    last_minute: String,
    last_failure: String,
    /// Numbers of the listed failures by class.
    error_classes: String,
    plugin: Option<PluginReport>,
    loaded: Option<TimeText>,
    failures: Vec<FailureRow>,
}

struct FailureRow {
    at: TimeText,
    function: String,
    outcome: String,
    detail: String,
    duration: String,
    request: String,
    /// The page of the request, if it is an API call in the log.
    path: Option<String>,
}

/// The form of priority and weight.
pub(super) struct RankForm {
    priority: String,
    weight: String,
    is_changed: bool,
    form: FormProblems,
}

impl SuppliersPage {
    pub(super) fn new(page: PageContext, viewer: &Viewer, found: &[ListedSupplier]) -> Self {
        let rows = found.iter().map(|supplier| {
            let (status, summary) = (&supplier.status, &supplier.status.summary);
            SupplierRow {
                id: summary.id.to_string(),
                name: summary.name.clone().unwrap_or_default(),
                kind: kind_name(summary.kind),
                state: supplier_state(summary),
                is_drained: status.is_drained,
                calls: CallText::new(&supplier.calls),
                capacity: CapacityText::new(status),
            }
        });
        Self {
            page: page.titled("Suppliers"),
            rows: rows.collect(),
            is_operator: viewer.is_operator(),
        }
    }
}

impl SupplierPage {
    pub(super) fn new(
        page: PageContext,
        viewer: &Viewer,
        found: &SupplierDetails,
        now: Timestamp,
    ) -> Self {
        let (status, summary) = (&found.status, &found.status.summary);
        let functions = found.functions.iter();
        Self {
            page: page.titled(format!("Supplier {}", summary.id)),
            alert: None,
            rank: RankForm::of(status),
            id: summary.id.to_string(),
            name: summary.name.clone().unwrap_or_default(),
            kind: kind_name(summary.kind),
            state: supplier_state(summary),
            is_drained: status.is_drained,
            capabilities: summary
                .operations
                .iter()
                .copied()
                .map(Capability::as_str)
                .collect(),
            functions: functions
                .map(|(function, calls)| (function.clone(), CallText::new(calls)))
                .collect(),
            internals: viewer.is_operator().then(|| Internals::new(found, now)),
        }
    }
}

impl CallText {
    fn new(calls: &CallStatistics) -> Self {
        let quantile = |permille| {
            let duration = calls.quantile_us(permille);
            duration.map_or_else(|| "–".to_owned(), duration_us)
        };
        Self {
            count: number(calls.count),
            failed: number(calls.client_errors.saturating_add(calls.server_errors)),
            p50: quantile(500),
            p99: quantile(990),
        }
    }
}

impl CapacityText {
    fn new(status: &SupplierStatus) -> Self {
        let circuit = status.health.as_ref().map(|health| health.circuit);
        let (tone, label) = match circuit {
            None => ("bad", "No plugin"),
            Some(CircuitStatus::Closed) => ("good", "Closed"),
            Some(CircuitStatus::Open { .. }) => ("bad", "Open"),
            Some(CircuitStatus::Probing) => ("wait", "Probing"),
        };
        let in_flight = |in_flight, limit| format!("{in_flight} of {limit}");
        let Rank { priority, weight } = status.rank;
        Self {
            circuit: State { tone, label },
            in_flight: status
                .usage
                .map_or_else(String::new, |usage| in_flight(usage.in_flight, usage.limit)),
            rank: format!("{priority} · {weight}"),
        }
    }
}

impl Internals {
    fn new(found: &SupplierDetails, now: Timestamp) -> Self {
        let (status, failures) = (&found.status, &found.failures);
        let (health, plugin) = (status.health.as_ref(), status.plugin.as_ref());
        let last_failure = health.and_then(|health| health.last_failure.clone());
        let waiting = status.usage.map(|usage| usage.waiting);
        Self {
            capacity: CapacityText::new(status),
            waiting: waiting.map_or_else(String::new, |waiting| number(u64::from(waiting))),
            last_minute: health.map_or_else(String::new, |health| {
                format!("{} of {} calls failed", health.failures, health.calls)
            }),
            last_failure: last_failure.unwrap_or_default(),
            error_classes: error_classes(failures),
            loaded: plugin
                .and_then(|plugin| Timestamp::parse(&plugin.loaded_at))
                .map(|at| TimeText::new(at, now)),
            plugin: plugin.cloned(),
            failures: failures
                .iter()
                .map(|call| FailureRow::new(call, &found.logged_requests, now))
                .collect(),
        }
    }
}

/// Returns how often each class of error is among the failures, the most frequent first.
fn error_classes(failures: &[LoggedCall]) -> String {
    let mut counts = BTreeMap::<&str, usize>::new();
    for failure in failures {
        *counts.entry(failure.outcome.as_str()).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| Reverse(*count));
    let texts = counts.into_iter();
    let texts: Vec<String> = texts
        .map(|(class, count)| format!("{count} × {}", words(class).to_lowercase()))
        .collect();
    texts.join(", ")
}

impl FailureRow {
    fn new(call: &LoggedCall, logged_requests: &[String], now: Timestamp) -> Self {
        let is_logged = logged_requests.contains(&call.request_id);
        Self {
            at: TimeText::new(call.started_at, now),
            function: call.function.clone(),
            outcome: words(&call.outcome),
            detail: call.detail.clone().unwrap_or_default(),
            duration: duration_us(call.duration_us),
            path: is_logged.then(|| format!("/requests/{}", path_segment(&call.request_id))),
            request: call.request_id.clone(),
        }
    }
}

impl RankForm {
    fn of(status: &SupplierStatus) -> Self {
        Self {
            priority: status.rank.priority.to_string(),
            weight: status.rank.weight.to_string(),
            is_changed: status.is_rank_changed,
            form: FormProblems::default(),
        }
    }

    pub(super) fn sent(fields: &FormFields, problems: FormProblems) -> Self {
        Self {
            priority: fields.text("priority").to_owned(),
            weight: fields.text("weight").to_owned(),
            is_changed: false,
            form: problems,
        }
    }
}

/// Returns the state of a supplier with its plugin.
const fn supplier_state(supplier: &SupplierSummary) -> State {
    let (tone, label) = match (supplier.health, supplier.version.is_some()) {
        (_, false) => ("bad", "Not loaded"),
        (Health::Up, true) => ("good", "Up"),
        (Health::Degraded, true) => ("wait", "Degraded"),
        (Health::Down, true) => ("bad", "Down"),
    };
    State { tone, label }
}

const fn kind_name(kind: SupplierKind) -> &'static str {
    match kind {
        SupplierKind::Hotel => "Hotels",
        SupplierKind::Flight => "Flights",
        SupplierKind::Payment => "Payments",
    }
}

/// Reads the form of priority and weight. Returns `None` after adding the problems of values that
/// cannot be read.
pub(super) fn rank_change(
    fields: &FormFields,
    problems: &mut FormProblems,
) -> Option<SupplierChange> {
    if !fields.text("reset").is_empty() {
        return Some(SupplierChange::Rank(None));
    }
    let priority = fields.text("priority").trim().parse().ok();
    if priority.is_none() {
        problems.add("priority", "Enter a whole number, e.g. 100.");
    }
    let weight = fields.text("weight").trim().parse().ok();
    if weight.is_none() {
        problems.add("weight", "Enter a whole number from 0, e.g. 1.");
    }
    let (priority, weight) = priority.zip(weight)?;
    Some(SupplierChange::Rank(Some(Rank { priority, weight })))
}
