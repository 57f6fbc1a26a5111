//! `/keys`: API keys.

mod view;

pub(super) use view::key_label;

use crate::error::PageError;
use crate::form::{FormFields, FormProblems};
use crate::guard::session::SignedIn;
use crate::page::PageContext;
use crate::pages::keys::view::{
    KeyForm, KeyPage, KeyRow, KeysPage, NewKeyText, add_problems, check_organization, list_address,
    list_request, new_key,
};
use crate::path_text::IdInPath;
use crate::query::QueryFields;
use crate::render::{redirect, render, render_with};
use crate::state::DashboardState;
use crate::text::TimeText;
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use host_application::account::viewer::Viewer;
use host_application::api_key::service::NewApiKey;
use host_application::console::keys::{ConsoleKeyError, ConsoleKeys};
use host_domain::account::Permission;
use host_domain::id::KeyId;
use host_domain::time::{Clock, Timestamp};
use http::StatusCode;
use secrecy::ExposeSecret;
use std::sync::Arc;

pub(crate) fn routes() -> Router<DashboardState> {
    Router::new()
        .route("/keys", get(list).post(create))
        .route("/keys/{id}", get(show))
        .route("/keys/{id}/revoke", post(revoke))
}

/// `GET /keys`; with `?create=1` the form is open.
async fn list(
    State(keys): State<Arc<ConsoleKeys>>,
    State(clock): State<Arc<dyn Clock>>,
    SignedIn(viewer): SignedIn,
    page: PageContext,
    query: QueryFields,
) -> Result<Response, PageError> {
    let opens_form = query.some("create").is_some();
    if opens_form && !viewer.may_anywhere(Permission::ManageTestKeys) {
        return Err(PageError::Forbidden);
    }
    let mut keys_page = load(&keys, &viewer, page, &query, clock.now()).await?;
    if opens_form {
        let organizations = keys_page.organizations.clone();
        let filtered = keys_page.filter.value("organization");
        keys_page.create = Some(KeyForm::empty(&viewer, organizations, filtered));
    }
    Ok(render(&keys_page))
}

async fn load(
    keys: &ConsoleKeys,
    viewer: &Viewer,
    page: PageContext,
    query: &QueryFields,
    now: Timestamp,
) -> Result<KeysPage, PageError> {
    let found = keys.list(viewer, &list_request(query)?).await?;
    Ok(KeysPage::new(page, viewer, query, found, now))
}

/// `POST /keys`: shows the key once, or the problems of the form, above the list with the filter of the
/// query. The session keeps its mode: the page says where a key of the other mode is listed.
async fn create(
    State(keys): State<Arc<ConsoleKeys>>,
    State(clock): State<Arc<dyn Clock>>,
    SignedIn(viewer): SignedIn,
    page: PageContext,
    query: QueryFields,
    fields: FormFields,
) -> Result<Response, PageError> {
    check_organization(&viewer, &fields)?;
    // The key is shown once, so nothing may fail after it is stored.
    viewer.scope(list_request(&query)?.organization.as_deref())?;
    let mut form = FormProblems::default();
    let created = match new_key(&viewer, &fields, &mut form) {
        Some(new) => create_key(&keys, &viewer, new, &mut form).await?,
        None => None,
    };
    let mut keys_page = load(&keys, &viewer, page, &query, clock.now()).await?;
    if created.is_some() {
        keys_page.new_key = created;
        return Ok(render(&keys_page));
    }
    let organizations = keys_page.organizations.clone();
    keys_page.create = Some(KeyForm::sent(&viewer, organizations, &fields, form));
    Ok(render_with(StatusCode::UNPROCESSABLE_ENTITY, &keys_page))
}

/// Creates a key. Returns `None` after adding the rules that it breaks.
async fn create_key(
    keys: &ConsoleKeys,
    viewer: &Viewer,
    new: NewApiKey,
    form: &mut FormProblems,
) -> Result<Option<NewKeyText>, PageError> {
    let (name, mode) = (new.name.clone(), new.tenant.mode);
    match keys.create(viewer, new).await {
        Ok(created) => Ok(Some(NewKeyText {
            name,
            key: created.key.expose_secret().to_owned(),
            other_mode: (mode != viewer.mode).then_some(mode),
        })),
        Err(ConsoleKeyError::Invalid(problems)) => {
            add_problems(form, &problems);
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// `GET /keys/{id}`; with `?confirm=revoke` the page asks whether to revoke the key.
async fn show(
    State(keys): State<Arc<ConsoleKeys>>,
    State(clock): State<Arc<dyn Clock>>,
    SignedIn(viewer): SignedIn,
    IdInPath(id): IdInPath<KeyId>,
    page: PageContext,
    query: QueryFields,
) -> Result<Response, PageError> {
    let found = keys.find(&viewer, &id).await?;
    let now = clock.now();
    let revoked_at = found.key.revoked_at;
    let mode = found.key.tenant.mode.as_str();
    let key = KeyRow::new(found, now);
    Ok(render(&KeyPage {
        page: page.titled(format!("API key {}", key.label)),
        list: list_address(&query),
        key,
        mode,
        revoked: revoked_at.map(|at| TimeText::new(at, now)),
        is_confirming: query.confirms("revoke"),
    }))
}

/// `POST /keys/{id}/revoke`: leads back to the list with the filter of the query.
async fn revoke(
    State(keys): State<Arc<ConsoleKeys>>,
    SignedIn(viewer): SignedIn,
    IdInPath(id): IdInPath<KeyId>,
    query: QueryFields,
) -> Result<Response, PageError> {
    keys.revoke(&viewer, &id).await?;
    let list = list_address(&query);
    Ok(redirect(&list.path_with_notice("key-revoked")))
}
