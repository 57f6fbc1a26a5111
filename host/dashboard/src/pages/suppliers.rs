//! `/suppliers`: the state of suppliers, and what operators change about them.

mod view;

use crate::error::PageError;
use crate::form::{FormFields, FormProblems};
use crate::guard::session::SignedIn;
use crate::page::PageContext;
use crate::pages::suppliers::view::{RankForm, SupplierPage, SuppliersPage, rank_change};
use crate::path_text::IdInPath;
use crate::query::path_with;
use crate::render::{redirect, render, render_with};
use crate::state::DashboardState;
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use host_application::account::viewer::Viewer;
use host_application::console::suppliers::{ConsoleSupplierError, ConsoleSuppliers};
use host_application::error_chain::describe_error_chain;
use host_application::supplier::overrides::{SupplierChange, SupplierChangeError};
use host_application::supplier::plugin_report::ReloadError;
use host_domain::supplier::SupplierId;
use host_domain::time::Clock;
use http::StatusCode;
use std::sync::Arc;

pub(crate) fn routes() -> Router<DashboardState> {
    Router::new()
        .route("/suppliers", get(list))
        .route("/suppliers/{id}", get(show))
        .route("/suppliers/{id}/reload", post(reload))
        .route("/suppliers/{id}/drain", post(drain))
        .route("/suppliers/{id}/undrain", post(undrain))
        .route("/suppliers/{id}/rank", post(set_rank))
}

/// `GET /suppliers`
async fn list(
    State(suppliers): State<Arc<ConsoleSuppliers>>,
    SignedIn(viewer): SignedIn,
    page: PageContext,
) -> Result<Response, PageError> {
    let found = suppliers.list(&viewer).await?;
    Ok(render(&SuppliersPage::new(page, &viewer, &found)))
}

/// `GET /suppliers/{id}`
async fn show(
    State(suppliers): State<Arc<ConsoleSuppliers>>,
    State(clock): State<Arc<dyn Clock>>,
    SignedIn(viewer): SignedIn,
    IdInPath(id): IdInPath<SupplierId>,
    page: PageContext,
) -> Result<Response, PageError> {
    let found = suppliers.find(&viewer, &id).await?;
    Ok(render(&SupplierPage::new(
        page,
        &viewer,
        &found,
        clock.now(),
    )))
}

/// `POST /suppliers/{id}/reload`: shows why the plugin cannot be loaded, if so.
async fn reload(
    State(suppliers): State<Arc<ConsoleSuppliers>>,
    State(clock): State<Arc<dyn Clock>>,
    SignedIn(viewer): SignedIn,
    IdInPath(id): IdInPath<SupplierId>,
    page: PageContext,
) -> Result<Response, PageError> {
    match suppliers.reload(&viewer, &id).await {
        Ok(()) => Ok(done(&id, "supplier-reloaded")),
        Err(ConsoleSupplierError::Reload(error @ ReloadError::Load(_))) => {
            let found = suppliers.find(&viewer, &id).await?;
            let mut page = SupplierPage::new(page, &viewer, &found, clock.now());
            page.alert = Some(format!(
                "The plugin was not reloaded: {}. The loaded one stays in use.",
                describe_error_chain(&error)
            ));
            Ok(render_with(StatusCode::UNPROCESSABLE_ENTITY, &page))
        }
        Err(error) => Err(error.into()),
    }
}

/// `POST /suppliers/{id}/drain`
async fn drain(
    State(suppliers): State<Arc<ConsoleSuppliers>>,
    SignedIn(viewer): SignedIn,
    IdInPath(id): IdInPath<SupplierId>,
) -> Result<Response, PageError> {
    set_drained(&suppliers, &viewer, &id, true).await
}

/// `POST /suppliers/{id}/undrain`
async fn undrain(
    State(suppliers): State<Arc<ConsoleSuppliers>>,
    SignedIn(viewer): SignedIn,
    IdInPath(id): IdInPath<SupplierId>,
) -> Result<Response, PageError> {
    set_drained(&suppliers, &viewer, &id, false).await
}

async fn set_drained(
    suppliers: &ConsoleSuppliers,
    viewer: &Viewer,
    id: &SupplierId,
    is_drained: bool,
) -> Result<Response, PageError> {
    let change = SupplierChange::Drained(is_drained);
    suppliers.change(viewer, id, change).await?;
    let notice = if is_drained {
        "supplier-drained"
    } else {
        "supplier-undrained"
    };
    Ok(done(id, notice))
}

/// `POST /suppliers/{id}/rank`: sets priority and weight, or restores the configuration's.
async fn set_rank(
    State(suppliers): State<Arc<ConsoleSuppliers>>,
    State(clock): State<Arc<dyn Clock>>,
    SignedIn(viewer): SignedIn,
    IdInPath(id): IdInPath<SupplierId>,
    page: PageContext,
    fields: FormFields,
) -> Result<Response, PageError> {
    let mut problems = FormProblems::default();
    if let Some(change) = rank_change(&fields, &mut problems) {
        match suppliers.change(&viewer, &id, change).await {
            Ok(()) => return Ok(done(&id, "supplier-ranked")),
            Err(ConsoleSupplierError::Change(SupplierChangeError::InvalidRank)) => {
                problems.add("priority", "Enter whole numbers of at most 1,000,000.");
            }
            Err(error) => return Err(error.into()),
        }
    }
    let found = suppliers.find(&viewer, &id).await?;
    viewer.require_operator()?;
    let mut page = SupplierPage::new(page, &viewer, &found, clock.now());
    page.rank = RankForm::sent(&fields, problems);
    Ok(render_with(StatusCode::UNPROCESSABLE_ENTITY, &page))
}

fn done(id: &SupplierId, notice: &str) -> Response {
    redirect(&path_with(&format!("/suppliers/{id}"), &[("done", notice)]))
}

impl From<ConsoleSupplierError> for PageError {
    fn from(error: ConsoleSupplierError) -> Self {
        match error {
            ConsoleSupplierError::Console(error) => error.into(),
            ConsoleSupplierError::Change(SupplierChangeError::Storage(failure))
            | ConsoleSupplierError::Reload(ReloadError::Storage(failure)) => failure.into(),
            ConsoleSupplierError::Change(SupplierChangeError::NotConfigured)
            | ConsoleSupplierError::Reload(ReloadError::NotConfigured) => Self::NotFound,
            error @ (ConsoleSupplierError::Change(SupplierChangeError::InvalidRank)
            | ConsoleSupplierError::Reload(ReloadError::Load(_))) => Self::internal(error),
        }
    }
}
