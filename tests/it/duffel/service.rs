//! A Duffel mock server with one order. It responds with the adapter's fixtures, adapted to form one
//! trip of an adult, a child and an infant from search to cancellation.

use crate::mock::{Documents, Headers, Mock, Work, read_documents};
use crate::trip::{FlightSupplier, passport, return_trip};
use serde_json::{Value, json};
use tests::{
    Database, MockResponse, ReceivedRequest, ServerOptions, days_ahead, example_at, minutes_ahead,
    passenger,
};

/// API token of the account.
pub(super) const TOKEN: &str = "duffel_test_canary";

/// Secret that signs webhooks.
pub(super) const SECRET: &str = "whsec-canary";

pub(super) const ORDERS: &str = "POST /air/orders";
pub(super) const FIND: &str = "GET /air/orders";
pub(super) const READ: &str = "GET /air/orders/ord_own";
pub(super) const AVAILABLE: &str = "GET /air/orders/ord_own/available_services";
pub(super) const ADD: &str = "POST /air/orders/ord_own/services";
pub(super) const QUOTE: &str = "POST /air/order_cancellations";
pub(super) const CONFIRM: &str = "POST /air/order_cancellations/ore_own/actions/confirm";

/// State of the mock.
#[derive(Debug)]
pub(super) struct Duffel {
    pub(super) documents: Documents,
    order: Option<Value>,
    cancellation: Option<Value>,
}

impl FlightSupplier for Duffel {
    const ID: &'static str = "DUFFEL";
    const HEADERS: Headers = &[
        ("authorization", "Bearer duffel_test_canary"),
        ("duffel-version", "v2"),
        ("accept", "application/json"),
    ];
    const OFFERED: f64 = 360.4;
    const CARD: Option<&'static str> = Some("tok_visa");

    fn new() -> Self {
        let names = "offer-request offers-1 offers-2 offer order services quote";
        let mut documents = read_documents("duffel-flights", names, 30);
        let order = &mut documents["order"]["data"];
        order["services"] = json!([]);
        order["total_amount"] = json!("360.40");
        order["base_amount"] = json!("300.00");
        documents["quote"]["data"]["refund_amount"] = json!("310.40");
        Self {
            documents,
            order: None,
            cancellation: None,
        }
    }

    fn serve(mock: &Mock<Self>) {
        for (route, status, name) in [
            ("POST /air/offer_requests", 201, "offer-request"),
            ("GET /air/offers/off_flex", 200, "offer"),
            (AVAILABLE, 200, "services"),
            (QUOTE, 201, "quote"),
        ] {
            mock.serve(route, move |duffel, _| duffel.show(status, name));
        }
        mock.serve("GET /air/offers", |duffel, request| {
            let is_first = !request.query.contains("after=");
            duffel.show(200, if is_first { "offers-1" } else { "offers-2" })
        });
        mock.serve(ORDERS, Self::make);
        mock.serve(FIND, Self::find);
        mock.serve(READ, |duffel, _| duffel.order_or(200));
        mock.serve(ADD, Self::add_services);
        mock.serve(CONFIRM, Self::confirm);
        mock.serve("GET /air/order_cancellations", Self::cancellations);
    }

    fn options(mock: &Mock<Self>, database: Database, config: &str) -> ServerOptions {
        let example = example_at("duffel.toml", &[("api.duffel.com", &mock.api)]);
        assert!(example.contains("priority = 100"));
        ServerOptions::on(database)
            .config(config)
            .config(&example.replace("priority = 100", "priority = 1"))
            .environment("DUFFEL_TOKEN", TOKEN)
            .environment("DUFFEL_WEBHOOK_SECRET", SECRET)
    }

    fn search() -> Value {
        let party = json!({"adults": 1, "children": [8], "infants": 1});
        return_trip(Self::ID, ["OLD", "NEW"], 7, &party)
    }

    fn passengers() -> Vec<Value> {
        let document = passport();
        let all = [
            json!({"title": "DR", "document": document}),
            json!({"type": "CHILD", "first_name": "Bea", "date_of_birth": days_ahead(-3022), "document": document}),
            json!({"type": "INFANT", "first_name": "Cleo", "date_of_birth": days_ahead(-200), "gender": "M", "title": "MX", "document": document}),
        ];
        all.map(passenger).to_vec()
    }
}

impl Mock<Duffel> {
    /// Makes a route return `answer` from now on. If `works`, the route's effect still takes place.
    pub(super) fn answer_with(&self, route: &str, answer: MockResponse, works: bool) {
        let work: Work<Duffel> = match route {
            ORDERS => Duffel::make,
            ADD => Duffel::add_services,
            _ => Duffel::confirm,
        };
        self.respond_with(route, answer, works.then_some(work));
    }
}

