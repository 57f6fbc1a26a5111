//! `GET /prices/hotels`. A hotel's list of prices is essential: only an empty list says that there are
//! none.

use stopover_sdk::lenient::{Essential, LenientList, NonEmptyText, Part};
use stopover_sdk::lenient_struct;
use stopover_sdk::money::Decimal;

lenient_struct! {
    #[derive(Debug)]
    pub(crate) struct HotelPrices {
        pub(crate) hotel_id: Essential<NonEmptyText> = "hotelId",
        pub(crate) prices: Essential<LenientList<DayPrice>> = "prices",
    }

    #[derive(Debug, Clone, PartialEq)]
    pub(crate) struct DayPrice {
        pub(crate) day: Essential<NonEmptyText> = "day",
        /// Average price in US dollars; missing if there is none.
        pub(crate) avg_price_usd: Part<Decimal> = "avgPriceUsd",
    }
}
