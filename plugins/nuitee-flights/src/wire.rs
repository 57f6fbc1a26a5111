//! Nuitee's JSON as received, with only the fields that are used. `map` defines their meaning.

pub(crate) mod booking;
pub(crate) mod prebook;
pub(crate) mod rates;
pub(crate) mod reference;

use stopover_sdk::loose::{Amount, Count, Flag, Many, Text};
use stopover_sdk::record;

record! {
    /// An amount in major units.
    #[derive(Debug)]
    pub(crate) struct Money<'a> {
        pub(crate) amount: Amount = "amount",
        pub(crate) currency: Text<'a> = "currency",
    }

    /// The price shown to customers. Nuitee's net price is in other fields.
    #[derive(Debug)]
    pub(crate) struct Pricing<'a> {
        pub(crate) display: Option<Money<'a>> = "display",
    }

    /// A price of the whole party.
    #[derive(Debug)]
    pub(crate) struct Price<'a> {
        pub(crate) total: Amount = "total",
        pub(crate) taxes: Amount = "taxes",
        pub(crate) currency: Text<'a> = "currency",
    }

    #[derive(Debug)]
    pub(crate) struct TripPricing<'a> {
        pub(crate) display: Option<Price<'a>> = "display",
    }

    /// A flight with one take-off and one landing.
    #[derive(Debug)]
    pub(crate) struct Segment<'a> {
        pub(crate) key: Text<'a> = "segmentKey",
        pub(crate) origin: Text<'a> = "originCode",
        pub(crate) destination: Text<'a> = "destinationCode",
        /// Local time without offset.
        pub(crate) departure_time: Text<'a> = "departureTime",
        pub(crate) arrival_time: Text<'a> = "arrivalTime",
        /// `OUTBOUND` or `INBOUND`.
        pub(crate) direction: Text<'a> = "direction",
        pub(crate) duration: Duration<'a> = "duration",
        pub(crate) flight: FlightNumbers<'a> = "flight",
        pub(crate) carrier: Carrier<'a> = "carrier",
    }

    #[derive(Debug)]
    pub(crate) struct Duration<'a> {
        pub(crate) minutes: Count = "minutes",
        pub(crate) iso8601: Text<'a> = "iso8601",
    }

    #[derive(Debug)]
    pub(crate) struct FlightNumbers<'a> {
        pub(crate) marketing: Text<'a> = "marketingNumber",
    }

    /// Airlines of a flight. Logos are URLs or paths only.
    #[derive(Debug)]
    pub(crate) struct Carrier<'a> {
        pub(crate) marketing_code: Text<'a> = "marketingCode",
        pub(crate) marketing_name: Text<'a> = "marketingName",
        pub(crate) marketing_logo: Text<'a> = "marketingLogo",
        pub(crate) operating_name: Text<'a> = "operatingName",
        pub(crate) operating_logo: Text<'a> = "operatingLogo",
    }

    #[derive(Debug)]
    pub(crate) struct Fare<'a> {
        pub(crate) family: Text<'a> = "family",
    }

    /// The fare of a segment in the same response.
    #[derive(Debug)]
    pub(crate) struct SegmentFare<'a> {
        pub(crate) segment_key: Text<'a> = "segmentKey",
        pub(crate) cabin: Text<'a> = "cabin",
        pub(crate) fare_family: Text<'a> = "fareFamily",
    }

    #[derive(Debug)]
    pub(crate) struct Baggage<'a> {
        pub(crate) has_carry_on_bag: Flag = "hasCarryOnBag",
        pub(crate) has_checked_bag: Flag = "hasCheckedBag",
        pub(crate) included: Many<IncludedBag<'a>> = "included",
    }

    #[derive(Debug)]
    pub(crate) struct IncludedBag<'a> {
        /// `cabin`, `checked` or `personal`.
        pub(crate) bag_type: Text<'a> = "bagType",
        /// `ADT`, `CHD`, `INF` or `ALL`.
        pub(crate) passenger_type: Text<'a> = "passengerType",
        pub(crate) pieces: Count = "pieces",
        pub(crate) pricing: Pricing<'a> = "pricing",
    }

    #[derive(Debug)]
    pub(crate) struct Terms<'a> {
        pub(crate) changeable: Flag = "changeable",
        pub(crate) refundable: Flag = "refundable",
        pub(crate) change_fee: Option<Fee<'a>> = "changeFee",
        pub(crate) refund_fee: Option<Fee<'a>> = "refundFee",
    }

    #[derive(Debug)]
    pub(crate) struct Fee<'a> {
        pub(crate) pricing: Pricing<'a> = "pricing",
        /// `anytime`, `noShow`, `beforeDeparture` or `afterDeparture`.
        pub(crate) applicability: Text<'a> = "applicability",
    }
}
