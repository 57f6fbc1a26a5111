//! Tests of an operator resolving the unknown outcome of a payment call. The booking continues from
//! there.
//!
//! The processor is behind a proxy that loses responses, and no reconciliation starts later while a
//! test runs.

use serde_json::{Value, json};
use tests::Fault::{ErrorAfterEffect, ErrorBeforeEffect};
use tests::{
    AdminClient, CALLER, Client, Database, Fault, FaultProxy, FlightBookingBuilder,
    HotelBookingBuilder, PlannedFault, Server, ServerOptions, eventually, on_both_databases,
    supplier_at,
};

const PROCESSOR: &str = "LOSES_ANSWERS";

const AUTHORIZE: &str = "POST /tillway/v1/payments";
const CAPTURE: &str = "POST /tillway/v1/payments/*/capture";
const VOID: &str = "POST /tillway/v1/payments/*/void";
const REFUND: &str = "POST /tillway/v1/payments/*/refunds";
/// Route of reconciling an authorization, which happens within the caller's own call.
const FIND: &str = "GET /tillway/v1/payments";

/// A gateway whose processor loses responses.
struct Fixture {
    server: Server,
    client: Client,
    operator: AdminClient,
    proxy: FaultProxy,
}

impl Fixture {
    async fn on(database: Database) -> Self {
        let proxy = FaultProxy::start().await;
        let headers = [
            ("tillway-key", "tillway-sandbox-payments"),
            (CALLER, PROCESSOR),
        ];
        let component = "fake-payments.wasm";
        let processor = supplier_at(&proxy.url, PROCESSOR, "payment", component, &headers);
        let config = format!("processor_test = \"{PROCESSOR}\"\n{processor}");
        let options = ServerOptions::on(database)
            .without_reconciliation()
            .config(&config);
        let server = Server::start_with(options).await;
        proxy.forward_to(&server.sandbox_url);
        Self {
            client: server.client(),
            operator: AdminClient::of(&server),
            server,
            proxy,
        }
    }

