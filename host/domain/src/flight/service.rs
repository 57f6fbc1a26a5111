//! Types of services, such as bags, that are sold with a ticket or for it.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServiceType {
    Baggage,
    Seat,
    Meal,
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BaggageType {
    Checked,
    CarryOn,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baggage {
    pub baggage_type: BaggageType,
    /// Maximum weight in kilograms. `None` if not reported.
    pub max_weight_kg: Option<u32>,
}
