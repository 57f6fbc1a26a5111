//! The guests of a prebook, and their comparison with the occupancy that the offer was priced for.

use crate::extract::Violations;
use host_domain::hotel::{self, Occupancy};
use host_resources::hotel::room::GuestTypeResource;
use serde::Deserialize;
use utoipa::ToSchema;

/// A guest of a room.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GuestRequest {
    #[schema(
        min_length = 1,
        max_length = 100,
        pattern = r"^[^\x00-\x1F\x7F-\x9F]*[^\s\x00-\x1F\x7F-\x9F][^\x00-\x1F\x7F-\x9F]*$",
        example = "Ada"
    )]
    first_name: String,
    #[schema(
        min_length = 1,
        max_length = 100,
        pattern = r"^[^\x00-\x1F\x7F-\x9F]*[^\s\x00-\x1F\x7F-\x9F][^\x00-\x1F\x7F-\x9F]*$",
        example = "Lovelace"
    )]
    last_name: String,
    /// Type of the guest. Children are the guests that the offer was priced for as children.
    #[serde(rename = "type", default = "adult")]
    #[schema(default = "ADULT")]
    guest_type: GuestTypeResource,
    /// Whether the guest is the lead of the room: exactly one adult of each room.
    #[serde(default)]
    #[schema(default = false)]
    is_lead: bool,
    /// Age of a child, as the offer was priced. Without it, the next age of the offer is used.
    #[schema(minimum = 0, maximum = 17)]
    age: Option<u32>,
}

/// The guests of a room.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = RoomRequest)]
pub(crate) struct RoomGuestsRequest {
    #[schema(min_items = 1, max_items = 16)]
    guests: Vec<GuestRequest>,
}

const fn adult() -> GuestTypeResource {
    GuestTypeResource::Adult
}

/// Adds violations for rooms without exactly one adult lead, and for adults with an age. `at` is
/// the pointer to the rooms in the request, e.g. `/rooms`.
pub(crate) fn validate_rooms(rooms: &[RoomGuestsRequest], at: &str, found: &mut Violations<'_>) {
    for (index, room) in rooms.iter().enumerate() {
        let guests = format!("{at}/{index}/guests");
        let mut are_leads_valid = found.are_valid(&[&guests]);
        for (index, guest) in room.guests.iter().enumerate() {
            let [kind, lead, age] =
                ["type", "is_lead", "age"].map(|name| format!("{guests}/{index}/{name}"));
            are_leads_valid &= found.are_valid(&[&kind, &lead]);
            let is_adult = guest.guest_type == GuestTypeResource::Adult;
            if is_adult && guest.age.is_some() && found.are_valid(&[&kind]) {
                found.push(age, "not_allowed", "only children have an age");
            }
        }
        let leads: Vec<&GuestRequest> = room.guests.iter().filter(|guest| guest.is_lead).collect();
        let has_lead =
            matches!(leads.as_slice(), [lead] if lead.guest_type == GuestTypeResource::Adult);
        if are_leads_valid && !has_lead {
            let detail = "exactly one adult of a room must be its lead";
            found.push(guests, "one_adult_lead_required", detail);
        }
    }
}

/// Adds violations for rooms whose guests do not match the priced occupancies. `at` is the pointer to
/// the rooms in the request, e.g. `/rooms`. A list without rooms or guests is a violation of its own.
pub(crate) fn validate_occupancies(
    occupancies: &[Occupancy],
    rooms: &[RoomGuestsRequest],
    at: &str,
    found: &mut Violations<'_>,
) {
    if rooms.is_empty() || !found.are_valid(&[at]) {
        return;
    }
    if rooms.len() != occupancies.len() {
        let detail = format!("there must be {} rooms", occupancies.len());
        found.push(at, "other_than_offered", detail);
        return;
    }
    for (index, (occupancy, room)) in occupancies.iter().zip(rooms).enumerate() {
        let guests = format!("{at}/{index}/guests");
        let is_known = |index| {
            let [kind, age] = ["type", "age"].map(|name| format!("{guests}/{index}/{name}"));
            found.are_valid(&[&kind, &age])
        };
        let are_known = found.are_valid(&[&guests]) && (0..room.guests.len()).all(is_known);
        if are_known
            && !room.guests.is_empty()
            && let Err(detail) = unnamed_ages(occupancy, room)
        {
            found.push(guests, "other_than_offered", detail);
        }
    }
}

