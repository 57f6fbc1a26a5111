//! A supplier's own webhooks.

use crate::convert::supplier_event as convert;
use crate::supplier::call::ExportName;
use crate::supplier::{CallContext, Supplier};
use host_domain::supplier::Capability;
use host_domain::supplier_event::{SupplierWebhookRequest, SupplierEvent, VerifyError};

impl Supplier {
    /// Checks that a delivery is the supplier's, and reads what it tells.
    ///
    /// # Errors
    /// [`VerifyError`].
    pub async fn verify_supplier_event(
        &self,
        context: &CallContext,
        delivery: SupplierWebhookRequest,
    ) -> Result<Vec<SupplierEvent>, VerifyError> {
        let name = ExportName {
            capability: Capability::SupplierEvents,
            function: "verify",
        };
        let function = self.plugin.exports.events.as_ref();
        let arguments = (convert::delivery(delivery)?,);
        self.call(context, name, function, arguments, convert::events)
            .await
    }
}
