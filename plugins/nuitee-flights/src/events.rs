//! Nuitee's webhooks.

use stopover_sdk::SupplierEvents;
use stopover_sdk::supplier_events::{Event, VerifyError, WebhookRequest};

use crate::NuiteeFlights;

impl SupplierEvents for NuiteeFlights {
    fn verify(request: WebhookRequest) -> Result<Vec<Event>, VerifyError> {
        nuitee_events::parse_events(&request)
    }
}
