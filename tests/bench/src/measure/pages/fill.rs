//! Fills a gateway's database: a few bookings are made over HTTP, and SQL copies them.

use super::catalog::Shown;
use crate::rows::Rows;
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::time::Instant;
use tests::{AdminClient, BookingBuilder, Server, Subscription, eventually, money};

/// The statements, separated by a semicolon at the end of a line.
const STATEMENTS: &str = include_str!("fill.sql");
/// Outcomes become unknown within seconds. Nothing that was copied is read again at suppliers.
pub(super) const CONFIG: &str =
    "[reconcile]\nschedule_s = [1, 1, 2, 3]\n[requests]\nrows_max = 10000000";

const BOOKINGS: u32 = 1_000_000;
const HOUR_MS: i64 = 60 * 60 * 1000;
/// Requests are deleted after seven days, so none is as old.
const SPAN_MS: i64 = 165 * HOUR_MS;
/// Ids of the copies, without prefix and number. See `fill.sql`.
const BITS: &str = "019a0000000070008000";
const EVENT_BITS: &str = "019a0000000070009000";
const WEBHOOK: &str = "019a0000000070008000000000000";

/// The body of each event: a plausible size for a message about a booking.
const PAYLOAD: &str = r#"{"id":"{event}","type":"booking","created_at":"2026-11-20T10:00:00.000Z","data":{"id":"bkg_1","status":"CONFIRMED","supplier":"SANDBOX_HOTELS","supplier_reference":"H-1","total_amount":{"amount":240.5,"currency":"EUR"},"hotel":{"name":"The Market Square Hotel","address":"1 Market Square","city":"Berlin","country":"DE"},"check_in":"2026-12-20","check_out":"2026-12-22","rooms":[{"name":"Double room","board":"Breakfast included","guests":[{"first_name":"Ada","last_name":"Lovelace","type":"ADULT"},{"first_name":"Byron","last_name":"Lovelace","type":"ADULT"}]}],"contact":{"email":"ada@example.org","phone":"+442079460000"}}}"#;

/// A booking that is copied, and the share of the copies in tens of thousands.
struct Template {
    id: String,
    product: &'static str,
    from: u32,
    to: u32,
    /// Whether the outcome of the call to the supplier is unknown.
    is_open: bool,
}

/// Ids of what was made over HTTP.
struct Originals {
    bookings: Vec<Template>,
    webhook: String,
    watch: String,
    mandate: String,
    key: String,
}

/// Returns the number of bookings to fill in.
fn bookings() -> Result<u32> {
    let number = std::env::var("BENCH_BOOKINGS");
    number.map_or(Ok(BOOKINGS), |number| {
        let parsed = number.parse();
        parsed.context("BENCH_BOOKINGS is no number")
    })
}

/// Fills the database and returns what the pages show. The server is stopped.
pub(super) async fn fill(server: &mut Server) -> Result<Shown> {
    let originals = Originals::make(server).await?;
    // SQLite has one writer, and nobody but the filling program should use the machine.
    server.kill().await;
    let mut rows = Rows::of(server).await?;
    let dropped_indexes = rows.drop_indexes().await?;
    let now = jiff::Timestamp::now().as_millisecond();
    let copies = Copies {
        count: bookings()?,
        start: now - SPAN_MS,
        now,
    };
    rows.execute(copies.template_table()).await?;
    for booking in &originals.bookings {
        rows.execute(booking.insert()).await?;
    }
    for statement in STATEMENTS.split(";\n") {
        let begin = Instant::now();
        let statement = copies.filled_in(statement, &originals, &rows);
        let is_code = |line: &&str| !line.is_empty() && !line.starts_with("--");
        let first_line = statement.lines().find(is_code).map(str::to_owned);
        if let Some(first_line) = first_line {
            rows.execute(statement).await.context(first_line.clone())?;
            let length = begin.elapsed().as_secs_f64();
            eprintln!("  {length:5.1} s  {first_line}");
        }
    }
    let begin = Instant::now();
    rows.rebuild_indexes(dropped_indexes).await?;
    eprintln!("  {:5.1} s  indexes", begin.elapsed().as_secs_f64());
    copies.shown(&originals, &mut rows).await
}

impl Originals {
    async fn make(server: &Server) -> Result<Self> {
        let client = server.client();
        let [hotel, flight] = BookingBuilder::of_each_kind();
        let canceled_hotel = hotel.book_captured(server).await;
        canceled_hotel.cancel().await;
        canceled_hotel.wait_for("CANCELED").await;
        let canceled_flight = flight.book_confirmed(server).await;
        canceled_flight.cancel().await;
        canceled_flight.wait_for("CANCELED").await;
        let refused = BookingBuilder::new("SANDBOX_HOTELS", "BOOK_REFUSED");
        let (failed, _) = refused.book(server).await;
        let never_known = BookingBuilder::new("SANDBOX_HOTELS", "BOOK_NEVER_KNOWN");
        let (open, _) = never_known.book(server).await;
        let operator = AdminClient::of(server);
        eventually("an unknown outcome", async || {
            let is_listed = operator.has_unresolved_call(&open.id, "book").await;
            is_listed.then_some(())
        })
        .await;
        let template = |id: String, product, from, to| Template {
            id,
            product,
            from,
            to,
            is_open: false,
        };
        let confirmed_hotel = hotel.book_captured(server).await.id;
        let confirmed_flight = flight.book_confirmed(server).await.id;
        let ready = hotel.prebooked(server).await.id;
        let bookings = vec![
            template(confirmed_hotel, "hotel", 0, 7000),
            template(canceled_hotel.id, "hotel", 7000, 8500),
            template(failed.id, "hotel", 8500, 9990),
            Template {
                is_open: true,
                ..template(open.id, "hotel", 9990, 9991)
            },
            template(ready, "hotel", 9991, 10000),
            template(confirmed_flight, "flight", 0, 8000),
            template(canceled_flight.id, "flight", 8000, 10000),
        ];
        let watch = client.watch_hotel("OK", 1.0, json!({})).await;
        let card = client.store_card("tok_visa").await;
        let mandate = json!({
            "user_id": "user_1",
            "payment_amount": money(250.5, "EUR"),
            "payment_instrument": { "id": card, "type": "CARD" },
        });
        let mandate = client.post("/v1/mandate", &mandate).await.expect(201);
        // It is made last, so that no event is sent to it.
        let webhook = Subscription::create(&client, "https://127.0.0.1:9/hooks").await;
        let mut rows = Rows::of(server).await?;
        let key = "SELECT id FROM api_key ORDER BY created_at LIMIT 1";
        // Entries are chained after the change that they record.
        eventually("an audit entry", async || {
            let count = "SELECT CAST(COUNT(*) AS TEXT) FROM audit_log";
            let entries = rows.text(count).await.ok()?;
            (entries != "0").then_some(())
        })
        .await;
        Ok(Self {
            bookings,
            webhook: webhook.id,
            watch: id_of(&watch)?,
            mandate: id_of(mandate.data())?,
            key: rows.text(key).await?,
        })
    }
}

