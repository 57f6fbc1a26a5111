//! Search for the booking that a webhook is about. Nuitee documents the envelope but not its
//! content, so every field is searched.

use serde::Deserialize;
use stopover_sdk::json::{self, Value};
use stopover_sdk::lenient::LenientText;

/// The first value found of each kind.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct BookingIds {
    pub(crate) booking_id: Option<String>,
    pub(crate) client_reference: Option<String>,
    pub(crate) prebook_id: Option<String>,
}

impl BookingIds {
    /// Adds the values found in a document. Text that is not JSON is ignored.
    pub(crate) fn collect_from(&mut self, document: &str) {
        self.collect(&json::decode(document.as_bytes()).unwrap_or_default());
    }

    fn collect(&mut self, value: &Value) {
        match value {
            Value::Object(fields) => {
                for (name, field) in fields {
                    self.collect_field(name, field);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.collect(item)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn collect_field(&mut self, name: &str, field: &Value) {
        let target = match name {
            "bookingId" => &mut self.booking_id,
            // `GW_REF` is used by flights, `clientReference` by hotels.
            "GW_REF" | "clientReference" => &mut self.client_reference,
            "prebookId" => &mut self.prebook_id,
            _ => return self.collect(field),
        };
        let found = LenientText::deserialize(field).unwrap_or_default();
        *target = target.take().or(found.to_owned());
    }
}
