//! Operations on mandates.

use crate::extract::{
    Body, Context, IdempotencyKeyHeader, KeyedBody, PathId, Validate, Validated, Violations,
};
use crate::identifier::InstrumentIdParam;
use crate::problem::ApiError;
use crate::response::{ApiResponse, ApiResult, UnwrappedResponse};
use crate::webhook::EmptyRequest;
use axum::extract::State;
use host_application::mandate::service::{Issued, MandateService, NewMandate};
use host_domain::id::MandateId;
use host_domain::mandate::MandateScope;
use host_domain::money::{Money, MoneyError};
use host_domain::owner::Owner;
use host_domain::time::{Clock, Timestamp};
use host_resources::mandate::{self, MandateResource};
use host_resources::payment::InstrumentTypeResource;
use host_resources::value::{Amount, CurrencyCode};
use jsonwebtoken::jwk::Jwk;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// Maximum amount that may be paid.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = MandateAmount)]
pub(crate) struct MandateAmountRequest {
    currency: CurrencyCode,
    /// Amount in major units: at least 1, with at most the decimals of the currency.
    #[schema(example = 250.0)]
    amount: Amount,
}

type RevokeParts = (
    PathId<MandateId>,
    Option<IdempotencyKeyHeader>,
    Option<Body<EmptyRequest>>,
);

/// Payment instrument of a mandate.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MandateInstrumentRequest {
    /// Id of an instrument of `user_id`. A request without `x-user-id` may also use an instrument
    /// of the organization.
    id: InstrumentIdParam,
    #[serde(rename = "type")]
    #[expect(
        dead_code,
        reason = "cards are the only type, and the schema permits no other"
    )]
    kind: InstrumentTypeResource,
}

/// A mandate to issue.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = MandateRequest)]
pub(crate) struct IssueMandateRequest {
    /// User in whose name purchases may be made, as in `x-user-id`. A request with that header can
    /// only issue mandates for that user.
    #[schema(pattern = "^[A-Za-z0-9._:@-]{1,128}$", example = "org")]
    user_id: String,
    payment_amount: MandateAmountRequest,
    payment_instrument: MandateInstrumentRequest,
}

impl Validate for IssueMandateRequest {
    fn validate(&self, _: Timestamp, found: &mut Violations<'_>) {
        let pointer = "/payment_amount/amount";
        if !found.are_valid(&[pointer]) {
            return;
        }
        // The schema of an amount is shared and cannot express the minimum of this field.
        if self.payment_amount.amount.0 < Decimal::ONE {
            found.push(pointer, "too_small", "must be at least 1");
        }
        if let Err(error) = self.payment_amount.money()
            && found.are_valid(&["/payment_amount/currency"])
        {
            found.push(pointer, "not_allowed", error.to_string());
        }
    }
}

/// Issue a mandate
///
/// Permits one purchase of any kind for a user, up to this amount and with this instrument. The
/// mandate is valid for the time that the operator configured, by default one week. `jws` proves
/// the mandate to third parties.
///
/// Responds 201 the first time. Repeating the same request with the same idempotency key responds
/// 200 with the mandate in its current state.
#[utoipa::path(post, path = "/v1/mandate", tag = "Mandates",
    responses((status = 201, description = "Issued."), (status = 200, description = "Issued by an earlier request with this key.")),
    extensions(("x-error-codes" = json!(["payment_instrument_invalid", "result_unknown"]))))]
pub(crate) async fn issue_mandate(
    State(mandates): State<Arc<MandateService>>,
    State(clock): State<Arc<dyn Clock>>,
    Context(context): Context,
    Validated((key, Body(request))): Validated<KeyedBody<IssueMandateRequest>>,
) -> ApiResult<MandateResource> {
    let key = key.map(|key| key.for_operation(&context.owner, "mandate"));
    let (owner, new) = request.into_command(&context.owner)?;
    let issued = mandates.issue(&context, &owner, new, key.as_ref()).await?;
    let now = clock.now();
    Ok(match issued {
        Issued::New(mandate) => ApiResponse::created(mandate::mandate(&mandate, now)),
        Issued::Existing(mandate) => ApiResponse::ok(mandate::mandate(&mandate, now)),
    })
}

