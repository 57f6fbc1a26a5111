//! Figures, charts and tables of what programs did.

use crate::chart::{Chart, ChartColumn, ChartPoint};
use crate::pages::overview::figure::Figure;
use crate::path_text::path_segment;
use crate::query::{QueryFields, path_with};
use crate::sparkline::Sparkline;
use crate::text::{TimeText, count, duration_us, money, number, words};
use host_application::reporting::overview::{OverviewWindow, Traffic, WindowStatistics};
use host_domain::statistics::{
    CallStatistics, RemarkableCall, RemarkableReason, StatisticsGroup, StatisticsSubject,
};
use host_domain::time::Timestamp;
use std::collections::BTreeMap;

/// Number of rows of a table unless all are asked for.
const ROWS_MAX: usize = 12;
/// Value of the parameter `rows` that asks for all.
const ALL_ROWS: &str = "all";

/// What the query of the overview selects.
#[derive(Debug, Clone, Copy)]
pub(super) struct OverviewView {
    pub(super) window: OverviewWindow,
    /// Whether the tables have all their rows.
    has_all_rows: bool,
}

impl OverviewView {
    /// Reads the view from a query: the last hour and the first rows by default.
    pub(super) fn read(query: &QueryFields) -> Self {
        let window = OverviewWindow::parse(query.text("window"));
        Self {
            window: window.unwrap_or(OverviewWindow::Hour),
            has_all_rows: query.text("rows") == ALL_ROWS,
        }
    }

    /// Returns the path of the overview with this view.
    pub(super) fn path(self) -> String {
        let window = match self.window {
            OverviewWindow::Hour => "",
            OverviewWindow::Day | OverviewWindow::Week => self.window.as_str(),
        };
        let rows = if self.has_all_rows { ALL_ROWS } else { "" };
        path_with("/", &[("window", window), ("rows", rows)])
    }
}

/// The view of a window of time.
pub(super) struct WindowSegment {
    pub(super) label: &'static str,
    pub(super) path: String,
    pub(super) is_current: bool,
}

/// A table of calls.
pub(super) struct CallsTable {
    /// Those with most calls first.
    pub(super) rows: Vec<CallsRow>,
    /// The page with all rows, if there are more.
    pub(super) more: Option<MoreRows>,
}

pub(super) struct MoreRows {
    /// E.g. `Show all 34`.
    pub(super) label: String,
    pub(super) path: String,
}

/// The calls of a route, or of a function of a supplier.
pub(super) struct CallsRow {
    pub(super) name: String,
    /// Empty for a route.
    pub(super) operation: String,
    /// Path of the list of its calls.
    pub(super) path: String,
    pub(super) count: String,
    pub(super) errors: String,
    pub(super) p50: String,
    pub(super) p99: String,
}

pub(super) struct TrafficView {
    pub(super) segments: Vec<WindowSegment>,
    /// Whether the calls are still being counted.
    pub(super) is_counting: bool,
    pub(super) figures: Vec<Figure>,
    /// Amounts of confirmed bookings, one figure a currency.
    pub(super) spend: Vec<Figure>,
    /// `None` without calls.
    pub(super) charts: Option<TrafficCharts>,
    pub(super) routes: CallsTable,
    pub(super) suppliers: CallsTable,
    pub(super) remarkable: Vec<RemarkableRow>,
}

/// A call of a supplier that explains a part of the charts.
pub(super) struct RemarkableRow {
    /// The API call that made it.
    pub(super) path: String,
    pub(super) supplier: String,
    pub(super) operation: String,
    pub(super) tone: &'static str,
    pub(super) outcome: String,
    pub(super) duration: String,
    pub(super) at: TimeText,
}

pub(super) struct TrafficCharts {
    pub(super) outcomes: Chart,
    pub(super) durations: Chart,
}

const fn label(window: OverviewWindow) -> &'static str {
    match window {
        OverviewWindow::Hour => "Hour",
        OverviewWindow::Day => "Day",
        OverviewWindow::Week => "Week",
    }
}

impl TrafficView {
    pub(super) fn new(traffic: &Traffic, view: OverviewView, now: Timestamp) -> Self {
        let window = view.window;
        let segments = OverviewWindow::ALL.map(|other| WindowSegment {
            label: label(other),
            path: OverviewView {
                window: other,
                ..view
            }
            .path(),
            is_current: other == window,
        });
        let statistics = traffic.statistics.as_ref();
        let (figures, charts) = match statistics {
            Some(statistics) => {
                let slots = slots(statistics, window);
                let total = total(&slots);
                let charts = (total.count > 0).then(|| charts_of(&slots, &total, window));
                (call_figures(statistics, &slots, &total), charts)
            }
            None => (Vec::new(), None),
        };
        let table = |subject| calls_table(statistics, subject, view);
        Self {
            segments: segments.into(),
            is_counting: statistics.is_none(),
            figures,
            spend: spend_figures(traffic),
            charts,
            routes: table(StatisticsSubject::Route),
            suppliers: table(StatisticsSubject::Supplier),
            remarkable: traffic
                .remarkable
                .iter()
                .map(|call| remarkable_row(call, now))
                .collect(),
        }
    }
}

