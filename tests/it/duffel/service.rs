//! A Duffel mock server. It responds with the documents of a story, refuses requests without the
//! token or the version, and stores one order.

use crate::duffel::story::Story;
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

/// A function that handles the requests to a route.
type Work = fn(&mut World, &ReceivedRequest) -> MockResponse;

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
        let cancellation = text(&story.documents.quote["data"]["id"]);
        let confirm = format!("POST /air/order_cancellations/{cancellation}/actions/confirm");
        let routes: [(&str, Work); 14] = [
            ("POST /air/offer_requests", World::search),
            ("GET /air/offers", World::offers),
            (&format!("GET {offer}"), World::offer),
            (&format!("PATCH {offer}/passengers/*"), World::loyalty),
            ("POST /air/orders", World::make),
            ("GET /air/orders", World::orders),
            (&format!("GET {order}"), World::read),
            (&format!("GET {order}/available_services"), World::for_sale),
            (&format!("POST {order}/services"), World::add_services),
            ("POST /air/order_cancellations", World::quote),
            (&confirm, World::confirm),
            ("GET /air/order_cancellations", World::cancellations),
            ("GET /places/suggestions", World::suggestions),
            ("GET /air/airlines", World::airlines),
        ];
        for (route, answer) in routes {
            let world = self.world.clone();
            self.api.on(
                route,
                for_account(move |request| answer(&mut world.lock().unwrap(), request)),
            );
        }
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
        let mut order = world.story.documents.order["data"].clone();
        order["metadata"] = json!({"gateway_booking_id": "bkg_another"});
        world.order = Some(order);
    }

    /// Returns the requests since the last call, in order. Checks that each has the token and the
    /// version.
    pub(super) fn take_received(&self) -> Vec<ReceivedRequest> {
        let received = self.api.take_received();
        for request in &received {
            let token = format!("Bearer {TOKEN}");
            let shown = [
                request.header("authorization"),
                request.header("duffel-version"),
                request.header("accept"),
            ];
            assert_eq!(
                shown,
                [Some(token.as_str()), Some("v2"), Some("application/json")],
                "{}",
                request.route
            );
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

    fn search(&mut self, _: &ReceivedRequest) -> MockResponse {
        MockResponse::json(201, &self.story.documents.offer_request)
    }

    fn offers(&mut self, request: &ReceivedRequest) -> MockResponse {
        page(&self.story.documents.offers, request)
    }

    fn offer(&mut self, _: &ReceivedRequest) -> MockResponse {
        let mut offer = self.story.documents.offer.clone();
        offer["data"]["total_amount"] = json!(self.price());
        MockResponse::json(200, &offer)
    }

    fn price(&self) -> String {
        let total = text(&self.story.documents.offer["data"]["total_amount"]);
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
        let mut order = self.story.documents.order["data"].clone();
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

    fn for_sale(&mut self, _: &ReceivedRequest) -> MockResponse {
        MockResponse::json(200, &self.story.documents.services)
    }

    /// On an order, services have ids of their own and one total for all pieces.
    fn add_services(&mut self, request: &ReceivedRequest) -> MockResponse {
        let asked = &request.body["data"];
        let for_sale = self.story.documents.services["data"].as_array().unwrap();
        let mut added = Vec::new();
        let mut minor = 0;
        for wanted in asked["add_services"].as_array().unwrap() {
            let service = for_sale
                .iter()
                .find(|service| service["id"] == wanted["id"]);
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

    fn quote(&mut self, _: &ReceivedRequest) -> MockResponse {
        MockResponse::json(201, &self.story.documents.quote)
    }

    fn confirm(&mut self, _: &ReceivedRequest) -> MockResponse {
        if self.cancellation.is_some() {
            return refusal(422, "already_cancelled");
        }
        let mut quote = self.story.documents.quote.clone();
        let now = json!(minutes_ahead(0));
        quote["data"]["confirmed_at"] = now.clone();
        self.cancellation = Some(quote["data"].clone());
        self.order.as_mut().unwrap()["cancelled_at"] = now;
        MockResponse::json(200, &quote)
    }

    /// The list includes a quote that was never confirmed.
    fn cancellations(&mut self, _: &ReceivedRequest) -> MockResponse {
        let quote = &self.story.documents.quote["data"];
        let all: Vec<&Value> = std::iter::once(quote).chain(&self.cancellation).collect();
        MockResponse::json(200, &json!({"data": all, "meta": null}))
    }

    fn suggestions(&mut self, _: &ReceivedRequest) -> MockResponse {
        MockResponse::json(200, &self.story.documents.suggestions)
    }

    fn airlines(&mut self, request: &ReceivedRequest) -> MockResponse {
        page(&self.story.documents.airlines, request)
    }
}

/// Returns the page that the request names with `after`.
fn page(pages: &[Value], request: &ReceivedRequest) -> MockResponse {
    let mut parameters = request.query.split('&');
    let after = parameters.find_map(|parameter| parameter.strip_prefix("after="));
    let before = |page: &Value| page["meta"]["after"].as_str() == after;
    let number = match after {
        Some(_) => 1 + pages.iter().position(before).unwrap(),
        None => 0,
    };
    MockResponse::json(200, &pages[number])
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

fn for_account(
    answer: impl Fn(&ReceivedRequest) -> MockResponse + Send + Sync + 'static,
) -> impl Fn(&ReceivedRequest) -> MockResponse + Send + Sync + 'static {
    move |request| {
        if request.header("authorization") != Some(&format!("Bearer {TOKEN}")) {
            refusal(401, "invalid_authorization_header")
        } else if request.header("duffel-version") != Some("v2") {
            refusal(400, "missing_version_header")
        } else {
            answer(request)
        }
    }
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
