//! Matching of the gateway's passengers to Duffel's, which may be in another order.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};
use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::flight_booking::FlightContact;
use stopover_sdk::flight_pricing::PassengerCounts;
use stopover_sdk::json::{DecodeError, ensure};
use stopover_sdk::lenient::{LenientList, Part};
use stopover_sdk::types::flight::{DocumentType, Gender, Passenger, PassengerType, Title};
use stopover_sdk::{Refusal, RefusalReason, time};

use crate::wire;

/// Duffel's passenger ids, in the gateway's order. An id that is not known is empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct PassengerIds(pub(crate) Vec<String>);

impl PassengerIds {
    /// Returns a passenger's position in the gateway's order.
    pub(crate) fn position(&self, id: &str) -> Option<u8> {
        if id.is_empty() {
            return None;
        }
        let mut positions = (0..=u8::MAX).zip(&self.0);
        positions.find_map(|(position, known)| (known == id).then_some(position))
    }
}

/// Returns whether two lists have the same passengers' ids, in any order.
pub(crate) fn is_same_party(left: &[String], right: &[String]) -> bool {
    let known: HashSet<&String> = right.iter().collect();
    left.len() == right.len() && left.iter().all(|id| known.contains(id))
}

/// A passenger's category in a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PassengerCategory {
    Adult,
    /// A child with its age in years, if it is known.
    Child(Option<u8>),
    /// An infant without a seat.
    Infant,
}

impl PassengerCategory {
    /// Returns the category of a passenger. The age takes precedence over the type, because Duffel
    /// and airlines may call older children adults. Returns `None` if neither is known, or if one cannot be
    /// read or has several values.
    fn of(passenger: &wire::offer::Passenger) -> Option<Self> {
        let kind = passenger.kind.optional("type").ok()?;
        let age = passenger.age.optional("age").ok()?;
        let age = age.and_then(|age| age.0);
        match (kind.map_or("", String::as_str), age) {
            ("infant_without_seat", _) | (_, Some(0..=1)) => Some(Self::Infant),
            (_, Some(age @ 2..=17)) => Some(Self::Child(u8::try_from(age).ok())),
            ("child", None) => Some(Self::Child(None)),
            ("adult", None) | (_, Some(_)) => Some(Self::Adult),
            (_, None) => None,
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
            Self::Child(Some(age)) => json!({ "age": age }),
            Self::Child(None) => json!({ "type": "child" }),
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
        .map(|age| PassengerCategory::Child(Some(*age)));
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
            PassengerCategory::Child(time::age_on(&passenger.date_of_birth, last_departure))
        }
        PassengerType::Infant => PassengerCategory::Infant,
    };
    passengers.iter().map(kind).collect()
}

/// Returns Duffel's ids in the gateway's order. Each passenger gets an id of the same category; a
/// child gets one of the same age before any other child's. Returns `None` if the two parties
/// differ.
///
/// # Errors
/// There are no passengers, or one has no id of its own, or neither a known type nor an age.
pub(crate) fn match_ids(
    wanted: &[PassengerCategory],
    offered: &[wire::offer::Passenger],
) -> Result<Option<PassengerIds>, DecodeError> {
    ensure(!offered.is_empty(), "there are no passengers")?;
    let counts = id_counts(offered);
    let mut left: Vec<(PassengerCategory, &str)> = Vec::with_capacity(offered.len());
    for passenger in offered {
        left.push((category(passenger)?, own_id(passenger, &counts)?));
    }
    if wanted.len() != left.len() {
        return Ok(None);
    }
    let ids = take_ids(wanted, &mut left).into_iter();
    Ok(ids.collect::<Option<Vec<String>>>().map(PassengerIds))
}

/// Returns Duffel's ids in the gateway's order, as [`match_ids`] does, for a search. A search binds
/// nobody: the ids only tell whose bags and cabin an offer states. An id that cannot be assigned is
/// therefore not known, which is counted, and the offers can still be read. So are all of them if the
/// passengers are missing.
///
/// # Errors
/// The passengers differ from those of the request.
pub(crate) fn match_searched_ids(
    wanted: &[PassengerCategory],
    offered: Part<LenientList<wire::offer::Passenger>>,
    dropped: &mut DroppedItems,
) -> Result<PassengerIds, DecodeError> {
    let offered = offered.into_readable().map(Option::unwrap_or_default);
    let offered = offered.and_then(|offered| {
        let count = offered.len() + offered.unreadable().len();
        let lacks_passengers = || DecodeError::missing("there are no passengers");
        (count > 0)
            .then_some((count, offered))
            .ok_or_else(lacks_passengers)
    });
    let Some((count, offered)) = dropped.keep(format_args!("/data/passengers"), offered) else {
        return Ok(PassengerIds(vec![String::new(); wanted.len()]));
    };
    let others = "the search is for other passengers";
    ensure(count == wanted.len(), others)?;
    let (positions, readable): (Vec<usize>, Vec<_>) = dropped
        .readable(format_args!("/data/passengers"), offered)
        .unzip();
    let counts = id_counts(&readable);
    let (mut left, mut uncategorized) = (Vec::new(), Vec::new());
    for (at, passenger) in positions.into_iter().zip(&readable) {
        let pointer = format_args!("/data/passengers/{at}");
        let Some(id) = dropped.keep(pointer, own_id(passenger, &counts)) else {
            continue;
        };
        match dropped.keep(pointer, category(passenger)) {
            Some(category) => left.push((category, id)),
            None => uncategorized.push(id),
        }
    }
    let mut ids = take_ids(wanted, &mut left);
    ensure(left.is_empty(), others)?;
    let mut unassigned = ids.iter_mut().filter(|id| id.is_none());
    if let (Some(unassigned), None, [id]) = (
        unassigned.next(),
        unassigned.next(),
        uncategorized.as_slice(),
    ) {
        // One passenger and one id are left, so that they belong together.
        *unassigned = Some((*id).to_owned());
    }
    let ids = ids.into_iter().map(Option::unwrap_or_default);
    Ok(PassengerIds(ids.collect()))
}

