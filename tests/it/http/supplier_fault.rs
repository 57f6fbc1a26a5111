//! Tests of every fault at every supplier call: the immediate response, the final status of the
//! booking, and the ledger, which never contains an effect twice.
//!
//! Each cell of the matrix has a supplier of its own behind a proxy that injects the fault once.
//! The calls are the five of a hotel booking and the purchase of bags, which is included because it
//! charges a card. A quote is a read like pricing, so it has no cells.

use futures::{FutureExt, StreamExt, stream};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::fmt::{self, Write};
use std::panic::AssertUnwindSafe;
use tests::Fault::{
    ConnectionReset, DelayedEffect, DuplicatedRequest, ErrorAfterEffect, ErrorBeforeEffect,
    Forbidden, MalformedResponse, None, Rejected, Slow, TimeoutAfterEffect, TimeoutBeforeEffect,
};
use tests::{
    CALLER, Client, Database, Fault, FaultProxy, FlightBookingBuilder, HotelBookingBuilder,
    PlannedFault, Reply, Server, ServerOptions, eventually, merged, on_both_databases, supplier_at,
};

/// A call of the gateway to a supplier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Call {
    Price,
    Prebook,
    Book,
    /// The reconciliation of a booking whose response was lost.
    Find,
    Cancel,
    /// The purchase of bags for a ticket.
    Bags,
}

use Call::{Bags, Book, Cancel, Find, Prebook, Price};

/// A call, the fault that it meets, the immediate response, the final status, and the ledger
/// entries in order.
///
/// The response is its HTTP status with the booking's status or the problem's code. For a
/// cancellation or a purchase, the final status is the booking's, followed by the one of the
/// cancellation or purchase.
#[derive(Debug, Clone, Copy)]
struct Cell(
    Call,
    Fault,
    (u16, &'static str),
    &'static str,
    &'static [&'static str],
);

const NOTHING: &[&str] = &[];
const RELEASED: &[&str] = &["authorization", "void"];
const BOOKED: &[&str] = &["authorization", "booking", "capture"];
const RETURNED: &[&str] = &[
    "authorization",
    "booking",
    "capture",
    "cancellation",
    "refund",
];
const CARRIED: &[&str] = &[
    "authorization",
    "booking",
    "capture",
    "authorization",
    "bags",
    "capture",
];
const NOT_CARRIED: &[&str] = &[
    "authorization",
    "booking",
    "capture",
    "authorization",
    "void",
];

