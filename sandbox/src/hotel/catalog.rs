//! The hotels of Testville and their locations.

use crate::hotel::scenario::Scenario;

pub(super) const ZONE: &str = "Europe/London";
pub(super) const CITY: &str = "Testville";
pub(super) const REGION: &str = "Hertfordshire";
pub(super) const COUNTRY: &str = "GB";
pub(super) const PLACE_ID: &str = "lp-testville";
/// Radius around the centre that contains every hotel.
pub(super) const RADIUS_M: u32 = 6_000;
pub(super) const CENTER: Point = Point {
    lat: 51.7550,
    lng: -0.3360,
};

/// A location in degrees.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) lat: f64,
    pub(super) lng: f64,
}

impl Point {
    /// Returns the distance in metres on a plane, which is exact enough within a town.
    pub(super) fn distance_m(self, other: Self) -> f64 {
        let metres_a_degree = 111_320.0;
        let north = (self.lat - other.lat) * metres_a_degree;
        let east = (self.lng - other.lng) * metres_a_degree * self.lat.to_radians().cos();
        north.hypot(east)
    }
}

pub(super) struct Hotel {
    pub(super) id: String,
    pub(super) name: &'static str,
    pub(super) street: String,
    pub(super) at: Point,
    pub(super) stars: f64,
    /// Guest rating from 0 to 10.
    pub(super) rating: f64,
    pub(super) scenario: Scenario,
}

impl Hotel {
    pub(super) fn address(&self) -> String {
        format!(
            "{}, {CITY} {}, United Kingdom",
            self.street,
            self.postcode()
        )
    }

    pub(super) fn postcode(&self) -> &'static str {
        if self.at.lat >= CENTER.lat {
            "TV1 2AB"
        } else {
            "TV2 5QR"
        }
    }
}

/// Id, name, stars and rating of each hotel, ordered by distance from the centre.
const HOTELS: [(&str, &str, f64, f64); 30] = [
    ("OK", "The Market Square Hotel", 4.0, 8.6),
    ("MANY", "Grand Hotel Testville", 5.0, 9.2),
    ("NO_OFFERS", "The Full House", 3.0, 7.9),
    ("PRICE_UP", "The Rising Sun", 3.0, 7.4),
    ("PRICE_DOWN", "The Falling Leaf", 3.0, 7.6),
    ("SOLD_OUT", "The Last Room", 4.0, 8.1),
    ("EXPIRES_SOON", "The Hourglass", 3.0, 7.2),
    ("BOOK_REFUSED", "The Closed Door", 2.0, 6.1),
    ("BOOK_PENDING", "The Waiting Room", 3.0, 7.0),
    ("BOOK_PENDING_REFUSED", "The Second Thought", 3.0, 6.8),
    ("BOOK_LOST_ANSWER", "The Silent Bell", 4.0, 8.0),
    ("BOOK_LOST_REQUEST", "The Lost Letter", 3.0, 7.1),
    ("BOOK_GARBAGE", "The Torn Page", 2.0, 6.4),
    ("BOOK_500", "The Broken Lamp", 3.0, 6.9),
    ("BOOK_NEVER_KNOWN", "The Sealed Envelope", 4.0, 7.7),
    ("CANCEL_REFUSED", "The Firm Handshake", 3.0, 7.3),
    ("CANCEL_PENDING", "The Slow Goodbye", 3.0, 7.5),
    ("CANCEL_LOST_ANSWER", "The Quiet Exit", 4.0, 8.2),
    ("QUOTE_PREVIEW", "The Clear Glass", 4.0, 8.4),
    ("QUOTE_UNREADABLE", "The Faded Ink", 2.0, 6.6),
    ("QUOTE_FAILS", "The Stuck Drawer", 2.0, 6.3),
    ("RESTRICTED", "The Iron Gate", 3.0, 7.8),
    ("CALENDAR_LIMITED", "The Short Calendar", 3.0, 7.0),
    ("CONTENT_DOWN", "The Empty Shelf", 3.0, 7.2),
    ("SLOW_2000", "The Sleepy Snail", 3.0, 8.3),
    ("TRAP", "The Trapdoor", 1.0, 5.1),
    ("SPIN", "The Spinning Wheel", 1.0, 5.2),
    ("HOARD", "The Overfull Attic", 1.0, 5.3),
    ("FLOOD", "The High Water", 1.0, 5.4),
    ("SLOW_100", "The Gentle Tortoise", 3.0, 8.3),
];

const STREETS: [&str; 5] = [
    "Market Square",
    "Station Road",
    "Abbey Lane",
    "Mill Street",
    "Verulam Way",
];

/// Returns every hotel that a search can find.
pub(super) fn all() -> impl Iterator<Item = Hotel> {
    HOTELS
        .iter()
        .filter_map(|(id, ..)| Scenario::of(id).map(|scenario| make(id, scenario)))
}

/// Returns a hotel by id, including the slow hotels of any delay.
pub(super) fn find(id: &str) -> Option<Hotel> {
    Scenario::of(id).map(|scenario| make(id, scenario))
}

pub(crate) fn known(id: &str) -> bool {
    Scenario::of(id).is_some()
}

fn make(id: &str, scenario: Scenario) -> Hotel {
    let listed = HOTELS.iter().position(|(listed, ..)| *listed == id);
    let place = listed.unwrap_or(HOTELS.len());
    let unlisted = ("", "The Patient Guest", 3.0, 7.5);
    let (_, name, stars, rating) = HOTELS.get(place).copied().unwrap_or(unlisted);
    let street = STREETS.get(place % STREETS.len()).unwrap_or(&"High Street");
    Hotel {
        id: id.to_owned(),
        name,
        street: format!("{} {street}", place * 2 + 1),
        at: spiral(place),
        stars,
        rating,
        scenario,
    }
}

/// Returns a location on a spiral around the centre. Each place is about 130 m further out than the
/// one before.
#[expect(
    clippy::cast_precision_loss,
    reason = "the place is a small index of a table"
)]
fn spiral(place: usize) -> Point {
    let turn = place as f64 * 2.4;
    let degrees = 0.0008 + place as f64 * 0.0012;
    let round = |degrees: f64| (degrees * 1e6).round() / 1e6;
    Point {
        lat: round(CENTER.lat + degrees * turn.sin()),
        lng: round(CENTER.lng + degrees * 1.6 * turn.cos()),
    }
}
