//! JSON resources of a hotel search.

use crate::place::LocationResource;
use crate::value::MoneyResource;
use host_domain::hotel::supplier_api;
use host_domain::id::HotelId;
use serde::Serialize;
use utoipa::ToSchema;

/// A hotel found in an area.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct FoundHotelResource {
    #[schema(pattern = "^htl_[a-zA-Z0-9-]+$")]
    hotel_id: String,
    /// The supplier's id of this hotel.
    supplier_hotel_id: String,
    /// Display name.
    name: String,
    /// Address on one line.
    address: String,
    location: LocationResource,
    #[schema(required, minimum = 0, maximum = 5)]
    star_rating: Option<f64>,
    #[schema(required, minimum = 0, maximum = 10)]
    guest_rating: Option<f64>,
    /// Lowest price for the whole stay. Indicative only; request the hotel's price before booking.
    #[schema(required)]
    lowest_total: Option<MoneyResource>,
    /// URL of a picture of the hotel.
    #[schema(required)]
    main_image: Option<String>,
}

pub fn found_hotel(id: &HotelId, hotel: supplier_api::SupplierHotel) -> FoundHotelResource {
    FoundHotelResource {
        hotel_id: id.to_string(),
        supplier_hotel_id: hotel.supplier_hotel_id,
        name: hotel.name,
        address: hotel.address,
        location: hotel.location.into(),
        star_rating: hotel.star_rating,
        guest_rating: hotel.guest_rating,
        lowest_total: hotel.lowest_total.map(MoneyResource::from),
        main_image: hotel.main_image,
    }
}
