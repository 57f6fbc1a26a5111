//! Conversion of passengers to Skylane's travellers, in pure functions.

use stopover_sdk::types::flight::{
    DocumentType, Gender, LoyaltyAccount, Passenger, PassengerType, Title,
};

use crate::skylane::wire;

pub(crate) fn reprice_request(passengers: &[Passenger]) -> wire::Reprice<'_> {
    let travellers = passengers.iter().map(|passenger| wire::PricedTraveller {
        r#type: traveller_type(passenger.passenger_type),
        loyalty: loyalty(&passenger.loyalty_accounts),
    });
    wire::Reprice {
        travellers: travellers.collect(),
    }
}

pub(crate) fn traveller(passenger: &Passenger) -> wire::Traveller<'_> {
    wire::Traveller {
        r#type: traveller_type(passenger.passenger_type),
        title: passenger.title.map(title),
        given: &passenger.first_name,
        family: &passenger.last_name,
        born: &passenger.date_of_birth,
        gender: match passenger.gender {
            Gender::Female => wire::Gender::F,
            Gender::Male => wire::Gender::M,
            Gender::Unspecified => wire::Gender::X,
        },
        nationality: passenger.nationality.as_deref(),
        document: passenger.document.as_ref().map(|document| wire::Document {
            kind: match document.document_type {
                DocumentType::Passport => wire::DocumentKind::Passport,
                DocumentType::IdentityCard => wire::DocumentKind::IdentityCard,
            },
            number: &document.number,
            country: &document.issuing_country,
            expires: &document.expires_on,
        }),
        loyalty: loyalty(&passenger.loyalty_accounts),
    }
}

fn traveller_type(passenger: PassengerType) -> wire::TravellerType {
    match passenger {
        PassengerType::Adult => wire::TravellerType::Adult,
        PassengerType::Child => wire::TravellerType::Child,
        PassengerType::Infant => wire::TravellerType::Infant,
    }
}

fn title(title: Title) -> &'static str {
    match title {
        Title::Mr => "mr",
        Title::Mrs => "mrs",
        Title::Ms => "ms",
        Title::Miss => "miss",
        Title::Mx => "mx",
        Title::Dr => "dr",
    }
}

fn loyalty(accounts: &[LoyaltyAccount]) -> Vec<wire::Loyalty<'_>> {
    (accounts.iter())
        .map(|account| wire::Loyalty {
            airline: &account.airline_iata_code,
            number: &account.membership_number,
        })
        .collect()
}
