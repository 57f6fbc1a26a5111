//! Slices, segments and conditions: the same in offers, orders and changes.

use crate::wire::{Amount, record};

record! {
    /// An airport, or a city.
    Place {
        iata_code: String,
        iata_city_code: String,
        time_zone: Option<String>,
    }

    Carrier {
        iata_code: String,
        name: String,
        logo_symbol_url: Option<String>,
    }

    Slice {
        id: String,
        duration: Option<String>,
        fare_brand_name: Option<String>,
        origin: Place,
        destination: Place,
        segments: Vec<Segment>,
    }

    /// In the changes of an airline some names are older ones.
    Segment {
        id: String,
        origin: Place,
        destination: Place,
        departing_at: String = "departing_at" | "departure_datetime",
        arriving_at: String = "arriving_at" | "arrival_datetime",
        duration: Option<String>,
        marketing_carrier: Carrier,
        marketing_carrier_flight_number: String,
        operating_carrier: Carrier,
        /// Landings within the segment.
        stops: Vec<Stop>,
        passengers: Vec<SegmentPassenger>,
    }

    /// Only their number counts.
    Stop { id: String, }

    SegmentPassenger {
        passenger_id: String = "passenger_id" | "air_order_passenger_id",
        cabin_class: String,
        cabin_class_marketing_name: Option<String>,
        baggages: Vec<Baggage>,
    }

    Baggage {
        kind: String = "type",
        quantity: Option<u32>,
    }

    Conditions {
        refund: Condition = "refund_before_departure",
        change: Condition = "change_before_departure",
    }

    Condition {
        allowed: Option<bool>,
        penalty_amount: Amount,
        penalty_currency: Option<String>,
    }
}
