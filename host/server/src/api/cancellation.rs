//! Beginning a cancellation under a key, of a hotel or of flights.

use crate::api::problem::ApiError;
use crate::app::App;
use crate::flow::cancel::CancelError;
use crate::idempotency::{KeyUse, RequestKey};
use host_domain::id::BookingId;

/// Begins under a key, if there is one; a key whose request came to nothing is given back.
pub(crate) async fn under_key<B>(
    app: &App,
    key: Option<RequestKey>,
    booking: &BookingId,
    beginning: impl Future<Output = Result<B, CancelError>> + Send,
    failed: impl FnOnce(CancelError) -> ApiError,
) -> Result<B, ApiError> {
    let Some(key) = key else {
        return beginning.await.map_err(failed);
    };
    let used = app
        .use_key(&key, booking.as_str())
        .await
        .map_err(ApiError::key)?;
    let begun = beginning.await;
    if used == KeyUse::First && !matches!(begun, Ok(_) | Err(CancelError::Flow(_))) {
        app.free_key(&key).await;
    }
    begun.map_err(failed)
}
