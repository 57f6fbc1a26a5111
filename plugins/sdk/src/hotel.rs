//! Constructors for the results of the hotel capabilities. Fields without a parameter are empty;
//! set them with struct-update syntax (`..`) if the supplier returns a value.

use crate::hotel_pricing::Offer;
use crate::hotel_search::Filters;
use crate::types::hotel::{CancellationPolicy, HotelSummary, RoomRate};
use crate::types::hotel_details::{OfferDetails, PolicyDetails, RoomDetails};
use crate::types::{Board, MinorUnits};

impl Default for Filters {
    /// Creates filters that exclude nothing.
    fn default() -> Self {
        Self {
            min_star_rating: None,
            min_guest_rating: None,
            refundable: None,
            boards: Vec::new(),
            max_total: None,
        }
    }
}

impl HotelSummary {
    pub fn new(supplier_hotel_id: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            supplier_hotel_id: supplier_hotel_id.into(),
            name: name.into(),
            address: String::new(),
            location: None,
            time_zone: None,
        }
    }
}

impl CancellationPolicy {
    /// A policy under which a cancellation refunds nothing.
    pub fn non_refundable() -> Self {
        Self {
            refundable: false,
            free_until: None,
            penalties: Vec::new(),
            restrictions: Vec::new(),
        }
    }
}

impl RoomRate {
    /// Creates a non-refundable room with the usual display name of the board.
    pub fn new(name: impl Into<String>, board: Board, total: MinorUnits) -> Self {
        let board_name = match board {
            Board::RoomOnly => "Room only",
            Board::BedAndBreakfast => "Breakfast included",
            Board::HalfBoard => "Half board",
            Board::FullBoard => "Full board",
            Board::AllInclusive => "All inclusive",
            Board::Other => "Other board",
        };
        Self {
            name: name.into(),
            board,
            board_name: board_name.to_owned(),
            total,
            due_at_property: None,
            policy: CancellationPolicy::non_refundable(),
        }
    }
}

impl Offer {
    /// Creates a non-refundable offer of these rooms with the sum of their totals.
    pub fn new(supplier_offer: impl Into<String>, rooms: Vec<RoomRate>) -> Self {
        Self {
            supplier_offer: supplier_offer.into(),
            total: rooms.iter().map(|room| room.total).sum(),
            rooms,
            policy: CancellationPolicy::non_refundable(),
            promotions: Vec::new(),
            loyalty: None,
            expires_at: None,
        }
    }
}

impl Default for PolicyDetails {
    /// Creates the details of a supplier that states none.
    fn default() -> Self {
        Self {
            refund_type: None,
            penalties: Vec::new(),
        }
    }
}

impl Default for RoomDetails {
    /// Creates the details of a supplier that states none.
    fn default() -> Self {
        Self {
            remarks: None,
            perks: Vec::new(),
            taxes: Vec::new(),
            max_occupancy: None,
            policy: PolicyDetails::default(),
        }
    }
}

impl Default for OfferDetails {
    /// Creates the details of a supplier that states none, and has no package rates.
    fn default() -> Self {
        Self {
            rooms: Vec::new(),
            policy: PolicyDetails::default(),
            payment_types: Vec::new(),
            package_only: false,
        }
    }
}
