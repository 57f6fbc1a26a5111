//! Passengers of flights.

use crate::time::Date;
use serde::{Deserialize, Serialize};

/// The passenger type, by age at the airline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PassengerType {
    /// A passenger with their own seat, 12 years or older at most airlines.
    Adult,
    /// A child with their own seat.
    Child,
    /// An infant on an adult's lap.
    Infant,
}

/// The form of address of a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Title {
    Mr,
    Mrs,
    Ms,
    Miss,
    Mx,
    Dr,
}

/// Gender as in the travel document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gender {
    Female,
    Male,
    Unspecified,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DocumentType {
    Passport,
    IdentityCard,
}

/// A travel document. It is encrypted wherever it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    pub document_type: DocumentType,
    /// The number as printed.
    pub number: String,
    /// Issuing country, ISO 3166-1 alpha-2.
    pub issuing_country: String,
    /// Last day of validity.
    pub expires_on: Date,
}

/// A membership in an airline's loyalty programme. It is encrypted wherever it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoyaltyAccount {
    /// IATA code of the airline, two characters.
    pub airline_iata_code: String,
    pub membership_number: String,
}

/// A passenger as the client names them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passenger {
    pub passenger_type: PassengerType,
    pub title: Option<Title>,
    /// Given name as in the document.
    pub first_name: String,
    /// Family name as in the document.
    pub last_name: String,
    pub date_of_birth: Date,
    /// Gender as in the document.
    pub gender: Gender,
    /// Nationality, ISO 3166-1 alpha-2.
    pub nationality: Option<String>,
    /// The travel document, if the offer requires one.
    pub document: Option<Document>,
    pub loyalty_accounts: Vec<LoyaltyAccount>,
}

/// The contact for the airline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassengerContact {
    pub email: String,
    /// Phone number in E.164 format, with the leading `+`.
    pub phone: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Travellers {
    /// Number of adults, at least one.
    pub adults: u8,
    /// Ages of the children in years, 2 to 17.
    pub children: Vec<u8>,
    /// Number of infants younger than two. Each sits on an adult's lap.
    pub infants: u8,
}
