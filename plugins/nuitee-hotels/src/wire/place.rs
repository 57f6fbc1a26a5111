//! `GET /data/places` and `GET /data/places/{placeId}`.

use stopover_sdk::lenient::{Essential, LenientList, NonEmptyText, Part};
use stopover_sdk::lenient_struct;

use crate::wire::{Coordinates, Reference};

lenient_struct! {
    #[derive(Debug)]
    pub(crate) struct Suggestion {
        pub(crate) place_id: Essential<NonEmptyText> = "placeId",
        pub(crate) display_name: Reference = "displayName",
        pub(crate) formatted_address: Reference = "formattedAddress",
        pub(crate) types: Part<LenientList<String>> = "types",
    }

    #[derive(Debug)]
    pub(crate) struct Place {
        pub(crate) address_components: Part<LenientList<AddressComponent>> = "addressComponents",
        pub(crate) location: Essential<Coordinates> = "location",
        pub(crate) viewport: Part<Viewport> = "viewport",
    }

    #[derive(Debug)]
    pub(crate) struct AddressComponent {
        pub(crate) long_text: Reference = "longText",
        pub(crate) short_text: Reference = "shortText",
        pub(crate) types: Part<LenientList<String>> = "types",
    }

    #[derive(Debug)]
    pub(crate) struct Viewport {
        pub(crate) high: Essential<Coordinates> = "high",
        pub(crate) low: Essential<Coordinates> = "low",
    }
}
