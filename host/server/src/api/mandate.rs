//! Mandates.

use crate::api::answer::{ApiResponse, UnwrappedResponse};
use crate::api::caller::RequestContext;
use crate::api::extract::{Body, Violations, PathId, IdempotencyKeyHeader, Validate, Validated};
use crate::api::identifier::InstrumentIdParam;
use crate::api::problem::{ApiError, Violation};
use crate::api::value::{Amount, CurrencyCode};
use crate::api::webhook::EmptyRequest;
use crate::app::Application;
use crate::idempotency::IdempotentRequest;
use crate::mandate::key::SigningKeyRing;
use crate::mandate::{Issued, NewMandate};
use crate::render::mandate::{self, Mandate, PublicKey, JwkSet};
use crate::render::payment::InstrumentType;
use axum::extract::State;
use host_domain::id::MandateId;
use host_domain::mandate::MandateScope;
use host_domain::money::{Money, MoneyError};
use host_domain::owner::Owner;
use host_domain::time::Timestamp;
use rust_decimal::Decimal;
use serde::Deserialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// The operation that keys of new mandates belong to.
const CREATE: &str = "mandate";
/// The operation that keys of revocations belong to.
const REVOKE: &str = "mandate_revoke";

/// The most that may be paid.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MandateAmount {
    currency: CurrencyCode,
    /// Major units, at least 1, with at most the decimals of the currency.
    #[schema(example = 250.0)]
    amount: Amount,
}

/// Whose mandate, under which key.
type RevokeParts = (
    PathId<MandateId>,
    Option<IdempotencyKeyHeader>,
    Option<Body<EmptyRequest>>,
);

/// What pays.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MandateInstrumentRequest {
    /// An instrument of `user_id`; in a call without `x-user-id`, also one of the organization's own.
    id: InstrumentIdParam,
    #[serde(rename = "type")]
    #[expect(
        dead_code,
        reason = "cards are the only kind; the schema holds requests to it"
    )]
    kind: InstrumentType,
}

/// A mandate to issue.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct IssueMandateRequest {
    /// In whose name may be bought, as in `x-user-id`. A call that sends that header issues for nobody else.
    #[schema(pattern = "^[A-Za-z0-9._:@-]{1,128}$", example = "org")]
    user_id: String,
    payment_amount: MandateAmount,
    payment_instrument: MandateInstrumentRequest,
}

impl Validate for IssueMandateRequest {
    fn validate(&self, _: Timestamp, found: &mut Violations<'_>) {
        let pointer = "/payment_amount/amount";
        // The schema of an amount is shared, and cannot say where it begins here.
        if self.payment_amount.amount.0 < Decimal::ONE {
            found.push(pointer, "too_small", "must be at least 1");
        }
        if let Err(error) = self.payment_amount.money() {
            found.push(pointer, "not_allowed", error.to_string());
        }
    }
}

/// Issue a mandate
///
/// A user's leave to buy anything, once, for at most this amount and with this instrument. It is good for the time that the operator set, a week by
/// default. `jws` proves it to others. 201 the first time; the same idempotency key with the same request gives 200 with the same mandate, as it is now.
#[utoipa::path(post, path = "/v1/mandate", tag = "Mandates",
    responses((status = 201, description = "Issued."), (status = 200, description = "Issued by an earlier call with this key.")),
    extensions(("x-error-codes" = json!(["payment_instrument_invalid"]))))]
pub(crate) async fn issue_mandate(
    State(app): State<Arc<Application>>,
    caller: RequestContext,
    Validated((key, Body(request))): Validated<(Option<IdempotencyKeyHeader>, Body<IssueMandateRequest>)>,
) -> Result<ApiResponse<Mandate>, ApiError> {
    let key = key.map(|key| IdempotentRequest::new(&caller.owner, CREATE, key));
    let (owner, new) = request.into_command(&app, &caller.owner)?;
    let issued = app.issue(&caller.owner, &owner, new, key.as_ref());
    let issued = issued.await;
    let now = app.clock.now();
    Ok(match issued.map_err(ApiError::from_mandate)? {
        Issued::New(made) => ApiResponse::created(mandate::mandate(&made, now)),
        Issued::Existing(made) => ApiResponse::ok(mandate::mandate(&made, now)),
    })
}

