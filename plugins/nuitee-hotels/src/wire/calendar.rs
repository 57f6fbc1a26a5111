//! `GET /prices/hotels`.

use stopover_sdk::lenient::{Essential, LenientList, NonEmptyText, Part};
use stopover_sdk::lenient_struct;
use stopover_sdk::money::Decimal;

lenient_struct! {
    #[derive(Debug)]
    pub(crate) struct HotelPrices {
        pub(crate) hotel_id: Essential<NonEmptyText> = "hotelId",
        pub(crate) prices: Part<LenientList<DayPrice>> = "prices",
    }

    #[derive(Debug)]
    pub(crate) struct DayPrice {
        pub(crate) day: Essential<NonEmptyText> = "day",
        /// Average price in US dollars; missing if there is none.
        pub(crate) avg_price_usd: Part<Decimal> = "avgPriceUsd",
    }
}