/// Get a mandate
///
/// Includes mandates that were created by confirming the purchase of a watch. A request without
/// `x-user-id` can read the mandates of every user.
#[utoipa::path(get, operation_id = "read_mandate", path = "/v1/mandate/{id}", tag = "Mandates",
    responses((status = 200, description = "The mandate.")),
    extensions(("x-error-codes" = json!(["mandate_not_found"]))))]
pub(crate) async fn get_mandate(
    State(mandates): State<Arc<MandateService>>,
    State(clock): State<Arc<dyn Clock>>,
    Context(context): Context,
    Validated(PathId(id)): Validated<PathId<MandateId>>,
) -> ApiResult<MandateResource> {
    let mandate = mandates.find(&context.owner, &id).await?;
    Ok(ApiResponse::ok(mandate::mandate(&mandate, clock.now())))
}

/// Revoke a mandate
///
/// Revokes the mandate permanently: it permits no further purchase. Revoking it again has no
/// effect. A mandate that is used up or expired responds 422 `mandate_invalid`. Send no body, or
/// `{}`.
#[utoipa::path(post, path = "/v1/mandate/{id}/revoke", tag = "Mandates",
    responses((status = 200, description = "The mandate, REVOKED.")),
    extensions(("x-error-codes" = json!(["mandate_not_found", "mandate_invalid", "result_unknown"]))))]
pub(crate) async fn revoke_mandate(
    State(mandates): State<Arc<MandateService>>,
    State(clock): State<Arc<dyn Clock>>,
    Context(context): Context,
    Validated((PathId(id), key, _)): Validated<RevokeParts>,
) -> ApiResult<MandateResource> {
    let key = key.map(|key| key.for_operation(&context.owner, "mandate_revoke"));
    let mandate = mandates.revoke(&context, &id, key.as_ref()).await?;
    Ok(ApiResponse::ok(mandate::mandate(&mandate, clock.now())))
}

/// A public key in the JWK format of RFC 7517.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = Object, example = json!({"kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "kid": "…", "x": "…", "y": "…"}))]
pub(crate) struct PublicKey(pub(crate) Jwk);

/// A JWK set (RFC 7517). The current signing key comes first, followed by earlier keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = PublicKeys)]
pub(crate) struct JwkSet {
    pub(crate) keys: Vec<PublicKey>,
}

/// Get the keys that verify mandates
///
/// A JSON Web Key Set: the key that signs new mandates, and every earlier one. The `kid` in the
/// header of a `jws` identifies the key that signed it. If the set holds no such key, request it
/// again.
#[utoipa::path(get, path = "/.well-known/jwks.json", tag = "Mandates",
    responses((status = 200, description = "The keys.")))]
pub(crate) async fn list_mandate_keys(
    State(mandates): State<Arc<MandateService>>,
    Validated(()): Validated<()>,
) -> Result<UnwrappedResponse<JwkSet>, ApiError> {
    let jwk_set = mandates.jwk_set().await?;
    let keys = jwk_set.keys.into_iter().map(PublicKey).collect();
    Ok(UnwrappedResponse(JwkSet { keys }))
}

impl MandateAmountRequest {
    fn money(self) -> Result<Money, MoneyError> {
        self.amount.to_money(self.currency)
    }
}

impl IssueMandateRequest {
    fn into_command(self, context: &Owner) -> Result<(Owner, NewMandate), ApiError> {
        let owner = Owner {
            user: self.user_id,
            ..context.clone()
        };
        let amount = self.payment_amount.money().map_err(ApiError::internal)?;
        let new = NewMandate {
            amount,
            instrument: self.payment_instrument.id.0,
            scope: MandateScope::Any,
            expires_at: None,
        };
        Ok((owner, new))
    }
}
