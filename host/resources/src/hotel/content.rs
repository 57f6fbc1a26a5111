//! JSON resources of hotel details and guest reviews.

use crate::place::{LocationResource, country};
use crate::value::{CountryCode, IsoDate};
use host_domain::hotel::content;
use host_domain::id::HotelId;
use serde::Serialize;
use utoipa::ToSchema;

/// The postal address of a hotel.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct HotelAddressResource {
    /// Street and number.
    #[schema(required)]
    line1: Option<String>,
    #[schema(required)]
    city: Option<String>,
    /// State, county or canton.
    #[schema(required)]
    region: Option<String>,
    #[schema(required)]
    postal_code: Option<String>,
    #[schema(required)]
    country_code: Option<CountryCode>,
}

/// A picture of a hotel or room.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct HotelImageResource {
    url: String,
    /// Description of what the picture shows.
    #[schema(required)]
    caption: Option<String>,
    /// Width in pixels.
    #[schema(required)]
    width: Option<u32>,
    /// Height in pixels.
    #[schema(required)]
    height: Option<u32>,
}

/// A rule of the hotel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = HousePolicy)]
pub struct HotelPolicyResource {
    name: String,
    /// Text of the rule, without markup.
    text: String,
}

/// A room type of a hotel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RoomContentResource {
    name: String,
    /// Description without markup.
    #[schema(required)]
    description: Option<String>,
    /// Maximum number of guests.
    #[schema(required)]
    max_occupancy: Option<u32>,
    /// Pictures of the room, at most 20.
    #[schema(max_items = 20)]
    images: Vec<HotelImageResource>,
}

/// Static information about a hotel. A field is null if the supplier gives no value.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct HotelDetailsResource {
    name: String,
    /// Description without markup.
    #[schema(required)]
    description: Option<String>,
    #[schema(required, minimum = 0, maximum = 5)]
    star_rating: Option<f64>,
    #[schema(required, minimum = 0, maximum = 10)]
    guest_rating: Option<f64>,
    /// Number of guests who rated the hotel.
    #[schema(required)]
    review_count: Option<u32>,
    address: HotelAddressResource,
    #[schema(required)]
    location: Option<LocationResource>,
    /// IANA name of the hotel's time zone.
    #[schema(required, example = "Europe/Paris")]
    time_zone: Option<String>,
    /// Earliest check-in, in local time.
    #[schema(required, pattern = "^[0-9]{2}:[0-9]{2}$", example = "15:00")]
    check_in_from: Option<String>,
    /// Latest check-out, in local time.
    #[schema(required, pattern = "^[0-9]{2}:[0-9]{2}$", example = "11:00")]
    check_out_until: Option<String>,
    #[schema(required)]
    phone: Option<String>,
    #[schema(required)]
    email: Option<String>,
    amenities: Vec<String>,
    /// Pictures of the hotel, at most 20.
    #[schema(max_items = 20)]
    images: Vec<HotelImageResource>,
    policies: Vec<HotelPolicyResource>,
    rooms: Vec<RoomContentResource>,
}

/// A review by one guest, without the guest's identity.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct HotelReviewResource {
    #[schema(required, minimum = 0, maximum = 10)]
    rating: Option<f64>,
    /// Headline of the review.
    #[schema(required)]
    title: Option<String>,
    /// Positive remarks of the guest.
    #[schema(required)]
    pros: Option<String>,
    /// Negative remarks of the guest.
    #[schema(required)]
    cons: Option<String>,
    /// Remaining text of the review.
    #[schema(required)]
    text: Option<String>,
    /// Language of the review as a BCP 47 tag.
    #[schema(required)]
    language: Option<String>,
    /// Type of traveller, such as couple, family or solo.
    #[schema(required)]
    traveller_type: Option<String>,
    #[schema(required)]
    stayed_on: Option<IsoDate>,
}

/// Guest reviews of a hotel.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct HotelReviewsResource {
    #[schema(required, minimum = 0, maximum = 10)]
    average: Option<f64>,
    /// Total number of reviews at the supplier.
    count: u32,
    /// Reviews, at most 20.
    #[schema(max_items = 20)]
    items: Vec<HotelReviewResource>,
}

/// Details and reviews of a hotel.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct HotelContentResource {
    #[schema(pattern = "^htl_[a-zA-Z0-9-]+$")]
    hotel_id: String,
    details: HotelDetailsResource,
    /// Guest reviews. Null if the supplier has none.
    #[schema(required)]
    reviews: Option<HotelReviewsResource>,
}

pub fn hotel_content(
    id: &HotelId,
    details: content::HotelDetails,
    reviews: Option<content::Reviews>,
) -> HotelContentResource {
    HotelContentResource {
        hotel_id: id.to_string(),
        details: self::details(details),
        reviews: reviews.map(self::reviews),
    }
}

fn details(details: content::HotelDetails) -> HotelDetailsResource {
    let policies = details.policies.into_iter();
    let policies =
        policies.map(|content::HouseRule { name, text }| HotelPolicyResource { name, text });
    HotelDetailsResource {
        name: details.name,
        description: details.description,
        star_rating: details.star_rating,
        guest_rating: details.guest_rating,
        review_count: details.review_count,
        address: HotelAddressResource {
            line1: details.address_line,
            city: details.city,
            region: details.region,
            postal_code: details.postal_code,
            country_code: details.country.as_deref().and_then(country),
        },
        location: details.location.map(LocationResource::from),
        time_zone: details.time_zone,
        check_in_from: details.check_in_from,
        check_out_until: details.check_out_until,
        phone: details.phone,
        email: details.email,
        amenities: details.amenities,
        images: images(details.images),
        policies: policies.collect(),
        rooms: details.rooms.into_iter().map(room).collect(),
    }
}

fn images(images: Vec<content::Image>) -> Vec<HotelImageResource> {
    let shown = images.into_iter().take(content::CONTENT_ITEMS_MAX);
    shown
        .map(|image| HotelImageResource {
            url: image.url,
            caption: image.caption,
            width: image.width,
            height: image.height,
        })
        .collect()
}

fn room(room: content::RoomContent) -> RoomContentResource {
    RoomContentResource {
        name: room.name,
        description: room.description,
        max_occupancy: room.max_occupancy.map(u32::from),
        images: images(room.images),
    }
}

fn reviews(reviews: content::Reviews) -> HotelReviewsResource {
    let items = reviews.items.into_iter().take(content::CONTENT_ITEMS_MAX);
    let items = items.map(|review| HotelReviewResource {
        rating: review.rating,
        title: review.title,
        pros: review.pros,
        cons: review.cons,
        text: review.text,
        language: review.language,
        traveller_type: review.traveller_type,
        stayed_on: review.stayed_on.map(IsoDate::from),
    });
    HotelReviewsResource {
        average: reviews.average,
        count: reviews.count,
        items: items.collect(),
    }
}
