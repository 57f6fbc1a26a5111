//! Verification of a supplier's webhook requests.

use crate::convert::supplier_event as convert;
use crate::supplier::{CallContext, Supplier};
use host_domain::supplier_event::{SupplierEvent, SupplierWebhookRequest, VerifyError};

impl Supplier {
    /// Verifies that a webhook request originates from the supplier, and returns its events.
    ///
    /// # Errors
    /// Returns [`VerifyError`] if the request is not authentic or cannot be read, or if the call
    /// fails.
    pub async fn verify_supplier_event(
        &self,
        context: &CallContext,
        request: SupplierWebhookRequest,
    ) -> Result<Vec<SupplierEvent>, VerifyError> {
        let function = &self.plugin.exports.verify_events;
        let arguments = (convert::webhook_request(request)?,);
        self.call(context, function, arguments, convert::events)
            .await
    }
}