#[rustfmt::skip]
const MATRIX: [Cell; 72] = [
    // call     fault       immediate response          final status            ledger
    Cell(Price,   None,       (200, "OFFERED"),              "OFFERED",              NOTHING),
    Cell(Price,   Slow,       (200, "OFFERED"),              "OFFERED",              NOTHING),
    Cell(Price,   Rejected,     (422, "supplier_rejected"),    "OFFERED",              NOTHING),
    Cell(Price,   Forbidden,     (502, "supplier_error"),       "OFFERED",              NOTHING),
    Cell(Price,   ErrorBeforeEffect, (502, "supplier_error"),       "OFFERED",              NOTHING),
    Cell(Price,   ErrorAfterEffect,  (502, "supplier_error"),       "OFFERED",              NOTHING),
    Cell(Price,   TimeoutBeforeEffect, (504, "supplier_timeout"),     "OFFERED",              NOTHING),
    Cell(Price,   TimeoutAfterEffect,  (504, "supplier_timeout"),     "OFFERED",              NOTHING),
    Cell(Price,   ConnectionReset,      (503, "supplier_unavailable"), "OFFERED",              NOTHING),
    Cell(Price,   MalformedResponse,    (502, "supplier_error"),       "OFFERED",              NOTHING),
    Cell(Price,   DuplicatedRequest,      (200, "OFFERED"),              "OFFERED",              NOTHING),
    Cell(Price,   DelayedEffect,       (503, "supplier_unavailable"), "OFFERED",              NOTHING),

    Cell(Prebook, None,       (201, "READY_FOR_COMPLETE"),   "READY_FOR_COMPLETE",   NOTHING),
    Cell(Prebook, Slow,       (201, "READY_FOR_COMPLETE"),   "READY_FOR_COMPLETE",   NOTHING),
    Cell(Prebook, Rejected,     (422, "offer_unavailable"),    "FAILED",               NOTHING),
    Cell(Prebook, Forbidden,     (502, "supplier_error"),       "FAILED",               NOTHING),
    Cell(Prebook, ErrorBeforeEffect, (502, "supplier_error"),       "FAILED",               NOTHING),
    Cell(Prebook, ErrorAfterEffect,  (502, "supplier_error"),       "FAILED",               NOTHING),
    Cell(Prebook, TimeoutBeforeEffect, (504, "supplier_timeout"),     "FAILED",               NOTHING),
    Cell(Prebook, TimeoutAfterEffect,  (504, "supplier_timeout"),     "FAILED",               NOTHING),
    Cell(Prebook, ConnectionReset,      (502, "supplier_error"),       "FAILED",               NOTHING),
    Cell(Prebook, MalformedResponse,    (502, "supplier_error"),       "FAILED",               NOTHING),
    Cell(Prebook, DuplicatedRequest,      (201, "READY_FOR_COMPLETE"),   "READY_FOR_COMPLETE",   NOTHING),
    Cell(Prebook, DelayedEffect,       (502, "supplier_error"),       "FAILED",               NOTHING),

    Cell(Book,    None,       (200, "CONFIRMED"),            "CONFIRMED",            BOOKED),
    Cell(Book,    Slow,       (200, "CONFIRMED"),            "CONFIRMED",            BOOKED),
    Cell(Book,    Rejected,     (422, "supplier_rejected"),    "FAILED",               RELEASED),
    Cell(Book,    Forbidden,     (500, "result_unknown"),       "FAILED",               RELEASED),
    Cell(Book,    ErrorBeforeEffect, (500, "result_unknown"),       "FAILED",               RELEASED),
    Cell(Book,    ErrorAfterEffect,  (500, "result_unknown"),       "CONFIRMED",            BOOKED),
    Cell(Book,    TimeoutBeforeEffect, (500, "result_unknown"),       "FAILED",               RELEASED),
    Cell(Book,    TimeoutAfterEffect,  (500, "result_unknown"),       "CONFIRMED",            BOOKED),
    Cell(Book,    ConnectionReset,      (500, "result_unknown"),       "CONFIRMED",            BOOKED),
    Cell(Book,    MalformedResponse,    (500, "result_unknown"),       "CONFIRMED",            BOOKED),
    Cell(Book,    DuplicatedRequest,      (500, "result_unknown"),       "CONFIRMED",            BOOKED),
    Cell(Book,    DelayedEffect,       (500, "result_unknown"),       "CONFIRMED",            BOOKED),

    Cell(Find,    None,       (500, "result_unknown"),       "CONFIRMED",            BOOKED),
    Cell(Find,    Slow,       (500, "result_unknown"),       "CONFIRMED",            BOOKED),
    Cell(Find,    Rejected,     (500, "result_unknown"),       "CONFIRMED",            BOOKED),
    Cell(Find,    Forbidden,     (500, "result_unknown"),       "CONFIRMED",            BOOKED),
    Cell(Find,    ErrorBeforeEffect, (500, "result_unknown"),       "CONFIRMED",            BOOKED),
    Cell(Find,    ErrorAfterEffect,  (500, "result_unknown"),       "CONFIRMED",            BOOKED),
    Cell(Find,    TimeoutBeforeEffect, (500, "result_unknown"),       "CONFIRMED",            BOOKED),
    Cell(Find,    TimeoutAfterEffect,  (500, "result_unknown"),       "CONFIRMED",            BOOKED),
    Cell(Find,    ConnectionReset,      (500, "result_unknown"),       "CONFIRMED",            BOOKED),
    Cell(Find,    MalformedResponse,    (500, "result_unknown"),       "CONFIRMED",            BOOKED),
    Cell(Find,    DuplicatedRequest,      (500, "result_unknown"),       "CONFIRMED",            BOOKED),
    Cell(Find,    DelayedEffect,       (500, "result_unknown"),       "CONFIRMED",            BOOKED),

    Cell(Cancel,  None,       (202, "CANCEL_IN_PROGRESS"),   "CANCELED SUCCEEDED",   RETURNED),
    Cell(Cancel,  Slow,       (202, "CANCEL_IN_PROGRESS"),   "CANCELED SUCCEEDED",   RETURNED),
    Cell(Cancel,  Rejected,     (202, "CANCEL_IN_PROGRESS"),   "CONFIRMED REFUSED",    BOOKED),
    Cell(Cancel,  Forbidden,     (202, "CANCEL_IN_PROGRESS"),   "CONFIRMED FAILED",     BOOKED),
    Cell(Cancel,  ErrorBeforeEffect, (202, "CANCEL_IN_PROGRESS"),   "CONFIRMED FAILED",     BOOKED),
    Cell(Cancel,  ErrorAfterEffect,  (202, "CANCEL_IN_PROGRESS"),   "CANCELED SUCCEEDED",   RETURNED),
    Cell(Cancel,  TimeoutBeforeEffect, (202, "CANCEL_IN_PROGRESS"),   "CONFIRMED FAILED",     BOOKED),
    Cell(Cancel,  TimeoutAfterEffect,  (202, "CANCEL_IN_PROGRESS"),   "CANCELED SUCCEEDED",   RETURNED),
    Cell(Cancel,  ConnectionReset,      (202, "CANCEL_IN_PROGRESS"),   "CANCELED SUCCEEDED",   RETURNED),
    Cell(Cancel,  MalformedResponse,    (202, "CANCEL_IN_PROGRESS"),   "CANCELED SUCCEEDED",   RETURNED),
    Cell(Cancel,  DuplicatedRequest,      (202, "CANCEL_IN_PROGRESS"),   "CANCELED SUCCEEDED",   RETURNED),
    Cell(Cancel,  DelayedEffect,       (202, "CANCEL_IN_PROGRESS"),   "CANCELED SUCCEEDED",   RETURNED),

    Cell(Bags,    None,       (200, "CONFIRMED"),            "CONFIRMED CONFIRMED",  CARRIED),
    Cell(Bags,    Slow,       (200, "CONFIRMED"),            "CONFIRMED CONFIRMED",  CARRIED),
    Cell(Bags,    Rejected,     (422, "supplier_rejected"),    "CONFIRMED FAILED",     NOT_CARRIED),
    Cell(Bags,    Forbidden,     (500, "result_unknown"),       "CONFIRMED FAILED",     NOT_CARRIED),
    Cell(Bags,    ErrorBeforeEffect, (500, "result_unknown"),       "CONFIRMED FAILED",     NOT_CARRIED),
    Cell(Bags,    ErrorAfterEffect,  (500, "result_unknown"),       "CONFIRMED CONFIRMED",  CARRIED),
    Cell(Bags,    TimeoutBeforeEffect, (500, "result_unknown"),       "CONFIRMED FAILED",     NOT_CARRIED),
    Cell(Bags,    TimeoutAfterEffect,  (500, "result_unknown"),       "CONFIRMED CONFIRMED",  CARRIED),
    Cell(Bags,    ConnectionReset,      (500, "result_unknown"),       "CONFIRMED CONFIRMED",  CARRIED),
    Cell(Bags,    MalformedResponse,    (500, "result_unknown"),       "CONFIRMED CONFIRMED",  CARRIED),
    Cell(Bags,    DuplicatedRequest,      (500, "result_unknown"),       "CONFIRMED CONFIRMED",  CARRIED),
    Cell(Bags,    DelayedEffect,       (500, "result_unknown"),       "CONFIRMED CONFIRMED",  CARRIED),
];

