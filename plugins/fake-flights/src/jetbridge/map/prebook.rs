//! Conversion of Jetbridge's prebooks, in pure functions.

use stopover_sdk::flight_booking::{PrebookRequest, PrebookResponse};
use stopover_sdk::json::DecodeError;
use stopover_sdk::types::Checkout;
use stopover_sdk::types::flight::{DocumentType, Gender, Passenger, PassengerType, Title};

use crate::jetbridge::map::amount;
use crate::jetbridge::map::fare::conditions;
use crate::jetbridge::map::itinerary::{PassengerCount, journeys};
use crate::jetbridge::wire;
use stopover_sdk::json::non_empty;

pub(crate) fn prebook_request(request: &PrebookRequest) -> wire::PrebookRequest<'_> {
    wire::PrebookRequest {
        fare_key: &request.supplier_offer,
        client_ref: &request.client_reference,
        contact: wire::Contact {
            mail: &request.contact.email,
            phone: &request.contact.phone,
        },
        pax: request.passengers.iter().map(passenger).collect(),
    }
}

pub(crate) fn passenger(passenger: &Passenger) -> wire::Passenger<'_> {
    let accounts = passenger.loyalty_accounts.iter();
    wire::Passenger {
        r#type: match passenger.passenger_type {
            PassengerType::Adult => wire::PassengerType::Adult,
            PassengerType::Child => wire::PassengerType::Child,
            PassengerType::Infant => wire::PassengerType::Infant,
        },
        title: passenger.title.map(title),
        first: &passenger.first_name,
        last: &passenger.last_name,
        birth: &passenger.date_of_birth,
        sex: match passenger.gender {
            Gender::Female => wire::Sex::F,
            Gender::Male => wire::Sex::M,
            Gender::Unspecified => wire::Sex::X,
        },
        nation: passenger.nationality.as_deref(),
        doc: passenger.document.as_ref().map(|document| wire::Document {
            r#type: match document.document_type {
                DocumentType::Passport => wire::DocumentType::Passport,
                DocumentType::IdentityCard => wire::DocumentType::IdentityCard,
            },
            no: &document.number,
            country: &document.issuing_country,
            expiry: &document.expires_on,
        }),
        ffp: accounts
            .map(|account| wire::FrequentFlyer {
                airline: &account.airline_iata_code,
                no: &account.membership_number,
            })
            .collect(),
    }
}

fn title(title: Title) -> &'static str {
    match title {
        Title::Mr => "MR",
        Title::Mrs => "MRS",
        Title::Ms => "MS",
        Title::Miss => "MISS",
        Title::Mx => "MX",
        Title::Dr => "DR",
    }
}

pub(crate) fn prebook_response(
    prebook: wire::Prebook,
    request: &PrebookRequest,
) -> Result<PrebookResponse, DecodeError> {
    let currency = request.currency.clone();
    let seats = PassengerCount::of(&request.passengers);
    Ok(PrebookResponse {
        supplier_prebook: prebook.prebook_id,
        total: amount(prebook.price, &currency)?,
        fare: Some(amount(prebook.fare, &currency)?),
        fare_tax: Some(amount(prebook.tax, &currency)?),
        fare_conditions: conditions(prebook.conditions)?,
        documents_required: prebook.needs_document,
        journeys: journeys(prebook.journeys, seats)?,
        expires_at: Some(prebook.valid_until),
        checkout: Some(Checkout {
            url: non_empty(prebook.checkout.url),
            token: prebook.checkout.token,
        }),
        currency,
    })
}