impl Duffel {
    fn show(&self, status: u16, name: &str) -> MockResponse {
        MockResponse::json(status, &self.documents[name])
    }

    /// Returns the order that was made.
    pub(super) fn order(&mut self) -> &mut Value {
        self.order.as_mut().unwrap()
    }

    /// Makes an order of another customer for the same offer request.
    pub(super) fn book_for_another(&mut self) {
        let mut order = self.documents["order"]["data"].clone();
        order["metadata"] = json!({"gateway_booking_id": "bkg_another"});
        self.order = Some(order);
    }

    /// Cancels the order as the airline does.
    pub(super) fn cancel_by_airline(&mut self) {
        let mut cancellation = self.documents["quote"]["data"].clone();
        cancellation["confirmed_at"] = json!(minutes_ahead(0));
        let order = self.order();
        order["cancelled_at"] = cancellation["confirmed_at"].clone();
        order["cancellation"] = cancellation;
    }

    /// Accepts only exactly the current price, and only one order per offer request.
    fn make(&mut self, request: &ReceivedRequest) -> MockResponse {
        let asked = &request.body["data"];
        if asked["payments"] != payment("360.40") {
            return refusal(422, "payment_amount_does_not_match_order_amount");
        }
        if self.order.is_some() {
            return refusal(422, "offer_request_already_booked");
        }
        let mut order = self.documents["order"]["data"].clone();
        order["metadata"] = asked["metadata"].clone();
        self.order = Some(order);
        self.order_or(201)
    }

    fn find(&mut self, request: &ReceivedRequest) -> MockResponse {
        let is_asked = request.query == "offer_id=off_flex";
        let orders: Vec<&Value> = self.order.iter().filter(|_| is_asked).collect();
        MockResponse::json(200, &json!({"data": orders, "meta": {"after": null}}))
    }

    fn order_or(&self, status: u16) -> MockResponse {
        match &self.order {
            Some(order) => MockResponse::json(status, &json!({"data": order})),
            None => refusal(404, "not_found"),
        }
    }

    /// Adds the first bag. On an order, services have ids of their own and one total for all pieces.
    fn add_services(&mut self, request: &ReceivedRequest) -> MockResponse {
        let asked = &request.body["data"];
        let wanted = &asked["add_services"][0];
        let mut service = self.documents["services"]["data"][0].clone();
        let (amount, total, base) = match wanted["quantity"].as_i64() {
            Some(1) => ("27.49", "387.89", "327.49"),
            _ => ("54.98", "415.38", "354.98"),
        };
        if wanted["id"] != service["id"] || asked["payment"] != payment(amount)[0] {
            return refusal(422, "payment_amount_does_not_match_order_amount");
        }
        service["id"] = json!("ser_1");
        service["quantity"] = wanted["quantity"].clone();
        service["total_amount"] = json!(amount);
        let order = self.order();
        order["total_amount"] = json!(total);
        order["base_amount"] = json!(base);
        order["services"] = json!([service]);
        self.order_or(200)
    }

    fn confirm(&mut self, _: &ReceivedRequest) -> MockResponse {
        if self.cancellation.is_some() {
            return refusal(422, "already_cancelled");
        }
        let mut quote = self.documents["quote"].clone();
        let now = json!(minutes_ahead(0));
        quote["data"]["confirmed_at"] = now.clone();
        self.cancellation = Some(quote["data"].clone());
        self.order()["cancelled_at"] = now;
        MockResponse::json(200, &quote)
    }

    /// The list includes a quote that was never confirmed.
    fn cancellations(&mut self, _: &ReceivedRequest) -> MockResponse {
        let quote = &self.documents["quote"]["data"];
        let all: Vec<&Value> = std::iter::once(quote).chain(&self.cancellation).collect();
        MockResponse::json(200, &json!({"data": all, "meta": null}))
    }
}

/// Returns the payment of an amount in euros from the account's balance.
pub(super) fn payment(amount: &str) -> Value {
    json!([{"type": "balance", "amount": amount, "currency": "EUR"}])
}

/// Returns an error in Duffel's format.
pub(super) fn refusal(status: u16, code: &str) -> MockResponse {
    let kind = match status {
        429 => "rate_limit_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    };
    let error = json!({
        "type": kind, "code": code, "title": "A title", "message": "ada@example.org is not known",
        "documentation_url": "https://duffel.com/docs", "source": "Own Air",
    });
    let meta = json!({"status": 400, "request_id": "FqWnUwPVJu8TlfkAACqB"});
    MockResponse::json(status, &json!({"errors": [error], "meta": meta}))
}
