//! Slices, segments and conditions, which offers, orders and changes share.

use serde::de::IgnoredAny;
use stopover_sdk::lenient::LenientCount;
use stopover_sdk::lenient_struct;

use crate::wire::{LenientAmount, OptionalText, first_filled};

lenient_struct! {
    /// An airport or a city.
    pub(crate) struct Place {
        pub(crate) iata_code: String,
        pub(crate) iata_city_code: String,
        pub(crate) time_zone: OptionalText,
    }

    pub(crate) struct Carrier {
        pub(crate) iata_code: String,
        pub(crate) name: String,
        pub(crate) logo_symbol_url: OptionalText,
    }

    pub(crate) struct Slice {
        pub(crate) id: String,
        pub(crate) duration: OptionalText,
        pub(crate) fare_brand_name: OptionalText,
        pub(crate) origin: Place,
        pub(crate) destination: Place,
        pub(crate) segments: Vec<Segment>,
    }

    /// A flight segment. Airline-initiated changes use older names for some fields, and an object may
    /// have both.
    pub(crate) struct Segment {
        pub(crate) id: String,
        pub(crate) origin: Place,
        pub(crate) destination: Place,
        pub(crate) departing_at: String,
        pub(crate) older_departing_at: String = "departure_datetime",
        pub(crate) arriving_at: String,
        pub(crate) older_arriving_at: String = "arrival_datetime",
        pub(crate) duration: OptionalText,
        pub(crate) marketing_carrier: Carrier,
        pub(crate) marketing_carrier_flight_number: String,
        pub(crate) operating_carrier: Carrier,
        /// Landings within the segment. Only their number is used.
        pub(crate) stops: Vec<IgnoredAny>,
        pub(crate) passengers: Vec<SegmentPassenger>,
    }

    pub(crate) struct SegmentPassenger {
        pub(crate) passenger_id: String,
        pub(crate) older_passenger_id: String = "air_order_passenger_id",
        pub(crate) cabin_class: String,
        pub(crate) cabin_class_marketing_name: OptionalText,
        pub(crate) baggages: Vec<Baggage>,
    }

    pub(crate) struct Baggage {
        pub(crate) kind: String = "type",
        pub(crate) quantity: LenientCount,
    }

    pub(crate) struct Conditions {
        pub(crate) refund: Condition = "refund_before_departure",
        pub(crate) change: Condition = "change_before_departure",
    }

    pub(crate) struct Condition {
        pub(crate) allowed: Option<bool>,
        pub(crate) penalty_amount: LenientAmount,
        pub(crate) penalty_currency: Option<String>,
    }
}

impl Segment {
    pub(crate) fn departing_at(&self) -> &str {
        first_filled(&self.departing_at, &self.older_departing_at)
    }

    pub(crate) fn arriving_at(&self) -> &str {
        first_filled(&self.arriving_at, &self.older_arriving_at)
    }
}

impl SegmentPassenger {
    pub(crate) fn passenger_id(&self) -> &str {
        first_filled(&self.passenger_id, &self.older_passenger_id)
    }
}