/// Returns the route of a call at its supplier, and the status and code of the response with which
/// the supplier refuses it.
const fn at_supplier(call: Call) -> (&'static str, u16, &'static str) {
    match call {
        Price => ("POST /lodge/v1/rates", 400, "INVALID_REQUEST"),
        Prebook => ("POST /lodge/v1/prebooks", 409, "SOLD_OUT"),
        Book => ("POST /lodge/v1/bookings", 422, "BOOKING_REFUSED"),
        // This refusal does not mean that there is no booking: the supplier reports that with an
        // empty list.
        Find => ("GET /lodge/v1/bookings", 404, "NOT_FOUND"),
        Cancel => ("POST /lodge/v1/bookings/*/cancel", 409, "NOT_CANCELLABLE"),
        Bags => ("POST /skylane/orders/*/bags", 422, "bags_refused"),
    }
}

/// Formats the id of the cell's supplier.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(call, fault, ..) = self;
        f.write_str(&format!("{call:?}_{fault:?}").to_uppercase())
    }
}

impl Cell {
    /// Returns a booking at the cell's supplier.
    fn hotel(&self) -> HotelBookingBuilder {
        HotelBookingBuilder::at("OK").sold_by(&self.to_string())
    }

    fn check_at_once(&self, reply: &Reply) {
        let (status, word) = outcome_of(reply);
        assert_eq!(
            (status, word.as_str()),
            self.2,
            "{self}: immediate response"
        );
        if matches!(self.0, Price | Prebook) && status >= 400 {
            // After these responses, the same request fails until somebody has corrected something.
            let requires_correction = matches!(self.1, Rejected | Forbidden | MalformedResponse);
            assert_eq!(reply.body["retryable"], !requires_correction, "{self}");
        }
    }

