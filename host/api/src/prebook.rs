//! Prebook of a hotel or flight: the response.

use crate::extract::IdempotencyKeyHeader;
use crate::meta::PrebookMeta;
use crate::problem::ApiError;
use crate::response::{ApiResponse, ApiResult};
use host_application::booking::aggregate::BookingAggregate;
use host_application::booking::prebook::{PrebookError, PrebookOutcome};
use host_application::booking::prebook_call::PrebookParameters;
use host_application::context::RequestContext;
use host_domain::booking::Booking;
use host_domain::supplier::SupplierId;

pub(crate) fn to_prebook_parameters(
    context: RequestContext,
    key: IdempotencyKeyHeader,
    reference_id: Option<String>,
    use_payment_sdk: bool,
) -> PrebookParameters {
    PrebookParameters {
        owner: context.owner,
        key: key.key,
        fingerprint: key.fingerprint,
        reference_id,
        use_payment_sdk,
        request_id: context.request_id.to_string(),
        deadline: context.deadline.instant(),
    }
}

/// Responds 201 with a booking of this request, and 200 with one that an earlier request with the
/// same key made.
pub(crate) fn respond<K: BookingAggregate, T>(
    supplier: SupplierId,
    outcome: Result<PrebookOutcome<K>, PrebookError>,
    to_resource: fn(&Booking<K>) -> T,
) -> ApiResult<T, PrebookMeta> {
    let outcome = outcome.map_err(|error| ApiError::from_prebook(&supplier, error))?;
    Ok(match outcome {
        PrebookOutcome::Created {
            booking,
            sdk_token,
            checkout,
        } => ApiResponse::created(to_resource(&booking))
            .meta(PrebookMeta::created(supplier, sdk_token, checkout)),
        PrebookOutcome::Existing(booking) => {
            ApiResponse::ok(to_resource(&booking)).meta(PrebookMeta::existing(booking.supplier))
        }
    })
}
