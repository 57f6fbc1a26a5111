//! `/deliveries` and `/events/{id}`: deliveries of events to webhooks.

mod details;
mod view;

pub(in crate::pages) use view::{DeliveryRow, WAITING_PATH, delivery_rows, list_request};

use crate::error::PageError;
use crate::form::FormFields;
use crate::guard::session::SignedIn;
use crate::page::PageContext;
use crate::pages::deliveries::details::{DeliveryDetailsPage, EventDetailsPage, replay_alert};
use crate::pages::deliveries::view::{DeliveriesPage, bulk_alert, list_address};
use crate::path_text::IdInPath;
use crate::query::{QueryFields, path_with};
use crate::render::{redirect, render, render_with};
use crate::state::DashboardState;
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use host_application::account::viewer::Viewer;
use host_application::console::bulk_replay::ConsoleBulkReplays;
use host_application::console::deliveries::ConsoleDeliveries;
use host_domain::id::{BulkReplayId, DeliveryId, EventId};
use host_domain::time::{Clock, Timestamp};
use http::StatusCode;
use std::sync::Arc;

pub(crate) fn routes() -> Router<DashboardState> {
    Router::new()
        .route("/deliveries", get(list))
        .route("/deliveries/replay", post(replay_all))
        .route("/deliveries/replays/{id}/stop", post(stop_replay))
        .route("/deliveries/{id}", get(show))
        .route("/deliveries/{id}/replay", post(replay))
        .route("/deliveries/{id}/reveal", post(reveal))
        .route("/events/{id}", get(show_event))
        .route("/events/{id}/reveal", post(reveal_event))
}

/// `GET /deliveries`
async fn list(
    State(deliveries): State<Arc<ConsoleDeliveries>>,
    State(bulk_replays): State<Arc<ConsoleBulkReplays>>,
    State(clock): State<Arc<dyn Clock>>,
    SignedIn(viewer): SignedIn,
    page: PageContext,
    query: QueryFields,
) -> Result<Response, PageError> {
    let now = clock.now();
    let loaded = load(&deliveries, &bulk_replays, &viewer, page, &query, now);
    Ok(render(&loaded.await?))
}

async fn load(
    deliveries: &ConsoleDeliveries,
    bulk_replays: &ConsoleBulkReplays,
    viewer: &Viewer,
    page: PageContext,
    query: &QueryFields,
    now: Timestamp,
) -> Result<DeliveriesPage, PageError> {
    let found = deliveries.list(viewer, &list_request(query)?).await?;
    let bulk_replay = bulk_replays.latest(viewer).await?;
    Ok(DeliveriesPage::new(
        page,
        viewer,
        query,
        found,
        bulk_replay,
        now,
    ))
}

/// `POST /deliveries/replay`: replays all deliveries that the filter in the form matches.
async fn replay_all(
    State(deliveries): State<Arc<ConsoleDeliveries>>,
    State(bulk_replays): State<Arc<ConsoleBulkReplays>>,
    State(clock): State<Arc<dyn Clock>>,
    SignedIn(viewer): SignedIn,
    page: PageContext,
    fields: FormFields,
) -> Result<Response, PageError> {
    let names = ["status", "webhook", "event", "from", "to", "organization"];
    let filter = names.map(|name| (name, fields.text(name)));
    let path = path_with("/deliveries", &filter);
    let (_, query) = path.split_once('?').unwrap_or_default();
    let query = QueryFields::parse(query);
    let request = list_request(&query)?;
    let organization = request.organization.as_deref();
    bulk_replays.check_permitted(&viewer, organization)?;
    let alert = if request.matches_nothing {
        "Nothing was replayed, because the filter has a value that cannot exist.".to_owned()
    } else {
        let begun = bulk_replays.begin(&viewer, organization, request.filter);
        match begun.await {
            Ok(_) => return Ok(redirect(&path)),
            Err(error) => bulk_alert(error)?,
        }
    };
    let now = clock.now();
    let loaded = load(&deliveries, &bulk_replays, &viewer, page, &query, now);
    let mut loaded = loaded.await?;
    loaded.page.path = path;
    loaded.alert = Some(alert);
    Ok(render_with(StatusCode::CONFLICT, &loaded))
}

/// `POST /deliveries/replays/{id}/stop`: leads back to the list with the filter of the query.
async fn stop_replay(
    State(bulk_replays): State<Arc<ConsoleBulkReplays>>,
    SignedIn(viewer): SignedIn,
    IdInPath(id): IdInPath<BulkReplayId>,
    query: QueryFields,
) -> Result<Response, PageError> {
    bulk_replays.stop(&viewer, &id).await?;
    let list = list_address(&query);
    Ok(redirect(&list.path_with_notice("bulk-replay-stopped")))
}

/// `GET /deliveries/{id}`
async fn show(
    State(deliveries): State<Arc<ConsoleDeliveries>>,
    State(clock): State<Arc<dyn Clock>>,
    SignedIn(viewer): SignedIn,
    IdInPath(id): IdInPath<DeliveryId>,
    page: PageContext,
) -> Result<Response, PageError> {
    let found = deliveries.find(&viewer, &id).await?;
    Ok(render(&DeliveryDetailsPage::new(page, found, clock.now())))
}

/// `POST /deliveries/{id}/replay`
async fn replay(
    State(deliveries): State<Arc<ConsoleDeliveries>>,
    State(clock): State<Arc<dyn Clock>>,
    SignedIn(viewer): SignedIn,
    IdInPath(id): IdInPath<DeliveryId>,
    page: PageContext,
) -> Result<Response, PageError> {
    let alert = match deliveries.replay(&viewer, &id).await {
        Ok(()) => {
            return Ok(redirect(&format!(
                "/deliveries/{id}?done=delivery-replayed"
            )));
        }
        Err(error) => replay_alert(error)?,
    };
    let found = deliveries.find(&viewer, &id).await?;
    let mut details = DeliveryDetailsPage::new(page, found, clock.now());
    details.alert = Some(alert);
    Ok(render_with(StatusCode::CONFLICT, &details))
}

/// `POST /deliveries/{id}/reveal`: the page with the personal data, which is in this response only.
async fn reveal(
    State(deliveries): State<Arc<ConsoleDeliveries>>,
    State(clock): State<Arc<dyn Clock>>,
    SignedIn(viewer): SignedIn,
    IdInPath(id): IdInPath<DeliveryId>,
    page: PageContext,
) -> Result<Response, PageError> {
    let found = deliveries.reveal(&viewer, &id).await?;
    Ok(render(&DeliveryDetailsPage::new(page, found, clock.now())))
}

/// `GET /events/{id}`
async fn show_event(
    State(deliveries): State<Arc<ConsoleDeliveries>>,
    State(clock): State<Arc<dyn Clock>>,
    SignedIn(viewer): SignedIn,
    IdInPath(id): IdInPath<EventId>,
    page: PageContext,
) -> Result<Response, PageError> {
    let found = deliveries.event(&viewer, &id).await?;
    Ok(render(&EventDetailsPage::new(page, found, clock.now())))
}

/// `POST /events/{id}/reveal`: the page with the personal data, which is in this response only.
async fn reveal_event(
    State(deliveries): State<Arc<ConsoleDeliveries>>,
    State(clock): State<Arc<dyn Clock>>,
    SignedIn(viewer): SignedIn,
    IdInPath(id): IdInPath<EventId>,
    page: PageContext,
) -> Result<Response, PageError> {
    let found = deliveries.reveal_event(&viewer, &id).await?;
    Ok(render(&EventDetailsPage::new(page, found, clock.now())))
}
