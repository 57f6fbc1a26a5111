//! Who flies: the passengers of a prebook, held against what was priced.

use crate::api::extract::Violations;
use crate::api::problem::{ApiError, Violation};
use crate::api::value::{CountryCode, IsoDate};
use crate::offer_reference::FlightOfferTerms;
use host_domain::flight::{self, passenger};
use host_domain::time::{Date, Timestamp};
use jiff::ToSpan;
use serde::Deserialize;
use utoipa::ToSchema;

/// Nobody who flies is older, in years.
const AGE_MAX: i32 = 130;

/// By age at the airline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum PassengerType {
    /// With a seat of their own, 12 or older; priced as an adult.
    Adult,
    /// With a seat of their own, 2 to 17; priced as a child.
    Child,
    /// On an adult's lap, under 2.
    Infant,
}

/// How someone is addressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum Title {
    Mr,
    Mrs,
    Ms,
    Miss,
    Mx,
    Dr,
}

/// As in the travel document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
pub(crate) enum Gender {
    F,
    M,
    X,
}

/// A kind of travel document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum DocumentType {
    Passport,
    IdentityCard,
}

/// A travel document. Stored encrypted and never returned.
#[derive(Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DocumentRequest {
    /// What kind it is.
    #[serde(rename = "type")]
    kind: DocumentType,
    /// As printed.
    #[schema(
        min_length = 3,
        max_length = 30,
        pattern = "^[A-Za-z0-9-]+$",
        example = "X1234567"
    )]
    number: String,
    issuing_country: CountryCode,
    /// Last day on which it is good; after today.
    #[schema(example = "2034-05-31")]
    expires_on: IsoDate,
}

/// A membership of an airline's programme. Its number is stored encrypted and returned masked.
#[derive(Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LoyaltyAccountRequest {
    #[schema(pattern = "^[A-Z0-9]{2}$", example = "BA")]
    airline_iata_code: String,
    #[schema(
        min_length = 1,
        max_length = 40,
        pattern = "^[A-Za-z0-9-]+$",
        example = "10023456"
    )]
    membership_number: String,
}

/// A passenger.
#[derive(Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PassengerRequest {
    /// As the fare was priced for them.
    #[serde(rename = "type")]
    kind: PassengerType,
    /// How they are addressed.
    title: Option<Title>,
    /// As in the travel document: letters, spaces, hyphens, apostrophes and full stops.
    #[schema(
        min_length = 1,
        max_length = 100,
        pattern = r"^[^\x00-@\[-`{-\xA0\s][^\x00-\x1F!-&(-,/-@\[-`{-\x9F]*$",
        example = "Ada"
    )]
    first_name: String,
    /// As in the travel document: letters, spaces, hyphens, apostrophes and full stops.
    #[schema(
        min_length = 1,
        max_length = 100,
        pattern = r"^[^\x00-@\[-`{-\xA0\s][^\x00-\x1F!-&(-,/-@\[-`{-\x9F]*$",
        example = "Lovelace"
    )]
    last_name: String,
    /// Before today, and not so that the passenger cannot be of their `type`.
    #[schema(example = "1990-12-10")]
    date_of_birth: IsoDate,
    /// As in the travel document.
    gender: Gender,
    nationality: CountryCode,
    /// Needed of every passenger when the offer says `documents_required`.
    document: Option<DocumentRequest>,
    /// At most one an airline. They may lower `total_amount`.
    #[serde(default)]
    #[schema(max_items = 10)]
    loyalty_accounts: Vec<LoyaltyAccountRequest>,
}

/// Notes days that cannot be, and a programme that is named twice.
pub(super) fn validate_passengers(passengers: &[PassengerRequest], now: Timestamp, found: &mut Violations<'_>) {
    let today = now.date_utc();
    for (index, passenger) in passengers.iter().enumerate() {
        let here = format!("/passengers/{index}");
        if let Some((code, detail)) = passenger.date_of_birth_violation(today) {
            found.push(format!("{here}/date_of_birth"), code, detail);
        }
        if let Some(document) = &passenger.document
            && document.expires_on.0 <= today
        {
            let pointer = format!("{here}/document/expires_on");
            found.push(pointer, "in_the_past", "must be after today");
        }
        let accounts = &passenger.loyalty_accounts;
        for (at, account) in accounts.iter().enumerate() {
            let mut before = accounts.iter().take(at);
            if before.any(|known| known.airline_iata_code == account.airline_iata_code) {
                found.push(
                    format!("{here}/loyalty_accounts/{at}"),
                    "duplicate",
                    "the airline stands in the list before",
                );
            }
        }
    }
}

