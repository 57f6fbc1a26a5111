//! Mandates of all users on the admin listener, and what they were used for.

use crate::admin::actor::AdminActor;
use crate::admin::parameter::{
    OwnedListQuery, page_json, page_request, parse, search_text, tenant_scope,
};
use crate::error_code::ErrorCode;
use crate::problem::ApiError;
use axum::Json;
use axum::extract::{Path, Query, State};
use host_application::mandate::claims::read_use;
use host_application::mandate::service::MandateService;
use host_domain::console::watch::MandateScopeFilter;
use host_domain::id::MandateId;
use host_domain::mandate::{Mandate, MandateState, MandateStatus};
use host_domain::time::{Clock, Timestamp};
use host_resources::mandate::{MandateResource, mandate};
use host_resources::value::MoneyResource;
use serde::Serialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// A mandate as the API shows it, with its organization and its use.
#[derive(Serialize)]
struct MandateJson {
    organization: String,
    mode: &'static str,
    /// `null` if nothing was bought.
    used: Option<MandateUseJson>,
    #[serde(flatten)]
    mandate: MandateResource,
}

/// The purchase that used a mandate.
#[derive(Serialize)]
struct MandateUseJson {
    booking_id: String,
    amount: Option<MoneyResource>,
    at: Option<String>,
}

/// `GET /mandates`: lists mandates, newest first.
pub(super) async fn list(
    State(mandates): State<Arc<MandateService>>,
    State(clock): State<Arc<dyn Clock>>,
    Query(query): Query<OwnedListQuery>,
) -> Result<Json<Value>, ApiError> {
    let scope = tenant_scope(query.organization, query.mode)?;
    let filter = MandateScopeFilter {
        status: parse(query.status, "status", MandateStatus::parse)?,
        user: parse(query.user, "user", search_text)?,
    };
    let page = page_request(query.after, query.limit)?;
    let found = mandates.list_unscoped(&scope, &filter, &page).await;
    let (found, now) = (found.map_err(ApiError::from_storage)?, clock.now());
    Ok(page_json(
        found.map(|mandate| MandateJson::new(&mandate, now)),
    ))
}

/// `GET /mandates/{id}`
pub(super) async fn show(
    State(mandates): State<Arc<MandateService>>,
    State(clock): State<Arc<dyn Clock>>,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    let found = mandates.find_unscoped(&parse_id(&id)?).await?;
    let found = MandateJson::new(&found, clock.now());
    Ok(Json(json!({ "data": found })))
}

/// `POST /mandates/{id}/revoke`: permits no further purchase.
pub(super) async fn revoke(
    State(mandates): State<Arc<MandateService>>,
    State(clock): State<Arc<dyn Clock>>,
    Path(id): Path<String>,
    AdminActor(actor): AdminActor,
) -> Result<Json<Value>, ApiError> {
    let revoked = mandates.revoke_unscoped(actor, &parse_id(&id)?).await?;
    let revoked = MandateJson::new(&revoked, clock.now());
    Ok(Json(json!({ "data": revoked })))
}

fn parse_id(id: &str) -> Result<MandateId, ApiError> {
    MandateId::parse(id).map_err(|_| ErrorCode::MandateNotFound.into())
}

impl MandateJson {
    fn new(found: &Mandate, now: Timestamp) -> Self {
        let tenant = &found.terms.owner.tenant;
        let used = match &found.state {
            MandateState::Active | MandateState::Revoked => None,
            MandateState::Consumed { booking, jws } => {
                let used = read_use(jws);
                Some(MandateUseJson {
                    booking_id: booking.to_string(),
                    amount: used.map(|used| used.amount.into()),
                    at: used.map(|used| used.at.to_string()),
                })
            }
        };
        Self {
            organization: tenant.organization.clone(),
            mode: tenant.mode.as_str(),
            used,
            mandate: mandate(found, now),
        }
    }
}
