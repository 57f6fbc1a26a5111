//! A Nuitee mock: two servers that respond with the documents of a story and store one booking.

use crate::nuitee::mock::{KEY, Mock, refusal};
use crate::nuitee::story::{Documents, Story, text};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tests::{Database, MockResponse, ReceivedRequest, Server, ServerOptions, example_at, merged};

pub(super) const BOOK: &str = "POST /v3.0/rates/book";

/// Search, prices and content on one host, bookings on the other.
pub(super) struct Nuitee {
    pub(super) data: Mock<World>,
    pub(super) book: Mock<World>,
}

/// State of the mock.
pub(super) struct World {
    documents: Documents,
    booking: Option<Booking>,
}

struct Booking {
    client_reference: Value,
    status: &'static str,
    /// Fields that reads return in addition to those of the response to `book`.
    news: Value,
}

impl Nuitee {
    pub(super) async fn start(story: &Story) -> Self {
        let world = Arc::new(Mutex::new(World::new(story)));
        let nuitee = Self {
            data: Mock::start(world.clone()).await,
            book: Mock::start(world).await,
        };
        nuitee.usual(story);
        nuitee
    }

    /// Starts the demo with this mock, using the example configuration with an additional line in
    /// the supplier's.
    pub(super) async fn gateway(&self, database: Database, line: &str) -> Server {
        let id = "id = \"NUITEE\"";
        let config = self.config();
        assert!(config.contains(id));
        let options = ServerOptions::on(database)
            .config(&config.replace(id, &format!("{id}\n{line}")))
            .config("[reconcile]\nschedule_s = [1, 1, 2, 3]\n[payments]\ncapture_retry_s = [1]\n")
            .environment("LITEAPI_KEY", KEY);
        Server::start_with(options).await
    }

    /// Returns `examples/nuitee.toml` with the mock's hosts in place of Nuitee's.
    pub(super) fn config(&self) -> String {
        let hosts = [
            ("api.liteapi.travel", &self.data.api),
            ("book.liteapi.travel", &self.book.api),
        ];
        example_at("nuitee.toml", &hosts)
    }

    /// Resets the mock: every route works, and there is no booking.
    pub(super) fn usual(&self, story: &Story) {
        self.data.change(|world| *world = World::new(story));
        for (route, name) in [
            ("GET /v3.0/data/places", "places"),
            ("GET /v3.0/data/places/*", "place"),
            ("GET /v3.0/data/hotels", "hotels"),
            ("GET /v3.0/data/hotel", "hotel"),
            ("GET /v3.0/data/reviews", "reviews"),
            ("GET /v3.0/data/weather", "weather"),
            ("GET /v3.0/prices/hotels", "prices"),
            ("POST /v3.0/hotels/rates", "rates"),
        ] {
            self.data.serve(route, move |world, _| world.show(name));
        }
        let prebook = "POST /v3.0/rates/prebook";
        self.book.serve(prebook, |world, _| world.show("prebook"));
        self.book.serve(BOOK, World::book);
        self.book.serve("GET /v3.0/bookings", World::list);
        let booking = format!("/v3.0/bookings/{}", story.booking_id);
        self.book.serve(&format!("GET {booking}"), World::read);
        self.book.serve(&format!("PUT {booking}"), World::cancel);
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
}

impl World {
    fn new(story: &Story) -> Self {
        Self {
            documents: story.documents.clone(),
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
        let booking = self.booking.insert(Booking {
            client_reference: request.body["clientReference"].clone(),
            status: "CONFIRMED",
            news: json!({}),
        });
        MockResponse::json(200, &booking.written(&self.documents["booked"]))
    }

    fn read(&mut self, _: &ReceivedRequest) -> MockResponse {
        match &self.booking {
            Some(booking) => MockResponse::json(200, &booking.written(&self.documents["read"])),
            None => MockResponse::empty(204),
        }
    }

    /// Lists the booking under its client reference. In a list, the field for rooms has another
    /// name.
    fn list(&mut self, request: &ReceivedRequest) -> MockResponse {
        let is_asked = |booking: &&Booking| {
            request.query == format!("clientReference={}", text(&booking.client_reference))
        };
        let rows = self.booking.iter().filter(is_asked).map(|booking| {
            let mut row = booking.written(&self.documents["read"])["data"].take();
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
    fn written(&self, document: &Value) -> Value {
        let mut document = document.clone();
        let data = &mut document["data"];
        data["clientReference"] = self.client_reference.clone();
        data["status"] = json!(self.status);
        *data = merged(data.take(), self.news.clone());
        document
    }
}
