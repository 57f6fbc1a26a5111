//! A Duffel mock server. It responds with the documents of a story and stores one order.

use crate::duffel::story::{Documents, Story};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tests::{
    Database, MockResponse, MockServer, ReceivedRequest, Server, ServerOptions, example_at,
    minutes_ahead,
};

/// API token of the account.
pub(super) const TOKEN: &str = "duffel_test_canary";

/// Secret that signs webhooks.
pub(super) const SECRET: &str = "whsec-canary";

pub(super) struct Duffel {
    pub(super) api: MockServer,
    world: Arc<Mutex<World>>,
}

/// State of the mock.
#[derive(Debug, Clone)]
struct World {
    story: Story,
    /// Whether the offer has loyalty programmes, which lower its price by a tenth.
    is_loyal: bool,
    order: Option<Value>,
    cancellation: Option<Value>,
}

impl Duffel {
    pub(super) async fn start(story: &Story) -> Self {
        let duffel = Self {
            api: MockServer::start().await,
            world: Arc::new(Mutex::new(World::new(story))),
        };
        duffel.usual(story);
        duffel
    }

    /// Starts the demo with this mock, using the example configuration. The supplier has the
    /// highest priority.
    pub(super) async fn gateway(&self) -> Server {
        let schedule = "[reconcile]\nschedule_s = [1, 1, 2, 3]\n[payments]\ncapture_retry_s = [1]";
        self.gateway_on(Database::Sqlite, schedule).await
    }

    /// Starts the demo as [`Self::gateway`] does, on `database` and with additional configuration.
    pub(super) async fn gateway_on(&self, database: Database, config: &str) -> Server {
        Server::start_with(self.options(database, config)).await
    }

    /// Returns the options of such a gateway.
    pub(super) fn options(&self, database: Database, config: &str) -> ServerOptions {
        let example = example_at("duffel.toml", &[("api.duffel.com", &self.api)]);
        assert!(example.contains("priority = 100"));
        ServerOptions::on(database)
            .config(config)
            .config(&example.replace("priority = 100", "priority = 1"))
            .environment("DUFFEL_TOKEN", TOKEN)
            .environment("DUFFEL_WEBHOOK_SECRET", SECRET)
    }

    /// Resets the mock: every route works, and there is no order.
    pub(super) fn usual(&self, story: &Story) {
        *self.world.lock().unwrap() = World::new(story);
        let offer = format!("/air/offers/{}", story.offer);
        let order = format!("/air/orders/{}", story.order);
        let cancellation = text(&story.documents["quote"]["data"]["id"]);
        let confirm = format!("POST /air/order_cancellations/{cancellation}/actions/confirm");
        for (route, status, name) in [
            ("POST /air/offer_requests", 201, "offer_request"),
            (&format!("GET {order}/available_services"), 200, "services"),
            ("POST /air/order_cancellations", 201, "quote"),
            ("GET /places/suggestions", 200, "suggestions"),
        ] {
            self.serve(route, move |world, _| world.show(status, name));
        }
        for (route, name) in [
            ("GET /air/offers", "offers"),
            ("GET /air/airlines", "airlines"),
        ] {
            self.serve(route, move |world, request| world.page(name, request));
        }
        self.serve(&format!("GET {offer}"), World::offer);
        self.serve(&format!("PATCH {offer}/passengers/*"), World::loyalty);
        self.serve("POST /air/orders", World::make);
        self.serve("GET /air/orders", World::orders);
        self.serve(&format!("GET {order}"), World::read);
        self.serve(&format!("POST {order}/services"), World::add_services);
        self.serve(&confirm, World::confirm);
        self.serve("GET /air/order_cancellations", World::cancellations);
    }

    /// Sets the function that handles the requests to a route.
    fn serve(
        &self,
        route: &str,
        work: impl Fn(&mut World, &ReceivedRequest) -> MockResponse + Send + Sync + 'static,
    ) {
        let world = self.world.clone();
        self.api.on(route, move |request| {
            work(&mut world.lock().unwrap(), request)
        });
    }