    /// Returns the faults that the proxy injects for the cell's supplier.
    fn missteps(&self) -> Vec<PlannedFault> {
        let Self(call, fault, ..) = *self;
        let misstep = |call, fault| {
            let (route, status, code) = at_supplier(call);
            let error = json!({"code": code});
            let body = match call {
                Bags => json!({"errors": [error]}),
                _ => json!({"error": error}),
            };
            let refusal = (status, body.to_string());
            PlannedFault {
                route,
                fault,
                refusal,
            }
        };
        match (call, fault) {
            // A booking that appears late is not found at first.
            (Find, DelayedEffect) => vec![misstep(Book, DelayedEffect)],
            // Only a call whose response was lost is reconciled.
            (Find, _) => vec![misstep(Book, ErrorAfterEffect), misstep(Find, fault)],
            _ => vec![misstep(call, fault)],
        }
    }

    /// Returns the configuration of the cell's supplier.
    fn supplier(&self, url: &str) -> String {
        let (kind, component, header, key) = match self.0 {
            Bags => (
                "flight",
                "fake-flights-skylane.wasm",
                "authorization",
                "Bearer skylane-supplier-a",
            ),
            Price | Prebook | Book | Find | Cancel => (
                "hotel",
                "fake-hotels.wasm",
                "x-lodge-key",
                "lodge-sandbox-hotels",
            ),
        };
        let id = self.to_string();
        let headers = [(header, key), (CALLER, id.as_str())];
        let supplier = supplier_at(url, &id, kind, component, &headers);
        format!("{supplier}limits = {{ call_ms_max = 6000 }}\nweight = 0\n")
    }
}

/// Number of cells that run concurrently. Most cells wait most of the time; with more, they would
/// delay each other.
const CONCURRENT_CELLS: usize = 32;

/// A server on which the cells run.
struct Fixture {
    server: Server,
    client: Client,
    payment: Value,
}

#[test]
fn matrix_covers_every_fault_at_every_call() {
    let cells: HashSet<(Call, Fault)> = MATRIX.iter().map(|cell| (cell.0, cell.1)).collect();
    for call in [Price, Prebook, Book, Find, Cancel, Bags] {
        for fault in Fault::ALL {
            assert!(cells.contains(&(call, fault)), "{call:?} {fault:?}");
        }
    }
}

