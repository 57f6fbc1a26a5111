//! Nuitee's webhooks.

use stopover_sdk::SupplierEvents;
use stopover_sdk::supplier_events::{Event, VerifyError, WebhookRequest};

use crate::NuiteeHotels;

impl SupplierEvents for NuiteeHotels {
    fn verify(delivery: WebhookRequest) -> Result<Vec<Event>, VerifyError> {
        nuitee_events::read(&delivery)
    }
}