    /// Makes a route return `answer` from now on. If `works`, the route's effect still takes place.
    pub(super) fn answer_with(&self, route: &str, answer: MockResponse, works: bool) {
        let work = match route {
            "POST /air/orders" => World::make,
            _ if route.ends_with("/services") => World::add_services,
            _ if route.ends_with("/confirm") => World::confirm,
            _ => World::read,
        };
        let world = self.world.clone();
        self.api.on(route, move |request| {
            if works {
                work(&mut world.lock().unwrap(), request);
            }
            answer.clone()
        });
    }

    /// Changes the mock's documents.
    pub(super) fn change(&self, change: impl FnOnce(&mut Story)) {
        change(&mut self.world.lock().unwrap().story);
    }

    /// Changes the order that was made.
    pub(super) fn change_order(&self, change: impl FnOnce(&mut Value)) {
        change(self.world.lock().unwrap().order.as_mut().unwrap());
    }

    /// Adds an order of another customer for the same offer request.
    pub(super) fn book_for_another(&self) {
        let mut world = self.world.lock().unwrap();
        let mut order = world.story.documents["order"]["data"].clone();
        order["metadata"] = json!({"gateway_booking_id": "bkg_another"});
        world.order = Some(order);
    }

    /// Returns the requests since the last call, in order. Checks that each has the token and the
    /// version.
    pub(super) fn take_received(&self) -> Vec<ReceivedRequest> {
        let received = self.api.take_received();
        for request in &received {
            let token = format!("Bearer {TOKEN}");
            for (header, value) in [
                ("authorization", token.as_str()),
                ("duffel-version", "v2"),
                ("accept", "application/json"),
            ] {
                assert_eq!(request.header(header), Some(value), "{}", request.route);
            }
        }
        received
    }
}

impl World {
    fn new(story: &Story) -> Self {
        Self {
            story: story.clone(),
            is_loyal: false,
            order: None,
            cancellation: None,
        }
    }

    const fn documents(&self) -> &Documents {
        &self.story.documents
    }

    fn show(&self, status: u16, name: &str) -> MockResponse {
        MockResponse::json(status, &self.documents()[name])
    }

    /// Returns the page that the request names with `after`.
    fn page(&self, name: &str, request: &ReceivedRequest) -> MockResponse {
        let pages = self.documents()[name].as_array().unwrap();
        let mut parameters = request.query.split('&');
        let after = parameters.find_map(|parameter| parameter.strip_prefix("after="));
        let before = |page: &Value| page["meta"]["after"].as_str() == after;
        let number = match after {
            Some(_) => 1 + pages.iter().position(before).unwrap(),
            None => 0,
        };
        MockResponse::json(200, &pages[number])
    }

    fn offer(&mut self, _: &ReceivedRequest) -> MockResponse {
        let mut offer = self.documents()["offer"].clone();
        offer["data"]["total_amount"] = json!(self.price());
        MockResponse::json(200, &offer)
    }

    fn price(&self) -> String {
        let total = text(&self.documents()["offer"]["data"]["total_amount"]);
        if self.is_loyal {
            format!("{:.2}", total.parse::<f64>().unwrap() * 0.9)
        } else {
            total
        }
    }

    fn loyalty(&mut self, request: &ReceivedRequest) -> MockResponse {
        let accounts = &request.body["data"]["loyalty_programme_accounts"];
        self.is_loyal = !accounts.as_array().unwrap().is_empty();
        let id = request.route.rsplit('/').next().unwrap();
        MockResponse::json(200, &json!({"data": {"id": id, "type": "adult"}}))
    }

    /// Accepts only exactly the current price, and only one order per offer request.
    fn make(&mut self, request: &ReceivedRequest) -> MockResponse {
        let asked = &request.body["data"];
        let price =
            json!([{"type": "balance", "amount": self.price(), "currency": self.story.currency}]);
        if asked["payments"] != price {
            return refusal(422, "payment_amount_does_not_match_order_amount");
        }
        if self.order.is_some() {
            return refusal(422, "offer_request_already_booked");
        }
        let mut order = self.documents()["order"]["data"].clone();
        order["metadata"] = asked["metadata"].clone();
        order["total_amount"] = json!(self.price());
        self.order = Some(order);
        self.order_or(201)
    }

