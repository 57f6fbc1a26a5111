//! Matching of the gateway's passengers to Duffel's, which may be in another order.

use serde_json::{Value, json};
use stopover_sdk::flight_booking::FlightContact;
use stopover_sdk::flight_pricing::PassengerCounts;
use stopover_sdk::types::flight::{DocumentType, Gender, Passenger, PassengerType, Title};
use stopover_sdk::{Refusal, RefusalReason, time};

use crate::wire;

/// Duffel's passenger ids, in the gateway's order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct PassengerIds(pub(crate) Vec<String>);

impl PassengerIds {
    /// Returns a passenger's position in the gateway's order.
    pub(crate) fn position(&self, id: &str) -> Option<u8> {
        let position = self.0.iter().position(|known| known == id)?;
        u8::try_from(position).ok()
    }
}

/// A passenger's category in a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PassengerCategory {
    Adult,
    /// A child with its age in years.
    Child(u8),
    /// An infant without a seat.
    Infant,
}

impl PassengerCategory {
    /// Returns the category of a passenger. The age takes precedence over the type, because Duffel
    /// and airlines may call older children adults.
    fn of(passenger: &wire::offer::Passenger) -> Self {
        match (passenger.kind.as_str(), passenger.age) {
            ("infant_without_seat", _) | (_, Some(0..=1)) => Self::Infant,
            (_, Some(age @ 2..=17)) => Self::Child(age),
            _ => Self::Adult,
        }
    }

    fn is_same_category(self, other: Self) -> bool {
        matches!(
            (self, other),
            (Self::Adult, Self::Adult)
                | (Self::Child(_), Self::Child(_))
                | (Self::Infant, Self::Infant)
        )
    }

    /// Returns a passenger of a search: a child by age, others by type.
    pub(crate) fn to_search(self) -> Value {
        match self {
            Self::Adult => json!({ "type": "adult" }),
            Self::Child(age) => json!({ "age": age }),
            Self::Infant => json!({ "type": "infant_without_seat" }),
        }
    }
}

/// Returns the passengers' types in the gateway's order: adults, children, infants.
pub(crate) fn requested_categories(passengers: &PassengerCounts) -> Vec<PassengerCategory> {
    let adults = (0..passengers.adults).map(|_| PassengerCategory::Adult);
    let children = passengers
        .children
        .iter()
        .map(|age| PassengerCategory::Child(*age));
    let infants = (0..passengers.infants).map(|_| PassengerCategory::Infant);
    adults.chain(children).chain(infants).collect()
}

/// Returns the categories of named passengers. Duffel takes a child's age on the date of the last
/// departure.
pub(crate) fn categories_on(
    passengers: &[Passenger],
    last_departure: &str,
) -> Vec<PassengerCategory> {
    let kind = |passenger: &Passenger| match passenger.passenger_type {
        PassengerType::Adult => PassengerCategory::Adult,
        PassengerType::Child => {
            let age = time::age_on(&passenger.date_of_birth, last_departure);
            PassengerCategory::Child(age.unwrap_or(0))
        }
        PassengerType::Infant => PassengerCategory::Infant,
    };
    passengers.iter().map(kind).collect()
}

/// Returns Duffel's ids in the gateway's order. Each passenger gets an id of the same category; a
/// child gets one of the same age before any other child's. Returns `None` if the two parties
/// differ.
pub(crate) fn match_ids(
    wanted: &[PassengerCategory],
    offered: &[wire::offer::Passenger],
) -> Option<PassengerIds> {
    if wanted.len() != offered.len() {
        return None;
    }
    let mut left: Vec<(PassengerCategory, &str)> = offered
        .iter()
        .map(|passenger| (PassengerCategory::of(passenger), passenger.id.as_str()))
        .collect();
    let mut take = |fits: &dyn Fn(PassengerCategory) -> bool| {
        let at = left.iter().position(|(category, _)| fits(*category))?;
        Some(left.remove(at).1.to_owned())
    };
    let exact: Vec<Option<String>> = wanted
        .iter()
        .map(|wanted| take(&|category| category == *wanted))
        .collect();
    wanted
        .iter()
        .zip(exact)
        .map(|(wanted, id)| id.or_else(|| take(&|category| category.is_same_category(*wanted))))
        .collect::<Option<Vec<String>>>()
        .map(PassengerIds)
}

