//! Mandates.

use crate::api::answer::{Answer, Bare};
use crate::api::caller::Caller;
use crate::api::extract::{Body, Found, Id, IdempotencyKey, Rules, Valid};
use crate::api::identifier::InstrumentIdText;
use crate::api::problem::{ApiError, Violation};
use crate::api::value::{Amount, CurrencyCode};
use crate::api::webhook::EmptyRequest;
use crate::app::App;
use crate::idempotency::RequestKey;
use crate::mandate::key::KeyRing;
use crate::mandate::{Issued, NewMandate};
use crate::render::mandate::{self, Mandate, PublicKey, PublicKeys};
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
type Revocation = (
    Id<MandateId>,
    Option<IdempotencyKey>,
    Option<Body<EmptyRequest>>,
);

/// What pays.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MandateInstrumentRequest {
    /// An instrument of `user_id`; in a call without `x-user-id`, also one of the organization's own.
    id: InstrumentIdText,
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
pub(crate) struct MandateRequest {
    /// In whose name may be bought, as in `x-user-id`. A call that sends that header issues for nobody else.
    #[schema(pattern = "^[A-Za-z0-9._:@-]{1,128}$", example = "org")]
    user_id: String,
    payment_amount: MandateAmount,
    payment_instrument: MandateInstrumentRequest,
}

impl Rules for MandateRequest {
    fn check(&self, _: Timestamp, found: &mut Found<'_>) {
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
    State(app): State<Arc<App>>,
    caller: Caller,
    Valid((key, Body(request))): Valid<(Option<IdempotencyKey>, Body<MandateRequest>)>,
) -> Result<Answer<Mandate>, ApiError> {
    let key = key.map(|key| RequestKey::new(&caller.owner, CREATE, key));
    let (owner, new) = request.wish(&app, &caller.owner)?;
    let issued = app.issue_mandate(&caller.owner, &owner, new, key.as_ref());
    let issued = issued.await;
    let now = app.clock.now();
    Ok(match issued.map_err(ApiError::mandate)? {
        Issued::New(made) => Answer::created(mandate::at(&made, now)),
        Issued::Before(made) => Answer::ok(mandate::at(&made, now)),
    })
}

/// Read a mandate
///
/// Also one that confirming a watch's purchase sealed. A call without `x-user-id` reads those of every user.
#[utoipa::path(get, path = "/v1/mandate/{id}", tag = "Mandates",
    responses((status = 200, description = "The mandate.")),
    extensions(("x-error-codes" = json!(["mandate_not_found"]))))]
pub(crate) async fn read_mandate(
    State(app): State<Arc<App>>,
    caller: Caller,
    Valid(Id(id)): Valid<Id<MandateId>>,
) -> Result<Answer<Mandate>, ApiError> {
    let found = app.find_mandate(&caller.owner, &id).await;
    let found = found.map_err(ApiError::mandate)?;
    Ok(Answer::ok(mandate::at(&found, app.clock.now())))
}

/// Revoke a mandate
///
/// Takes it back, for good: nothing is bought under it any more. Revoking twice is as good as once. One that is used up, or whose time is over, is 422
/// `mandate_invalid`. No body, or `{}`.
#[utoipa::path(post, path = "/v1/mandate/{id}/revoke", tag = "Mandates",
    responses((status = 200, description = "The mandate, REVOKED.")),
    extensions(("x-error-codes" = json!(["mandate_not_found", "mandate_invalid"]))))]
pub(crate) async fn revoke_mandate(
    State(app): State<Arc<App>>,
    caller: Caller,
    Valid((Id(id), key, _)): Valid<Revocation>,
) -> Result<Answer<Mandate>, ApiError> {
    let key = key.map(|key| RequestKey::new(&caller.owner, REVOKE, key));
    let revoked = app.revoke_mandate(&caller.owner, &id, key.as_ref()).await;
    let revoked = revoked.map_err(ApiError::mandate)?;
    Ok(Answer::ok(mandate::at(&revoked, app.clock.now())))
}

/// Read the keys that mandates are verified with
///
/// A JSON Web Key Set: the key that signs new mandates, and every one before it. The `kid` in the header of a `jws` names the key that signed it;
/// read the set again when it holds none of that name.
#[utoipa::path(get, path = "/.well-known/jwks.json", tag = "Mandates",
    responses((status = 200, description = "The keys.")))]
pub(crate) async fn list_mandate_keys(
    State(app): State<Arc<App>>,
    Valid(()): Valid<()>,
) -> Result<Bare<PublicKeys>, ApiError> {
    let ring = KeyRing::load(&app.store).await;
    let keys = ring.and_then(|ring| ring.public_keys());
    let keys = keys.map_err(ApiError::signing_key)?;
    let keys = keys.into_iter().map(PublicKey).collect();
    Ok(Bare(PublicKeys { keys }))
}

impl MandateAmount {
    fn money(self) -> Result<Money, MoneyError> {
        self.amount.of(self.currency)
    }
}

impl MandateRequest {
    /// Whose mandate is wanted, and which.
    fn wish(self, app: &App, caller: &Owner) -> Result<(Owner, NewMandate), ApiError> {
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