/// The calls of each minute or hour of the window, also of those without calls.
type Slots = Vec<(Timestamp, CallStatistics)>;

fn slots(statistics: &WindowStatistics, window: OverviewWindow) -> Slots {
    let of_total = |group: &&StatisticsGroup| group.subject == StatisticsSubject::Total;
    let counted = statistics.groups.iter().filter(of_total);
    let counted: BTreeMap<_, _> = counted.map(|group| (group.at, group.calls)).collect();
    let mut slots = Vec::new();
    let mut at = statistics.since;
    while at <= statistics.at {
        slots.push((at, counted.get(&at).copied().unwrap_or_default()));
        at = at.plus_ms(window.resolution().ms());
    }
    slots
}

fn total(slots: &Slots) -> CallStatistics {
    let mut total = CallStatistics::default();
    for (_, calls) in slots {
        total.add(calls);
    }
    total
}

fn call_figures(
    statistics: &WindowStatistics,
    slots: &Slots,
    total: &CallStatistics,
) -> Vec<Figure> {
    let elapsed_ms = statistics.at.since(statistics.since);
    let elapsed_s = u64::try_from(elapsed_ms / 1000).unwrap_or(1);
    let counts = slots.iter().map(|(_, calls)| calls.count);
    let since = statistics.since.to_string();
    vec![
        Figure {
            sparkline: sparkline(counts, "Requests over time"),
            path: Some(path_with("/requests", &[("from", &since)])),
            ..Figure::plain("Requests a second", rate(total.count, elapsed_s.max(1)))
        },
        Figure {
            detail: format!("{} of {}", number(total.server_errors), number(total.count)),
            tone: if total.server_errors > 0 { "bad" } else { "" },
            path: Some(path_with(
                "/requests",
                &[("status", "5xx"), ("from", &since)],
            )),
            ..Figure::plain("Error rate", percent(total.server_errors, total.count))
        },
        Figure {
            detail: format!("p50 {}", quantile(total, 500)),
            path: Some(path_with("/requests", &[("from", &since)])),
            ..Figure::plain("Response time, p99", quantile(total, 990))
        },
    ]
}

/// Returns the amounts, which lead to the bookings of the time: the list has no filter for the currency.
fn spend_figures(traffic: &Traffic) -> Vec<Figure> {
    let since = traffic.booked_since.to_string();
    let figures = traffic.booked.iter().map(|(amount, bookings)| Figure {
        detail: count(usize::try_from(*bookings).unwrap_or(usize::MAX), "booking"),
        path: Some(path_with("/bookings", &[("from", &since)])),
        ..Figure::plain(amount.currency.code(), money(*amount))
    });
    figures.collect()
}

fn sparkline(counts: impl Iterator<Item = u64>, summary: &str) -> Option<Sparkline> {
    let counts = counts.map(|count| u32::try_from(count).unwrap_or(u32::MAX));
    let values: Vec<f64> = counts.map(f64::from).collect();
    Sparkline::new(&values, summary.to_owned())
}

fn charts_of(slots: &Slots, total: &CallStatistics, window: OverviewWindow) -> TrafficCharts {
    let columns = slots.iter().map(|(at, calls)| ChartColumn {
        label: slot_label(*at, window),
        path: slot_path(*at, calls, window),
        answered: calls.count.saturating_sub(calls.server_errors),
        failed: calls.server_errors,
    });
    let points = slots.iter().map(|(at, calls)| ChartPoint {
        label: slot_label(*at, window),
        path: slot_path(*at, calls, window),
        p50_us: calls.quantile_us(500),
        p99_us: calls.quantile_us(990),
    });
    let whole = [500, 990].map(|permille| quantile(total, permille));
    TrafficCharts {
        outcomes: Chart::columns("Requests by outcome", columns.collect()),
        durations: Chart::lines("Response times", &whole, points.collect()),
    }
}

fn slot_label(at: Timestamp, window: OverviewWindow) -> String {
    let text = at.to_string();
    let day = text.get(..10).unwrap_or_default();
    let time = text.get(11..16).unwrap_or_default();
    match window {
        OverviewWindow::Hour | OverviewWindow::Day => time.to_owned(),
        OverviewWindow::Week => format!("{day} {time}"),
    }
}

/// Returns the path of the calls of a minute or hour, of the failed ones if there are any.
fn slot_path(at: Timestamp, calls: &CallStatistics, window: OverviewWindow) -> Option<String> {
    if calls.count == 0 {
        return None;
    }
    let end = at.plus_ms(window.resolution().ms());
    let status = if calls.server_errors > 0 { "5xx" } else { "" };
    let (from, to) = (at.to_string(), end.to_string());
    let parameters = [("status", status), ("from", &from), ("to", &to)];
    Some(path_with("/requests", &parameters))
}

