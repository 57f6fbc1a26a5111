//! `GET /data/hotel`, `GET /data/hotels` and `GET /data/reviews`.

use stopover_sdk::lenient::{
    Essential, LenientFlag, LenientList, LenientNumber, NonEmptyText, Part, Single,
};
use stopover_sdk::lenient_struct;

use crate::wire::{Coordinates, Reference};

lenient_struct! {
    #[derive(Debug)]
    pub(crate) struct Hotel {
        pub(crate) id: Essential<NonEmptyText> = "id",
        pub(crate) name: Essential<NonEmptyText> = "name",
        /// HTML text.
        pub(crate) hotel_description: Reference = "hotelDescription",
        pub(crate) hotel_important_information: Reference = "hotelImportantInformation",
        pub(crate) checkin_checkout_times: Part<CheckTimes> = "checkinCheckoutTimes",
        pub(crate) hotel_images: Part<LenientList<Image>> = "hotelImages",
        pub(crate) country: Reference = "country",
        pub(crate) city: Reference = "city",
        pub(crate) state: Reference = "state",
        pub(crate) zip: Reference = "zip",
        pub(crate) star_rating: LenientNumber = "starRating",
        pub(crate) location: Part<Coordinates> = "location",
        pub(crate) address: Reference = "address",
        pub(crate) hotel_facilities: Part<LenientList<String>> = "hotelFacilities",
        pub(crate) rooms: Part<LenientList<Room>> = "rooms",
        pub(crate) phone: Reference = "phone",
        pub(crate) email: Reference = "email",
        /// Guest rating from 0 to 10.
        pub(crate) rating: LenientNumber = "rating",
        pub(crate) review_count: LenientNumber = "reviewCount",
        pub(crate) policies: Part<LenientList<Policy>> = "policies",
    }

    /// Check-in and check-out times, in forms such as `04:00 PM`.
    #[derive(Debug)]
    pub(crate) struct CheckTimes {
        pub(crate) checkin_start: Reference = "checkin_start",
        pub(crate) checkin: Reference = "checkin",
        pub(crate) checkout: Reference = "checkout",
    }

    #[derive(Debug)]
    pub(crate) struct Image {
        pub(crate) url: Reference = "url",
        pub(crate) url_hd: Reference = "urlHd",
        pub(crate) caption: Reference = "caption",
        pub(crate) order: LenientNumber = "order",
        pub(crate) default_image: LenientFlag = "defaultImage",
    }

    #[derive(Debug)]
    pub(crate) struct Room {
        pub(crate) room_name: Reference = "roomName",
        pub(crate) description: Reference = "description",
        pub(crate) max_occupancy: LenientNumber = "maxOccupancy",
        pub(crate) photos: Part<LenientList<Photo>> = "photos",
    }

    #[derive(Debug)]
    pub(crate) struct Photo {
        pub(crate) url: Reference = "url",
        pub(crate) url_hd: Reference = "hd_url",
        pub(crate) image_description: Reference = "imageDescription",
    }

    #[derive(Debug)]
    pub(crate) struct Policy {
        pub(crate) name: Reference = "name",
        pub(crate) description: Reference = "description",
    }

    /// A hotel in a list. It is read for its location.
    #[derive(Debug)]
    pub(crate) struct ListedHotel {
        pub(crate) id: Single<String> = "id",
        pub(crate) latitude: LenientNumber = "latitude",
        pub(crate) longitude: LenientNumber = "longitude",
    }

    /// A review. The reviewer's `name` is not read.
    #[derive(Debug)]
    pub(crate) struct Review {
        pub(crate) average_score: LenientNumber = "averageScore",
        pub(crate) traveller_type: Reference = "type",
        /// Date on which the review was written.
        pub(crate) date: Single<String> = "date",
        pub(crate) headline: Reference = "headline",
        pub(crate) language: Reference = "language",
        pub(crate) pros: Reference = "pros",
        pub(crate) cons: Reference = "cons",
    }
}