/// Converts the guests of each room, which match the priced occupancies.
pub(crate) fn to_guests(
    occupancies: &[Occupancy],
    rooms: Vec<RoomGuestsRequest>,
) -> Vec<Vec<hotel::Guest>> {
    let rooms = occupancies.iter().zip(rooms);
    rooms
        .map(|(occupancy, room)| room_guests(occupancy, room))
        .collect()
}

/// Returns the ages of the priced children that no guest states, in their order.
///
/// # Errors
/// The guests are not those that the room was priced for. Contains the explanation for the client.
fn unnamed_ages(occupancy: &Occupancy, room: &RoomGuestsRequest) -> Result<Vec<u8>, String> {
    let of_type = |wanted: GuestTypeResource| {
        let guests = room.guests.iter();
        guests.filter(move |guest| guest.guest_type == wanted)
    };
    let (adults, children) = (usize::from(occupancy.adults), occupancy.children.len());
    if of_type(GuestTypeResource::Adult).count() != adults {
        return Err(format!("the room was priced for {adults} adults"));
    }
    let named = of_type(GuestTypeResource::Child).count();
    if named != 0 && named != children {
        return Err(format!("the room was priced for {children} children"));
    }
    let mut unnamed = occupancy.children.clone();
    for age in of_type(GuestTypeResource::Child).filter_map(|guest| guest.age) {
        let at = unnamed.iter().position(|priced| u32::from(*priced) == age);
        let at = at.ok_or_else(|| format!("the room was not priced for a child of age {age}"))?;
        unnamed.remove(at);
    }
    Ok(unnamed)
}

fn room_guests(occupancy: &Occupancy, room: RoomGuestsRequest) -> Vec<hotel::Guest> {
    let unnamed = unnamed_ages(occupancy, &room).unwrap_or_default();
    let mut unnamed = unnamed.into_iter();
    let guests = room.guests.into_iter().map(|guest| {
        let is_child = guest.guest_type == GuestTypeResource::Child;
        let age = guest.age.and_then(|age| u8::try_from(age).ok());
        hotel::Guest {
            first_name: guest.first_name,
            last_name: guest.last_name,
            guest_type: guest.guest_type.into(),
            is_lead: guest.is_lead,
            age: is_child.then(|| age.or_else(|| unnamed.next())).flatten(),
        }
    });
    guests.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guest(guest_type: GuestTypeResource, age: Option<u32>) -> GuestRequest {
        GuestRequest {
            first_name: "Ada".to_owned(),
            last_name: "Lovelace".to_owned(),
            guest_type,
            is_lead: false,
            age,
        }
    }

    /// Returns the ages of the children as booked, or the reason why they do not match.
    fn booked(adults: usize, children: &[Option<u32>]) -> Result<Vec<Option<u8>>, String> {
        let priced = Occupancy {
            adults: 2,
            children: vec![5, 9, 5],
        };
        let mut guests = vec![guest(GuestTypeResource::Adult, None); adults];
        let children = children.iter();
        guests.extend(children.map(|age| guest(GuestTypeResource::Child, *age)));
        let room = RoomGuestsRequest { guests };
        unnamed_ages(&priced, &room)?;
        let guests = room_guests(&priced, room);
        let booked = guests.iter().skip(adults);
        Ok(booked.map(|guest| guest.age).collect())
    }

    #[test]
    fn children_are_booked_with_their_priced_ages_if_guests_match() {
        let (five, nine) = (Some(5_u8), Some(9));
        for (adults, children, ages) in [
            (2, vec![], Some(vec![])),
            (2, vec![nine, five, five], Some(vec![nine, five, five])),
            (2, vec![None; 3], Some(vec![five, nine, five])),
            (2, vec![None, five, None], Some(vec![nine, five, five])),
            (1, vec![], None),
            (3, vec![], None),
            (2, vec![five], None),
            (2, vec![five, nine, nine], None),
            (2, vec![None; 4], None),
        ] {
            let named: Vec<_> = children.iter().map(|age| age.map(u32::from)).collect();
            assert_eq!(booked(adults, &named).ok(), ages, "{adults} {children:?}");
        }
    }
}
