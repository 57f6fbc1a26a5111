//! Operations on stored payment instruments.

use crate::error_code::ErrorCode;
use crate::extract::{Body, Context, KeyedBody, PathId, Validate, Validated, Violations};
use crate::meta::SupplierMeta;
use crate::problem::ApiError;
use crate::response::{ApiResponse, ApiResult, List, NoContent};
use axum::extract::State;
use host_application::payment_instrument::{Added, InstrumentDetails, PaymentInstrumentService};
use host_application::recording::card_number::contains_card_number;
use host_domain::id::InstrumentId;
use host_domain::time::Timestamp;
use host_resources::payment::{InstrumentTypeResource, PaymentInstrumentResource};
use serde::Deserialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// A payment instrument to store.
#[derive(Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = InstrumentRequest)]
pub(crate) struct CreatePaymentInstrumentRequest {
    /// Type of the instrument.
    #[serde(rename = "type")]
    #[expect(
        dead_code,
        reason = "cards are the only type, and the schema permits no other"
    )]
    kind: InstrumentTypeResource,
    /// Token made by the processor's own browser SDK. Never send a card number: tokens that look
    /// like one are rejected.
    #[schema(
        min_length = 1,
        max_length = 512,
        pattern = "^[!-~]+$",
        example = "tok_visa"
    )]
    token: String,
}

impl Validate for CreatePaymentInstrumentRequest {
    fn validate(&self, _: Timestamp, found: &mut Violations<'_>) {
        if found.are_valid(&["/token"]) && contains_card_number(&self.token) {
            let detail =
                "looks like a card number: send the token made by the processor's browser SDK";
            found.push("/token", "card_number", detail);
        }
    }
}

/// Add a payment instrument
///
/// Reads the card details of a token from the payment processor and stores the token encrypted. The
/// token is made by the processor's browser SDK. Never send a card number: a token that contains
/// one is rejected.
///
/// Responds 201 the first time, with the processor in `meta.supplier`. Repeating the same request
/// with the same idempotency key responds 200 with the same instrument and without `meta`.
#[utoipa::path(post, operation_id = "add_payment_instrument", path = "/v1/payment-instruments", tag = "Payment instruments",
    responses((status = 201, description = "Added."), (status = 200, description = "Added by an earlier request with this key.")),
    extensions(("x-error-codes" = json!(["payment_instrument_invalid", "payment_instrument_not_found", "supplier_operation_unsupported",
        "supplier_error", "supplier_unavailable", "supplier_rate_limited", "supplier_timeout", "result_unknown"]))))]
pub(crate) async fn create_payment_instrument(
    State(instruments): State<Arc<PaymentInstrumentService>>,
    Context(context): Context,
    Validated((key, Body(request))): Validated<KeyedBody<CreatePaymentInstrumentRequest>>,
) -> ApiResult<PaymentInstrumentResource, SupplierMeta> {
    let key = key.map(|key| key.for_operation(&context.owner, "payment_instrument"));
    let added = instruments.add(&context, &request.token, key.as_ref());
    Ok(match added.await? {
        Added::New {
            instrument,
            processor,
        } => ApiResponse::created(to_resource(&instrument)).meta(SupplierMeta::new(processor)),
        Added::Existing(instrument) => ApiResponse::ok(to_resource(&instrument)),
    })
}

/// List payment instruments
///
/// Lists the instruments of the calling organization and user, newest first.
#[utoipa::path(get, path = "/v1/payment-instruments", tag = "Payment instruments",
    responses((status = 200, description = "The instruments.")))]
pub(crate) async fn list_payment_instruments(
    State(instruments): State<Arc<PaymentInstrumentService>>,
    Context(context): Context,
    Validated(()): Validated<()>,
) -> ApiResult<List<PaymentInstrumentResource>> {
    let stored = instruments.list(&context.owner).await;
    let stored = stored.map_err(ApiError::from_storage)?;
    let resources = stored.iter().map(to_resource).collect();
    Ok(ApiResponse::ok(List(resources)))
}

/// Get a payment instrument
#[utoipa::path(get, operation_id = "read_payment_instrument", path = "/v1/payment-instruments/{id}", tag = "Payment instruments",
    responses((status = 200, description = "The instrument.")),
    extensions(("x-error-codes" = json!(["payment_instrument_not_found"]))))]
pub(crate) async fn get_payment_instrument(
    State(instruments): State<Arc<PaymentInstrumentService>>,
    Context(context): Context,
    Validated(PathId(id)): Validated<PathId<InstrumentId>>,
) -> ApiResult<PaymentInstrumentResource> {
    let instrument = instruments.find(&context.owner, &id).await;
    let instrument = instrument
        .map_err(ApiError::from_storage)?
        .ok_or(ErrorCode::PaymentInstrumentNotFound)?;
    Ok(ApiResponse::ok(to_resource(&instrument)))
}

/// Delete a payment instrument
///
/// Erases the token of the instrument. Payments that were started with it continue.
#[utoipa::path(delete, path = "/v1/payment-instruments/{id}", tag = "Payment instruments",
    responses((status = 204, description = "Deleted.")),
    extensions(("x-error-codes" = json!(["payment_instrument_not_found", "result_unknown"]))))]
pub(crate) async fn delete_payment_instrument(
    State(instruments): State<Arc<PaymentInstrumentService>>,
    Context(context): Context,
    Validated(PathId(id)): Validated<PathId<InstrumentId>>,
) -> Result<NoContent, ApiError> {
    let deleted = instruments.delete(&context.owner, &id).await;
    if deleted.map_err(ApiError::from_storage)? {
        Ok(NoContent)
    } else {
        Err(ErrorCode::PaymentInstrumentNotFound.into())
    }
}

fn to_resource(instrument: &InstrumentDetails) -> PaymentInstrumentResource {
    PaymentInstrumentResource {
        id: instrument.id.to_string(),
        kind: InstrumentTypeResource::Card,
        card: instrument.card.as_ref().map(Into::into),
        created_at: instrument.created_at.into(),
    }
}
