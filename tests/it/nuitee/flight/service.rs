//! A Nuitee flight mock server with one booking. It responds with the adapter's fixtures, adapted to
//! form one trip of an adult, two children and an infant from search to cancellation.

use crate::mock::{Documents, Headers, Mock, Work, read_documents};
use crate::nuitee::service::{HEADERS, KEY, refusal};
use crate::trip::{FlightSupplier, passport, return_trip};
use serde_json::{Value, json};
use tests::{
    Database, MockResponse, ReceivedRequest, ServerOptions, days_ahead, example_at, passenger,
};

/// Id of the booking, and its route.
pub(super) const ID: &str = "019d0000-bbbb-7000-8000-0000000000bb";
pub(super) const READ: &str = "GET /v3.0/flights/bookings/019d0000-bbbb-7000-8000-0000000000bb";
pub(super) const QUOTE: &str =
    "GET /v3.0/flights/bookings/019d0000-bbbb-7000-8000-0000000000bb/cancellations";
pub(super) const CANCEL: &str =
    "POST /v3.0/flights/bookings/019d0000-bbbb-7000-8000-0000000000bb/cancellations";
pub(super) const VERIFY: &str = "POST /v3.0/flights/verify";
pub(super) const PREBOOK: &str = "POST /v3.0/flights/prebooks";
pub(super) const BOOK: &str = "POST /v3.0/flights/bookings/";
pub(super) const LIST: &str = "GET /v3.0/flights/bookings";

/// State of the mock.
#[derive(Debug)]
pub(super) struct Flights {
    pub(super) documents: Documents,
    /// Whether the end user has paid in the browser.
    pub(super) is_paid: bool,
    /// Status of a new booking.
    pub(super) status: &'static str,
    booking: Option<Value>,
}

impl FlightSupplier for Flights {
    const ID: &'static str = "NUITEE_FLIGHTS";
    const HEADERS: Headers = HEADERS;
    const OFFERED: f64 = 1210.4;
    const CARD: Option<&'static str> = None;

    fn new() -> Self {
        let names = "rates verify prebook booking quote cancel";
        let mut documents = read_documents("nuitee-flights", names, 30);
        let booking = &mut documents["booking"]["data"][0]["booking"];
        booking["bookedServices"] = json!([]);
        booking["pricing"] = json!({"subtotal": 1190.4, "servicesAmount": 0, "totalAmount": 1190.4, "currency": "EUR"});
        documents["cancel"]["data"]["refund_amount"] = json!(1070.4);
        Self {
            documents,
            is_paid: true,
            status: "CONFIRMED",
            booking: None,
        }
    }

    fn serve(mock: &Mock<Self>) {
        for (route, name) in [
            ("POST /v3.0/flights/rates", "rates"),
            (VERIFY, "verify"),
            (PREBOOK, "prebook"),
            (QUOTE, "quote"),
        ] {
            mock.serve(route, move |flights, _| flights.show(name));
        }
        mock.serve(BOOK, Self::book);
        mock.serve(LIST, Self::list);
        mock.serve(READ, Self::read);
        mock.serve(CANCEL, Self::cancel);
    }

    fn options(mock: &Mock<Self>, database: Database, config: &str) -> ServerOptions {
        let hosts = [
            ("api.liteapi.travel", &mock.api),
            ("book.liteapi.travel", &mock.api),
        ];
        let example = example_at("nuitee.toml", &hosts);
        assert!(example.contains("priority = 100"));
        ServerOptions::on(database)
            .config(config)
            .config(&example.replace("priority = 100", "priority = 1"))
            .environment("LITEAPI_KEY", KEY)
    }

    fn search() -> Value {
        let party = json!({"adults": 1, "children": [12, 7], "infants": 1});
        return_trip(Self::ID, ["LHR", "JFK"], 9, &party)
    }

    fn passengers() -> Vec<Value> {
        let document = passport();
        let account = json!({"airline_iata_code": "XO", "membership_number": "XO123"});
        let child = |age: i64| json!({"type": "CHILD", "first_name": "Bea", "date_of_birth": days_ahead(-age * 366 - 60), "document": document});
        let all = [
            json!({"document": document, "loyalty_accounts": [account]}),
            child(12),
            child(7),
            json!({"type": "INFANT", "first_name": "Cleo", "date_of_birth": days_ahead(-200), "gender": "M", "document": document}),
        ];
        all.map(passenger).to_vec()
    }
}

impl Mock<Flights> {
    /// Makes a route return `answer` from now on. If `works`, the booking is still made.
    pub(super) fn answer_with(&self, route: &str, answer: MockResponse, works: bool) {
        let work: Work<Flights> = Flights::book;
        self.respond_with(route, answer, works.then_some(work));
    }
}

impl Flights {
    fn show(&self, name: &str) -> MockResponse {
        MockResponse::json(200, &self.documents[name])
    }

    /// Makes one booking per prebook. A repeated request returns the same booking.
    fn book(&mut self, request: &ReceivedRequest) -> MockResponse {
        if !self.is_paid {
            return refusal(400, 2014, "payment not completed");
        }
        if request.body["prebookId"] != self.documents["prebook"]["data"][0]["prebookId"] {
            return refusal(404, 45_029, "prebook expired");
        }
        if self.booking.is_none() {
            let mut booking = self.documents["booking"]["data"][0]["booking"].clone();
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
        self.set("status", json!("CANCELLED_WITH_CHARGES"));
        self.show("cancel")
    }

    /// Sets a field of the booking.
    pub(super) fn set(&mut self, name: &str, value: Value) {
        self.booking.as_mut().unwrap()[name] = value;
    }
}