    fn orders(&mut self, request: &ReceivedRequest) -> MockResponse {
        let is_asked = request.query == format!("offer_id={}", self.story.offer);
        let orders: Vec<&Value> = self.order.iter().filter(|_| is_asked).collect();
        MockResponse::json(200, &json!({"data": orders, "meta": {"after": null}}))
    }

    fn read(&mut self, _: &ReceivedRequest) -> MockResponse {
        self.order_or(200)
    }

    fn order_or(&self, status: u16) -> MockResponse {
        match &self.order {
            Some(order) => MockResponse::json(status, &json!({"data": order})),
            None => refusal(404, "not_found"),
        }
    }

    /// On an order, services have ids of their own and one total for all pieces.
    fn add_services(&mut self, request: &ReceivedRequest) -> MockResponse {
        let asked = &request.body["data"];
        let for_sale = self.documents()["services"]["data"].as_array().unwrap();
        let mut added = Vec::new();
        let mut minor = 0;
        for wanted in asked["add_services"].as_array().unwrap() {
            let mut services = for_sale.iter();
            let service = services.find(|service| service["id"] == wanted["id"]);
            let mut service = service.unwrap().clone();
            let total = cents(&service["total_amount"]) * wanted["quantity"].as_i64().unwrap();
            minor += total;
            service["id"] = json!(format!("ser_{}", added.len()));
            service["quantity"] = wanted["quantity"].clone();
            service["total_amount"] = json!(decimal(total));
            added.push(service);
        }
        if cents(&asked["payment"]["amount"]) != minor {
            return refusal(422, "payment_amount_does_not_match_order_amount");
        }
        let order = self.order.as_mut().unwrap();
        order["total_amount"] = json!(decimal(cents(&order["total_amount"]) + minor));
        order["base_amount"] = json!(decimal(cents(&order["base_amount"]) + minor));
        order["services"] = json!(added);
        self.order_or(200)
    }

    fn confirm(&mut self, _: &ReceivedRequest) -> MockResponse {
        if self.cancellation.is_some() {
            return refusal(422, "already_cancelled");
        }
        let mut quote = self.documents()["quote"].clone();
        let now = json!(minutes_ahead(0));
        quote["data"]["confirmed_at"] = now.clone();
        self.cancellation = Some(quote["data"].clone());
        self.order.as_mut().unwrap()["cancelled_at"] = now;
        MockResponse::json(200, &quote)
    }

    /// The list includes a quote that was never confirmed.
    fn cancellations(&mut self, _: &ReceivedRequest) -> MockResponse {
        let quote = &self.documents()["quote"]["data"];
        let all: Vec<&Value> = std::iter::once(quote).chain(&self.cancellation).collect();
        MockResponse::json(200, &json!({"data": all, "meta": null}))
    }
}

/// Returns an error in Duffel's format.
pub(super) fn refusal(status: u16, code: &str) -> MockResponse {
    let kind = match status {
        429 => "rate_limit_error",
        500.. => "api_error",
        _ if code == "airline_error" => "airline_error",
        _ => "invalid_request_error",
    };
    let error = json!({
        "type": kind, "code": code, "title": "A title", "message": "ada@example.org is not known",
        "documentation_url": "https://duffel.com/docs", "source": "Own Air",
    });
    let meta = json!({"status": 400, "request_id": "FqWnUwPVJu8TlfkAACqB"});
    MockResponse::json(status, &json!({"errors": [error], "meta": meta}))
}

pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// Returns an amount with at most two decimals in hundredths.
pub(super) fn cents(amount: &Value) -> i64 {
    let amount = text(amount);
    let (whole, rest) = amount.split_once('.').unwrap_or((&amount, ""));
    format!("{whole}{rest:0<2}").parse().unwrap()
}

pub(super) fn decimal(cents: i64) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}
