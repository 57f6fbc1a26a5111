//! Contents of the list of deliveries.

use crate::error::PageError;
use crate::list::{FilterForm, ListAddress, Pager};
use crate::page::PageContext;
use crate::query::QueryFields;
use crate::text::{State, TimeText, number};
use askama::Template;
use host_application::account::viewer::Viewer;
use host_application::console::bulk_replay::ConsoleBulkReplayError;
use host_application::console::list::{ConsoleList, ConsoleListRequest};
use host_application::webhook::bulk_replay::{BulkReplayError, DELIVERIES_MAX};
use host_domain::account::Permission;
use host_domain::console::webhook::ListedDelivery;
use host_domain::event::EventType;
use host_domain::id::SubscriptionId;
use host_domain::page::Cursor;
use host_domain::time::Timestamp;
use host_domain::webhook::list::DeliveryScopeFilter;
use host_domain::webhook::{BulkReplay, BulkReplayState, Delivery, DeliveryStatus};

const PATH: &str = "/deliveries";

const WEBHOOK_PROBLEM: &str = "Enter the id of a webhook, which begins with whs_.";

/// Reads the request for the list from a query.
///
/// # Errors
/// [`PageError::NotFound`] if the organization is not an organization's id.
pub(in crate::pages) fn list_request(
    query: &QueryFields,
) -> Result<ConsoleListRequest<DeliveryScopeFilter>, PageError> {
    let mut values = query.filter_values();
    let status = values.named("status", StatusChoice::parse);
    let filter = DeliveryScopeFilter {
        status: status.and_then(StatusChoice::exact),
        is_waiting: status == Some(StatusChoice::Waiting),
        subscription: values.parsed("webhook", parse_webhook),
        event_type: values.named("event", EventType::parse),
        from: values.time("from"),
        to: values.last_moment("to"),
    };
    values.list_request(filter)
}

/// Name of the choice of all deliveries without a final result.
const WAITING: &str = "waiting";

/// Path of the list of the waiting deliveries.
pub(in crate::pages) const WAITING_PATH: &str = "/deliveries?status=waiting";

/// A choice of the field "Status".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StatusChoice {
    /// Pending or published.
    Waiting,
    Exact(DeliveryStatus),
}

impl StatusChoice {
    fn parse(text: &str) -> Option<Self> {
        match text {
            WAITING => Some(Self::Waiting),
            text => DeliveryStatus::parse(text).map(Self::Exact),
        }
    }

    fn exact(self) -> Option<DeliveryStatus> {
        match self {
            Self::Waiting => None,
            Self::Exact(status) => Some(status),
        }
    }
}

/// Reads the list from its query, or from that of a form which leads back to it.
pub(super) fn list_address(query: &QueryFields) -> ListAddress {
    let filters = ["status", "webhook", "event", "from", "to", "organization"];
    ListAddress::read(PATH, &filters, query)
}

fn parse_webhook(text: &str) -> Option<SubscriptionId> {
    SubscriptionId::parse(text).ok()
}

fn filter_form(query: &QueryFields, viewer: &Viewer, organizations: &[String]) -> FilterForm {
    let waiting = (WAITING, "Waiting: pending or published");
    let statuses = DeliveryStatus::ALL.map(|status| (status.as_str(), status_label(status)));
    let statuses = [waiting].into_iter().chain(statuses);
    let events = EventType::ALL.map(|event| (event.as_str(), event.as_str()));
    FilterForm::builder(PATH, query)
        .choice("Status", "status", statuses)
        .parsed_text("Webhook", "webhook", WEBHOOK_PROBLEM, parse_webhook)
        .choice("Event", "event", events)
        .period()
        .organization(viewer.reads_several_organizations(), organizations)
        .build()
}

#[derive(Template)]
#[template(path = "deliveries.html")]
pub(super) struct DeliveriesPage {
    pub(super) page: PageContext,
    /// Why nothing was replayed.
    pub(super) alert: Option<String>,
    pub(super) list: ListAddress,
    pub(super) filter: FilterForm,
    pub(super) pager: Pager,
    pub(super) show_organization: bool,
    pub(super) rows: Vec<DeliveryRow>,
    /// Path of the list's stream, on the first page.
    pub(super) stream: Option<String>,
    pub(super) bulk_replay: Option<BulkReplayText>,
    /// Whether the person may replay the deliveries that match.
    pub(super) can_replay: bool,
}

impl DeliveriesPage {
    pub(super) fn new(
        page: PageContext,
        viewer: &Viewer,
        query: &QueryFields,
        found: ConsoleList<ListedDelivery>,
        bulk_replay: Option<BulkReplay>,
        now: Timestamp,
    ) -> Self {
        let filter = filter_form(query, viewer, &found.organizations);
        let is_first = query.some("after").is_none();
        let is_running = |bulk: &BulkReplay| bulk.state == BulkReplayState::Running;
        Self {
            can_replay: viewer.may_anywhere(Permission::ReplayDeliveries)
                && !bulk_replay.as_ref().is_some_and(is_running),
            alert: None,
            list: list_address(query),
            stream: is_first.then(|| format!("/stream{}", filter.first_page())),
            page: page
                .titled("Deliveries")
                .about(filter.value("organization")),
            pager: filter.search_pager(&found, now),
            filter,
            show_organization: viewer.reads_several_organizations(),
            rows: delivery_rows(found.page.items, now),
            bulk_replay: bulk_replay.map(|bulk| BulkReplayText::new(&bulk, now)),
        }
    }
}

