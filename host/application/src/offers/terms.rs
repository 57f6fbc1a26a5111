//! The terms of offers, which their references carry.

use host_domain::flight::passenger::Travellers;
use host_domain::hotel::types::{Board, HotelSummary, Loyalty, Promotion, Stay};
use host_domain::id::HotelId;
use host_domain::money::Money;
use host_domain::supplier::SupplierId;
use host_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct HotelOfferTerms {
    pub supplier: SupplierId,
    pub hotel_id: HotelId,
    pub hotel: HotelSummary,
    pub supplier_offer: String,
    pub stay: Stay,
    pub total: Money,
    pub rooms: Vec<OfferedRoom>,
    pub expires_at: Timestamp,
    /// Whether the caller asked for offers that may be sold only together with another travel
    /// service.
    #[serde(default)]
    pub include_package_rates: bool,
    /// The promotions of the offer. Not every supplier states them again at prebook.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub promotions: Vec<Promotion>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loyalty: Option<Loyalty>,
}

/// A room of an offer, with the data that a booking shows.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct OfferedRoom {
    pub name: String,
    pub board: Board,
    pub board_name: String,
    pub total: Money,
}

/// The terms of a fare. The itinerary is not included; prebook reads it again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlightOfferTerms {
    pub supplier: SupplierId,
    pub supplier_offer: String,
    /// Key of which at most one unfinished booking may exist; `None` if the supplier has no such
    /// limit.
    pub exclusive_key: Option<String>,
    pub total: Money,
    /// Travellers that the fare is for. Prebook's passengers must match them.
    pub travellers: Travellers,
    pub documents_required: bool,
    pub expires_at: Timestamp,
}
