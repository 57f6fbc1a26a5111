//! `/webhooks`: subscriptions to events.

mod form;
mod view;

use crate::error::PageError;
use crate::form::{FormFields, FormProblems};
use crate::guard::session::SignedIn;
use crate::page::PageContext;
use crate::pages::webhooks::form::{
    WebhookForm, add_problems, add_refusal, changed_fields, new_webhook, sent_fields,
    sent_organization,
};
use crate::pages::webhooks::view::{
    WebhookDetailsPage, WebhooksPage, change_alert, list_address, list_request,
};
use crate::path_text::IdInPath;
use crate::query::{QueryFields, parse_time};
use crate::render::{redirect, render, render_with};
use crate::state::DashboardState;
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use host_application::account::viewer::Viewer;
use host_application::console::webhooks::{ConsoleWebhookError, ConsoleWebhooks};
use host_application::webhook::service::SubscriptionWithSecret;
use host_domain::account::Permission;
use host_domain::id::SubscriptionId;
use host_domain::time::{Clock, Timestamp};
use http::StatusCode;
use secrecy::ExposeSecret;
use std::sync::Arc;

pub(crate) fn routes() -> Router<DashboardState> {
    Router::new()
        .route("/webhooks", get(list).post(create))
        .route("/webhooks/{id}", get(show).post(update))
        .route("/webhooks/{id}/pause", post(pause))
        .route("/webhooks/{id}/resume", post(resume))
        .route("/webhooks/{id}/rotate", post(rotate))
        .route("/webhooks/{id}/delete", post(delete))
        .route("/webhooks/{id}/test", post(send_test_event))
        .route("/webhooks/{id}/recover", post(recover))
}

/// `GET /webhooks`; with `?create=1` the form is open.
async fn list(
    State(webhooks): State<Arc<ConsoleWebhooks>>,
    State(clock): State<Arc<dyn Clock>>,
    SignedIn(viewer): SignedIn,
    page: PageContext,
    query: QueryFields,
) -> Result<Response, PageError> {
    let opens_form = query.some("create").is_some();
    if opens_form && !viewer.may_anywhere(Permission::ManageWebhooks) {
        return Err(PageError::Forbidden);
    }
    let mut list = load_list(&webhooks, &viewer, page, &query, clock.now()).await?;
    if opens_form {
        let form = WebhookForm::empty(&viewer, &list.organizations, &query);
        list.create = Some(form.leading_back_to(&list.list));
    }
    Ok(render(&list))
}

async fn load_list(
    webhooks: &ConsoleWebhooks,
    viewer: &Viewer,
    page: PageContext,
    query: &QueryFields,
    now: Timestamp,
) -> Result<WebhooksPage, PageError> {
    let found = webhooks.list(viewer, &list_request(query)?).await?;
    Ok(WebhooksPage::new(page, viewer, query, found, now))
}

/// `POST /webhooks`: shows the webhook with its secret, or the problems of the form above the list with
/// the filter of the query.
async fn create(
    State(webhooks): State<Arc<ConsoleWebhooks>>,
    State(clock): State<Arc<dyn Clock>>,
    SignedIn(viewer): SignedIn,
    page: PageContext,
    query: QueryFields,
    fields: FormFields,
) -> Result<Response, PageError> {
    if !viewer.may_anywhere(Permission::ManageWebhooks) {
        return Err(PageError::Forbidden);
    }
    let organization = sent_organization(&viewer, &fields);
    viewer.require(Permission::ManageWebhooks, &organization)?;
    let mut problems = FormProblems::default();
    if let Some(product) = new_webhook(&organization, &fields, &mut problems) {
        let created = webhooks.create(&viewer, &organization, product, sent_fields(&fields));
        match created.await {
            Ok(created) => {
                return show_secret(&webhooks, &viewer, page, &query, created, clock.now()).await;
            }
            Err(error) => add_failure(&mut problems, error)?,
        }
    }
    let mut list = load_list(&webhooks, &viewer, page, &query, clock.now()).await?;
    let form = WebhookForm::sent(&viewer, &list.organizations, &fields, problems);
    list.create = Some(form.leading_back_to(&list.list));
    Ok(render_with(StatusCode::UNPROCESSABLE_ENTITY, &list))
}

