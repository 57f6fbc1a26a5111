//! Travel documents and full membership numbers. They are stored encrypted and decrypted only to be
//! sent to the supplier.

use crate::id_generator::IdGenerator;
use crate::sealer::{SealError, Sealer};
use host_domain::booking::mask_membership_number;
use host_domain::flight::booking::{BookedPassenger, FlightBooking};
use host_domain::flight::{Document, LoyaltyAccount, Passenger};
use host_domain::id::{BookingId, PassengerId};
use host_domain::owner::Owner;
use host_runtime::CallContext;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

const PURPOSE: &str = "flight_passengers";

#[derive(Default, Serialize, Deserialize)]
struct SecretPassengerData {
    document: Option<Document>,
    loyalty_accounts: Vec<LoyaltyAccount>,
}

#[derive(Clone)]
pub struct PassengerSecrets {
    pub(crate) ids: Arc<dyn IdGenerator>,
    pub(crate) sealer: Arc<Sealer>,
}

impl PassengerSecrets {
    /// Returns passengers as a booking shows them, and their secret data encrypted.
    pub fn seal(
        &self,
        owner: &Owner,
        booking: &BookingId,
        passengers: &[(u8, Passenger)],
    ) -> Result<(Vec<BookedPassenger>, Option<String>), SealError> {
        let has_secret = |(_, passenger): &(u8, Passenger)| {
            passenger.document.is_some() || !passenger.loyalty_accounts.is_empty()
        };
        let sealed = match passengers.iter().any(has_secret) {
            true => {
                let secrets = passengers.iter();
                let secrets = secrets.map(|(_, passenger)| SecretPassengerData {
                    document: passenger.document.clone(),
                    loyalty_accounts: passenger.loyalty_accounts.clone(),
                });
                let secrets: Vec<SecretPassengerData> = secrets.collect();
                let bytes = serde_json::to_vec(&secrets).unwrap_or_default();
                let context = seal_context(owner, booking);
                Some(self.sealer.seal_text(PURPOSE, &context, &bytes)?)
            }
            false => None,
        };
        let booked = passengers.iter();
        let booked = booked.map(|(position, one)| self.to_booked_passenger(*position, one));
        Ok((booked.collect(), sealed))
    }

    fn to_booked_passenger(&self, position: u8, passenger: &Passenger) -> BookedPassenger {
        let accounts = passenger.loyalty_accounts.iter();
        let masked = accounts.map(|account| LoyaltyAccount {
            airline_iata_code: account.airline_iata_code.clone(),
            membership_number: mask_membership_number(&account.membership_number),
        });
        BookedPassenger {
            id: PassengerId::from_bits(self.ids.generate()),
            position,
            passenger_type: passenger.passenger_type,
            title: passenger.title,
            first_name: passenger.first_name.clone(),
            last_name: passenger.last_name.clone(),
            date_of_birth: passenger.date_of_birth,
            gender: passenger.gender,
            nationality: passenger.nationality.clone(),
            loyalty_accounts: masked.collect(),
        }
    }

    /// Returns passengers with their secret data, as the supplier needs them.
    pub fn open(&self, booking: &FlightBooking) -> Result<Vec<Passenger>, SealError> {
        let secrets: Vec<SecretPassengerData> = match &booking.details.sealed_passenger_data {
            Some(sealed) => {
                let context = seal_context(&booking.owner, &booking.id);
                let bytes = self.sealer.open_text(PURPOSE, &context, sealed)?;
                serde_json::from_slice(&bytes).map_err(|_| SealError::AuthenticationFailed)?
            }
            None => Vec::new(),
        };
        // A booking without secret data has none for any passenger.
        let secrets = secrets
            .into_iter()
            .chain(std::iter::repeat_with(Default::default));
        let opened = booking.details.passengers.iter().zip(secrets);
        let opened = opened.map(|(passenger, secret)| Passenger {
            passenger_type: passenger.passenger_type,
            title: passenger.title,
            first_name: passenger.first_name.clone(),
            last_name: passenger.last_name.clone(),
            date_of_birth: passenger.date_of_birth,
            gender: passenger.gender,
            nationality: passenger.nationality.clone(),
            document: secret.document,
            loyalty_accounts: secret.loyalty_accounts,
        });
        Ok(opened.collect())
    }
}

/// Returns the context of a call to which the documents and membership numbers of these passengers
/// are sent, so that no record of the call has them.
pub fn call_context_with_documents(context: &CallContext, passengers: &[Passenger]) -> CallContext {
    let numbers = passengers.iter().flat_map(|passenger| {
        let document = passenger.document.iter().map(|document| &document.number);
        let accounts = passenger.loyalty_accounts.iter();
        document.chain(accounts.map(|account| &account.membership_number))
    });
    CallContext {
        personal: context.personal.with(numbers.map(String::as_str)),
        ..context.clone()
    }
}

fn seal_context<'a>(owner: &'a Owner, booking: &'a BookingId) -> [&'a str; 4] {
    [
        &owner.tenant.organization,
        owner.tenant.mode.as_str(),
        &owner.user,
        booking.as_str(),
    ]
}
