//! A Nuitee flight mock server. It responds with the documents of a story and stores one booking.

use crate::nuitee::flight::story::Story;
use crate::nuitee::mock::{KEY, Mock, Work, refusal};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tests::{Database, MockResponse, ReceivedRequest, Server, ServerOptions, example_at};

/// State of the mock.
#[derive(Debug, Clone)]
pub(super) struct World {
    pub(super) story: Story,
    /// Whether the end user has paid in the browser.
    pub(super) is_paid: bool,
    /// Status of a new booking.
    pub(super) status: &'static str,
    pub(super) booking: Option<Value>,
}

impl Mock<World> {
    pub(super) async fn of(story: &Story) -> Self {
        let mock = Self::start(Arc::new(Mutex::new(World::new(story)))).await;
        mock.usual(story);
        mock
    }

    /// Starts the demo with this mock, using the example configuration. The supplier has the
    /// highest priority.
    pub(super) async fn gateway(&self) -> Server {
        self.gateway_with("[reconcile]\nschedule_s = [1, 1, 2, 3]", "")
            .await
    }

    /// Starts the demo as [`Self::gateway`] does, with additional configuration and an additional
    /// line in the supplier's own.
    pub(super) async fn gateway_with(&self, config: &str, line: &str) -> Server {
        let hosts = [
            ("api.liteapi.travel", &self.api),
            ("book.liteapi.travel", &self.api),
        ];
        let example = example_at("nuitee.toml", &hosts);
        assert!(example.contains("priority = 100"));
        let id = "id = \"NUITEE_FLIGHTS\"";
        let own = format!("{id}\n{line}");
        let example = example.replace("priority = 100", "priority = 1");
        let options = ServerOptions::on(Database::Sqlite)
            .config(config)
            .config(&example.replace(id, &own))
            .environment("LITEAPI_KEY", KEY);
        Server::start_with(options).await
    }

    /// Resets the mock: every route works, the checkout is paid, and there is no booking.
    pub(super) fn usual(&self, story: &Story) {
        self.change(|world| *world = World::new(story));
        let booking = format!("/v3.0/flights/bookings/{}", story.booking_id);
        let airline = format!("GET /v3.0/data/flights/airlines/iatas/{}", story.airline);
        for (route, name) in [
            ("POST /v3.0/flights/rates", "rates"),
            ("POST /v3.0/flights/verify", "verify"),
            ("POST /v3.0/flights/prebooks", "prebook"),
            (&format!("GET {booking}/cancellations"), "quote"),
            ("GET /v3.0/data/flights/airports", "airports"),
            (&airline, "airline"),
        ] {
            self.serve(route, move |world, _| world.show(name));
        }
        let unknown = "GET /v3.0/data/flights/airlines/iatas/*";
        self.serve(unknown, |_, _| refusal(404, 4004, "not found"));
        self.serve("POST /v3.0/flights/bookings/", World::book);
        self.serve("GET /v3.0/flights/bookings", World::list);
        self.serve(&format!("GET {booking}"), World::read);
        self.serve(&format!("POST {booking}/cancellations"), World::cancel);
    }

    /// Makes a route return `answer` from now on. If `works`, the booking is still made.
    pub(super) fn answer_with(&self, route: &str, answer: MockResponse, works: bool) {
        let work: Work<World> = World::book;
        self.respond_with(route, answer, works.then_some(work));
    }
}

impl World {
    fn new(story: &Story) -> Self {
        Self {
            story: story.clone(),
            is_paid: true,
            status: "CONFIRMED",
            booking: None,
        }
    }

    fn show(&self, name: &str) -> MockResponse {
        MockResponse::json(200, &self.story.documents[name])
    }

    /// Makes one booking per prebook. A repeated request returns the same booking.
    fn book(&mut self, request: &ReceivedRequest) -> MockResponse {
        if !self.is_paid {
            return refusal(400, 45_000, "payment not completed");
        }
        if request.body["prebookId"] != self.story.prebook_id {
            return refusal(404, 45_029, "prebook expired");
        }
        if self.booking.is_none() {
            let mut booking = self.story.documents["booking"]["data"][0]["booking"].clone();
            booking["customTags"] = request.body["customTags"].clone();
            booking["status"] = json!(self.status);
            self.booking = Some(booking);
        }
        self.read(request)
    }

    fn read(&mut self, _: &ReceivedRequest) -> MockResponse {
        match &self.booking {
            Some(booking) => MockResponse::json(200, &json!({"data": [{ "booking": booking }]})),
            None => refusal(404, 47_002, "booking not found"),
        }
    }

    /// Lists bookings by their label, ignoring case.
    fn list(&mut self, request: &ReceivedRequest) -> MockResponse {
        let asked = request.query.replace("%3A", ":").to_lowercase();
        let is_asked = |booking: &&Value| {
            let label = booking["customTags"]["GW_REF"].as_str().unwrap();
            asked == format!("customtags=gw_ref:{label}")
        };
        let bookings: Vec<&Value> = self.booking.iter().filter(is_asked).collect();
        MockResponse::json(200, &json!({"data": [{ "bookings": bookings }]}))
    }

    fn cancel(&mut self, _: &ReceivedRequest) -> MockResponse {
        self.booking.as_mut().unwrap()["status"] = json!("CANCELLED_WITH_CHARGES");
        self.show("cancel")
    }

    /// Sets a field of the booking.
    pub(super) fn set(&mut self, name: &str, value: Value) {
        self.booking.as_mut().unwrap()[name] = value;
    }
}