/// Shows a webhook with its new secret, which is in this response only.
async fn show_secret(
    webhooks: &ConsoleWebhooks,
    viewer: &Viewer,
    mut page: PageContext,
    query: &QueryFields,
    created: SubscriptionWithSecret,
    now: Timestamp,
) -> Result<Response, PageError> {
    let id = created.subscription.id;
    page.path = list_address(query).add_to(format!("/webhooks/{id}"));
    let found = webhooks.find(viewer, &id).await?;
    let mut details = WebhookDetailsPage::new(page, query, found, now);
    let secret = created.signing_secret;
    details.secret = secret.map(|secret| secret.expose_secret().to_owned());
    Ok(render(&details))
}

/// Adds what is wrong with the fields of a form.
fn add_failure(problems: &mut FormProblems, error: ConsoleWebhookError) -> Result<(), PageError> {
    match error {
        ConsoleWebhookError::Invalid(found) => {
            add_problems(problems, &found);
            Ok(())
        }
        ConsoleWebhookError::Webhook(error) => add_refusal(problems, error),
        error => Err(error.into()),
    }
}

/// `GET /webhooks/{id}`; with `?edit=1` the form is open, with `?confirm=rotate` or
/// `?confirm=delete` the page asks before the change.
async fn show(
    State(webhooks): State<Arc<ConsoleWebhooks>>,
    State(clock): State<Arc<dyn Clock>>,
    SignedIn(viewer): SignedIn,
    IdInPath(id): IdInPath<SubscriptionId>,
    page: PageContext,
    query: QueryFields,
) -> Result<Response, PageError> {
    let found = webhooks.find(&viewer, &id).await?;
    let form = query.some("edit").map(|_| WebhookForm::of(&found.view));
    if form.is_some() && !found.view.can_manage {
        return Err(PageError::Forbidden);
    }
    let mut details = WebhookDetailsPage::new(page, &query, found, clock.now());
    details.edit = form.map(|form| form.leading_back_to(&details.list));
    let asked = ["rotate", "delete"]
        .into_iter()
        .find(|change| query.confirms(change));
    details.confirms = asked.unwrap_or_default();
    Ok(render(&details))
}

/// `POST /webhooks/{id}`: stores the fields of the form.
async fn update(
    State(webhooks): State<Arc<ConsoleWebhooks>>,
    State(clock): State<Arc<dyn Clock>>,
    SignedIn(viewer): SignedIn,
    IdInPath(id): IdInPath<SubscriptionId>,
    page: PageContext,
    query: QueryFields,
    fields: FormFields,
) -> Result<Response, PageError> {
    let mut problems = FormProblems::default();
    let stored = webhooks.managed(&viewer, &id).await?;
    let changed = changed_fields(&fields, &stored.event_types);
    match webhooks.update(&viewer, &id, changed).await {
        Ok(()) => return Ok(done(&query, &id, "webhook-changed")),
        Err(error) => add_failure(&mut problems, error)?,
    }
    let found = webhooks.find(&viewer, &id).await?;
    let form = WebhookForm::changed(&found.view, &fields, problems);
    let mut details = WebhookDetailsPage::new(page, &query, found, clock.now());
    details.edit = Some(form.leading_back_to(&details.list));
    Ok(render_with(StatusCode::UNPROCESSABLE_ENTITY, &details))
}

/// `POST /webhooks/{id}/pause`
async fn pause(
    State(webhooks): State<Arc<ConsoleWebhooks>>,
    State(clock): State<Arc<dyn Clock>>,
    SignedIn(viewer): SignedIn,
    IdInPath(id): IdInPath<SubscriptionId>,
    page: PageContext,
    query: QueryFields,
) -> Result<Response, PageError> {
    match webhooks.pause(&viewer, &id).await {
        Ok(()) => Ok(done(&query, &id, "webhook-paused")),
        Err(error) => refuse(&webhooks, &viewer, page, &query, &id, error, clock.now()).await,
    }
}

/// `POST /webhooks/{id}/resume`
async fn resume(
    State(webhooks): State<Arc<ConsoleWebhooks>>,
    SignedIn(viewer): SignedIn,
    IdInPath(id): IdInPath<SubscriptionId>,
    query: QueryFields,
) -> Result<Response, PageError> {
    webhooks.resume(&viewer, &id).await?;
    Ok(done(&query, &id, "webhook-resumed"))
}

