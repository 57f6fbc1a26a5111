//! A Nuitee mock: two servers that share one booking. They respond with the adapter's fixtures,
//! adapted to form one stay in two rooms, with a child, from search to cancellation.

use crate::mock::{Documents, Headers, Mock, Work, read_documents};
use crate::trip::{FAST, TAKEN};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tests::{
    Client, Database, MockResponse, ReceivedRequest, Reply, Server, ServerOptions, days_ahead,
    example_at, merged,
};

/// API key of the account.
pub(super) const KEY: &str = "sand_0123456789abcdef";
pub(super) const HEADERS: Headers = &[("x-api-key", KEY)];
/// Token of the path that accepts webhooks.
pub(super) const EVENTS_TOKEN: &str = "canary-0123456789abcdef0123456789abcdef";

pub(super) const PREBOOK: &str = "POST /v3.0/rates/prebook";
pub(super) const BOOK: &str = "POST /v3.0/rates/book";
pub(super) const LIST: &str = "GET /v3.0/bookings";
pub(super) const READ: &str = "GET /v3.0/bookings/BK-OWN-1";
pub(super) const CANCEL: &str = "PUT /v3.0/bookings/BK-OWN-1";

/// Returns an error in Nuitee's format.
pub(super) fn refusal(status: u16, code: u32, description: &str) -> MockResponse {
    let error = json!({"code": code, "message": "an explanation", "description": description});
    MockResponse::json(status, &json!({ "error": error }))
}

/// Lets the gateway accept Nuitee's webhooks.
pub(super) fn with_events_token(mut options: ServerOptions) -> ServerOptions {
    options.config = options.config.replace("# events_token =", "events_token =");
    options.environment("NUITEE_EVENTS_TOKEN", EVENTS_TOKEN)
}

/// Returns the booking's documents and those before it.
fn documents() -> Documents {
    let names = "places place hotels rates hotel reviews weather prebook booking cancel";
    let mut documents = read_documents("nuitee-hotels", names, 10);
    let rates = documents["rates"]["data"][1]["roomTypes"][0]["rates"].clone();
    let policy = |number: &Value| {
        let mut rates = rates.as_array().unwrap().iter();
        let rate = rates.find(|rate| rate["occupancyNumber"] == *number);
        rate.unwrap()["cancellationPolicies"].clone()
    };
    for (document, rooms, number) in [
        ("prebook", "/roomTypes/0/rates", "occupancyNumber"),
        ("booking", "/bookedRooms", "occupancy_number"),
    ] {
        let rooms = documents[document]["data"].pointer_mut(rooms).unwrap();
        for room in rooms.as_array_mut().unwrap() {
            room["cancellationPolicies"] = policy(&room[number]);
        }
    }
    documents
}

/// State of the mock.
pub(super) struct World {
    pub(super) documents: Documents,
    booking: Option<Booking>,
}

struct Booking {
    client_reference: Value,
    status: &'static str,
    /// Fields that reads return in addition to those of the response to `book`.
    news: Value,
}

impl World {
    fn new() -> Self {
        Self {
            documents: documents(),
            booking: None,
        }
    }

    fn show(&self, name: &str) -> MockResponse {
        MockResponse::json(200, &self.documents[name])
    }

    /// Makes the booking unless there is one already.
    pub(super) fn book(&mut self, request: &ReceivedRequest) -> MockResponse {
        if self.booking.is_some() {
            return refusal(400, 4005, "duplicate client reference");
        }
        self.booking = Some(Booking {
            client_reference: request.body["clientReference"].clone(),
            status: "CONFIRMED",
            news: json!({}),
        });
        self.read(request)
    }

    fn read(&mut self, _: &ReceivedRequest) -> MockResponse {
        match &self.booking {
            Some(booking) => MockResponse::json(200, &booking.written(&self.documents)),
            None => MockResponse::empty(204),
        }
    }

    /// Lists the booking under its client reference. In a list, the field for rooms has another
    /// name.
    fn list(&mut self, request: &ReceivedRequest) -> MockResponse {
        let is_asked = |booking: &&Booking| {
            let reference = booking.client_reference.as_str().unwrap();
            request.query == format!("clientReference={reference}")
        };
        let rows = self.booking.iter().filter(is_asked).map(|booking| {
            let mut row = booking.written(&self.documents)["data"].take();
            row["rooms"] = row.as_object_mut().unwrap().remove("bookedRooms").unwrap();
            row
        });
        MockResponse::json(200, &json!({"data": rows.collect::<Vec<_>>()}))
    }

    fn cancel(&mut self, _: &ReceivedRequest) -> MockResponse {
        match &mut self.booking {
            Some(booking) => booking.status = "CANCELLED",
            None => return MockResponse::empty(204),
        }
        self.show("cancel")
    }
}

impl Booking {
    fn written(&self, documents: &Documents) -> Value {
        let mut document = documents["booking"].clone();
        let data = &mut document["data"];
        data["clientReference"] = self.client_reference.clone();
        data["status"] = json!(self.status);
        *data = merged(data.take(), self.news.clone());
        document
    }
}