/// Returns the cells ordered so that the slowest start first.
fn longest_first() -> Vec<Cell> {
    let mut cells = MATRIX.to_vec();
    cells.sort_by_key(|cell| !matches!(cell.1, TimeoutBeforeEffect | TimeoutAfterEffect));
    cells
}

async fn booking_after_each_supplier_fault_ends_as_specified(database: Database) {
    let proxy = FaultProxy::start().await;
    let limits = "[limits]\nrequest_s = 6\nrequests_per_s = 100000\nburst = 100000\n";
    let mut config = limits.to_owned();
    let cells = longest_first();
    for cell in &cells {
        config.write_str(&cell.supplier(&proxy.url)).unwrap();
        proxy.plan(&cell.to_string(), cell.missteps());
    }
    let server = Server::start_with(
        ServerOptions::on(database)
            .with_short_retries()
            .config(&config),
    )
    .await;
    proxy.forward_to(&server.sandbox_url);
    let client = server.client();
    let fixture = Fixture {
        payment: client.card_payment("tok_visa").await,
        server,
        client,
    };
    // A failing cell must not prevent the results of the others from being reported.
    let run = |cell: &Cell| AssertUnwindSafe(fixture.run_cell(*cell)).catch_unwind();
    let runs = stream::iter(cells.iter().map(run)).buffer_unordered(CONCURRENT_CELLS);
    let completed: Vec<(Cell, String)> = runs.filter_map(async |ended| ended.ok()).collect().await;
    assert_eq!(
        completed.len(),
        cells.len(),
        "some cells failed; their messages are above"
    );
    let ledger = fixture.server.ledger().await;
    for (cell, booking) in &completed {
        let remaining_faults = proxy.remaining_faults(&cell.to_string());
        assert!(
            remaining_faults.is_empty(),
            "{cell} did not meet {remaining_faults:?}"
        );
        assert_eq!(
            ledger.kinds_of(booking),
            cell.4,
            "{cell}: ledger at the end"
        );
    }
    let effects = cells.iter().map(|cell| cell.4.len()).sum::<usize>();
    assert_eq!(
        ledger.of("").count(),
        effects,
        "the ledger contains only the effects of the cells"
    );
}

impl Fixture {
    /// Runs a cell. Returns it with its booking's id.
    async fn run_cell(&self, cell: Cell) -> (Cell, String) {
        let Cell(call, _, _, end, ledger) = cell;
        let (booking, ended) = match call {
            Price => (NO_BOOKING.to_owned(), self.price(&cell).await),
            Prebook => self.prebook(&cell).await,
            Book | Find => self.book(&cell).await,
            Cancel => self.cancel(&cell).await,
            Bags => self.buy_bags(&cell).await,
        };
        assert_eq!(ended, end, "{cell}: final status");
        self.server.wait_for_ledger(&booking, ledger).await;
        (cell, booking)
    }

    /// Prices twice: the second call meets no fault and succeeds.
    async fn price(&self, cell: &Cell) -> String {
        let way = cell.hotel();
        cell.check_at_once(&way.price(&self.client).await);
        let (status, word) = outcome_of(&way.price(&self.client).await);
        assert_eq!(status, 200, "{cell}: {word}");
        word
    }

    async fn prebook(&self, cell: &Cell) -> (String, String) {
        let name = cell.to_string();
        let client = &self.client;
        let way = cell.hotel();
        let request = way.request(&way.offer(client).await);
        let request = merged(request, json!({"reference_id": name}));
        let first = client.prebook_hotel(&name, &request).await;
        cell.check_at_once(&first);
        let listed = format!("/v1/hotel/bookings?reference_id={name}");
        let listed = client.get(&listed).await.expect(200);
        let [booking] = listed.list() else {
            panic!("{cell}: expected one booking, found {:#}", listed.body);
        };
        let status = booking["status"].as_str().unwrap().to_owned();
        // The key returns the booking that it created, or the same refusal. Without a response of
        // the supplier nothing is reserved or charged, so the key binds the offer again.
        let again = outcome_of(&client.prebook_hotel(&name, &request).await);
        let expected = match (first.status, &*status) {
            (422, _) => outcome_of(&first),
            (_, "FAILED") => (201, "READY_FOR_COMPLETE".to_owned()),
            _ => (200, status.clone()),
        };
        assert_eq!(again, expected, "{cell}: repeated call");
        let id = booking["id"].as_str().unwrap().to_owned();
        // Only a failed prebook is recorded. The supplier may have received it if it did not respond.
        let recorded: &[&str] = match first.status {
            201 => &[],
            422 => &["refused"],
            _ => &["unknown"],
        };
        let outcomes = self.server.attempt_outcomes(&id).await;
        assert_eq!(outcomes, recorded, "{cell}");
        (id, status)
    }