/// `POST /webhooks/{id}/rotate`: the page with the new secret, which is in this response only.
async fn rotate(
    State(webhooks): State<Arc<ConsoleWebhooks>>,
    State(clock): State<Arc<dyn Clock>>,
    SignedIn(viewer): SignedIn,
    IdInPath(id): IdInPath<SubscriptionId>,
    page: PageContext,
    query: QueryFields,
) -> Result<Response, PageError> {
    let rotated = webhooks.rotate_secret(&viewer, &id).await?;
    show_secret(&webhooks, &viewer, page, &query, rotated, clock.now()).await
}

/// `POST /webhooks/{id}/delete`: leads back to the list with the filter of the query.
async fn delete(
    State(webhooks): State<Arc<ConsoleWebhooks>>,
    SignedIn(viewer): SignedIn,
    IdInPath(id): IdInPath<SubscriptionId>,
    query: QueryFields,
) -> Result<Response, PageError> {
    webhooks.delete(&viewer, &id).await?;
    let list = list_address(&query);
    Ok(redirect(&list.path_with_notice("webhook-deleted")))
}

/// `POST /webhooks/{id}/test`: leads to the delivery of the test event.
async fn send_test_event(
    State(webhooks): State<Arc<ConsoleWebhooks>>,
    State(clock): State<Arc<dyn Clock>>,
    SignedIn(viewer): SignedIn,
    IdInPath(id): IdInPath<SubscriptionId>,
    page: PageContext,
    query: QueryFields,
) -> Result<Response, PageError> {
    match webhooks.send_test_event(&viewer, &id).await {
        Ok(delivery) => Ok(redirect(&format!("/deliveries/{delivery}?done=test-sent"))),
        Err(error) => refuse(&webhooks, &viewer, page, &query, &id, error, clock.now()).await,
    }
}

/// `POST /webhooks/{id}/recover`
async fn recover(
    State(webhooks): State<Arc<ConsoleWebhooks>>,
    State(clock): State<Arc<dyn Clock>>,
    SignedIn(viewer): SignedIn,
    IdInPath(id): IdInPath<SubscriptionId>,
    page: PageContext,
    query: QueryFields,
    fields: FormFields,
) -> Result<Response, PageError> {
    let sent = fields.text("since").trim();
    let Some(since) = parse_time(sent) else {
        let found = webhooks.find(&viewer, &id).await?;
        if !found.view.can_replay {
            return Err(PageError::Forbidden);
        }
        let mut details = WebhookDetailsPage::new(page, &query, found, clock.now());
        sent.clone_into(&mut details.since);
        details.form.add("since", "Enter a date and a time.");
        details.alert = Some("No event was sent again. Correct the marked field.".to_owned());
        return Ok(render_with(StatusCode::UNPROCESSABLE_ENTITY, &details));
    };
    match webhooks.recover(&viewer, &id, since).await {
        Ok(0) => Ok(done(&query, &id, "nothing-to-recover")),
        Ok(_) => Ok(done(&query, &id, "webhook-recovered")),
        Err(error) => refuse(&webhooks, &viewer, page, &query, &id, error, clock.now()).await,
    }
}

/// Leads to a webhook with the notice of a change, and keeps the filter of the list.
fn done(query: &QueryFields, id: &SubscriptionId, notice: &str) -> Response {
    let path = format!("/webhooks/{id}");
    redirect(&list_address(query).add_to_with(path, "done", notice))
}

/// Shows a webhook with the reason why nothing was changed.
async fn refuse(
    webhooks: &ConsoleWebhooks,
    viewer: &Viewer,
    page: PageContext,
    query: &QueryFields,
    id: &SubscriptionId,
    error: ConsoleWebhookError,
    now: Timestamp,
) -> Result<Response, PageError> {
    let alert = change_alert(error)?;
    let found = webhooks.find(viewer, id).await?;
    let mut details = WebhookDetailsPage::new(page, query, found, now);
    details.alert = Some(alert);
    Ok(render_with(StatusCode::CONFLICT, &details))
}
