//! `POST /flights/verify` and `POST /flights/prebooks`.

use stopover_sdk::lenient::{
    Essential, LenientFlag, LenientList, LenientText, NonEmptyText, Part, Single,
};
use stopover_sdk::lenient_struct;
use stopover_sdk::money::Decimal;

use crate::wire::booking::{BookedJourney, Booking, Service};

lenient_struct! {
    pub(crate) struct Verified<'a> {
        pub(crate) journey: Single<BookedJourney<'a>> = "journey",
        pub(crate) changes: Single<Changes> = "changes",
    }

    /// Differences from the search.
    pub(crate) struct Changes {
        pub(crate) fare_changed: Essential<LenientFlag> = "fareChanged",
        pub(crate) cabin_changed: Essential<LenientFlag> = "cabinChanged",
    }

    pub(crate) struct Prebook<'a> {
        pub(crate) id: Essential<NonEmptyText> = "prebookId",
        /// Price to be charged.
        pub(crate) price: Essential<Decimal> = "price",
        pub(crate) currency: Essential<NonEmptyText> = "currency",
        /// Id of the transaction that is paid in the browser.
        pub(crate) transaction_id: Essential<NonEmptyText> = "transactionId",
        pub(crate) secret_key: Essential<NonEmptyText> = "secretKey",
        pub(crate) booking: Single<Part<Booking<'a>>> = "booking",
        pub(crate) services_attachable: Part<ServicesAttachable<'a>> = "servicesAttachable",
    }

    /// The seats and bags that can be added before the booking is made.
    pub(crate) struct ServicesAttachable<'a> {
        pub(crate) groups: Part<LenientList<ServiceGroup<'a>>> = "groups",
    }

    /// Services of one category.
    pub(crate) struct ServiceGroup<'a> {
        pub(crate) available: LenientFlag = "available",
        pub(crate) category: LenientText<'a> = "category",
        pub(crate) services: LenientList<Service<'a>> = "services",
    }
}
