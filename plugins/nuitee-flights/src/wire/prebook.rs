//! `POST /flights/verify` and `POST /flights/prebooks`.

use serde::Serialize;
use stopover_sdk::lenient::{LenientAmount, LenientFlag, LenientText, OneOrMany};
use stopover_sdk::lenient_struct;

use crate::wire::booking::Booking;
use crate::wire::{Baggage, Fare, Segment, SegmentFare, Terms, TripPricing};

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VerifyRequest<'a> {
    pub(crate) offer_id: &'a str,
}

lenient_struct! {
    pub(crate) struct Verified<'a> {
        pub(crate) journey: Option<VerifiedJourney<'a>> = "journey",
        pub(crate) changes: Changes = "changes",
    }

    /// The flights of the whole trip.
    pub(crate) struct VerifiedJourney<'a> {
        pub(crate) key: LenientText<'a> = "journeyKey",
        pub(crate) pricing: TripPricing<'a> = "pricing",
        pub(crate) fare: Fare<'a> = "fare",
        pub(crate) baggage: Baggage<'a> = "baggage",
        pub(crate) terms: Terms<'a> = "terms",
        pub(crate) segments: OneOrMany<Segment<'a>> = "segments",
        pub(crate) segment_fares: OneOrMany<SegmentFare<'a>> = "segmentFares",
    }

    /// Differences from the search.
    pub(crate) struct Changes {
        pub(crate) fare_changed: LenientFlag = "fareChanged",
        pub(crate) cabin_changed: LenientFlag = "cabinChanged",
    }

    pub(crate) struct Prebook<'a> {
        pub(crate) id: LenientText<'a> = "prebookId",
        pub(crate) booking: Booking<'a> = "booking",
        /// Price to be charged.
        pub(crate) price: LenientAmount = "price",
        pub(crate) currency: LenientText<'a> = "currency",
        /// Id of the transaction that is paid in the browser.
        pub(crate) transaction_id: LenientText<'a> = "transactionId",
        pub(crate) secret_key: LenientText<'a> = "secretKey",
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PrebookRequest<'a> {
    pub(crate) offer_id: &'a str,
    pub(crate) use_payment_sdk: bool,
    pub(crate) contact: Contact<'a>,
    pub(crate) passengers: Vec<Passenger<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Contact<'a> {
    pub(crate) first_name: &'a str,
    pub(crate) last_name: &'a str,
    pub(crate) email: &'a str,
    /// Country code, digits only.
    pub(crate) phone_country_code: &'a str,
    pub(crate) phone_number: &'a str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Passenger<'a> {
    pub(crate) first_name: &'a str,
    pub(crate) last_name: &'a str,
    pub(crate) birthday: &'a str,
    /// `M` or `F`.
    pub(crate) gender: &'static str,
    /// 0 for an adult, 1 for a child, 2 for an infant.
    pub(crate) passenger_type: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) nationality: Option<&'a str>,
    #[serde(flatten)]
    pub(crate) document: Option<Document<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) loyalty_programs: Vec<LoyaltyProgram<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Document<'a> {
    pub(crate) document_type: &'static str,
    pub(crate) document_number: &'a str,
    pub(crate) document_issue_country: &'a str,
    pub(crate) document_expiry: &'a str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LoyaltyProgram<'a> {
    pub(crate) airline_code: &'a str,
    pub(crate) program_number: &'a str,
}
