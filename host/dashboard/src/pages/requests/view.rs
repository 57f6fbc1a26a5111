//! Contents of the list of API calls.

use crate::error::PageError;
use crate::list::{FilterForm, Pager};
use crate::page::PageContext;
use crate::path_text::path_segment;
use crate::query::{QueryFields, parse_supplier};
use crate::text::{TimeText, duration_us};
use askama::Template;
use host_application::account::viewer::Viewer;
use host_application::console::list::{ConsoleList, ConsoleListRequest};
use host_domain::page::Cursor;
use host_domain::request_log::{LoggedRequest, RequestLogFilter, StatusFilter};
use host_domain::time::Timestamp;

const PATH: &str = "/requests";
const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/// Reads the request for the list from a query.
///
/// # Errors
/// [`PageError::NotFound`] if the organization is not an organization's id.
pub(in crate::pages) fn list_request(
    query: &QueryFields,
) -> Result<ConsoleListRequest<RequestLogFilter>, PageError> {
    let mut values = query.filter_values();
    let filter = RequestLogFilter {
        status: values.parsed("status", parse_status),
        method: values.named("method", parse_method),
        route: values.search("route"),
        key: values.search("key"),
        user: values.search("user"),
        supplier: values.parsed("supplier", parse_supplier),
        from: values.time("from"),
        to: values.last_moment("to").map(|at| at.plus_ms(1)),
    };
    values.list_request(filter)
}

fn parse_status(text: &str) -> Option<StatusFilter> {
    StatusFilter::parse(&text.to_ascii_lowercase())
}

fn parse_method(text: &str) -> Option<String> {
    METHODS.contains(&text).then(|| text.to_owned())
}

fn filter_form(query: &QueryFields, viewer: &Viewer, organizations: &[String]) -> FilterForm {
    let classes = [
        ("2xx", "2xx Succeeded"),
        ("4xx", "4xx Refused"),
        ("5xx", "5xx Failed"),
    ];
    let mut statuses = classes
        .map(|(value, label)| (value.to_owned(), label.to_owned()))
        .to_vec();
    let status = parse_status(query.text("status"));
    let sent = match status {
        None => query.text("status").to_owned(),
        Some(StatusFilter::Exact(status)) => status.to_string(),
        Some(StatusFilter::Class(class)) => format!("{class}xx"),
    };
    if status.is_some() && statuses.iter().all(|(value, _)| *value != sent) {
        statuses.push((sent.clone(), sent.clone()));
    }
    FilterForm::builder(PATH, query)
        .choice_of("Status", "status", sent, statuses)
        .choice("Method", "method", METHODS.map(|method| (method, method)))
        .text("Route", "route")
        .text("Key", "key")
        .text("User", "user")
        .supplier()
        .period()
        .organization(viewer.reads_several_organizations(), organizations)
        .build()
}

#[derive(Template)]
#[template(path = "requests.html")]
pub(super) struct RequestsPage {
    pub(super) page: PageContext,
    pub(super) filter: FilterForm,
    pub(super) pager: Pager,
    pub(super) show_organization: bool,
    pub(super) rows: Vec<RequestRow>,
    /// Path of the list's stream, on the first page.
    pub(super) stream: Option<String>,
}

impl RequestsPage {
    pub(super) fn new(
        page: PageContext,
        viewer: &Viewer,
        query: &QueryFields,
        found: ConsoleList<LoggedRequest>,
        now: Timestamp,
    ) -> Self {
        let filter = filter_form(query, viewer, &found.organizations);
        let is_first = query.some("after").is_none();
        Self {
            page: page.titled("Requests").about(filter.value("organization")),
            stream: is_first.then(|| format!("/stream{}", filter.first_page())),
            pager: filter.search_pager(&found, now),
            filter,
            show_organization: viewer.reads_several_organizations(),
            rows: found.page.items.into_iter().map(RequestRow::new).collect(),
        }
    }
}

/// A row of the list. It may be shown for a long time, so its time is not a distance.
pub(in crate::pages) struct RequestRow {
    pub(in crate::pages) stream_id: String,
    pub(in crate::pages) path: String,
    /// Path of the page of the latest call with this id.
    pub(in crate::pages) id_path: String,
    pub(in crate::pages) organization: String,
    pub(in crate::pages) method: String,
    pub(in crate::pages) route: String,
    pub(in crate::pages) tone: &'static str,
    pub(in crate::pages) status: u16,
    pub(in crate::pages) code: String,
    pub(in crate::pages) duration: String,
    pub(in crate::pages) key: String,
    pub(in crate::pages) user: String,
    pub(in crate::pages) at: TimeText,
    pub(in crate::pages) request_id: String,
}

impl RequestRow {
    pub(in crate::pages) fn new(request: LoggedRequest) -> Self {
        let position = Cursor::new(request.at, request.id.as_str());
        Self {
            stream_id: position.to_string(),
            path: call_path(&request),
            id_path: id_path(&request),
            organization: request.organization,
            method: request.method,
            route: request.route,
            tone: status_tone(request.status),
            status: request.status,
            code: request.code.unwrap_or_default(),
            duration: duration_us(request.duration_us),
            key: request.key.map_or_else(String::new, |key| key.to_string()),
            user: request.user,
            at: TimeText::new(request.at, request.at),
            request_id: request.request_id,
        }
    }
}

/// Returns the path of the page of one call among those with the same id.
pub(super) fn call_path(request: &LoggedRequest) -> String {
    format!("{}?call={}", id_path(request), request.id)
}

/// Returns the path of the page of the latest call with the id of a call.
fn id_path(request: &LoggedRequest) -> String {
    format!("{PATH}/{}", path_segment(&request.request_id))
}

/// Returns the tone of `components/state.html` for a status.
pub(super) const fn status_tone(status: u16) -> &'static str {
    match status {
        500.. => "bad",
        400.. => "wait",
        _ => "good",
    }
}
