//! Nuitee's responses, with only the fields that are used. `map` defines their meaning.

pub(crate) mod booking;
pub(crate) mod prebook;
pub(crate) mod rates;
pub(crate) mod reference;

use stopover_sdk::lenient::{
    Essential, ExactText, LenientAmount, LenientCount, LenientFlag, LenientNumber, LenientText,
    NonEmptyText, OneOrMany, Part, Single,
};
use stopover_sdk::lenient_struct;

lenient_struct! {
    /// An error. One without any text states nothing.
    #[derive(Clone, PartialEq)]
    pub(crate) struct WireError {
        pub(crate) code: Essential<NonEmptyText>,
        pub(crate) message: Part<NonEmptyText>,
        /// Details, which may quote the request. They are compared with known words only.
        pub(crate) description: Part<NonEmptyText>,
    }

    /// An amount in major units.
    pub(crate) struct Money<'a> {
        pub(crate) amount: Single<LenientAmount> = "amount",
        pub(crate) currency: Single<LenientText<'a>> = "currency",
    }

    /// The price shown to customers. Nuitee's net price is in other fields.
    pub(crate) struct Pricing<'a> {
        pub(crate) display: Single<Money<'a>> = "display",
    }

    /// A price of the whole party: fare, taxes and fees add up to the total.
    pub(crate) struct Price<'a> {
        pub(crate) total: Single<LenientAmount> = "total",
        pub(crate) base: Single<LenientAmount> = "base",
        pub(crate) taxes: Single<LenientAmount> = "taxes",
        pub(crate) fees: Single<LenientAmount> = "fees",
        pub(crate) currency: Single<LenientText<'a>> = "currency",
    }

    pub(crate) struct TripPricing<'a> {
        pub(crate) display: Single<Price<'a>> = "display",
    }

    /// A flight with one take-off and one landing.
    pub(crate) struct Segment<'a> {
        pub(crate) key: LenientText<'a> = "segmentKey",
        pub(crate) origin: Single<LenientText<'a>> = "originCode",
        pub(crate) destination: Single<LenientText<'a>> = "destinationCode",
        /// Local time without offset.
        pub(crate) departure_time: Single<LenientText<'a>> = "departureTime",
        pub(crate) arrival_time: LenientText<'a> = "arrivalTime",
        /// `OUTBOUND` or `INBOUND`.
        pub(crate) direction: Single<LenientText<'a>> = "direction",
        pub(crate) duration: Part<Duration<'a>> = "duration",
        pub(crate) flight: Single<FlightNumbers<'a>> = "flight",
        pub(crate) carrier: Single<Carrier<'a>> = "carrier",
    }

    pub(crate) struct Duration<'a> {
        pub(crate) minutes: LenientCount = "minutes",
        pub(crate) iso8601: LenientText<'a> = "iso8601",
    }

    pub(crate) struct FlightNumbers<'a> {
        pub(crate) marketing: Single<LenientText<'a>> = "marketingNumber",
        pub(crate) operating: LenientText<'a> = "operatingNumber",
    }

    /// Airlines of a flight. Logos are URLs or paths only.
    pub(crate) struct Carrier<'a> {
        pub(crate) marketing_code: Single<LenientText<'a>> = "marketingCode",
        pub(crate) marketing_name: LenientText<'a> = "marketingName",
        pub(crate) marketing_logo: LenientText<'a> = "marketingLogo",
        pub(crate) operating_code: LenientText<'a> = "operatingCode",
        pub(crate) operating_name: LenientText<'a> = "operatingName",
        pub(crate) operating_logo: LenientText<'a> = "operatingLogo",
    }

    pub(crate) struct Fare<'a> {
        pub(crate) family: Single<LenientText<'a>> = "family",
    }

    /// The fare of a segment in the same response.
    pub(crate) struct SegmentFare<'a> {
        pub(crate) segment_key: Single<LenientText<'a>> = "segmentKey",
        /// Name of a cabin. One that is stated and cannot be read is not missing.
        pub(crate) cabin: Single<Part<ExactText<'a>>> = "cabin",
        pub(crate) fare_family: LenientText<'a> = "fareFamily",
        pub(crate) fare_basis_code: LenientText<'a> = "fareBasisCode",
    }

    pub(crate) struct Baggage<'a> {
        pub(crate) has_carry_on_bag: LenientFlag = "hasCarryOnBag",
        pub(crate) has_checked_bag: LenientFlag = "hasCheckedBag",
        pub(crate) included: OneOrMany<IncludedBag<'a>> = "included",
    }

    pub(crate) struct IncludedBag<'a> {
        /// `cabin`, `checked` or `personal`.
        pub(crate) bag_type: LenientText<'a> = "bagType",
        /// `ADT`, `CHD`, `INF` or `ALL`.
        pub(crate) passenger_type: LenientText<'a> = "passengerType",
        pub(crate) pieces: LenientCount = "pieces",
        /// Limit of one piece.
        pub(crate) weight_kg: LenientNumber = "weightKg",
        pub(crate) pricing: Pricing<'a> = "pricing",
    }

    pub(crate) struct Terms<'a> {
        pub(crate) changeable: Single<LenientFlag> = "changeable",
        pub(crate) refundable: Single<LenientFlag> = "refundable",
        pub(crate) change_fee: Single<Fee<'a>> = "changeFee",
        pub(crate) refund_fee: Single<Fee<'a>> = "refundFee",
    }

    pub(crate) struct Fee<'a> {
        pub(crate) pricing: Single<Pricing<'a>> = "pricing",
        /// Percentage of the base fare, which may come without an amount.
        pub(crate) percent: Single<LenientAmount> = "percent",
        /// `anytime`, `noShow`, `beforeDeparture` or `afterDeparture`.
        pub(crate) applicability: Single<LenientText<'a>> = "applicability",
    }
}

impl Segment<'_> {
    /// Returns the number of the flight at the airline that sells it.
    pub(crate) fn marketing_number(&self) -> Option<&str> {
        self.flight.as_ref().value()?.marketing.as_deref()
    }

    /// Returns the code of the airline that sells the flight.
    pub(crate) fn marketing_code(&self) -> Option<&str> {
        self.carrier.as_ref().value()?.marketing_code.as_deref()
    }
}
