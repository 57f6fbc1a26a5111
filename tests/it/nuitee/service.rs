//! A Nuitee mock: two servers that respond with the documents of a story, refuse requests without
//! the key, and store one booking.

use crate::nuitee::story::Story;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tests::{
    Database, MockResponse, MockServer, ReceivedRequest, Server, ServerOptions, example_at,
};

/// API key of the account.
pub(super) const KEY: &str = "sand_0123456789abcdef";

/// Search, prices and content on one host, bookings on the other.
pub(super) struct Nuitee {
    pub(super) data: MockServer,
    pub(super) book: MockServer,
    booking: Arc<Mutex<Option<Booking>>>,
}

#[derive(Debug, Clone)]
struct Booking {
    client_reference: Value,
    status: &'static str,
    /// Fields that reads return in addition to those of the response to `book`.
    news: Value,
}

impl Nuitee {
    pub(super) async fn start(story: &Story) -> Self {
        let nuitee = Self {
            data: MockServer::start().await,
            book: MockServer::start().await,
            booking: Arc::default(),
        };
        nuitee.answer_as_usual(story);
        nuitee
    }

    /// Starts the demo with this mock, using the example configuration.
    pub(super) async fn gateway(&self, database: Database) -> Server {
        self.gateway_with(database, "").await
    }

    /// Starts the demo as [`Self::gateway`] does, with an additional line in the supplier's
    /// configuration.
    pub(super) async fn gateway_with(&self, database: Database, line: &str) -> Server {
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
            ("api.liteapi.travel", &self.data),
            ("book.liteapi.travel", &self.book),
        ];
        example_at("nuitee.toml", &hosts)
    }

    /// Resets the mock: every route works, and there is no booking.
    pub(super) fn answer_as_usual(&self, story: &Story) {
        *self.booking.lock().unwrap() = None;
        let documents = story.documents.clone();
        for (route, document) in [
            ("GET /v3.0/data/places", documents.places),
            ("GET /v3.0/data/places/*", documents.place),
            ("GET /v3.0/data/hotels", documents.hotels),
            ("GET /v3.0/data/hotel", documents.hotel),
            ("GET /v3.0/data/reviews", documents.reviews),
            ("GET /v3.0/data/weather", documents.weather),
            ("GET /v3.0/prices/hotels", documents.prices),
            ("POST /v3.0/hotels/rates", documents.rates),
        ] {
            self.data.on(
                route,
                for_account(move |_| MockResponse::json(200, &document)),
            );
        }
        let prebook = documents.prebook;
        self.book.on(
            "POST /v3.0/rates/prebook",
            for_account(move |_| MockResponse::json(200, &prebook)),
        );
        self.answer_book(documents.booked);
        self.answer_reads(documents.read);
        let (booking, document) = (self.booking.clone(), documents.cancel);
        let cancel = move |_: &ReceivedRequest| {
            let mut booking = booking.lock().unwrap();
            let Some(booking) = booking.as_mut() else {
                return MockResponse::empty(204);
            };
            booking.status = "CANCELLED";
            MockResponse::json(200, &document)
        };
        self.book.on(
            &format!("PUT /v3.0/bookings/{}", story.booking_id),
            for_account(cancel),
        );
    }

    fn answer_book(&self, document: Value) {
        let book = self.booker();
        let answer = move |request: &ReceivedRequest| match book(request) {
            Some(booking) => MockResponse::json(200, &written(&document, &booking)),
            None => refusal(400, 4005, "duplicate client reference"),
        };
        self.book.on("POST /v3.0/rates/book", for_account(answer));
    }

    fn answer_reads(&self, document: Value) {
        let id = document["data"]["bookingId"].as_str().unwrap().to_owned();
        let (booking, by_id) = (self.booking.clone(), document.clone());
        let read = move |_: &ReceivedRequest| match booking.lock().unwrap().as_ref() {
            Some(booking) => MockResponse::json(200, &written(&by_id, booking)),
            None => MockResponse::empty(204),
        };
        self.book
            .on(&format!("GET /v3.0/bookings/{id}"), for_account(read));
        let booking = self.booking.clone();
        let list = move |request: &ReceivedRequest| {
            let booking = booking.lock().unwrap().clone();
            let wanted = booking.filter(|booking| {
                request.query
                    == format!(
                        "clientReference={}",
                        booking.client_reference.as_str().unwrap()
                    )
            });
            let rows: Vec<Value> = wanted
                .iter()
                .map(|booking| listed(&document, booking))
                .collect();
            MockResponse::json(200, &json!({"data": rows}))
        };
        self.book.on("GET /v3.0/bookings", for_account(list));
    }

    /// Returns a function that makes the booking. It returns `None` if there is a booking already.
    fn booker(&self) -> impl Fn(&ReceivedRequest) -> Option<Booking> + Send + Sync + 'static {
        let booking = self.booking.clone();
        move |request| {
            let mut booking = booking.lock().unwrap();
            if booking.is_some() {
                return None;
            }
            let made = Booking {
                client_reference: request.body["clientReference"].clone(),
                status: "CONFIRMED",
                news: json!({}),
            };
            *booking = Some(made.clone());
            Some(made)
        }
    }

    /// Makes `book` return `answer` from now on. If `books`, the booking is still made.
    pub(super) fn answer_book_with(&self, answer: MockResponse, books: bool) {
        let book = self.booker();
        self.book.on("POST /v3.0/rates/book", move |request| {
            if books {
                book(request);
            }
            answer.clone()
        });
    }

    /// Changes the booking as the hotel may do.
    pub(super) fn change_booking(&self, status: &'static str, news: Value) {
        let mut booking = self.booking.lock().unwrap();
        let booking = booking.as_mut().unwrap();
        booking.status = status;
        booking.news = news;
    }

    /// Returns the requests to both hosts since the last call, each in order.
    pub(super) fn take_received(&self) -> [Vec<ReceivedRequest>; 2] {
        [self.data.take_received(), self.book.take_received()]
    }
}

/// Returns an error in Nuitee's format.
pub(super) fn refusal(status: u16, code: u32, description: &str) -> MockResponse {
    let error = json!({"code": code, "message": "an explanation", "description": description});
    MockResponse::json(status, &json!({"error": error}))
}

pub(super) fn for_account(
    answer: impl Fn(&ReceivedRequest) -> MockResponse + Send + Sync + 'static,
) -> impl Fn(&ReceivedRequest) -> MockResponse + Send + Sync + 'static {
    move |request| {
        if request.header("x-api-key") == Some(KEY) {
            answer(request)
        } else {
            MockResponse::json(
                401,
                &json!({"error": {"code": 401, "message": "Unauthorized"}}),
            )
        }
    }
}

fn written(document: &Value, booking: &Booking) -> Value {
    let mut document = document.clone();
    document["data"]["clientReference"] = booking.client_reference.clone();
    document["data"]["status"] = json!(booking.status);
    let news = booking.news.as_object().unwrap().clone();
    document["data"].as_object_mut().unwrap().extend(news);
    document
}

/// Returns a row of a list, in which the field for rooms has another name.
fn listed(document: &Value, booking: &Booking) -> Value {
    let mut row = written(document, booking)["data"].take();
    let rooms = row["bookedRooms"].take();
    let members = row.as_object_mut().unwrap();
    members.remove("bookedRooms");
    members.insert("rooms".to_owned(), rooms);
    row
}
