//! Nuitee's documents, the project's own or the vendor's, adapted to form one stay from search to
//! cancellation. The originals contradict each other in ids, dates and amounts; only these are
//! changed.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use tests::{days_ahead, for_each_string, merged, read_fixture, shift_dates};

/// The documents of a stay and the values expected from them.
#[derive(Debug, Clone)]
pub(super) struct Story {
    pub(super) source: &'static str,
    pub(super) hotel: &'static str,
    /// The hotel's name in the content and its name in the rates.
    pub(super) names: [&'static str; 2],
    pub(super) currency: &'static str,
    pub(super) offer: String,
    pub(super) prebook_id: &'static str,
    pub(super) booking_id: &'static str,
    pub(super) confirmation_code: Option<&'static str>,
    pub(super) total: f64,
    /// Amount for all rooms together that is paid at the hotel.
    pub(super) due_at_property: f64,
    /// Fee of a cancellation today.
    pub(super) fee: f64,
    pub(super) refund: f64,
    pub(super) check_in: String,
    pub(super) check_out: String,
    /// Adults and ages of the children in each room.
    pub(super) rooms: &'static [(usize, &'static [u8])],
    pub(super) reviews: usize,
    pub(super) documents: Documents,
}

/// Nuitee's responses by name.
pub(super) type Documents = serde_json::Map<String, Value>;

/// The vendor's examples that the story uses, by the name of the document.
const VENDOR_FILES: [(&str, &str); 9] = [
    ("places", "static/GET_data_places__200.json"),
    (
        "rates",
        "search/POST_hotels_rates__200__Search_response.json",
    ),
    ("hotel", "static/GET_data_hotel__200__hotel_lp1897.json"),
    (
        "reviews",
        "static/GET_data_reviews__200__2_reviews_of_lp4c2bf.json",
    ),
    (
        "weather",
        "static/GET_data_weather__200__OneWeekLaterForecast.json",
    ),
    (
        "prebook",
        "booking/POST_rates_prebook__200__Prebook_response.json",
    ),
    (
        "booked",
        "booking/POST_rates_book__200__confirmed_booking.json",
    ),
    (
        "read",
        "booking/GET_bookings_bookingId__200__example_0.json",
    ),
    (
        "cancel",
        "booking/PUT_bookings_bookingId__200__refundable.json",
    ),
];

impl Story {
    /// Returns the project's own documents: two rooms, a child, and a fee of 50 that has applied
    /// for two days.
    pub(super) fn own() -> Self {
        let folder =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins/nuitee-hotels/fixtures");
        let names = [
            "places", "place", "hotels", "rates", "hotel", "reviews", "weather", "prices",
            "prebook", "cancel",
        ];
        let mut documents = read_own(&folder, &names);
        for name in ["booked", "read"] {
            documents.insert(name.to_owned(), read_fixture(&folder.join("booking.json")));
        }
        for document in documents.values_mut() {
            shift_dates(document, "2027-06-01", &days_ahead(10));
        }
        let rates = documents["rates"]["data"][1]["roomTypes"][0]["rates"].clone();
        let policy = |number: &Value| {
            let mut rates = rates.as_array().unwrap().iter();
            let rate = rates.find(|rate| rate["occupancyNumber"] == *number);
            rate.unwrap()["cancellationPolicies"].clone()
        };
        for rate in documents["prebook"]["data"]["roomTypes"][0]["rates"]
            .as_array_mut()
            .unwrap()
        {
            rate["cancellationPolicies"] = policy(&rate["occupancyNumber"]);
        }
        for name in ["booked", "read"] {
            for room in documents[name]["data"]["bookedRooms"]
                .as_array_mut()
                .unwrap()
            {
                room["cancellationPolicies"] = policy(&room["occupancy_number"]);
            }
        }
        Self {
            source: "the project's own documents",
            hotel: "lpown1",
            names: ["Harbour & Sons", "Harbour & Sons"],
            currency: "EUR",
            offer: "OFFER-SEA".to_owned(),
            prebook_id: "PB-OWN-1",
            booking_id: "BK-OWN-1",
            confirmation_code: None,
            total: 460.5,
            due_at_property: 3.5,
            fee: 50.0,
            refund: 410.5,
            check_in: days_ahead(10),
            check_out: days_ahead(12),
            rooms: &[(2, &[]), (1, &[7])],
            reviews: 3,
            documents,
        }
    }

