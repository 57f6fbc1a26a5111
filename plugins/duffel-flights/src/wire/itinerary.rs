//! Slices, segments and conditions, which offers, orders and changes share.

use stopover_sdk::lenient::{LenientCount, LenientList, Single};
use stopover_sdk::lenient_struct;

use crate::wire::{LenientAmount, OptionalText, Part, first_filled};

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
        /// Conditions of this slice alone. Airline-initiated changes have a list instead.
        pub(crate) conditions: Single<Part<Conditions>>,
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
        pub(crate) operating_carrier_flight_number: OptionalText,
        pub(crate) origin_terminal: OptionalText,
        pub(crate) destination_terminal: OptionalText,
        pub(crate) aircraft: Part<Aircraft>,
        /// Landings within the segment.
        pub(crate) stops: LenientList<Stop>,
        pub(crate) passengers: Vec<SegmentPassenger>,
    }

    pub(crate) struct Aircraft {
        pub(crate) iata_code: OptionalText,
        pub(crate) name: OptionalText,
    }

    pub(crate) struct Stop {
        pub(crate) airport: Place,
        pub(crate) arriving_at: OptionalText,
        pub(crate) departing_at: OptionalText,
    }

    pub(crate) struct SegmentPassenger {
        pub(crate) passenger_id: String,
        pub(crate) older_passenger_id: String = "air_order_passenger_id",
        pub(crate) cabin_class: Single<String>,
        pub(crate) cabin: Part<CabinDetails>,
        pub(crate) cabin_class_marketing_name: OptionalText,
        pub(crate) baggages: Vec<Baggage>,
        pub(crate) fare_basis_code: OptionalText,
        /// The assigned seat; only orders have it.
        pub(crate) seat: Part<Seat>,
    }

    /// The cabin of a passenger, whose class is also in a field of the passenger.
    pub(crate) struct CabinDetails {
        pub(crate) name: Single<OptionalText>,
    }

    pub(crate) struct Seat {
        pub(crate) designator: OptionalText,
        pub(crate) name: OptionalText,
        pub(crate) disclosures: Part<Vec<OptionalText>>,
    }

    pub(crate) struct Baggage {
        pub(crate) kind: String = "type",
        pub(crate) quantity: LenientCount,
    }

    pub(crate) struct Conditions {
        pub(crate) refund: Single<Part<Condition>> = "refund_before_departure",
        pub(crate) change: Single<Part<Condition>> = "change_before_departure",
    }

    pub(crate) struct Condition {
        pub(crate) allowed: Single<bool>,
        pub(crate) penalty_amount: Single<LenientAmount>,
        pub(crate) penalty_currency: Single<String>,
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

    /// Returns Duffel's name of the cabin class, from the field of the passenger or else from the cabin.
    /// It is empty if neither states it once.
    pub(crate) fn cabin_class(&self) -> &str {
        let class = self.cabin_class.as_ref().value();
        let cabin = self.cabin.as_decoded();
        let name = cabin.and_then(|cabin| cabin.name.as_ref().value());
        first_filled(
            class.map_or("", String::as_str),
            name.map_or("", OptionalText::as_str),
        )
    }
}
