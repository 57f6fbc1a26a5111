//! Who flies.

use crate::time::Date;
use serde::{Deserialize, Serialize};

/// By age at the airline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PassengerType {
    /// With a seat of their own, 12 years or older at most airlines.
    Adult,
    /// With a seat of their own.
    Child,
    /// On an adult's lap.
    Infant,
}

/// How someone is addressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names of the contract")]
pub enum Title {
    Mr,
    Mrs,
    Ms,
    Miss,
    Mx,
    Dr,
}

/// As in the travel document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Gender {
    Female,
    Male,
    Unspecified,
}

/// A kind of travel document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names of the contract")]
pub enum DocumentType {
    Passport,
    IdentityCard,
}

/// A travel document. Sealed wherever it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// Which kind.
    pub document_type: DocumentType,
    /// As printed.
    pub number: String,
    /// ISO 3166-1 alpha-2.
    pub issuing_country: String,
    /// Last day.
    pub expires_on: Date,
}

/// A membership of an airline's programme. Sealed wherever it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoyaltyAccount {
    /// Two characters.
    pub airline_iata_code: String,
    /// The whole number.
    pub membership_number: String,
}

/// A passenger, as the caller names one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passenger {
    /// By age.
    pub passenger_type: PassengerType,
    /// How they are addressed.
    pub title: Option<Title>,
    /// As in the document.
    pub first_name: String,
    /// As in the document.
    pub last_name: String,
    /// Day of birth.
    pub date_of_birth: Date,
    /// As in the document.
    pub gender: Gender,
    /// ISO 3166-1 alpha-2.
    pub nationality: Option<String>,
    /// Where the offer asks for one.
    pub document: Option<Document>,
    /// Programmes.
    pub loyalty_accounts: Vec<LoyaltyAccount>,
}

/// Whom the airline writes to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contact {
    /// Address.
    pub email: String,
    /// E.164, with the leading `+`.
    pub phone: String,
}

/// How many, and how old.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Travellers {
    /// At least one.
    pub adults: u8,
    /// Ages in years, 2 to 17.
    pub children: Vec<u8>,
    /// Younger than two; each on an adult's lap.
    pub infants: u8,
}