fn calls_table(
    statistics: Option<&WindowStatistics>,
    subject: StatisticsSubject,
    view: OverviewView,
) -> CallsTable {
    let Some(statistics) = statistics else {
        return CallsTable {
            rows: Vec::new(),
            more: None,
        };
    };
    let groups = statistics.groups.iter();
    let groups: Vec<_> = groups.filter(|group| group.subject == subject).collect();
    let shown = match view.has_all_rows {
        true => groups.len(),
        false => groups.len().min(ROWS_MAX),
    };
    let more = (shown < groups.len()).then(|| MoreRows {
        label: format!("Show all {}", groups.len()),
        path: OverviewView {
            has_all_rows: true,
            ..view
        }
        .path(),
    });
    let since = statistics.since.to_string();
    let rows = groups.into_iter().take(shown);
    CallsTable {
        rows: rows.map(|group| calls_row(group, &since)).collect(),
        more,
    }
}

/// Returns the row of a group. `since` is the beginning of the window.
fn calls_row(group: &StatisticsGroup, since: &str) -> CallsRow {
    CallsRow {
        path: match group.subject {
            StatisticsSubject::Supplier => format!("/suppliers/{}", group.name),
            StatisticsSubject::Route | StatisticsSubject::Total => route_path(&group.name, since),
        },
        name: group.name.clone(),
        operation: group.operation.clone(),
        count: number(group.calls.count),
        errors: percent(group.calls.server_errors, group.calls.count),
        p50: quantile(&group.calls, 500),
        p99: quantile(&group.calls, 990),
    }
}

fn remarkable_row(call: &RemarkableCall, now: Timestamp) -> RemarkableRow {
    RemarkableRow {
        path: format!("/requests/{}", path_segment(&call.request_id)),
        supplier: call.supplier.to_string(),
        operation: call.operation.clone(),
        tone: match call.reason {
            RemarkableReason::Failed => "bad",
            RemarkableReason::Slow => "",
        },
        outcome: match call.reason {
            RemarkableReason::Failed => words(&call.outcome),
            RemarkableReason::Slow => "Among the slowest".to_owned(),
        },
        duration: duration_us(call.duration_us),
        at: TimeText::new(call.at, now),
    }
}

/// Returns the path of the calls of a method and a route since a time.
fn route_path(name: &str, since: &str) -> String {
    let (method, route) = name.split_once(' ').unwrap_or(("", name));
    let parameters = [("method", method), ("route", route), ("from", since)];
    path_with("/requests", &parameters)
}

fn quantile(calls: &CallStatistics, permille: u64) -> String {
    let us = calls.quantile_us(permille);
    us.map_or_else(|| "none".to_owned(), duration_us)
}

/// Returns a share as `0.21 %`.
fn percent(part: u64, whole: u64) -> String {
    let hundredths = part.saturating_mul(10_000) / whole.max(1);
    match hundredths {
        0 if part > 0 => "< 0.01 %".to_owned(),
        _ => format!("{}.{:02} %", hundredths / 100, hundredths % 100),
    }
}

/// Returns a number a second as `38.4`, or with two decimals below 10.
fn rate(count: u64, seconds: u64) -> String {
    let hundredths = count.saturating_mul(100) / seconds;
    match hundredths {
        0 if count > 0 => "< 0.01".to_owned(),
        ..1000 => format!("{}.{:02}", hundredths / 100, hundredths % 100),
        _ => format!("{}.{}", number(hundredths / 100), hundredths % 100 / 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_says_that_there_are_more_rows() {
        let group = |number: usize| StatisticsGroup {
            subject: StatisticsSubject::Route,
            at: Timestamp(0),
            name: format!("GET /v1/{number}"),
            operation: String::new(),
            calls: CallStatistics::default(),
        };
        let statistics = WindowStatistics {
            since: Timestamp(0),
            at: Timestamp(0),
            groups: (0..14).map(group).collect(),
        };
        let table = |query: &str| {
            let view = OverviewView::read(&QueryFields::parse(query));
            calls_table(Some(&statistics), StatisticsSubject::Route, view)
        };
        let first = table("window=day");
        assert_eq!(first.rows.len(), ROWS_MAX);
        let since = "from=1970-01-01T00%3A00%3A00.000Z";
        assert!(
            first.rows[0].path.ends_with(since),
            "{}",
            first.rows[0].path
        );
        let more = first.more.unwrap();
        assert_eq!(more.label, "Show all 14");
        assert_eq!(more.path, "/?window=day&rows=all");
        let all = table("window=day&rows=all");
        assert_eq!((all.rows.len(), all.more.is_none()), (14, true));
    }

    #[test]
    fn shares_and_rates_have_few_digits() {
        for (part, whole, text) in [
            (0, 0, "0.00 %"),
            (9, 4310, "0.20 %"),
            (1, 100_000, "< 0.01 %"),
            (3, 3, "100.00 %"),
        ] {
            assert_eq!(percent(part, whole), text);
        }
        for (count, seconds, text) in [
            (0, 60, "0.00"),
            (1, 360_000, "< 0.01"),
            (90, 60, "1.50"),
            (138_240, 3600, "38.4"),
            (7_200_000, 3600, "2,000.0"),
        ] {
            assert_eq!(rate(count, seconds), text);
        }
    }
}