/// Read a mandate
///
/// Also one that confirming a watch's purchase sealed. A call without `x-user-id` reads those of every user.
#[utoipa::path(get, path = "/v1/mandate/{id}", tag = "Mandates",
    responses((status = 200, description = "The mandate.")),
    extensions(("x-error-codes" = json!(["mandate_not_found"]))))]
pub(crate) async fn get_mandate(
    State(app): State<Arc<Application>>,
    caller: RequestContext,
    Validated(PathId(id)): Validated<PathId<MandateId>>,
) -> Result<ApiResponse<Mandate>, ApiError> {
    let found = app.find(&caller.owner, &id).await;
    let found = found.map_err(ApiError::from_mandate)?;
    Ok(ApiResponse::ok(mandate::mandate(&found, app.clock.now())))
}

/// Revoke a mandate
///
/// Takes it back, for good: nothing is bought under it any more. Revoking twice is as good as once. One that is used up, or whose time is over, is 422
/// `mandate_invalid`. No body, or `{}`.
#[utoipa::path(post, path = "/v1/mandate/{id}/revoke", tag = "Mandates",
    responses((status = 200, description = "The mandate, REVOKED.")),
    extensions(("x-error-codes" = json!(["mandate_not_found", "mandate_invalid"]))))]
pub(crate) async fn revoke_mandate(
    State(app): State<Arc<Application>>,
    caller: RequestContext,
    Validated((PathId(id), key, _)): Validated<RevokeParts>,
) -> Result<ApiResponse<Mandate>, ApiError> {
    let key = key.map(|key| IdempotentRequest::new(&caller.owner, REVOKE, key));
    let revoked = app.revoke(&caller.owner, &id, key.as_ref()).await;
    let revoked = revoked.map_err(ApiError::from_mandate)?;
    Ok(ApiResponse::ok(mandate::mandate(&revoked, app.clock.now())))
}

/// Read the keys that mandates are verified with
///
/// A JSON Web Key Set: the key that signs new mandates, and every one before it. The `kid` in the header of a `jws` names the key that signed it;
/// read the set again when it holds none of that name.
#[utoipa::path(get, path = "/.well-known/jwks.json", tag = "Mandates",
    responses((status = 200, description = "The keys.")))]
pub(crate) async fn list_mandate_keys(
    State(app): State<Arc<Application>>,
    Validated(()): Validated<()>,
) -> Result<UnwrappedResponse<JwkSet>, ApiError> {
    let ring = SigningKeyRing::load(&app.store).await;
    let keys = ring.and_then(|ring| ring.public_keys());
    let keys = keys.map_err(ApiError::from_signing_key)?;
    let keys = keys.into_iter().map(PublicKey).collect();
    Ok(UnwrappedResponse(JwkSet { keys }))
}

impl MandateAmount {
    fn money(self) -> Result<Money, MoneyError> {
        self.amount.to_money(self.currency)
    }
}

impl IssueMandateRequest {
    /// Whose mandate is wanted, and which.
    fn into_command(self, app: &Application, caller: &Owner) -> Result<(Owner, NewMandate), ApiError> {
        if !caller.can_act_for(&self.user_id) {
            let detail = "is another user than x-user-id says";
            let other = Violation::body("/user_id", "other_user", detail);
            return Err(ApiError::violation(other));
        }
        let owner = Owner {
            user: self.user_id,
            ..caller.clone()
        };
        let amount = self.payment_amount.money().map_err(ApiError::internal)?;
        let ttl_s = i64::try_from(app.config.mandates.ttl_s).unwrap_or(i64::MAX);
        let new = NewMandate {
            amount,
            instrument: self.payment_instrument.id.0,
            scope: MandateScope::Any,
            expires_at: app.clock.now().plus_s(ttl_s),
        };
        Ok((owner, new))
    }
}
