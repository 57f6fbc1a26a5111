//! `POST|GET /flights/bookings` and `GET|POST /flights/bookings/{id}/cancellations`.

use serde::Serialize;
use stopover_sdk::loose::{Amount, Count, Flag, Many, Text};
use stopover_sdk::record;

use crate::wire::{Baggage, Price, Pricing, Segment, Terms, TripPricing};

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BookRequest<'a> {
    pub(crate) prebook_id: &'a str,
    pub(crate) payment: Payment<'a>,
    pub(crate) custom_tags: SentTags<'a>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "method", rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum Payment<'a> {
    Credit,
    #[serde(rename_all = "camelCase")]
    TransactionId {
        transaction_id: &'a str,
    },
}

/// Tags that Nuitee stores with a booking and can search for.
#[derive(Debug, Serialize)]
pub(crate) struct SentTags<'a> {
    #[serde(rename = "GW_REF")]
    pub(crate) client_reference: &'a str,
}

record! {
    #[derive(Debug)]
    pub(crate) struct Booked<'a> {
        pub(crate) booking: Option<Booking<'a>> = "booking",
    }

    #[derive(Debug)]
    pub(crate) struct Bookings<'a> {
        pub(crate) bookings: Many<Booking<'a>> = "bookings",
    }

    #[derive(Debug)]
    pub(crate) struct Booking<'a> {
        pub(crate) id: Text<'a> = "bookingId",
        /// Nuitee's reference for people; not a record locator.
        pub(crate) reference: Text<'a> = "bookingRef",
        pub(crate) status: Text<'a> = "status",
        pub(crate) payment_status: Text<'a> = "paymentStatus",
        /// `sandbox` or `production`.
        pub(crate) environment: Text<'a> = "providerEnvironment",
        /// Set while a cancellation waits for the airline, and afterwards.
        pub(crate) cancel_intent_at: Text<'a> = "cancelIntentAt",
        pub(crate) ticket_limit_time: Text<'a> = "ticketLimitTime",
        pub(crate) journey: BookedJourney<'a> = "journey",
        pub(crate) order: Order<'a> = "order",
        pub(crate) airline_locators: Many<Locator<'a>> = "airlineLocators",
        pub(crate) pricing: Billing<'a> = "pricing",
        pub(crate) booked_services: Many<BookedService<'a>> = "bookedServices",
        pub(crate) custom_tags: Tags<'a> = "customTags",
    }

    /// The booked journey. Its price is in one of two fields.
    #[derive(Debug)]
    pub(crate) struct BookedJourney<'a> {
        pub(crate) key: Text<'a> = "journeyKey",
        pub(crate) segments: Many<Segment<'a>> = "segments",
        pub(crate) price: Option<Price<'a>> = "price",
        pub(crate) pricing: TripPricing<'a> = "pricing",
        pub(crate) baggage: Baggage<'a> = "baggage",
        pub(crate) terms: Option<Terms<'a>> = "terms",
    }

    /// The bill: the ticket and the services added to it.
    #[derive(Debug)]
    pub(crate) struct Billing<'a> {
        pub(crate) subtotal: Amount = "subtotal",
        pub(crate) services: Amount = "servicesAmount",
        pub(crate) total: Amount = "totalAmount",
        pub(crate) currency: Text<'a> = "currency",
    }

    #[derive(Debug)]
    pub(crate) struct Order<'a> {
        pub(crate) reference: OrderReference<'a> = "reference",
    }

    #[derive(Debug)]
    pub(crate) struct OrderReference<'a> {
        pub(crate) airline_bookings: Many<Locator<'a>> = "airlineBookings",
    }

    /// Record locators of an airline; often empty.
    #[derive(Debug)]
    pub(crate) struct Locator<'a> {
        pub(crate) airline_pnr: Text<'a> = "airlinePnr",
        pub(crate) pnr: Text<'a> = "pnr",
    }

    #[derive(Debug)]
    pub(crate) struct BookedService<'a> {
        pub(crate) id: Text<'a> = "serviceId",
        /// `seat`, `baggage`, …
        pub(crate) category: Text<'a> = "category",
        pub(crate) passenger: Count = "passengerIndex",
        pub(crate) segment_key: Text<'a> = "segmentKey",
        pub(crate) quantity: Count = "quantity",
        pub(crate) pricing: Pricing<'a> = "pricing",
        pub(crate) metadata: ServiceMetadata<'a> = "metadata",
    }

    #[derive(Debug)]
    pub(crate) struct ServiceMetadata<'a> {
        pub(crate) baggage: Option<ServiceBaggage<'a>> = "baggage",
    }

    #[derive(Debug)]
    pub(crate) struct ServiceBaggage<'a> {
        /// `checked` or `cabin`.
        pub(crate) bag_type: Text<'a> = "bagType",
        pub(crate) weight_kg: Count = "weightKg",
    }

    #[derive(Debug)]
    pub(crate) struct Tags<'a> {
        pub(crate) client_reference: Text<'a> = "GW_REF",
    }

    /// The quote of a cancellation.
    #[derive(Debug)]
    pub(crate) struct Quote<'a> {
        /// `confirmed`, `estimated`, `heuristic` or `unknown`.
        pub(crate) confidence: Text<'a> = "confidence",
        pub(crate) is_refundable: Flag = "isRefundable",
        pub(crate) refund: Pricing<'a> = "refund",
        pub(crate) penalty: Pricing<'a> = "penalty",
        /// `original_payment`, `agency_deposit`, `voucher`, …
        pub(crate) destination: Text<'a> = "destination",
    }

    /// The response to a cancellation.
    #[derive(Debug)]
    pub(crate) struct Cancellation<'a> {
        pub(crate) booking_id: Text<'a> = "bookingId",
        pub(crate) status: Text<'a> = "status",
        pub(crate) fee: Amount = "cancellation_fee",
        pub(crate) refund: Amount = "refund_amount",
        pub(crate) currency: Text<'a> = "currency",
        pub(crate) destination: Text<'a> = "destination",
    }
}
