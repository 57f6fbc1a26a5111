//! The people of a booking, with masked or whole personal data.

use host_domain::console::AnyBooking;
use host_domain::flight::booking::BookedPassenger;
use host_domain::flight::passenger::PassengerType;
use host_domain::hotel::types::{Guest, GuestType};
use host_domain::time::Date;

/// The characters that stand for hidden ones, whatever the number of these is.
const MASK: &str = "•••";

/// The people of a booking. Travel documents and membership numbers are never among their data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BookingPeople {
    pub is_masked: bool,
    /// Name of the contact. A flight's contact has none.
    pub contact_name: Option<String>,
    pub email: String,
    pub phone: String,
    pub travellers: Vec<Traveller>,
}

/// A guest or passenger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Traveller {
    pub name: String,
    pub group: AgeGroup,
    /// Zero-based position of a guest's room.
    pub room: Option<usize>,
    /// Whether the guest is the contact of the room.
    pub is_lead: bool,
    /// Age of a child in a hotel.
    pub age: Option<u8>,
    /// Date of birth of a passenger. `None` if it is masked.
    pub date_of_birth: Option<Date>,
    /// Nationality of a passenger, ISO 3166-1 alpha-2. `None` if it is masked or unknown.
    pub nationality: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgeGroup {
    Adult,
    Child,
    Infant,
}

impl BookingPeople {
    /// Returns the people with nothing but the initials of their names.
    pub(crate) fn masked(booking: &AnyBooking) -> Self {
        let people = Self::revealed(booking);
        let travellers = people.travellers.into_iter();
        let travellers = travellers.map(|traveller| Traveller {
            name: mask_name(&traveller.name),
            date_of_birth: None,
            nationality: None,
            ..traveller
        });
        Self {
            is_masked: true,
            contact_name: people.contact_name.as_deref().map(mask_name),
            email: MASK.to_owned(),
            phone: MASK.to_owned(),
            travellers: travellers.collect(),
        }
    }

    /// Returns the people with their personal data.
    pub(crate) fn revealed(booking: &AnyBooking) -> Self {
        match booking {
            AnyBooking::Hotel(booking) => {
                let details = &booking.details;
                let contact = &details.contact;
                let rooms = details.rooms.iter().enumerate();
                let guests = rooms.flat_map(|(position, room)| {
                    let guests = room.guests.iter();
                    guests.map(move |(_, guest)| guest_row(position, guest))
                });
                Self {
                    is_masked: false,
                    contact_name: Some(full_name(&contact.first_name, &contact.last_name)),
                    email: contact.email.clone(),
                    phone: contact.phone.clone(),
                    travellers: guests.collect(),
                }
            }
            AnyBooking::Flight(booking) => {
                let details = &booking.details;
                Self {
                    is_masked: false,
                    contact_name: None,
                    email: details.contact.email.clone(),
                    phone: details.contact.phone.clone(),
                    travellers: details.passengers.iter().map(passenger_row).collect(),
                }
            }
        }
    }
}

fn guest_row(room: usize, guest: &Guest) -> Traveller {
    Traveller {
        name: full_name(&guest.first_name, &guest.last_name),
        group: match guest.guest_type {
            GuestType::Adult => AgeGroup::Adult,
            GuestType::Child => AgeGroup::Child,
        },
        room: Some(room),
        is_lead: guest.is_lead,
        age: guest.age,
        date_of_birth: None,
        nationality: None,
    }
}

fn passenger_row(passenger: &BookedPassenger) -> Traveller {
    Traveller {
        name: full_name(&passenger.first_name, &passenger.last_name),
        group: match passenger.passenger_type {
            PassengerType::Adult => AgeGroup::Adult,
            PassengerType::Child => AgeGroup::Child,
            PassengerType::Infant => AgeGroup::Infant,
        },
        room: None,
        is_lead: false,
        age: None,
        date_of_birth: Some(passenger.date_of_birth),
        nationality: passenger.nationality.clone(),
    }
}

fn full_name(first: &str, last: &str) -> String {
    format!("{first} {last}")
}

/// Returns the initials of a name.
fn mask_name(name: &str) -> String {
    let initials = name
        .split_whitespace()
        .filter_map(|word| word.chars().next());
    let masked: Vec<String> = initials.map(|initial| format!("{initial}{MASK}")).collect();
    masked.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_is_masked_except_for_its_initials() {
        for (name, masked) in [
            ("Ada Lovelace", "A••• L•••"),
            ("Jo", "J•••"),
            ("Ángel de la Cruz", "Á••• d••• l••• C•••"),
            ("", ""),
        ] {
            assert_eq!(mask_name(name), masked, "{name}");
        }
    }
}