/// Converts the passengers of an order. An adult names the infant on its lap, and a passenger has at
/// most one travel document.
///
/// # Errors
/// Duffel would refuse the passengers: their number differs from the offer's, there are more
/// infants than adults, or a gender is unspecified.
pub(crate) fn order_passengers(
    passengers: &[Passenger],
    ids: &[String],
    document_types: &[String],
    contact: &FlightContact,
) -> Result<Vec<Value>, Refusal> {
    if passengers.len() != ids.len() {
        return Err(invalid("the offer is for another number of passengers"));
    }
    let of_type = |wanted: PassengerType| {
        let people = passengers.iter().zip(ids);
        people.filter(move |(passenger, _)| passenger.passenger_type == wanted)
    };
    let adults = of_type(PassengerType::Adult).count();
    if of_type(PassengerType::Infant).count() > adults {
        return Err(invalid("each infant needs an adult of its own"));
    }
    let mut infants = of_type(PassengerType::Infant).map(|(_, id)| id.as_str());
    passengers
        .iter()
        .zip(ids)
        .map(|(passenger, id)| {
            let is_adult = passenger.passenger_type == PassengerType::Adult;
            let infant = if is_adult { infants.next() } else { None };
            Ok(json!({
                "id": id,
                "title": title(passenger)?,
                "given_name": passenger.first_name,
                "family_name": passenger.last_name,
                "gender": gender(passenger)?,
                "born_on": passenger.date_of_birth,
                "email": contact.email,
                "phone_number": contact.phone,
                "infant_passenger_id": infant,
                "identity_documents": document(passenger, document_types).map(|document| [document]),
            }))
        })
        .collect()
}

/// Returns the travel document if the offer accepts it. Duffel rejects documents of other types and
/// does not support identity cards.
pub(crate) fn document(passenger: &Passenger, document_types: &[String]) -> Option<Value> {
    let document = passenger.document.as_ref()?;
    let is_passport = document.document_type == DocumentType::Passport;
    let is_taken = document_types
        .iter()
        .any(|document_type| document_type == "passport");
    (is_passport && is_taken).then(|| {
        json!({
            "type": "passport",
            "unique_identifier": document.number,
            "issuing_country_code": document.issuing_country,
            "expires_on": document.expires_on,
        })
    })
}

fn gender(passenger: &Passenger) -> Result<&'static str, Refusal> {
    match passenger.gender {
        Gender::Female => Ok("f"),
        Gender::Male => Ok("m"),
        Gender::Unspecified => Err(invalid("Duffel requires the gender f or m")),
    }
}

/// Returns the title. Duffel requires one and has no `mx`; `mx` and missing titles are replaced by
/// one derived from the gender.
fn title(passenger: &Passenger) -> Result<&'static str, Refusal> {
    Ok(match passenger.title {
        Some(Title::Mr) => "mr",
        Some(Title::Mrs) => "mrs",
        Some(Title::Ms) => "ms",
        Some(Title::Miss) => "miss",
        Some(Title::Dr) => "dr",
        Some(Title::Mx) | None if gender(passenger)? == "m" => "mr",
        Some(Title::Mx) | None => "ms",
    })
}

fn invalid(message: &str) -> Refusal {
    Refusal::new(RefusalReason::Invalid, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(passengers: &[(&str, &str, Option<u8>)]) -> Vec<wire::offer::Passenger> {
        passengers
            .iter()
            .map(|(id, kind, age)| wire::offer::Passenger {
                id: (*id).to_owned(),
                kind: (*kind).to_owned(),
                age: *age,
            })
            .collect()
    }

    #[test]
    fn each_passenger_gets_id_of_same_category_in_any_order() {
        use PassengerCategory::{Adult, Child, Infant};
        let mixed = offered(&[
            ("c4", "child", Some(4)),
            ("i", "infant_without_seat", None),
            ("a1", "adult", None),
            ("c14", "adult", Some(14)),
            ("a2", "adult", None),
        ]);
        type Case<'a> = (&'a [PassengerCategory], Option<&'a [&'a str]>);
        let cases: [Case<'_>; 5] = [
            (
                &[Adult, Adult, Child(14), Child(4), Infant],
                Some(&["a1", "a2", "c14", "c4", "i"]),
            ),
            // One child had a birthday since the search.
            (
                &[Child(5), Child(14), Adult, Infant, Adult],
                Some(&["c4", "c14", "a1", "i", "a2"]),
            ),
            (&[Adult, Adult, Adult, Child(4), Infant], None),
            (&[Adult, Adult, Child(14), Child(4)], None),
            (&[Adult, Infant, Infant, Child(4), Child(14)], None),
        ];
        for (wanted, expected) in cases {
            let ids = match_ids(wanted, &mixed);
            let expected =
                expected.map(|ids| PassengerIds(ids.iter().map(|id| (*id).to_owned()).collect()));
            assert_eq!(ids, expected, "{wanted:?}");
        }
        let baby = offered(&[("a", "adult", None), ("b", "", Some(0))]);
        assert_eq!(match_ids(&[Infant, Adult], &baby).unwrap().0, ["b", "a"]);
    }
}