    async fn book(&self, cell: &Cell) -> (String, String) {
        let booking = cell.hotel().prebooked(&self.client).await;
        let book = async || self.client.book_hotel(&booking, &self.payment).await;
        cell.check_at_once(&book().await);
        let ended = self.settled(cell, &booking).await;
        let again = match ended["status"].as_str() {
            Some("FAILED") => (422, "supplier_rejected".to_owned()),
            _ => (200, "CONFIRMED".to_owned()),
        };
        let repeated = outcome_of(&book().await);
        assert_eq!(repeated, again, "{cell}: repeated call");
        (booking, ended["status"].as_str().unwrap().to_owned())
    }

    /// Waits until no work is in progress for a hotel booking and returns it.
    async fn settled(&self, cell: &Cell, booking: &str) -> Value {
        eventually(&format!("{cell} to be final"), async || {
            let booking = self.client.hotel_booking(booking).await;
            let status = booking["status"].as_str().unwrap();
            (!status.ends_with("_IN_PROGRESS")).then_some(booking)
        })
        .await
    }

    async fn cancel(&self, cell: &Cell) -> (String, String) {
        let booking = cell.hotel().book_confirmed(&self.client).await;
        self.server
            .wait_for_entries(&booking, ["capture"], [1])
            .await;
        cell.check_at_once(&self.client.cancel_hotel(&booking, &json!({})).await);
        let ended = self.settled(cell, &booking).await;
        let end = words([&ended["status"], &ended["cancellations"][0]["status"]]);
        (booking, end)
    }

    async fn buy_bags(&self, cell: &Cell) -> (String, String) {
        let (client, name) = (&self.client, cell.to_string());
        let way = FlightBookingBuilder::on("LHR-JFK").at(&name);
        let ticket = way.book_confirmed(&self.server).await;
        self.server
            .wait_for_entries(&ticket, ["capture"], [1])
            .await;
        let request = client.bag_request(&ticket, "tok_visa").await;
        cell.check_at_once(&client.purchase_bags(&ticket, &name, &request).await);
        let ended = eventually(&format!("{cell} to be final"), async || {
            let booking = client.flight_booking(&ticket).await;
            (booking["services"][0]["status"] != "PENDING").then_some(booking)
        })
        .await;
        let [status, bag] = [&ended["status"], &ended["services"][0]["status"]];
        let again = match bag.as_str() {
            Some("FAILED") => (422, "supplier_rejected".to_owned()),
            _ => (200, "CONFIRMED".to_owned()),
        };
        let repeated = outcome_of(&client.purchase_bags(&ticket, &name, &request).await);
        assert_eq!(repeated, again, "{cell}: repeated call");
        (ticket, words([status, bag]))
    }
}

fn words(statuses: [&Value; 2]) -> String {
    statuses.map(|status| status.as_str().unwrap()).join(" ")
}

/// Returns the HTTP status with the problem's code, the booking's status or `OFFERED`.
fn outcome_of(reply: &Reply) -> (u16, String) {
    let offered = reply.data()[0]["offers"].as_array();
    let (status, word) = match offered {
        Some(offers) if !offers.is_empty() => (reply.status, "OFFERED"),
        _ => reply.outcome(),
    };
    (status, word.to_owned())
}

/// Placeholder id that no client reference starts with.
const NO_BOOKING: &str = "-";

on_both_databases! { booking_after_each_supplier_fault_ends_as_specified }
