//! Nuitee's webhooks.

use stopover_sdk::SupplierEvents;
use stopover_sdk::supplier_events::{Delivery, Event, VerifyError};

use crate::NuiteeHotels;

impl SupplierEvents for NuiteeHotels {
    fn verify(delivery: Delivery) -> Result<Vec<Event>, VerifyError> {
        nuitee_events::read(&delivery)
    }
}
