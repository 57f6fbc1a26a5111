//! `/`: open work, and the state of the gateway.

mod figure;
mod traffic;

use crate::error::PageError;
use crate::guard::session::SignedIn;
use crate::page::PageContext;
use crate::pages::deliveries::WAITING_PATH;
use crate::pages::keys::key_label;
use crate::pages::overview::figure::Figure;
use crate::pages::overview::traffic::{OverviewView, TrafficView};
use crate::query::{QueryFields, path_with};
use crate::render::render;
use crate::state::DashboardState;
use crate::text::{State as StateText, TimeText, booking_state, date, duration, number};
use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use host_application::account::viewer::Viewer;
use host_application::console::overview::ConsoleOverview;
use host_application::reporting::overview::{DELIVERIES_MAX, Overview};
use host_application::supplier::plugin_report::SupplierSummary;
use host_domain::account::Permission;
use host_domain::console::{BookingCount, OpenItem, OverviewCounts};
use host_domain::owner::Mode;
use host_domain::supplier::Health;
use host_domain::time::Timestamp;
use std::sync::Arc;

pub(crate) fn routes() -> Router<DashboardState> {
    Router::new().route("/", get(show))
}

#[derive(Template)]
#[template(path = "overview.html")]
struct OverviewPage {
    page: PageContext,
    at: TimeText,
    attention: Vec<AttentionItem>,
    figures: Vec<Figure>,
    bookings: Vec<BookingRow>,
    is_counting: bool,
    suppliers: Vec<SupplierRow>,
    first_steps: Vec<FirstStep>,
    /// Path that reads the page again.
    path: String,
    traffic: TrafficView,
    /// Whether the person may fill the demo with sample data.
    offers_sample_data: bool,
}

struct AttentionItem {
    tone: &'static str,
    title: String,
    detail: String,
    /// The page where it is fixed, if there is one.
    path: Option<String>,
    since: Option<TimeText>,
}

struct BookingRow {
    state: StateText,
    /// The list of the bookings.
    path: String,
    hotels: String,
    flights: String,
}

struct SupplierRow {
    name: String,
    state: StateText,
    capabilities: Vec<&'static str>,
}

struct FirstStep {
    is_done: bool,
    title: String,
    detail: String,
    command: String,
    path: Option<String>,
    link: &'static str,
}

/// `GET /`
async fn show(
    State(overview): State<Arc<ConsoleOverview>>,
    State(state): State<DashboardState>,
    SignedIn(viewer): SignedIn,
    page: PageContext,
    query: QueryFields,
) -> Result<Response, PageError> {
    let view = OverviewView::read(&query);
    let overview = overview.read(&viewer, view.window).await?;
    let api_url = &state.application.base_url;
    let mut overview = overview_page(page, &viewer, overview, view, api_url);
    let is_offered = viewer.is_operator() && viewer.mode == Mode::Test;
    overview.offers_sample_data = state.sample_data.is_some() && is_offered;
    Ok(render(&overview))
}

fn overview_page(
    page: PageContext,
    viewer: &Viewer,
    overview: Overview,
    view: OverviewView,
    api_url: &str,
) -> OverviewPage {
    let now = overview.at;
    OverviewPage {
        page: page.titled("Overview"),
        at: TimeText::new(now, now),
        figures: figures(&overview),
        path: view.path(),
        traffic: TrafficView::new(&overview.traffic, view, now),
        offers_sample_data: false,
        first_steps: first_steps(viewer, &overview, api_url),
        bookings: overview
            .bookings
            .iter()
            .flat_map(|bookings| bookings.iter())
            .map(booking_row)
            .collect(),
        is_counting: overview.bookings.is_none(),
        attention: attention(&overview),
        suppliers: overview.suppliers.iter().map(supplier_row).collect(),
    }
}

/// Returns what waits for a person: open work first, then suppliers, then keys.
fn attention(overview: &Overview) -> Vec<AttentionItem> {
    let now = overview.at;
    let is_key = |item: &&OpenItem| matches!(item, OpenItem::Key { .. });
    let (keys, work): (Vec<_>, Vec<_>) = overview.open_items.iter().partition(is_key);
    let work = work.into_iter().map(|item| open_item(item, now));
    let suppliers = overview.suppliers.iter().filter_map(supplier_item);
    let keys = keys.into_iter().map(|item| open_item(item, now));
    work.chain(suppliers).chain(keys).collect()
}

fn open_item(item: &OpenItem, now: Timestamp) -> AttentionItem {
    match item {
        OpenItem::Outcome {
            booking,
            step,
            target,
            sent_at,
        } => AttentionItem {
            tone: "wait",
            title: format!("Outcome unknown: {step} at {target}"),
            detail: format!("Booking {booking}"),
            path: Some(format!("/unresolved?booking={booking}")),
            since: Some(TimeText::new(*sent_at, now)),
        },
        OpenItem::Job {
            kind,
            subject,
            attempts,
            parked_at,
        } => AttentionItem {
            tone: "bad",
            title: format!("Job parked: {kind}"),
            detail: format!("{subject} · failed {attempts} times"),
            path: Some("/unresolved#jobs".to_owned()),
            since: Some(TimeText::new(*parked_at, now)),
        },
        OpenItem::Key {
            id,
            name,
            masked_key,
            expires_at,
        } => AttentionItem {
            tone: "wait",
            title: format!(
                "Key {} expires in {}",
                key_label(id, name.clone()),
                duration(expires_at.since(now))
            ),
            detail: format!("{masked_key} · {}", date(*expires_at)),
            path: Some(format!("/keys/{id}")),
            since: None,
        },
        OpenItem::Webhook {
            id,
            url,
            is_disabled,
            since,
        } => AttentionItem {
            tone: "bad",
            title: match is_disabled {
                true => "Webhook disabled".to_owned(),
                false => "Webhook failing".to_owned(),
            },
            detail: url.clone(),
            path: Some(format!("/webhooks/{id}")),
            since: Some(TimeText::new(*since, now)),
        },
    }
}