fn id_of(value: &Value) -> Result<String> {
    let id = value.get("id").and_then(Value::as_str);
    Ok(id.context("it has no id")?.to_owned())
}

impl Template {
    /// Returns the statement that adds the booking to the templates.
    fn insert(&self) -> String {
        let Self {
            id,
            product,
            from,
            to,
            is_open,
        } = self;
        let kind = match *product {
            "hotel" => "hotel_id, total_minor, currency, 0",
            _ => "NULL, 0, NULL, price_sort_key",
        };
        format!(
            "INSERT INTO template SELECT '{product}', {from}, {to}, {}, id, status, supplier, \
             {kind}, created_at, version, document FROM {product}_booking WHERE id = '{id}'",
            u8::from(*is_open)
        )
    }
}

/// The number of the copies and their times, in milliseconds.
struct Copies {
    count: u32,
    start: i64,
    now: i64,
}

impl Copies {
    fn template_table(&self) -> String {
        "CREATE TEMPORARY TABLE template (product TEXT, low BIGINT, high BIGINT, is_open BIGINT, \
         id TEXT, status TEXT, supplier TEXT, hotel_id TEXT, total_minor BIGINT, currency TEXT, \
         price_sort_key BIGINT, created_at BIGINT, version BIGINT, document TEXT)"
            .to_owned()
    }

    fn filled_in(&self, statement: &str, originals: &Originals, rows: &Rows) -> String {
        let texts = [
            ("{bookings}", self.count.to_string()),
            ("{start}", self.start.to_string()),
            ("{span}", SPAN_MS.to_string()),
            ("{now}", self.now.to_string()),
            ("{webhook}", originals.webhook.clone()),
            ("{watch}", originals.watch.clone()),
            ("{mandate}", originals.mandate.clone()),
            ("{key}", originals.key.clone()),
            ("{payload}", PAYLOAD.to_owned()),
        ];
        let statement = texts
            .iter()
            .fold(statement.to_owned(), |text, (name, value)| {
                text.replace(name, value)
            });
        rows.with_expressions(&statement)
    }

    /// Returns the time of a copy.
    fn at(&self, number: u32) -> i64 {
        self.start + i64::from(number) * SPAN_MS / i64::from(self.count)
    }

    async fn shown(&self, originals: &Originals, rows: &mut Rows) -> Result<Shown> {
        // The last hotel booking of the large organization with each kind of event.
        let number = self.count / 20 * 20 - 20;
        let bits = |number: u32| format!("{BITS}{number:012}");
        let event = format!("{EVENT_BITS}{:012}", number * 4 + 1);
        let webhook = format!("{WEBHOOK}001");
        let oldest = 100;
        let oldest_at = self.at(oldest);
        let open = "SELECT MAX(booking_id) FROM remote_call_attempt \
                    WHERE outcome = 'unknown' AND organization = 'demo'";
        let entry = "SELECT CAST(MIN(sequence) + 10 AS TEXT) FROM audit_log WHERE at = ";
        let entry = format!("{entry} (SELECT MIN(at) FROM audit_log WHERE organization = 'rare')");
        let first = rows.text(&entry).await?;
        let day = |hours: i64| {
            let at = self.start + hours * HOUR_MS;
            let at = jiff::Timestamp::from_millisecond(at)?;
            anyhow::Ok(at.strftime("%Y-%m-%dT%H:%M").to_string())
        };
        Ok(Shown {
            booking: format!("bkg_{}", bits(number)),
            unresolved: rows.text(open).await?,
            request: format!("req_{}2", bits(number)),
            delivery: format!("dlv_{event}-{webhook}"),
            event: format!("evt_{event}"),
            webhook: format!("whs_{webhook}"),
            watch: format!("wtc_{}", bits(number)),
            mandate: format!("mnd_{}", bits(number + 1)),
            key: originals.key.clone(),
            account: format!("acc_{}", bits(20)),
            oldest_booking: format!("{oldest_at}.bkg_{}", bits(oldest)),
            oldest_request: format!("{oldest_at}.rql_{oldest_at:012x}{:020}", 0),
            oldest_delivery: format!("{oldest_at}.dlv_"),
            oldest_entry: format!("{oldest_at}.{first}"),
            day: format!("from={}&to={}", day(60)?, day(84)?),
        })
    }
}