    fn inject_faults(&self, calls: &[(&'static str, Fault)]) {
        let planned_fault = |&(route, fault)| PlannedFault {
            route,
            fault,
            refusal: (500, String::new()),
        };
        let planned_faults = calls.iter().map(planned_fault).collect();
        self.proxy.plan(PROCESSOR, planned_faults);
    }

    /// Waits until `many` unresolved calls of a step are listed and returns them.
    async fn open(&self, booking: &str, step: &str, many: usize) -> Vec<Value> {
        let what = format!("{many} of {step} to be listed");
        eventually(&what, async || {
            let listed = self.operator.unresolved_calls(booking, step).await;
            (listed.len() == many).then_some(listed)
        })
        .await
    }

    /// Resolves the only unresolved call of a step and checks the booking's status after it.
    async fn resolve(&self, booking: &str, step: &str, verdict: &Value, status: &str) {
        self.open(booking, step, 1).await;
        let settled = self.operator.resolve_when_idle(booking, verdict).await;
        assert_eq!(settled.outcome(), (200, status));
        assert!(!self.operator.has_unresolved_call(booking, step).await);
    }

    async fn wait_for_end(&self, booking: &str, end: &str, payment: &str, ledger: &[&str]) {
        let what = format!("{booking} to end {end} and {payment} with {ledger:?}");
        eventually(&what, async || {
            let now = self.client.hotel_booking(booking).await;
            let carried_out = self.server.ledger().await;
            (now["status"] == end
                && now["payments"][0]["status"] == payment
                && carried_out.kinds_of(booking) == ledger)
                .then_some(())
        })
        .await;
    }
}

const BOOKED: &[&str] = &["authorization", "booking", "capture"];

fn verdict(fault: Fault) -> Value {
    match fault {
        ErrorAfterEffect => json!({"outcome": "done"}),
        _ => json!({"outcome": "not_done"}),
    }
}

async fn operator_resolves_authorization_with_unknown_outcome(database: Database) {
    let fixture = Fixture::on(database).await;
    let way = HotelBookingBuilder::at("OK");

    fixture.inject_faults(&[(AUTHORIZE, ErrorAfterEffect), (FIND, ErrorBeforeEffect)]);
    let (booking, reply) = way.book(&fixture.client).await;
    reply.expect_problem(500, "result_unknown");
    fixture.open(&booking, "authorize", 1).await;
    let unnamed = verdict(ErrorAfterEffect);
    let unnamed = fixture.operator.resolve_when_idle(&booking, &unnamed).await;
    unnamed.expect_problem(400, "validation_failed");
    let held = fixture.server.ledger().await.of(&booking).next().cloned();
    let named = json!({"outcome": "done", "supplier_reference": held.unwrap().reference});
    fixture
        .resolve(&booking, "authorize", &named, "CONFIRMED")
        .await;
    fixture
        .wait_for_end(&booking, "CONFIRMED", "CAPTURED", BOOKED)
        .await;
    let late = fixture.operator.resolve(&booking, &named).await;
    late.expect_problem(409, "booking_state_conflict");

    fixture.inject_faults(&[(AUTHORIZE, ErrorBeforeEffect), (FIND, ErrorBeforeEffect)]);
    let (booking, reply) = way.book(&fixture.client).await;
    reply.expect_problem(500, "result_unknown");
    let not_done = verdict(ErrorBeforeEffect);
    fixture
        .resolve(&booking, "authorize", &not_done, "READY_FOR_COMPLETE")
        .await;
    let payment = way.payment(&fixture.client).await;
    let again = fixture
        .client
        .book_hotel(&booking, &payment)
        .await
        .expect(200);
    assert_eq!(again.data()["payments"][0]["status"], "FAILED");
    let carried_out = fixture.server.ledger().await;
    assert_eq!(carried_out.count(&booking, "authorization"), 1);
}

async fn operator_resolves_capture_or_void_with_unknown_outcome(database: Database) {
    let fixture = Fixture::on(database).await;
    for fault in [ErrorAfterEffect, ErrorBeforeEffect] {
        let verdict = verdict(fault);
        fixture.inject_faults(&[(CAPTURE, fault)]);
        let way = HotelBookingBuilder::at("OK");
        let booking = way.book_confirmed(&fixture.client).await;
        fixture
            .resolve(&booking, "capture", &verdict, "CONFIRMED")
            .await;
        fixture
            .wait_for_end(&booking, "CONFIRMED", "CAPTURED", BOOKED)
            .await;

        fixture.inject_faults(&[(VOID, fault)]);
        let way = HotelBookingBuilder::at("BOOK_REFUSED");
        let (booking, reply) = way.book(&fixture.client).await;
        reply.expect_problem(422, "supplier_rejected");
        fixture.resolve(&booking, "void", &verdict, "FAILED").await;
        let released = ["authorization", "void"];
        fixture
            .wait_for_end(&booking, "FAILED", "VOIDED", &released)
            .await;
    }
}

async fn operator_resolves_refund_with_unknown_outcome(database: Database) {
    let fixture = Fixture::on(database).await;
    for fault in [ErrorAfterEffect, ErrorBeforeEffect] {
        let way = HotelBookingBuilder::at("OK");
        let booking = way.book_confirmed(&fixture.client).await;
        fixture
            .wait_for_end(&booking, "CONFIRMED", "CAPTURED", BOOKED)
            .await;
        fixture.inject_faults(&[(REFUND, fault)]);
        fixture
            .client
            .cancel_hotel(&booking, &json!({}))
            .await
            .expect(202);
        fixture
            .resolve(&booking, "refund", &verdict(fault), "CANCELED")
            .await;
        let returned = [BOOKED, &["cancellation", "refund"]].concat();
        fixture
            .wait_for_end(&booking, "CANCELED", "REFUNDED", &returned)
            .await;
    }
}

/// A ticket and its bags have separate payments, so two captures can be unresolved at once.
async fn resolving_one_of_several_calls_requires_its_client_reference(database: Database) {
    let fixture = Fixture::on(database).await;
    fixture.inject_faults(&[(CAPTURE, ErrorAfterEffect), (CAPTURE, ErrorAfterEffect)]);
    let way = FlightBookingBuilder::on("LHR-JFK");
    let booking = way.book_confirmed(&fixture.server).await;
    fixture.open(&booking, "capture", 1).await;
    let bags = fixture.client.bag_request(&booking, "tok_visa").await;
    let bought = fixture
        .client
        .purchase_bags(&booking, &booking, &bags)
        .await;
    bought.expect(200);
    let open = fixture.open(&booking, "capture", 2).await;
    let unnamed = verdict(ErrorAfterEffect);
    let unnamed = fixture.operator.resolve_when_idle(&booking, &unnamed).await;
    let problem = unnamed.expect_problem(400, "validation_failed");
    let detail = problem.body["detail"].as_str().unwrap();
    assert!(detail.contains("client_reference"), "{detail}");
    let unknown = json!({"outcome": "done", "client_reference": "nobody's"});
    let unknown = fixture.operator.resolve_when_idle(&booking, &unknown).await;
    unknown.expect_problem(409, "booking_state_conflict");
    for (call, left) in open.iter().zip([1, 0]) {
        let named = json!({"outcome": "done", "client_reference": call["client_reference"]});
        let settled = fixture.operator.resolve_when_idle(&booking, &named).await;
        settled.expect(200);
        let listed = fixture.operator.unresolved_calls(&booking, "capture").await;
        assert_eq!(listed.len(), left);
        assert!(!listed.contains(call), "the other call stays listed");
    }
    let ended = fixture.client.flight_booking(&booking).await;
    let payments = ended["payments"].as_array().unwrap();
    let is_taken = |payment: &Value| payment["status"] == "CAPTURED";
    assert!(
        payments.len() == 2 && payments.iter().all(is_taken),
        "{payments:#?}"
    );
    assert_eq!(fixture.server.ledger().await.count(&booking, "capture"), 2);
}

on_both_databases! {
    operator_resolves_authorization_with_unknown_outcome,
    operator_resolves_capture_or_void_with_unknown_outcome,
    operator_resolves_refund_with_unknown_outcome,
    resolving_one_of_several_calls_requires_its_client_reference,
}
