//! What a hotel looks like, and what guests say.

use crate::api::value::{CountryCode, IsoDate};
use crate::render::place::{Location, country};
use host_domain::hotel::content;
use host_domain::id::HotelId;
use serde::Serialize;
use utoipa::ToSchema;

/// Where a hotel is.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct HotelAddress {
    /// Street and number.
    #[schema(required)]
    line1: Option<String>,
    #[schema(required)]
    city: Option<String>,
    /// State, county, canton.
    #[schema(required)]
    region: Option<String>,
    #[schema(required)]
    postal_code: Option<String>,
    #[schema(required)]
    country_code: Option<CountryCode>,
}

/// A picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct HotelImage {
    url: String,
    /// What it shows.
    #[schema(required)]
    caption: Option<String>,
    /// Pixels.
    #[schema(required)]
    width: Option<u32>,
    /// Pixels.
    #[schema(required)]
    height: Option<u32>,
}

/// A rule of the house.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct HotelPolicy {
    name: String,
    /// Plain text.
    text: String,
}

/// A kind of room.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct RoomContent {
    name: String,
    /// Plain text.
    #[schema(required)]
    description: Option<String>,
    /// People.
    #[schema(required)]
    max_occupancy: Option<u32>,
    /// At most 20.
    #[schema(max_items = 20)]
    images: Vec<HotelImage>,
}

/// What a hotel is. Null: the supplier gave no value.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct HotelDetails {
    name: String,
    /// Plain text.
    #[schema(required)]
    description: Option<String>,
    #[schema(required, minimum = 0, maximum = 5)]
    star_rating: Option<f64>,
    #[schema(required, minimum = 0, maximum = 10)]
    guest_rating: Option<f64>,
    /// How many guests rated.
    #[schema(required)]
    review_count: Option<u32>,
    address: HotelAddress,
    #[schema(required)]
    location: Option<Location>,
    /// IANA name.
    #[schema(required, example = "Europe/Paris")]
    time_zone: Option<String>,
    /// Local time.
    #[schema(required, pattern = "^[0-9]{2}:[0-9]{2}$", example = "15:00")]
    check_in_from: Option<String>,
    /// Local time.
    #[schema(required, pattern = "^[0-9]{2}:[0-9]{2}$", example = "11:00")]
    check_out_until: Option<String>,
    #[schema(required)]
    phone: Option<String>,
    #[schema(required)]
    email: Option<String>,
    amenities: Vec<String>,
    /// At most 20.
    #[schema(max_items = 20)]
    images: Vec<HotelImage>,
    policies: Vec<HotelPolicy>,
    rooms: Vec<RoomContent>,
}

/// What one guest says; never who.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct HotelReview {
    #[schema(required, minimum = 0, maximum = 10)]
    rating: Option<f64>,
    /// Headline.
    #[schema(required)]
    title: Option<String>,
    /// What was good.
    #[schema(required)]
    pros: Option<String>,
    /// What was not.
    #[schema(required)]
    cons: Option<String>,
    /// All else.
    #[schema(required)]
    text: Option<String>,
    /// BCP 47.
    #[schema(required)]
    language: Option<String>,
    /// Couple, family, solo …
    #[schema(required)]
    traveller_type: Option<String>,
    #[schema(required)]
    stayed_on: Option<IsoDate>,
}

/// What guests say.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct HotelReviews {
    #[schema(required, minimum = 0, maximum = 10)]
    average: Option<f64>,
    /// How many there are at the supplier.
    count: u32,
    /// At most 20.
    #[schema(max_items = 20)]
    items: Vec<HotelReview>,
}

/// Details and reviews of a hotel.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct HotelContent {
    #[schema(
        pattern = "^htl_[a-zA-Z0-9-]+$",
        example = "htl_01976f3e4a5b7c8d9e0f112233445566"
    )]
    hotel_id: String,
    details: HotelDetails,
    /// Null: the supplier has none.
    #[schema(required)]
    reviews: Option<HotelReviews>,
}

/// The content of a hotel.
pub(crate) fn hotel_content(
    id: &HotelId,
    details: content::HotelDetails,
    reviews: Option<content::Reviews>,
) -> HotelContent {
    HotelContent {
        hotel_id: id.to_string(),
        details: self::details(details),
        reviews: reviews.map(self::reviews),
    }
}

fn details(details: content::HotelDetails) -> HotelDetails {
    HotelDetails {
        name: details.name,
        description: details.description,
        star_rating: details.star_rating,
        guest_rating: details.guest_rating,
        review_count: details.review_count,
        address: HotelAddress {
            line1: details.address_line,
            city: details.city,
            region: details.region,
            postal_code: details.postal_code,
            country_code: details.country.as_deref().and_then(country),
        },
        location: details.location.map(Location::from),
        time_zone: details.time_zone,
        check_in_from: details.check_in_from,
        check_out_until: details.check_out_until,
        phone: details.phone,
        email: details.email,
        amenities: details.amenities,
        images: images(details.images),
        policies: details
            .policies
            .into_iter()
            .map(|policy| HotelPolicy {
                name: policy.name,
                text: policy.text,
            })
            .collect(),
        rooms: details.rooms.into_iter().map(room).collect(),
    }
}

fn images(images: Vec<content::Image>) -> Vec<HotelImage> {
    let shown = images.into_iter().take(content::CONTENT_ITEMS_MAX);
    shown
        .map(|image| HotelImage {
            url: image.url,
            caption: image.caption,
            width: image.width,
            height: image.height,
        })
        .collect()
}

fn room(room: content::RoomContent) -> RoomContent {
    RoomContent {
        name: room.name,
        description: room.description,
        max_occupancy: room.max_occupancy.map(u32::from),
        images: images(room.images),
    }
}

fn reviews(reviews: content::Reviews) -> HotelReviews {
    let items = reviews.items.into_iter().take(content::CONTENT_ITEMS_MAX);
    let items = items.map(|review| HotelReview {
        rating: review.rating,
        title: review.title,
        pros: review.pros,
        cons: review.cons,
        text: review.text,
        language: review.language,
        traveller_type: review.traveller_type,
        stayed_on: review.stayed_on.map(IsoDate::from),
    });
    HotelReviews {
        average: reviews.average,
        count: reviews.count,
        items: items.collect(),
    }
}