/// The progress of a bulk replay.
pub(super) struct BulkReplayText {
    pub(super) id: String,
    pub(super) state: State,
    pub(super) is_running: bool,
    /// Numbers of deliveries.
    pub(super) seen: u64,
    pub(super) total: u64,
    /// Progress or result of the replay, in words.
    pub(super) summary: String,
    pub(super) started: TimeText,
}

impl BulkReplayText {
    fn new(bulk_replay: &BulkReplay, now: Timestamp) -> Self {
        let progress = &bulk_replay.progress;
        let (tone, label) = match bulk_replay.state {
            BulkReplayState::Running => ("wait", "Running"),
            BulkReplayState::Finished => ("good", "Finished"),
            BulkReplayState::Stopped => ("", "Stopped"),
        };
        let (replayed, total) = (number(progress.replayed), number(bulk_replay.total));
        let mut summary = format!("{replayed} of {total} replayed");
        if progress.skipped > 0 {
            let skipped = number(progress.skipped);
            summary.push_str(&format!(
                ", {skipped} skipped because they are still being sent or their webhook is not active"
            ));
        }
        Self {
            id: bulk_replay.id.to_string(),
            state: State { tone, label },
            is_running: bulk_replay.state == BulkReplayState::Running,
            seen: progress.replayed.saturating_add(progress.skipped),
            total: bulk_replay.total,
            summary,
            started: TimeText::new(bulk_replay.created_at, now),
        }
    }
}

/// A row of a list of deliveries. It may be shown for a long time, so its times are not distances.
pub(in crate::pages) struct DeliveryRow {
    pub(in crate::pages) stream_id: String,
    pub(in crate::pages) id: String,
    pub(in crate::pages) organization: String,
    pub(in crate::pages) event_type: String,
    pub(in crate::pages) event: String,
    pub(in crate::pages) webhook: String,
    pub(in crate::pages) state: State,
    /// The number of finished attempts, or that of replays.
    pub(in crate::pages) attempts: String,
    pub(in crate::pages) created: TimeText,
}

impl DeliveryRow {
    pub(in crate::pages) fn new(listed: ListedDelivery, now: Timestamp) -> Self {
        let delivery = listed.delivery;
        let position = Cursor::new(delivery.created_at, delivery.id.as_str());
        Self {
            stream_id: position.to_string(),
            state: delivery_state(&delivery),
            attempts: number(delivery.attempts.unsigned_abs()),
            created: TimeText::new(delivery.created_at, now),
            id: delivery.id.to_string(),
            organization: listed.tenant.organization,
            event_type: listed.event_type,
            event: delivery.event.to_string(),
            webhook: delivery.subscription.to_string(),
        }
    }
}

pub(in crate::pages) fn delivery_rows(
    deliveries: Vec<ListedDelivery>,
    now: Timestamp,
) -> Vec<DeliveryRow> {
    let rows = deliveries.into_iter();
    rows.map(|listed| DeliveryRow::new(listed, now)).collect()
}

pub(in crate::pages) fn delivery_state(delivery: &Delivery) -> State {
    let status = delivery.status();
    State {
        tone: match status {
            DeliveryStatus::Pending | DeliveryStatus::Published => "wait",
            DeliveryStatus::Delivered => "good",
            DeliveryStatus::Failed => "bad",
        },
        label: status_label(status),
    }
}

const fn status_label(status: DeliveryStatus) -> &'static str {
    match status {
        DeliveryStatus::Pending => "Pending",
        DeliveryStatus::Published => "Published",
        DeliveryStatus::Delivered => "Delivered",
        DeliveryStatus::Failed => "Failed",
    }
}

/// Returns why nothing was replayed.
///
/// # Errors
/// The failure has no place on the page.
pub(super) fn bulk_alert(error: ConsoleBulkReplayError) -> Result<String, PageError> {
    match error {
        ConsoleBulkReplayError::BulkReplay(BulkReplayError::NothingMatches) => {
            Ok("No delivery matches the filter.".to_owned())
        }
        ConsoleBulkReplayError::BulkReplay(BulkReplayError::TooMany) => Ok(format!(
            "The filter looks through more than {} deliveries. Narrow it, for example by time.",
            number(u64::from(DELIVERIES_MAX))
        )),
        ConsoleBulkReplayError::BulkReplay(BulkReplayError::Running) => {
            Ok("Your last replay is still running. Wait until it ends, or stop it.".to_owned())
        }
        error => Err(error.into()),
    }
}
