//! JSON resources of what a supplier states about a room beyond its price and policy.

use crate::value::{MoneyResource, same_variants};
use host_domain::hotel::{self, PaymentPoint};
use serde::Serialize;
use utoipa::ToSchema;

/// The place and time at which a tax or fee is paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum PaymentPointResource {
    /// It is part of the total.
    Booking,
    /// At the hotel, on arrival.
    CheckIn,
    /// At the hotel, on departure.
    CheckOut,
    /// At the hotel, at a time that the supplier does not state.
    Property,
}

/// A tax or fee of a room for the whole stay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RoomTaxResource {
    /// Display name.
    description: String,
    /// Amount, in the currency in which it is paid.
    amount: MoneyResource,
    /// Whether the total includes it.
    included: bool,
    /// Place and time of the payment.
    payable_at: PaymentPointResource,
}

/// A benefit that the price of a room includes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RoomPerkResource {
    /// Display name.
    name: String,
    /// The value of the benefit. Omitted if the supplier does not state it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    value: Option<MoneyResource>,
}

/// Occupancy, remarks, perks and taxes of a room.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RoomDetailsResource {
    /// Number of guests for whom the room has space. Omitted if the supplier does not state it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false, minimum = 1, maximum = 255)]
    max_occupancy: Option<u32>,
    /// Remarks of the hotel on the room and its price, without markup. Omitted if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    remarks: Option<String>,
    /// Benefits that the price includes. Omitted if the supplier states none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    perks: Vec<RoomPerkResource>,
    /// Taxes and fees for the whole stay: those in the total, and those paid at the hotel. Omitted if
    /// the supplier states none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    taxes: Vec<RoomTaxResource>,
}

impl From<&hotel::RoomDetails> for RoomDetailsResource {
    fn from(details: &hotel::RoomDetails) -> Self {
        Self {
            max_occupancy: details.max_occupancy.map(u32::from),
            remarks: details.remarks.clone(),
            perks: details.perks.iter().map(RoomPerkResource::from).collect(),
            taxes: details.taxes.iter().map(RoomTaxResource::from).collect(),
        }
    }
}

impl From<&hotel::RoomTax> for RoomTaxResource {
    fn from(tax: &hotel::RoomTax) -> Self {
        Self {
            description: tax.description.clone(),
            amount: tax.amount.into(),
            included: tax.payable_at == PaymentPoint::Booking,
            payable_at: tax.payable_at.into(),
        }
    }
}

impl From<&hotel::RoomPerk> for RoomPerkResource {
    fn from(perk: &hotel::RoomPerk) -> Self {
        Self {
            name: perk.name.clone(),
            value: perk.value.map(MoneyResource::from),
        }
    }
}

same_variants! { PaymentPointResource <= PaymentPoint: Booking, CheckIn, CheckOut, Property }