/// A gateway and a Nuitee mock with normal behaviour, which each test case may change.
pub(super) struct Scene {
    /// Search, prices and content.
    pub(super) data: Mock<World>,
    /// Bookings.
    pub(super) book: Mock<World>,
    pub(super) server: Server,
    pub(super) client: Client,
}

impl Scene {
    pub(super) async fn begin(database: Database) -> Self {
        let world = Arc::new(Mutex::new(World::new()));
        let data = Mock::start(world.clone(), HEADERS).await;
        let book = Mock::start(world, HEADERS).await;
        let hosts = [
            ("api.liteapi.travel", &data.api),
            ("book.liteapi.travel", &book.api),
        ];
        let options = ServerOptions::on(database)
            .config(&example_at("nuitee.toml", &hosts))
            .config(FAST)
            .environment("LITEAPI_KEY", KEY);
        let server = Server::start_with(with_events_token(options)).await;
        let scene = Self {
            client: server.client(),
            data,
            book,
            server,
        };
        scene.usual();
        scene
    }

    /// Resets the mock: every route works, and there is no booking.
    pub(super) fn usual(&self) {
        self.data.change(|world| *world = World::new());
        for (route, name) in [
            ("GET /v3.0/data/places", "places"),
            ("GET /v3.0/data/places/*", "place"),
            ("GET /v3.0/data/hotels", "hotels"),
            ("GET /v3.0/data/hotel", "hotel"),
            ("GET /v3.0/data/reviews", "reviews"),
            ("GET /v3.0/data/weather", "weather"),
            ("POST /v3.0/hotels/rates", "rates"),
        ] {
            self.data.serve(route, move |world, _| world.show(name));
        }
        self.book.serve(PREBOOK, |world, _| world.show("prebook"));
        let works: [(&str, Work<World>); 4] = [
            (BOOK, World::book),
            (LIST, World::list),
            (READ, World::read),
            (CANCEL, World::cancel),
        ];
        for (route, work) in works {
            self.book.serve(route, work);
        }
        let _earlier = self.take_received();
    }

    /// Changes the booking as the hotel may do.
    pub(super) fn change_booking(&self, status: &'static str, news: Value) {
        self.book.change(|world| {
            let booking = world.booking.as_mut().unwrap();
            (booking.status, booking.news) = (status, news);
        });
    }

    /// Returns the requests to both hosts since the last call, each in order.
    pub(super) fn take_received(&self) -> [Vec<ReceivedRequest>; 2] {
        [self.data.take_received(), self.book.take_received()]
    }

    /// Returns the id of a booking that is ready to be completed.
    pub(super) async fn ready(&self) -> String {
        let request = stay(json!({"supplier_hotel_ids": ["lpown1"]}));
        let offers = self.client.hotel_offers(&request).await.expect(200);
        let offer = &offers.data()[0]["offers"][0]["offer_reference"];
        let request = prebook_request(offer.as_str().unwrap());
        let key = uuid::Uuid::now_v7().to_string();
        let bound = self.client.prebook_hotel(&key, &request).await.expect(201);
        bound.data()["id"].as_str().unwrap().to_owned()
    }

    /// Completes a booking with a valid card and returns the response.
    pub(super) async fn book(&self, booking: &str) -> Reply {
        let payment = self.client.card_payment("tok_visa").await;
        self.client.book_hotel(booking, &payment).await
    }

    /// Returns a booking that is confirmed and paid.
    pub(super) async fn confirmed(&self) -> String {
        let booking = self.ready().await;
        assert_eq!(self.book(&booking).await.outcome(), (200, "CONFIRMED"));
        self.server.wait_for_ledger(&booking, TAKEN).await;
        booking
    }
}

/// Returns a request for the stay with additional fields.
pub(super) fn stay(more: Value) -> Value {
    let request = json!({
        "supplier": "NUITEE",
        "check_in": days_ahead(10),
        "check_out": days_ahead(12),
        "occupancy": [{"adults": 2, "children": []}, {"adults": 1, "children": [7]}],
        "guest_nationality": "DE",
        "currency": "EUR",
    });
    merged(request, more)
}

/// Returns a prebook request. The lead guest of the first room is its second adult.
pub(super) fn prebook_request(offer_reference: &str) -> Value {
    let guest = |first: &str, kind: &str, lead: bool| json!({"first_name": first, "last_name": "Lovelace", "type": kind, "is_lead": lead});
    let couple = [guest("Ada", "ADULT", false), guest("Bea", "ADULT", true)];
    let family = [
        guest("Adalina", "ADULT", true),
        guest("Byron", "CHILD", false),
    ];
    json!({
        "offer_reference": offer_reference,
        "contact": {"first_name": "Ada", "last_name": "King", "email": "ada@example.org", "phone": "+442079460000"},
        "rooms": [{"guests": couple}, {"guests": family}],
    })
}