    /// Returns the project's own documents and, if they lie beside the repository, the vendor's.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        std::iter::once(Self::own()).chain(Self::vendor())
    }

    /// Returns the vendor's examples, if they exist: one room with free cancellation until a week
    /// before. A place, daily prices and the location of the hotels come from the project's own
    /// documents, because the vendor's lack them.
    fn vendor() -> Option<Self> {
        let folder = vendor_folder();
        if !folder.is_dir() {
            return None;
        }
        let mut documents = Self::own().documents;
        for (name, file) in VENDOR_FILES {
            documents[name] = read_fixture(&folder.join(file));
        }
        let total =
            documents["rates"]["data"][0]["roomTypes"][0]["offerRetailRate"]["amount"].clone();
        let location = documents["hotel"]["data"]["location"].clone();
        documents["place"]["data"]["location"] = location.clone();
        documents["hotels"]["data"][0]["id"] = json!("lp1897");
        for side in ["latitude", "longitude"] {
            documents["hotels"]["data"][0][side] = location[side].clone();
        }
        let (check_in, check_out, until) = (days_ahead(10), days_ahead(12), days_ahead(3));
        for document in documents.values_mut() {
            for_each_string(document, &mut |key, text| match key {
                "cancelTime" | "lastFreeCancellationDate" => text.replace_range(..10, &until),
                "checkin" => text.clone_from(&check_in),
                "checkout" => text.clone_from(&check_out),
                _ => {}
            });
        }
        let days =
            &mut documents["weather"]["data"][0]["weatherData"][0]["detailedWeatherData"]["daily"];
        for (day, ahead) in days.as_array_mut().unwrap().iter_mut().zip(10..) {
            day["date"] = json!(days_ahead(ahead));
        }
        for name in ["booked", "read"] {
            let booking = &mut documents[name]["data"];
            booking["price"] = total.clone();
            booking["bookingId"] = json!("hSq2gVDrf");
            booking["hotelConfirmationCode"] = json!("HOTEL123");
            each_amount(&mut booking["bookedRooms"], &total);
            each_amount(&mut booking["cancellationPolicies"], &total);
        }
        documents["cancel"]["data"]["cancellation_fee"] = json!(0.0);
        documents["cancel"]["data"]["refund_amount"] = total;
        Some(Self {
            source: "the vendor's documents",
            hotel: "lp1897",
            names: ["The Manhattan at Times Square", "Hotel Example NYC"],
            currency: "USD",
            offer: text(&documents["rates"]["data"][0]["roomTypes"][0]["offerId"]),
            prebook_id: "zzWkJcdgk",
            booking_id: "hSq2gVDrf",
            confirmation_code: Some("HOTEL123"),
            total: 163.66,
            due_at_property: 43.61,
            fee: 0.0,
            refund: 163.66,
            check_in,
            check_out,
            rooms: &[(2, &[])],
            reviews: 2,
            documents,
        })
    }

    /// Returns a request for the stay with additional fields.
    pub(super) fn stay(&self, more: Value) -> Value {
        let request = json!({
            "supplier": "NUITEE",
            "check_in": self.check_in,
            "check_out": self.check_out,
            "occupancy": self.occupancy(),
            "guest_nationality": "DE",
            "currency": self.currency,
        });
        merged(request, more)
    }

    /// Returns the number of adults and the ages of the children in each room.
    pub(super) fn occupancy(&self) -> Value {
        let rooms = self.rooms.iter();
        let rooms = rooms.map(|(adults, children)| json!({"adults": adults, "children": children}));
        rooms.collect()
    }

    /// Returns a prebook request. The lead guest of a room is its last adult.
    pub(super) fn prebook(&self, offer_reference: &str) -> Value {
        let rooms = self.rooms.iter().enumerate().map(|(number, (adults, children))| {
            let mut guests: Vec<Value> = (0..*adults)
                .map(|adult| {
                    let name = format!("{}{}", ["Ada", "Bea", "Cleo"][adult], ["", "lina"][number]);
                    json!({"first_name": name, "last_name": "Lovelace", "type": "ADULT", "is_lead": adult + 1 == *adults})
                })
                .collect();
            guests.extend(children.iter().map(|_| {
                json!({"first_name": "Byron", "last_name": "Lovelace", "type": "CHILD", "is_lead": false})
            }));
            json!({"guests": guests})
        });
        json!({
            "offer_reference": offer_reference,
            "contact": {"first_name": "Ada", "last_name": "King", "email": "ada@example.org", "phone": "+442079460000"},
            "rooms": rooms.collect::<Vec<_>>(),
        })
    }

    /// Returns the first names of the rooms' lead guests.
    pub(super) fn leads(&self) -> Vec<&'static str> {
        ["Bea", "Adalina"][..self.rooms.len()].to_vec()
    }
}

/// Reads the project's own documents with these names.
pub(super) fn read_own(folder: &Path, names: &[&str]) -> Documents {
    let read = |name: &&str| read_fixture(&folder.join(format!("{name}.json")));
    let documents = names.iter().map(|name| ((*name).to_owned(), read(name)));
    documents.collect()
}

/// Returns the folder of the vendor's examples, which may be missing.
pub(super) fn vendor_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/fixtures/liteapi/extracted")
}

pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// Sets every field `amount` in a document.
fn each_amount(value: &mut Value, amount: &Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| each_amount(item, amount)),
        Value::Object(members) => {
            for (key, member) in members {
                if key == "amount" {
                    member.clone_from(amount);
                } else {
                    each_amount(member, amount);
                }
            }
        }
        _ => {}
    }
}
