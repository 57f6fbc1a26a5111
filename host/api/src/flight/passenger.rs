//! The passengers of a prebook, and their comparison with the travellers that the fare was priced
//! for.

use crate::extract::Violations;
use host_application::offers::terms::FlightOfferTerms;
use host_domain::flight::{self, passenger};
use host_domain::time::{Date, Timestamp};
use host_resources::value::{CountryCode, IsoDate, same_variants};
use jiff::ToSpan;
use serde::Deserialize;
use std::collections::HashSet;
use utoipa::ToSchema;

const AGE_MAX: i32 = 130;

/// Type of a passenger, by age.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schema(as = PassengerType)]
pub(crate) enum PassengerTypeRequest {
    /// Occupies a seat, aged 12 or older; priced as an adult.
    Adult,
    /// Occupies a seat, aged 2 to 17; priced as a child.
    Child,
    /// Sits on an adult's lap, aged under 2.
    Infant,
}

/// Form of address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schema(as = Title)]
pub(crate) enum TitleRequest {
    Mr,
    Mrs,
    Ms,
    Miss,
    Mx,
    Dr,
}

/// Gender, as in the travel document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[schema(as = Gender)]
pub(crate) enum GenderRequest {
    F,
    M,
    X,
}

/// Type of a travel document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schema(as = DocumentType)]
pub(crate) enum DocumentTypeRequest {
    Passport,
    IdentityCard,
}

/// A travel document. It is stored encrypted and never returned.
#[derive(Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DocumentRequest {
    /// Type of the document.
    #[serde(rename = "type")]
    kind: DocumentTypeRequest,
    /// Document number as printed.
    #[schema(
        min_length = 3,
        max_length = 30,
        pattern = "^[A-Za-z0-9-]+$",
        example = "X1234567"
    )]
    number: String,
    issuing_country: CountryCode,
    /// Last day of validity; must be after today.
    #[schema(example = "2034-05-31")]
    expires_on: IsoDate,
}

/// A membership of an airline's loyalty programme. Its number is stored encrypted and returned
/// masked.
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
    /// Passenger type that the fare was priced for.
    #[serde(rename = "type")]
    kind: PassengerTypeRequest,
    /// Form of address.
    title: Option<TitleRequest>,
    /// First name as in the travel document: letters, spaces, hyphens, apostrophes and full stops.
    #[schema(
        min_length = 1,
        max_length = 100,
        pattern = r"^[^\x00-@\[-`{-\xA0\s][^\x00-\x1F!-&(-,/-@\[-`{-\x9F]*$",
        example = "Ada"
    )]
    first_name: String,
    /// Last name as in the travel document: letters, spaces, hyphens, apostrophes and full stops.
    #[schema(
        min_length = 1,
        max_length = 100,
        pattern = r"^[^\x00-@\[-`{-\xA0\s][^\x00-\x1F!-&(-,/-@\[-`{-\x9F]*$",
        example = "Lovelace"
    )]
    last_name: String,
    /// Date of birth. Must be before today and possible for the passenger's `type`.
    #[schema(example = "1990-12-10")]
    date_of_birth: IsoDate,
    /// Gender, as in the travel document.
    gender: GenderRequest,
    nationality: CountryCode,
    /// Required for every passenger if the offer has `documents_required`.
    document: Option<DocumentRequest>,
    /// Loyalty memberships, at most one for each airline. They may lower `total_amount`.
    #[serde(default)]
    #[schema(max_items = 10)]
    loyalty_accounts: Vec<LoyaltyAccountRequest>,
}

/// Adds violations for impossible dates and for repeated loyalty programmes.
pub(super) fn validate_passengers(
    passengers: &[PassengerRequest],
    now: Timestamp,
    found: &mut Violations<'_>,
) {
    let today = now.date_utc();
    for (index, passenger) in passengers.iter().enumerate() {
        let here = format!("/passengers/{index}");
        let born = format!("{here}/date_of_birth");
        let is_kind_valid = found.are_valid(&[&format!("{here}/type")]);
        let kind = is_kind_valid.then_some(passenger.kind);
        if found.are_valid(&[&born])
            && let Some((code, detail)) = passenger.date_of_birth_violation(kind, today)
        {
            found.push(born, code, detail);
        }
        let expires_on = format!("{here}/document/expires_on");
        if let Some(document) = &passenger.document
            && document.expires_on.0 <= today
            && found.are_valid(&[&expires_on])
        {
            found.push(expires_on, "in_the_past", "must be after today");
        }
        let mut airlines = HashSet::new();
        for (at, account) in passenger.loyalty_accounts.iter().enumerate() {
            let pointer = format!("{here}/loyalty_accounts/{at}");
            let code = format!("{pointer}/airline_iata_code");
            if found.are_valid(&[&code]) && !airlines.insert(&account.airline_iata_code) {
                let detail = "the airline occurs earlier in the list";
                found.push(pointer, "duplicate", detail);
            }
        }
    }
}

