//! Short ways to build what the hotel capabilities answer with. A field that is
//! not asked for is left empty; fill it with `..` where the supplier knows it.

use crate::hotel_pricing::Offer;
use crate::types::hotel::{CancellationPolicy, HotelSummary, RoomRate};
use crate::types::{Board, MinorUnits};

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
    /// Cancelling gives nothing back.
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
    /// A non-refundable room; the board's name is the usual one.
    pub fn new(name: impl Into<String>, board: Board, total: MinorUnits) -> Self {
        let board_name = match board {
            Board::RoomOnly => "Room only",
            Board::Breakfast => "Breakfast included",
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
    /// A non-refundable offer of these rooms at the sum of their totals.
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
