//! Slices, segments and conditions, which offers, orders and changes share.

use stopover_sdk::lenient_struct;

use crate::wire::LenientAmount;

lenient_struct! {
    /// An airport or a city.
    pub(crate) struct Place {
        pub(crate) iata_code: String,
        pub(crate) iata_city_code: String,
        pub(crate) time_zone: Option<String>,
    }

    pub(crate) struct Carrier {
        pub(crate) iata_code: String,
        pub(crate) name: String,
        pub(crate) logo_symbol_url: Option<String>,
    }

    pub(crate) struct Slice {
        pub(crate) id: String,
        pub(crate) duration: Option<String>,
        pub(crate) fare_brand_name: Option<String>,
        pub(crate) origin: Place,
        pub(crate) destination: Place,
        pub(crate) segments: Vec<Segment>,
    }

    /// A flight segment. Airline-initiated changes use older names for some fields.
    pub(crate) struct Segment {
        pub(crate) id: String,
        pub(crate) origin: Place,
        pub(crate) destination: Place,
        pub(crate) departing_at: String = "departing_at" | "departure_datetime",
        pub(crate) arriving_at: String = "arriving_at" | "arrival_datetime",
        pub(crate) duration: Option<String>,
        pub(crate) marketing_carrier: Carrier,
        pub(crate) marketing_carrier_flight_number: String,
        pub(crate) operating_carrier: Carrier,
        /// Landings within the segment.
        pub(crate) stops: Vec<Stop>,
        pub(crate) passengers: Vec<SegmentPassenger>,
    }

    /// A landing. Only the number of landings is used.
    pub(crate) struct Stop {
        pub(crate) id: String,
    }

    pub(crate) struct SegmentPassenger {
        pub(crate) passenger_id: String = "passenger_id" | "air_order_passenger_id",
        pub(crate) cabin_class: String,
        pub(crate) cabin_class_marketing_name: Option<String>,
        pub(crate) baggages: Vec<Baggage>,
    }

    pub(crate) struct Baggage {
        pub(crate) kind: String = "type",
        pub(crate) quantity: Option<u32>,
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
