//! Schemas of ids.

use host_domain::id;
use serde_json::json;
use utoipa::openapi::schema::{ObjectBuilder, Type};

/// A type of ids that begin with the same prefix.
pub(crate) trait PrefixedId {
    const PREFIX: &'static str;
}

macro_rules! prefixed_ids {
    ($($name:ident)*) => {$(
        impl PrefixedId for id::$name {
            const PREFIX: &'static str = id::$name::PREFIX;
        }
    )*};
}

prefixed_ids! {
    AirlineChangeId BookingId CancellationId EventId GuestId HotelId InstrumentId JourneyId
    MandateId PassengerId PaymentId PlaceId RoomId ServiceId SubscriptionId WatchId
}

/// Returns the schema of ids of one type.
#[expect(deprecated, reason = "the same form as the examples in attributes")]
pub(crate) fn id<T: PrefixedId>() -> ObjectBuilder {
    let prefix = T::PREFIX;
    ObjectBuilder::new()
        .schema_type(Type::String)
        .pattern(Some(format!("^{prefix}[a-zA-Z0-9-]+$")))
        .example(Some(json!(format!(
            "{prefix}01976f3e4a5b7c8d9e0f112233445566"
        ))))
}
