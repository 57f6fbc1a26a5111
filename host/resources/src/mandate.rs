//! JSON resources of mandates and of the public keys that verify them.

use crate::payment::InstrumentTypeResource;
use crate::value::{IsoDate, IsoDateTime, MoneyResource, same_variants};
use host_domain::id::InstrumentId;
use host_domain::mandate;
use host_domain::time::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

/// The status of a mandate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum MandateStatusResource {
    /// The mandate can be used once.
    Active,
    Consumed,
    Revoked,
    Expired,
}

/// The kind of purchase that a mandate allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum MandateScopeKindResource {
    Any,
    HotelWatch,
}

/// The purchases that a mandate allows. Every field except `kind` is null if it is unrestricted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct MandateScopeResource {
    kind: MandateScopeKindResource,
    #[schema(required, pattern = "^wtc_[a-zA-Z0-9-]+$")]
    watch_id: Option<String>,
    #[schema(required, pattern = "^htl_[a-zA-Z0-9-]+$")]
    hotel_id: Option<String>,
    #[schema(required)]
    check_in: Option<IsoDate>,
    #[schema(required)]
    check_out: Option<IsoDate>,
}

/// The payment instrument that pays under a mandate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct MandateInstrumentResource {
    #[schema(pattern = "^inst_[a-zA-Z0-9-]+$")]
    id: String,
    #[serde(rename = "type")]
    kind: InstrumentTypeResource,
}

/// A user's authorization of one later purchase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct MandateResource {
    #[schema(pattern = "^mnd_[a-zA-Z0-9-]+$")]
    id: String,
    status: MandateStatusResource,
    /// User on whose behalf the purchase is made.
    #[schema(pattern = "^[A-Za-z0-9._:@-]{1,128}$", example = "ann")]
    user_id: String,
    /// Maximum amount that may be paid.
    payment_amount: MoneyResource,
    payment_instrument: MandateInstrumentResource,
    scope: MandateScopeResource,
    created_at: IsoDateTime,
    /// Time from which the mandate is no longer valid.
    expires_at: IsoDateTime,
    /// All fields of the mandate except its status, as a compact JWS (ES256). Its payload holds the
    /// claims of an open payment mandate (`mandate.payment.open.1`), with amounts in minor units.
    /// The public keys are at `/.well-known/jwks.json`.
    #[schema(pattern = "^[A-Za-z0-9_-]+[.][A-Za-z0-9_-]+[.][A-Za-z0-9_-]+$")]
    jws: String,
}

/// Builds the resource of a mandate with its status at `now`.
pub fn mandate(mandate: &mandate::Mandate, now: Timestamp) -> MandateResource {
    let terms = &mandate.terms;
    MandateResource {
        id: terms.id.to_string(),
        status: mandate.status(now).into(),
        user_id: terms.owner.user.clone(),
        payment_amount: terms.amount.into(),
        payment_instrument: (&terms.instrument).into(),
        scope: MandateScopeResource::from(&terms.scope),
        created_at: terms.created_at.into(),
        expires_at: terms.expires_at.into(),
        jws: mandate.jws.clone(),
    }
}

impl From<&InstrumentId> for MandateInstrumentResource {
    fn from(id: &InstrumentId) -> Self {
        Self {
            id: id.to_string(),
            kind: InstrumentTypeResource::Card,
        }
    }
}

same_variants! {
    MandateStatusResource <= mandate::MandateStatus: Active, Consumed, Revoked, Expired
}

impl From<&mandate::MandateScope> for MandateScopeResource {
    fn from(scope: &mandate::MandateScope) -> Self {
        match scope {
            mandate::MandateScope::Any => Self {
                kind: MandateScopeKindResource::Any,
                watch_id: None,
                hotel_id: None,
                check_in: None,
                check_out: None,
            },
            mandate::MandateScope::HotelWatch {
                watch_id,
                hotel_id,
                check_in,
                check_out,
            } => Self {
                kind: MandateScopeKindResource::HotelWatch,
                watch_id: Some(watch_id.to_string()),
                hotel_id: Some(hotel_id.to_string()),
                check_in: Some((*check_in).into()),
                check_out: Some((*check_out).into()),
            },
        }
    }
}