impl PassengerRequest {
    /// Returns the violation of the date of birth. The travel date is not available here, but it is
    /// less than a year ahead. A date of birth is invalid if no such travel date fits it;
    /// everything else is checked by the supplier. `kind` is `None` if it is not valid.
    fn date_of_birth_violation(
        &self,
        kind: Option<PassengerTypeRequest>,
        today: Date,
    ) -> Option<(&'static str, &'static str)> {
        let born = self.date_of_birth.0;
        let reached = |years: i32| born.saturating_add(years.years()) <= today;
        if born >= today {
            return Some(("in_the_future", "must be before today"));
        }
        if reached(AGE_MAX) {
            return Some(("too_long_ago", "must be less than 130 years ago"));
        }
        match kind? {
            PassengerTypeRequest::Infant if reached(2) => {
                Some(("other_than_type", "an infant is under 2"))
            }
            PassengerTypeRequest::Child if reached(18) => {
                Some(("other_than_type", "a child is under 18"))
            }
            PassengerTypeRequest::Child if !reached(1) => {
                Some(("other_than_type", "a child is 2 or older"))
            }
            PassengerTypeRequest::Adult if !reached(11) => {
                Some(("other_than_type", "an adult is 12 or older"))
            }
            PassengerTypeRequest::Adult
            | PassengerTypeRequest::Child
            | PassengerTypeRequest::Infant => None,
        }
    }
}

/// Adds violations for passengers that are not the travellers that the fare was priced for, in any order,
/// and for missing documents.
pub(super) fn validate_travellers(
    offer: &FlightOfferTerms,
    passengers: &[PassengerRequest],
    found: &mut Violations<'_>,
) {
    const PASSENGERS: &str = "/passengers";
    let travellers = &offer.travellers;
    let priced = [
        (PassengerTypeRequest::Adult, usize::from(travellers.adults)),
        (PassengerTypeRequest::Child, travellers.children.len()),
        (
            PassengerTypeRequest::Infant,
            usize::from(travellers.infants),
        ),
    ];
    let of = |kind| passengers.iter().filter(move |one| one.kind == kind);
    let is_other = |(kind, wanted): &(PassengerTypeRequest, usize)| of(*kind).count() != *wanted;
    let is_kind_valid = |index| found.are_valid(&[&format!("{PASSENGERS}/{index}/type")]);
    // A list without passengers is a violation of its own.
    let are_known = found.are_valid(&[PASSENGERS]) && !passengers.is_empty();
    if are_known && (0..passengers.len()).all(is_kind_valid) && priced.iter().any(is_other) {
        let [(_, adults), (_, children), (_, infants)] = priced;
        let detail =
            format!("the fare is for {adults} adults, {children} children and {infants} infants");
        found.push(PASSENGERS, "other_than_offered", detail);
    }
    if !offer.documents_required {
        return;
    }
    for (index, passenger) in passengers.iter().enumerate() {
        let document = format!("{PASSENGERS}/{index}/document");
        if passenger.document.is_none() && found.are_valid(&[&document]) {
            found.push(document, "required", "a travel document is required");
        }
    }
}

impl From<PassengerRequest> for flight::Passenger {
    fn from(request: PassengerRequest) -> Self {
        let accounts = request.loyalty_accounts.into_iter();
        Self {
            passenger_type: request.kind.into(),
            title: request.title.map(passenger::Title::from),
            first_name: request.first_name,
            last_name: request.last_name,
            date_of_birth: request.date_of_birth.0,
            gender: match request.gender {
                GenderRequest::F => passenger::Gender::Female,
                GenderRequest::M => passenger::Gender::Male,
                GenderRequest::X => passenger::Gender::Unspecified,
            },
            nationality: Some(request.nationality.to_alpha2()),
            document: request.document.map(passenger::Document::from),
            loyalty_accounts: accounts.map(passenger::LoyaltyAccount::from).collect(),
        }
    }
}

same_variants! { PassengerTypeRequest => passenger::PassengerType: Adult, Child, Infant }

same_variants! { TitleRequest => passenger::Title: Mr, Mrs, Ms, Miss, Mx, Dr }

same_variants! { DocumentTypeRequest => passenger::DocumentType: Passport, IdentityCard }

impl From<DocumentRequest> for passenger::Document {
    fn from(request: DocumentRequest) -> Self {
        Self {
            document_type: request.kind.into(),
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
