//! A supplier with one place that makes no outbound call, so that only the cost of the plugin call
//! is measured. It panics where a test wants a panic of a component that is built with the SDK.

use stopover_sdk::hotel_places::{Place, PlaceQuery};
use stopover_sdk::types::{Location, ReadError};
use stopover_sdk::{Description, HotelPlaces, Plugin};

pub struct BenchSupplier;

stopover_sdk::export!(BenchSupplier: plugin, hotel_places);

impl Plugin for BenchSupplier {
    fn describe() -> Description {
        Description::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
    }
}

impl HotelPlaces for BenchSupplier {
    fn find_places(query: PlaceQuery) -> Result<Vec<Place>, ReadError> {
        assert!(query.text != "PANIC", "a panic as requested");
        Ok(vec![Place {
            supplier_place_id: "p1".to_owned(),
            name: query.text,
            address: "Lazio, Italy".to_owned(),
            location: Location {
                latitude: 41.9,
                longitude: 12.5,
            },
            suggested_radius: Some(12_000.0),
            country: query.country,
            city: None,
            types: vec!["locality".to_owned()],
            alternatives: Vec::new(),
        }])
    }
}
