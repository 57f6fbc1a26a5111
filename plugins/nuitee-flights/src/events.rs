//! Nuitee's webhooks.

use stopover_sdk::SupplierEvents;
use stopover_sdk::supplier_events::{Event, VerifyError, WebhookRequest};

use crate::NuiteeFlights;

impl SupplierEvents for NuiteeFlights {
    fn verify(delivery: WebhookRequest) -> Result<Vec<Event>, VerifyError> {
        nuitee_events::read(&delivery)
    }
}
