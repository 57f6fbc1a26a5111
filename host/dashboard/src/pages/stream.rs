//! `/stream/…`: new rows of lists that are open, as server-sent events. The lists work without them.

use crate::error::PageError;
use crate::guard::session::{SessionToken, SignedIn};
use crate::pages::deliveries::DeliveryRow;
use crate::pages::requests::RequestRow;
use crate::pages::{deliveries, requests};
use crate::query::QueryFields;
use crate::state::DashboardState;
use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures::{Stream, StreamExt};
use host_application::account::viewer::Viewer;
use host_application::console::live::{LiveEvent, LiveLists, StreamClient, StreamPosition};
use host_domain::time::Clock;
use http::{HeaderMap, HeaderName};
use secrecy::SecretString;
use std::sync::Arc;
use std::time::Duration;

/// Time without an event after which a comment is sent, so that proxies keep the connection.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Header with which a browser names the last event that it received.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

pub(crate) fn routes() -> Router<DashboardState> {
    Router::new()
        .route("/stream/requests", get(request_stream))
        .route("/stream/deliveries", get(delivery_stream))
}

#[derive(Template)]
#[template(path = "fragments/request_row.html")]
struct RequestRowFragment {
    row: RequestRow,
    show_organization: bool,
}

#[derive(Template)]
#[template(path = "fragments/delivery_row.html")]
struct DeliveryRowFragment {
    row: DeliveryRow,
    show_organization: bool,
    show_event: bool,
    show_webhook: bool,
}

/// `GET /stream/requests` with the parameters of `/requests`.
async fn request_stream(
    State(live): State<Arc<LiveLists>>,
    SignedIn(viewer): SignedIn,
    SessionToken(token): SessionToken,
    query: QueryFields,
    headers: HeaderMap,
) -> Result<Response, PageError> {
    let show_organization = viewer.reads_several_organizations();
    let request = requests::list_request(&query)?;
    // An organization that the person may not read is not found before the stream begins.
    viewer.scope(request.organization.as_deref())?;
    let client = stream_client(viewer, token, &query, &headers);
    let events = live.requests(request, client)?;
    Ok(respond(events, move |item| {
        let row = RequestRow::new(item);
        RequestRowFragment {
            row,
            show_organization,
        }
    }))
}

/// `GET /stream/deliveries` with the parameters of `/deliveries`.
async fn delivery_stream(
    State(live): State<Arc<LiveLists>>,
    State(clock): State<Arc<dyn Clock>>,
    SignedIn(viewer): SignedIn,
    SessionToken(token): SessionToken,
    query: QueryFields,
    headers: HeaderMap,
) -> Result<Response, PageError> {
    let show_organization = viewer.reads_several_organizations();
    let request = deliveries::list_request(&query)?;
    viewer.scope(request.organization.as_deref())?;
    let client = stream_client(viewer, token, &query, &headers);
    let events = live.deliveries(request, client)?;
    Ok(respond(events, move |item| {
        let row = DeliveryRow::new(item, clock.now());
        DeliveryRowFragment {
            row,
            show_organization,
            show_event: true,
            show_webhook: true,
        }
    }))
}

/// Scripts name the last event in the query, because they cannot set the header.
fn stream_client(
    viewer: Arc<Viewer>,
    token: SecretString,
    query: &QueryFields,
    headers: &HeaderMap,
) -> StreamClient {
    let header = headers.get(LAST_EVENT_ID);
    let header = header.and_then(|value| StreamPosition::parse(value.to_str().ok()?));
    StreamClient {
        viewer,
        token,
        last: header.or_else(|| StreamPosition::parse(query.text("last_event_id"))),
    }
}

fn respond<T, R: Template>(
    events: impl Stream<Item = LiveEvent<T>> + Send + 'static,
    row: impl Fn(T) -> R + Send + 'static,
) -> Response {
    let events = events.map(move |event| -> Result<Event, askama::Error> {
        Ok(match event {
            LiveEvent::Start(position) => Event::default().id(position.to_string()).data("start"),
            LiveEvent::Item(position, item) => {
                let event = Event::default().event("row").id(position.to_string());
                event.data(row(item).render()?)
            }
            LiveEvent::Skipped => Event::default().event("skipped").data("some were skipped"),
            // Browsers drop an event without data.
            LiveEvent::Ended => Event::default().event("end").data("ended"),
        })
    });
    let keep_alive = KeepAlive::new().interval(KEEP_ALIVE);
    Sse::new(events).keep_alive(keep_alive).into_response()
}