fn category(passenger: &wire::offer::Passenger) -> Result<PassengerCategory, DecodeError> {
    PassengerCategory::of(passenger)
        .ok_or_else(|| DecodeError::new("a passenger has neither a known type nor an age"))
}

/// Returns each id with the number of passengers that have it.
fn id_counts(passengers: &[wire::offer::Passenger]) -> HashMap<&str, usize> {
    let mut counts = HashMap::new();
    for passenger in passengers {
        *counts.entry(passenger.id()).or_default() += 1;
    }
    counts
}

/// Returns the id of a passenger, which no other passenger may have.
fn own_id<'p>(
    passenger: &'p wire::offer::Passenger,
    counts: &HashMap<&str, usize>,
) -> Result<&'p str, DecodeError> {
    let id = passenger.id();
    let is_own = !id.is_empty() && counts.get(id) == Some(&1);
    ensure(is_own, "a passenger has no id of its own")?;
    Ok(id)
}

/// Takes an id for each wanted passenger: of the same age if there is one, otherwise of the same
/// category.
fn take_ids(
    wanted: &[PassengerCategory],
    left: &mut Vec<(PassengerCategory, &str)>,
) -> Vec<Option<String>> {
    let mut take = |fits: &dyn Fn(PassengerCategory) -> bool| {
        let at = left.iter().position(|(category, _)| fits(*category))?;
        Some(left.remove(at).1.to_owned())
    };
    let exact: Vec<Option<String>> = wanted
        .iter()
        .map(|wanted| take(&|category| category == *wanted))
        .collect();
    let ids = wanted
        .iter()
        .zip(exact)
        .map(|(wanted, id)| id.or_else(|| take(&|category| category.is_same_category(*wanted))));
    ids.collect()
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
    use stopover_sdk::lenient::LenientCount;

    use super::*;

    fn offered(passengers: &[(&str, &str, Option<u32>)]) -> Vec<wire::offer::Passenger> {
        passengers
            .iter()
            .map(|(id, kind, age)| wire::offer::Passenger {
                id: (*id).to_owned().into(),
                kind: (*kind).to_owned().into(),
                age: LenientCount(*age).into(),
            })
            .collect()
    }

    #[test]
    fn each_passenger_gets_id_of_same_category_in_any_order() {
        use PassengerCategory::{Adult, Infant};
        let child = |age| PassengerCategory::Child(Some(age));
        let mixed = offered(&[
            ("c4", "child", Some(4)),
            ("i", "infant_without_seat", None),
            ("a1", "adult", None),
            ("c14", "adult", Some(14)),
            ("a2", "adult", Some(18)),
        ]);
        type Case<'a> = (&'a [PassengerCategory], Option<&'a [&'a str]>);
        let cases: [Case<'_>; 5] = [
            (
                &[Adult, Adult, child(14), child(4), Infant],
                Some(&["a1", "a2", "c14", "c4", "i"]),
            ),
            // One child had a birthday since the search.
            (
                &[child(5), child(14), Adult, Infant, Adult],
                Some(&["c4", "c14", "a1", "i", "a2"]),
            ),
            (&[Adult, Adult, Adult, child(4), Infant], None),
            (&[Adult, Adult, child(14), child(4)], None),
            (&[Adult, Infant, Infant, child(4), child(14)], None),
        ];
        for (wanted, expected) in cases {
            let ids = match_ids(wanted, &mixed).unwrap();
            let expected =
                expected.map(|ids| PassengerIds(ids.iter().map(|id| (*id).to_owned()).collect()));
            assert_eq!(ids, expected, "{wanted:?}");
        }
        let baby = offered(&[("a", "adult", None), ("b", "", Some(0))]);
        let ids = match_ids(&[Infant, Adult], &baby).unwrap().unwrap();
        assert_eq!(ids.0, ["b", "a"]);
    }

    #[test]
    fn child_without_age_is_a_child() {
        use PassengerCategory::{Adult, Child};
        let party = offered(&[
            ("c", "child", None),
            ("a", "adult", None),
            ("c9", "child", Some(9)),
        ]);
        for (wanted, expected) in [
            ([Adult, Child(Some(9)), Child(Some(4))], ["a", "c9", "c"]),
            ([Child(Some(4)), Adult, Child(None)], ["c9", "a", "c"]),
        ] {
            let ids = match_ids(&wanted, &party).unwrap().unwrap();
            assert_eq!(ids.0, expected, "{wanted:?}");
        }
        let two_adults = [Adult, Adult, Child(Some(9))];
        assert_eq!(match_ids(&two_adults, &party), Ok(None));
    }

    #[test]
    fn passenger_without_category_or_own_id_is_unreadable() {
        use PassengerCategory::Adult;
        for (id, kind) in [("b", ""), ("b", "youth"), ("", "adult"), ("a", "adult")] {
            let party = offered(&[("a", "adult", None), (id, kind, None)]);
            assert!(match_ids(&[Adult, Adult], &party).is_err(), "{id} {kind}");
        }
    }
}
