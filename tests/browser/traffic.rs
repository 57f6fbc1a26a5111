//! Something to see on every page: bookings, an unknown outcome, deliveries, a watch, a mandate.

use serde_json::{Value, json};
use tests::{
    AdminClient, BookingBuilder, DashboardClient, Server, Subscriber, Subscription, eventually,
    money,
};

/// Request id of a call that failed.
pub(crate) const FAILED_REQUEST: &str = "req-unknown-hotel";

/// Name of a key, address of a member.
const KEY: &str = "nightly-report";
const MEMBER: &str = "grace@example.com";

/// What a server has, by the names that tables of tests use: `{booking}` is the id of a booking.
pub(crate) struct Traffic(Vec<(&'static str, String)>);

impl Traffic {
    /// Puts the ids in the place of their names.
    pub(crate) fn fill(&self, text: &str) -> String {
        let fill = |text: String, (name, value): &(&str, String)| text.replace(name, value);
        self.0.iter().fold(text.to_owned(), fill)
    }
}

/// Uses the API as a client does. The server must retry fast. The person reads organization
/// `demo`.
pub(crate) async fn make_traffic(server: &Server, person: &DashboardClient) -> Traffic {
    let client = server.client();
    let subscriber = Subscriber::start(&client).await;
    // Nobody listens at this address.
    Subscription::create(&client, "https://127.0.0.1:9/hooks").await;
    let [hotel, flight] = BookingBuilder::of_each_kind();
    let booking = hotel.book_captured(server).await;
    flight.book_confirmed(server).await;
    for (scenario, card) in [("BOOK_REFUSED", "tok_visa"), ("OK", "tok_declined")] {
        BookingBuilder::new("SANDBOX_HOTELS", scenario)
            .card(card)
            .book(server)
            .await;
    }
    let cancelled = hotel.book_captured(server).await;
    cancelled.cancel().await;
    let never_known = BookingBuilder::new("SANDBOX_HOTELS", "BOOK_NEVER_KNOWN");
    let (unresolved, _) = never_known.book(server).await;
    let operator = AdminClient::of(server);
    eventually("an unknown outcome", async || {
        let is_listed = operator.has_unresolved_call(&unresolved.id, "book").await;
        is_listed.then_some(())
    })
    .await;
    let failing = client.header("x-request-id", FAILED_REQUEST);
    failing.get("/v1/hotel/bookings/unknown").await;
    let watch = client.watch_hotel("OK", 1.0, json!({})).await;
    let card = client.store_card("tok_visa").await;
    let mandate = json!({
        "user_id": "user_1",
        "payment_amount": money(250.5, "EUR"),
        "payment_instrument": { "id": card, "type": "CARD" },
    });
    let mandate = client.post("/v1/mandate", &mandate).await.expect(201);
    let (delivery, event) = delivered_twice(&subscriber, server).await;
    let (key, member) = create_key_and_member(server, person).await;
    Traffic(vec![
        ("{booking}", booking.id),
        ("{unresolved}", unresolved.id),
        ("{request}", FAILED_REQUEST.to_owned()),
        ("{webhook}", subscriber.subscription.id.clone()),
        ("{delivery}", delivery),
        ("{event}", event),
        ("{watch}", text(&watch["id"])),
        ("{mandate}", text(&mandate.data()["id"])),
        ("{key}", key),
        ("{key name}", KEY.to_owned()),
        ("{member}", member),
        ("{member address}", MEMBER.to_owned()),
    ])
}

/// Creates a key and a member, and returns their ids.
async fn create_key_and_member(server: &Server, person: &DashboardClient) -> (String, String) {
    let options = ["--mode", "test", "--name", KEY];
    server.client_with("demo", &options).await;
    let options = ["--organization", "demo", "--org-role", "viewer"];
    DashboardClient::with_account(server, MEMBER, &options).await;
    let keys = person.get(&format!("/keys?q={KEY}")).await.body;
    let (_, key) = keys.split_once("href=\"/keys/").unwrap();
    let members = person.get("/members?organization=demo").await.body;
    let (before, _) = members.split_once(&format!(">{MEMBER}</a>")).unwrap();
    let (_, member) = before.rsplit_once("href=\"/members/demo/").unwrap();
    // Links of a filtered list have its filter as their query.
    let id = |rest: &str| rest.split(['"', '?']).next().unwrap().to_owned();
    (id(key), id(member))
}

/// Returns the ids of a delivery that has arrived twice, because it was replayed, and of its event.
async fn delivered_twice(subscriber: &Subscriber, server: &Server) -> (String, String) {
    let (client, subscription) = (server.client(), &subscriber.subscription);
    let (delivery, event) = eventually("a delivery", async || {
        let listed = subscription.deliveries(&client, "?status=DELIVERED").await;
        let delivery = listed.expect(200).list().first()?.clone();
        Some((text(&delivery["id"]), text(&delivery["event"]["id"])))
    })
    .await;
    subscription.replay(&client, &delivery).await.expect(200);
    let replayed = subscription.wait_for_delivery_status(&client, &delivery, "DELIVERED");
    assert_eq!(replayed.await["replay_count"], 1);
    (delivery, event)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}
