//! `POST|GET /flights/bookings` and `GET|POST /flights/bookings/{id}/cancellations`.
//!
//! Only what decides about the booking is essential. Every other part is optional: if it cannot be
//! read, the booking still can.

use serde::Deserialize;
use serde::de::IgnoredAny;
use stopover_sdk::lenient::{
    Essential, LenientAmount, LenientCount, LenientFlag, LenientList, LenientNumber, LenientText,
    NonEmptyText, OneOrMany, Part, Single,
};
use stopover_sdk::lenient_struct;

use crate::wire::{Baggage, Fare, Price, Pricing, Segment, SegmentFare, Terms, TripPricing};

lenient_struct! {
    pub(crate) struct Booked<'a> {
        pub(crate) booking: Single<Booking<'a>> = "booking",
    }

    pub(crate) struct Bookings<'a> {
        pub(crate) bookings: Single<LenientList<Booking<'a>>> = "bookings",
    }

    pub(crate) struct Booking<'a> {
        pub(crate) id: Essential<NonEmptyText> = "bookingId",
        pub(crate) status: Essential<NonEmptyText> = "status",
        /// Tags of another form, such as an empty list, are none of ours.
        pub(crate) custom_tags: Essential<Part<Tags>> = "customTags",
        /// Set while a cancellation waits for the airline, and afterwards.
        pub(crate) cancel_intent_at: Essential<String> = "cancelIntentAt",
        /// Nuitee's reference for people; not a record locator.
        pub(crate) reference: LenientText<'a> = "bookingRef",
        /// `pending`, `completed`, `failed` or `not_required`.
        pub(crate) payment_status: LenientText<'a> = "paymentStatus",
        /// `sandbox` or `production`.
        pub(crate) environment: LenientText<'a> = "providerEnvironment",
        pub(crate) ticket_limit_time: LenientText<'a> = "ticketLimitTime",
        pub(crate) journey: Single<Part<BookedJourney<'a>>> = "journey",
        pub(crate) order: Part<Order<'a>> = "order",
        pub(crate) airline_locators: Part<LenientList<Locator<'a>>> = "airlineLocators",
        pub(crate) pricing: Single<Part<Billing<'a>>> = "pricing",
        pub(crate) booked_services: Part<LenientList<Service<'a>>> = "bookedServices",
    }

    /// The flights of a whole trip, verified, prebooked or booked. A booking has its price in one of
    /// two fields, and no fares.
    pub(crate) struct BookedJourney<'a> {
        pub(crate) key: LenientText<'a> = "journeyKey",
        pub(crate) segments: Single<Part<OneOrMany<Segment<'a>>>> = "segments",
        pub(crate) price: Single<Part<Price<'a>>> = "price",
        pub(crate) pricing: Single<Part<TripPricing<'a>>> = "pricing",
        pub(crate) baggage: Part<Baggage<'a>> = "baggage",
        pub(crate) terms: Single<Part<Terms<'a>>> = "terms",
        pub(crate) fare: Single<Part<Fare<'a>>> = "fare",
        pub(crate) segment_fares: Single<Part<OneOrMany<SegmentFare<'a>>>> = "segmentFares",
    }

    /// The bill: the ticket and the services added to it.
    pub(crate) struct Billing<'a> {
        pub(crate) subtotal: Single<LenientAmount> = "subtotal",
        pub(crate) services: Single<LenientAmount> = "servicesAmount",
        pub(crate) total: Single<LenientAmount> = "totalAmount",
        pub(crate) currency: Single<LenientText<'a>> = "currency",
    }

    pub(crate) struct Order<'a> {
        pub(crate) reference: Part<OrderReference<'a>> = "reference",
    }

    pub(crate) struct OrderReference<'a> {
        /// The provider's own id of the order, which may be its record locator.
        pub(crate) order_id: LenientText<'a> = "orderId",
        pub(crate) provider: Part<Provider<'a>> = "provider",
        pub(crate) airline_bookings: Part<LenientList<Locator<'a>>> = "airlineBookings",
    }

    /// The provider that made the booking, such as a distribution system, and its record locator.
    pub(crate) struct Provider<'a> {
        pub(crate) code: LenientText<'a> = "code",
        pub(crate) pnr: LenientText<'a> = "pnr",
    }

    /// Record locators of a booking at an airline; often empty.
    pub(crate) struct Locator<'a> {
        pub(crate) airline_code: LenientText<'a> = "airlineCode",
        pub(crate) airline_name: LenientText<'a> = "airlineName",
        pub(crate) airline_pnr: LenientText<'a> = "airlinePnr",
        pub(crate) pnr: LenientText<'a> = "pnr",
    }

    /// A seat or bags, for sale or booked.
    pub(crate) struct Service<'a> {
        pub(crate) id: Single<LenientText<'a>> = "serviceId",
        pub(crate) name: LenientText<'a> = "name",
        /// `seat`, `baggage`, …
        pub(crate) category: LenientText<'a> = "category",
        /// `ALL`, `ADT`, `CHD` or `INF`.
        pub(crate) passenger_type: LenientText<'a> = "passengerType",
        /// Only booked services have a passenger.
        pub(crate) passenger: LenientCount = "passengerIndex",
        pub(crate) segment_key: LenientText<'a> = "segmentKey",
        /// Only booked services have a quantity.
        pub(crate) quantity: LenientCount = "quantity",
        pub(crate) pricing: Single<Pricing<'a>> = "pricing",
        pub(crate) metadata: ServiceMetadata<'a> = "metadata",
    }

    pub(crate) struct ServiceMetadata<'a> {
        pub(crate) baggage: Option<ServiceBaggage<'a>> = "baggage",
        pub(crate) seat: Option<ServiceSeat<'a>> = "seat",
    }

    pub(crate) struct ServiceBaggage<'a> {
        /// `checked` or `cabin`.
        pub(crate) bag_type: LenientText<'a> = "bagType",
        pub(crate) pieces: LenientCount = "pieces",
        pub(crate) weight_kg: LenientNumber = "weightKg",
    }

    pub(crate) struct ServiceSeat<'a> {
        pub(crate) available: LenientFlag = "available",
        /// Row and column.
        pub(crate) number: LenientText<'a> = "seatNumber",
        /// `window`, `middle` or `aisle`.
        pub(crate) position: LenientText<'a> = "position",
        /// `standard`, `extra_legroom`, `exit_row`, …
        pub(crate) seat_type: LenientText<'a> = "seatType",
    }

    #[derive(Clone, PartialEq)]
    pub(crate) struct Tags {
        pub(crate) client_reference: Essential<String> = "GW_REF",
    }

    pub(crate) struct Quote<'a> {
        pub(crate) booking_id: Essential<NonEmptyText> = "bookingId",
        /// `confirmed`, `estimated`, `heuristic` or `unknown`.
        pub(crate) confidence: Essential<NonEmptyText> = "confidence",
        pub(crate) is_refundable: Single<LenientFlag> = "isRefundable",
        pub(crate) refund: Single<Pricing<'a>> = "refund",
        pub(crate) penalty: Single<Pricing<'a>> = "penalty",
        /// `original_payment`, `agency_deposit`, `voucher`, …
        pub(crate) destination: Essential<NonEmptyText> = "destination",
    }

    pub(crate) struct Cancellation<'a> {
        pub(crate) booking_id: Essential<NonEmptyText> = "bookingId",
        pub(crate) status: Essential<NonEmptyText> = "status",
        pub(crate) fee: Single<LenientAmount> = "cancellation_fee",
        pub(crate) refund: Single<LenientAmount> = "refund_amount",
        pub(crate) currency: Single<LenientText<'a>> = "currency",
        pub(crate) destination: Essential<NonEmptyText> = "destination",
    }
}

/// A page whose list of bookings was sent as a list.
#[derive(Deserialize)]
#[expect(dead_code, reason = "only the form of the document counts")]
pub(crate) struct ListedBookings {
    bookings: Vec<IgnoredAny>,
}
