//! Search for the booking that a webhook is about. Nuitee documents the envelope but not its
//! content, so every field is searched.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use stopover_sdk::json::{self, DecodeError};
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
        let collected: Result<CollectedIds, DecodeError> = json::decode(document.as_bytes());
        if let Ok(CollectedIds(found)) = collected {
            self.booking_id = self.booking_id.take().or(found.booking_id);
            self.client_reference = self.client_reference.take().or(found.client_reference);
            self.prebook_id = self.prebook_id.take().or(found.prebook_id);
        }
    }
}

/// A document of which every field was searched.
struct CollectedIds(BookingIds);

impl<'de> serde::Deserialize<'de> for CollectedIds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut ids = BookingIds::default();
        IdCollector(&mut ids).deserialize(deserializer)?;
        Ok(Self(ids))
    }
}

/// Any value, including all nested values.
struct IdCollector<'c>(&'c mut BookingIds);

impl<'de> DeserializeSeed<'de> for IdCollector<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for IdCollector<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        while let Some(name) = fields.next_key::<LenientText<'de>>()? {
            let target = match name.as_str() {
                "bookingId" => &mut self.0.booking_id,
                // `GW_REF` is used by flights, `clientReference` by hotels.
                "GW_REF" | "clientReference" => &mut self.0.client_reference,
                "prebookId" => &mut self.0.prebook_id,
                _ => {
                    fields.next_value_seed(IdCollector(self.0))?;
                    continue;
                }
            };
            let found = fields.next_value::<LenientText<'de>>()?.to_owned();
            *target = target.take().or(found);
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(IdCollector(self.0))?.is_some() {}
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }
}