impl PassengerRequest {
    /// What is wrong with the day of birth. The day of travel is not known here, only that it is
    /// less than a year ahead: what no such day makes right is wrong, the rest is for the supplier
    /// to say.
    fn date_of_birth_violation(&self, today: Date) -> Option<(&'static str, &'static str)> {
        let born = self.date_of_birth.0;
        let reached = |years: i32| born.saturating_add(years.years()) <= today;
        if born >= today {
            return Some(("in_the_future", "must be before today"));
        }
        if reached(AGE_MAX) {
            return Some(("too_long_ago", "nobody is this old"));
        }
        match self.kind {
            PassengerType::Infant if reached(2) => {
                Some(("other_than_type", "an infant is under 2"))
            }
            PassengerType::Child if reached(18) => Some(("other_than_type", "a child is under 18")),
            PassengerType::Child if !reached(1) => {
                Some(("other_than_type", "a child is 2 or older"))
            }
            PassengerType::Adult if !reached(11) => {
                Some(("other_than_type", "an adult is 12 or older"))
            }
            PassengerType::Adult | PassengerType::Child | PassengerType::Infant => None,
        }
    }
}

/// The passengers, if they are those that the fare was priced for, in whatever order; every
/// violation at once.
pub(super) fn match_passengers(
    offer: &FlightOfferTerms,
    passengers: Vec<PassengerRequest>,
) -> Result<Vec<flight::Passenger>, ApiError> {
    let mut violations = Vec::new();
    let travellers = &offer.travellers;
    let priced = [
        (PassengerType::Adult, usize::from(travellers.adults)),
        (PassengerType::Child, travellers.children.len()),
        (PassengerType::Infant, usize::from(travellers.infants)),
    ];
    let of = |kind| passengers.iter().filter(move |one| one.kind == kind);
    if priced
        .iter()
        .any(|(kind, wanted)| of(*kind).count() != *wanted)
    {
        let [(_, adults), (_, children), (_, infants)] = priced;
        let detail =
            format!("the fare is for {adults} adults, {children} children and {infants} infants");
        let other = Violation::body("/passengers", "other_than_offered", detail);
        violations.push(other);
    }
    if offer.documents_required {
        let without = passengers.iter().enumerate();
        let without = without.filter(|(_, passenger)| passenger.document.is_none());
        violations.extend(without.map(|(index, _)| {
            let pointer = format!("/passengers/{index}/document");
            Violation::body(pointer, "required", "the airline wants a travel document")
        }));
    }
    if violations.is_empty() {
        Ok(passengers
            .into_iter()
            .map(flight::Passenger::from)
            .collect())
    } else {
        Err(ApiError::violations(violations))
    }
}

impl From<PassengerRequest> for flight::Passenger {
    fn from(request: PassengerRequest) -> Self {
        let accounts = request.loyalty_accounts.into_iter();
        Self {
            passenger_type: match request.kind {
                PassengerType::Adult => passenger::PassengerType::Adult,
                PassengerType::Child => passenger::PassengerType::Child,
                PassengerType::Infant => passenger::PassengerType::Infant,
            },
            title: request.title.map(passenger::Title::from),
            first_name: request.first_name,
            last_name: request.last_name,
            date_of_birth: request.date_of_birth.0,
            gender: match request.gender {
                Gender::F => passenger::Gender::Female,
                Gender::M => passenger::Gender::Male,
                Gender::X => passenger::Gender::Unspecified,
            },
            nationality: Some(request.nationality.to_alpha2()),
            document: request.document.map(passenger::Document::from),
            loyalty_accounts: accounts.map(passenger::LoyaltyAccount::from).collect(),
        }
    }
}

impl From<Title> for passenger::Title {
    fn from(title: Title) -> Self {
        match title {
            Title::Mr => Self::Mr,
            Title::Mrs => Self::Mrs,
            Title::Ms => Self::Ms,
            Title::Miss => Self::Miss,
            Title::Mx => Self::Mx,
            Title::Dr => Self::Dr,
        }
    }
}

impl From<DocumentRequest> for passenger::Document {
    fn from(request: DocumentRequest) -> Self {
        Self {
            document_type: match request.kind {
                DocumentType::Passport => passenger::DocumentType::Passport,
                DocumentType::IdentityCard => passenger::DocumentType::IdentityCard,
            },
            number: request.number,
            issuing_country: request.issuing_country.to_alpha2(),
            expires_on: request.expires_on.0,
        }
    }
}

impl From<LoyaltyAccountRequest> for passenger::LoyaltyAccount {
    fn from(request: LoyaltyAccountRequest) -> Self {
        Self {
            airline_iata_code: request.airline_iata_code,
            membership_number: request.membership_number,
        }
    }
}
