//! Conversion of passengers and contact. Nuitee reports invalid passenger data as an internal
//! failure, so the data is checked here first.

use serde_json::{Value, json};
use stopover_sdk::flight_booking::PrebookRequest;
use stopover_sdk::json::without_nulls;
use stopover_sdk::types::flight::{DocumentType, Gender, Passenger, PassengerType};
use stopover_sdk::{Refusal, RefusalReason, time};

use crate::map::phone;

/// Lowest age of an adult, in years. Younger passengers travel as children or infants.
pub(crate) const FIRST_ADULT_AGE: u8 = 12;

fn invalid(message: &str) -> Refusal {
    Refusal::new(RefusalReason::Invalid, message)
}

/// Creates the body of a prebook.
///
/// # Errors
/// The telephone number, a birthday or a gender is not valid for Nuitee.
pub(crate) fn prebook(
    request: &PrebookRequest,
    offer_id: &str,
    departure: &str,
    use_payment_sdk: bool,
) -> Result<Value, Refusal> {
    let types = types(&request.passengers, departure)?;
    // The gateway's contact has no name, so the first adult's name is used.
    let holder = request.passengers.iter().zip(&types);
    let (holder, _) = holder
        .into_iter()
        .find(|(_, passenger_type)| **passenger_type == PassengerType::Adult)
        .ok_or_else(|| invalid("no passenger is an adult"))?;
    let (phone_country_code, phone_number) = phone::split(&request.contact.phone)?;
    let passengers = request.passengers.iter().zip(types);
    let passengers: Result<Vec<Value>, Refusal> = passengers
        .map(|(passenger, passenger_type)| to_wire_passenger(passenger, passenger_type))
        .collect();
    Ok(without_nulls(json!({
        "offerId": offer_id,
        "usePaymentSdk": use_payment_sdk,
        "contact": {
            "firstName": holder.first_name,
            "lastName": holder.last_name,
            "email": request.contact.email,
            "phoneCountryCode": phone_country_code,
            "phoneNumber": phone_number,
        },
        "passengers": passengers?,
    })))
}

/// Returns Nuitee's type of each passenger on the day of departure.
///
/// # Errors
/// A birthday is not a date before departure.
pub(crate) fn types(
    passengers: &[Passenger],
    departure: &str,
) -> Result<Vec<PassengerType>, Refusal> {
    let of_passenger = |passenger: &Passenger| {
        let age = time::age_on(&passenger.date_of_birth, departure)
            .ok_or_else(|| invalid("a passenger's birthday is not a date before departure"))?;
        Ok(match passenger.passenger_type {
            PassengerType::Child if age >= FIRST_ADULT_AGE => PassengerType::Adult,
            other => other,
        })
    };
    passengers.iter().map(of_passenger).collect()
}

fn to_wire_passenger(
    passenger: &Passenger,
    passenger_type: PassengerType,
) -> Result<Value, Refusal> {
    let gender = match passenger.gender {
        Gender::Female => "F",
        Gender::Male => "M",
        Gender::Unspecified => {
            return Err(invalid(
                "Nuitee requires the gender F or M of each passenger",
            ));
        }
    };
    let document = passenger.document.as_ref();
    let programs = passenger.loyalty_accounts.iter();
    let programs: Vec<Value> = programs
        .map(|account| {
            json!({
                "airlineCode": account.airline_iata_code,
                "programNumber": account.membership_number,
            })
        })
        .collect();
    Ok(json!({
        "firstName": passenger.first_name,
        "lastName": passenger.last_name,
        "birthday": passenger.date_of_birth,
        "gender": gender,
        "passengerType": match passenger_type {
            PassengerType::Adult => 0,
            PassengerType::Child => 1,
            PassengerType::Infant => 2,
        },
        "nationality": passenger.nationality,
        "documentType": document.map(|document| match document.document_type {
            DocumentType::Passport => "passport",
            DocumentType::IdentityCard => "id_card",
        }),
        "documentNumber": document.map(|document| &document.number),
        "documentIssueCountry": document.map(|document| &document.issuing_country),
        "documentExpiry": document.map(|document| &document.expires_on),
        "loyaltyPrograms": (!programs.is_empty()).then_some(programs),
    }))
}
