//! `POST|GET /flights/bookings` and `GET|POST /flights/bookings/{id}/cancellations`.

use stopover_sdk::lenient::{LenientAmount, LenientCount, LenientFlag, LenientText, OneOrMany};
use stopover_sdk::lenient_struct;

use crate::wire::{Baggage, Fare, Price, Pricing, Segment, SegmentFare, Terms, TripPricing};

lenient_struct! {
    pub(crate) struct Booked<'a> {
        pub(crate) booking: Option<Booking<'a>> = "booking",
    }

    pub(crate) struct Bookings<'a> {
        pub(crate) bookings: OneOrMany<Booking<'a>> = "bookings",
    }

    pub(crate) struct Booking<'a> {
        pub(crate) id: LenientText<'a> = "bookingId",
        /// Nuitee's reference for people; not a record locator.
        pub(crate) reference: LenientText<'a> = "bookingRef",
        pub(crate) status: LenientText<'a> = "status",
        pub(crate) payment_status: LenientText<'a> = "paymentStatus",
        /// `sandbox` or `production`.
        pub(crate) environment: LenientText<'a> = "providerEnvironment",
        /// Set while a cancellation waits for the airline, and afterwards.
        pub(crate) cancel_intent_at: LenientText<'a> = "cancelIntentAt",
        pub(crate) ticket_limit_time: LenientText<'a> = "ticketLimitTime",
        pub(crate) journey: BookedJourney<'a> = "journey",
        pub(crate) order: Order<'a> = "order",
        pub(crate) airline_locators: OneOrMany<Locator<'a>> = "airlineLocators",
        pub(crate) pricing: Billing<'a> = "pricing",
        pub(crate) booked_services: OneOrMany<BookedService<'a>> = "bookedServices",
        pub(crate) custom_tags: Tags<'a> = "customTags",
    }

    /// The flights of a whole trip, verified or booked. A booking has its price in one of two fields,
    /// and no fares.
    pub(crate) struct BookedJourney<'a> {
        pub(crate) key: LenientText<'a> = "journeyKey",
        pub(crate) segments: OneOrMany<Segment<'a>> = "segments",
        pub(crate) price: Option<Price<'a>> = "price",
        pub(crate) pricing: TripPricing<'a> = "pricing",
        pub(crate) baggage: Baggage<'a> = "baggage",
        pub(crate) terms: Option<Terms<'a>> = "terms",
        pub(crate) fare: Fare<'a> = "fare",
        pub(crate) segment_fares: OneOrMany<SegmentFare<'a>> = "segmentFares",
    }

    /// The bill: the ticket and the services added to it.
    pub(crate) struct Billing<'a> {
        pub(crate) subtotal: LenientAmount = "subtotal",
        pub(crate) services: LenientAmount = "servicesAmount",
        pub(crate) total: LenientAmount = "totalAmount",
        pub(crate) currency: LenientText<'a> = "currency",
    }

    pub(crate) struct Order<'a> {
        pub(crate) reference: OrderReference<'a> = "reference",
    }

    pub(crate) struct OrderReference<'a> {
        pub(crate) airline_bookings: OneOrMany<Locator<'a>> = "airlineBookings",
    }

    /// Record locators of an airline; often empty.
    pub(crate) struct Locator<'a> {
        pub(crate) airline_pnr: LenientText<'a> = "airlinePnr",
        pub(crate) pnr: LenientText<'a> = "pnr",
    }

    pub(crate) struct BookedService<'a> {
        pub(crate) id: LenientText<'a> = "serviceId",
        /// `seat`, `baggage`, …
        pub(crate) category: LenientText<'a> = "category",
        pub(crate) passenger: LenientCount = "passengerIndex",
        pub(crate) segment_key: LenientText<'a> = "segmentKey",
        pub(crate) quantity: LenientCount = "quantity",
        pub(crate) pricing: Pricing<'a> = "pricing",
        pub(crate) metadata: ServiceMetadata<'a> = "metadata",
    }

    pub(crate) struct ServiceMetadata<'a> {
        pub(crate) baggage: Option<ServiceBaggage<'a>> = "baggage",
    }

    pub(crate) struct ServiceBaggage<'a> {
        /// `checked` or `cabin`.
        pub(crate) bag_type: LenientText<'a> = "bagType",
        pub(crate) weight_kg: LenientCount = "weightKg",
    }

    pub(crate) struct Tags<'a> {
        pub(crate) client_reference: LenientText<'a> = "GW_REF",
    }

    pub(crate) struct Quote<'a> {
        /// `confirmed`, `estimated`, `heuristic` or `unknown`.
        pub(crate) confidence: LenientText<'a> = "confidence",
        pub(crate) is_refundable: LenientFlag = "isRefundable",
        pub(crate) refund: Pricing<'a> = "refund",
        pub(crate) penalty: Pricing<'a> = "penalty",
        /// `original_payment`, `agency_deposit`, `voucher`, …
        pub(crate) destination: LenientText<'a> = "destination",
    }

    pub(crate) struct Cancellation<'a> {
        pub(crate) booking_id: LenientText<'a> = "bookingId",
        pub(crate) status: LenientText<'a> = "status",
        pub(crate) fee: LenientAmount = "cancellation_fee",
        pub(crate) refund: LenientAmount = "refund_amount",
        pub(crate) currency: LenientText<'a> = "currency",
        pub(crate) destination: LenientText<'a> = "destination",
    }
}