fn supplier_item(supplier: &SupplierSummary) -> Option<AttentionItem> {
    let (tone, problem) = match supplier.health {
        Health::Up => return None,
        Health::Degraded => ("wait", "is degraded"),
        Health::Down => ("bad", "is down"),
    };
    let is_loaded = supplier.version.is_some();
    let detail = if is_loaded {
        "Many of its calls fail."
    } else {
        "Its plugin is not loaded. The log says why."
    };
    Some(AttentionItem {
        tone,
        title: format!("Supplier {} {problem}", supplier.id),
        detail: detail.to_owned(),
        path: Some(format!("/suppliers/{}", supplier.id)),
        since: None,
    })
}

fn figures(overview: &Overview) -> Vec<Figure> {
    let counts = overview.counts;
    let mut figures = vec![
        Figure {
            detail: oldest(counts.oldest_outcome_at, overview.at),
            tone: tone_of(counts.open_outcomes, "wait"),
            path: Some("/unresolved".to_owned()),
            ..Figure::plain("Unresolved", number(counts.open_outcomes))
        },
        Figure {
            detail: oldest(counts.oldest_delivery_at, overview.at),
            path: Some(WAITING_PATH.to_owned()),
            ..Figure::plain("Waiting deliveries", delivery_count(counts))
        },
    ];
    if overview.includes_jobs {
        figures.push(Figure {
            tone: tone_of(counts.parked_jobs, "bad"),
            path: Some("/unresolved#jobs".to_owned()),
            ..Figure::plain("Parked jobs", number(counts.parked_jobs))
        });
    }
    figures.push(Figure {
        path: Some("/keys?status=active".to_owned()),
        ..Figure::plain("Active API keys", number(counts.active_keys))
    });
    figures
}

fn delivery_count(counts: OverviewCounts) -> String {
    let text = number(counts.waiting_deliveries);
    if counts.waiting_deliveries < u64::from(DELIVERIES_MAX) {
        return text;
    }
    format!("{text} or more")
}

fn oldest(at: Option<Timestamp>, now: Timestamp) -> String {
    at.map_or_else(String::new, |at| {
        format!("oldest for {}", duration(now.since(at)))
    })
}

fn tone_of(number: u64, tone: &'static str) -> &'static str {
    if number == 0 { "" } else { tone }
}

fn booking_row(count: &BookingCount) -> BookingRow {
    BookingRow {
        state: booking_state(count.status),
        path: path_with("/bookings", &[("status", count.status.as_str())]),
        hotels: number(count.hotels),
        flights: number(count.flights),
    }
}

fn supplier_row(supplier: &SupplierSummary) -> SupplierRow {
    let (tone, label) = match (supplier.health, supplier.version.is_some()) {
        (_, false) => ("bad", "Not loaded"),
        (Health::Up, true) => ("good", "Up"),
        (Health::Degraded, true) => ("wait", "Degraded"),
        (Health::Down, true) => ("bad", "Down"),
    };
    SupplierRow {
        name: supplier.id.to_string(),
        state: StateText { tone, label },
        capabilities: supplier
            .operations
            .iter()
            .map(|operation| operation.as_str())
            .collect(),
    }
}

/// Returns the first steps with what has been done, or nothing if all are done.
fn first_steps(viewer: &Viewer, overview: &Overview, api_url: &str) -> Vec<FirstStep> {
    let counts = overview.counts;
    // It takes long to count many bookings.
    let has_booking = overview
        .bookings
        .as_ref()
        .is_none_or(|bookings| !bookings.is_empty());
    if counts.has_key && counts.has_used_key && has_booking {
        return Vec::new();
    }
    let may_create = viewer.may_anywhere(Permission::manage_keys(viewer.mode));
    let step = |is_done, title: &str, detail: &str| FirstStep {
        is_done,
        title: title.to_owned(),
        detail: detail.to_owned(),
        command: String::new(),
        path: None,
        link: "",
    };
    vec![
        step(true, "Create an account", ""),
        FirstStep {
            path: may_create.then(|| "/keys?create=1".to_owned()),
            link: "Create a key",
            ..step(
                counts.has_key,
                "Create an API key",
                "Programs send it with each call.",
            )
        },
        FirstStep {
            command: format!("curl {api_url}/v1/suppliers -H \"x-api-key: $STOPOVER_API_KEY\""),
            ..step(
                counts.has_used_key,
                "Call the API",
                "This call lists the suppliers that your key can book at.",
            )
        },
        step(
            has_booking,
            "Make a booking",
            &format!("Price an offer, prebook it and book it. The reference is at {api_url}/docs."),
        ),
    ]
}
