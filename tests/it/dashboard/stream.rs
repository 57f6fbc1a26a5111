//! Lists that grow while they are open.

use std::time::{Duration, Instant};
use tests::{
    Client, DashboardClient, Database, EventStream, PASSWORD, Server, Subscriber, accounts,
    link_path, on_both_databases,
};

const EMAIL: &str = "ada@example.com";

/// Streams that an account may have open.
const STREAMS_PER_ACCOUNT_MAX: usize = 8;

on_both_databases!(
    stream_sends_new_rows_of_the_scope_and_filter,
    stream_goes_on_after_the_last_event,
    stream_reports_skipped_rows,
    stream_of_deliveries_repeats_only_what_has_changed,
    stream_ends_with_the_session_the_role_and_the_mode,
    stream_ends_when_its_rows_are_closed_to_the_person,
);

/// Time within which a stream must end.
const END_TIME_MAX: Duration = Duration::from_secs(5);

/// Makes an API call whose request id is `id`.
async fn call(client: &Client, id: &str) {
    let client = client.header("x-request-id", id);
    client.get("/v1/hotel/bookings/unknown").await;
}

async fn stream_sends_new_rows_of_the_scope_and_filter(database: Database) {
    let server = Server::start(database).await;
    let member = ["--organization", "acme", "--org-role", "viewer"];
    let person = DashboardClient::with_account(&server, EMAIL, &member).await;
    let (acme, other) = (server.client_for("acme").await, server.client());
    let mut all = person.open_stream("/stream/requests", None).await.unwrap();
    let mut none = person
        .open_stream("/stream/requests?status=5xx", None)
        .await
        .unwrap();
    call(&other, "req-of-another").await;
    call(&acme, "req-first").await;
    call(&acme, "req-second").await;
    let mut seen = String::new();
    while !seen.contains("req-second") {
        let event = all.next().await.unwrap();
        assert_eq!(event.name, "row");
        assert!(event.data.starts_with("<tr"), "{}", event.data);
        seen.push_str(&event.data);
    }
    assert!(!seen.contains("req-of-another"), "{seen}");
    assert!(seen.find("req-first") < seen.find("req-second"), "{seen}");
    person.post("/sign-out", &[]).await;
    let last = none.next().await.map(|event| event.name);
    assert_eq!(last.as_deref(), Some("end"), "no row has this status");
    assert!(!none.last_id().is_empty(), "an empty list can go on too");
}

/// Returns the rows that come until one has a text, which is the last of them.
async fn rows_until(stream: &mut EventStream, text: &str) -> Vec<String> {
    let mut rows = Vec::new();
    loop {
        let event = stream.next().await.unwrap();
        assert_eq!(event.name, "row");
        let is_last = event.data.contains(text);
        rows.push(event.data);
        if is_last {
            return rows;
        }
    }
}

async fn stream_goes_on_after_the_last_event(database: Database) {
    let server = Server::start(database).await;
    let person = DashboardClient::set_up(&server, EMAIL).await;
    let client = server.client();
    let path = "/stream/requests";
    let mut stream = person.open_stream(path, None).await.unwrap();
    call(&client, "req-first").await;
    call(&client, "req-named").await;
    let seen = rows_until(&mut stream, "req-named").await;
    assert_eq!(seen.len(), 2, "{seen:?}");
    let last = stream.last_id().to_owned();
    drop(stream);
    call(&client, "req-meanwhile").await;
    let query = format!("{path}?last_event_id={last}");
    for (path, header, live) in [
        (path, Some(last.as_str()), "req-live-1"),
        (&query, None, "req-live-2"),
    ] {
        let mut stream = person.open_stream(path, header).await.unwrap();
        let mut rows = rows_until(&mut stream, "req-meanwhile").await;
        call(&client, live).await;
        rows.extend(rows_until(&mut stream, live).await);
        let count = |id: &str| rows.iter().filter(|row| row.contains(id)).count();
        let counts = ["req-first", "req-named", "req-meanwhile", live].map(count);
        assert_eq!(counts, [0, 0, 1, 1], "{rows:?}");
    }
}

async fn stream_reports_skipped_rows(database: Database) {
    let server = Server::start(database).await;
    let person = DashboardClient::set_up(&server, EMAIL).await;
    let client = server.client();
    let path = "/stream/requests";
    let mut stream = person.open_stream(path, None).await.unwrap();
    call(&client, "req-first").await;
    rows_until(&mut stream, "req-first").await;
    let last = stream.last_id().to_owned();
    call(&client, "req-meanwhile").await;
    rows_until(&mut stream, "req-meanwhile").await;
    drop(stream);
    let columns = "at, method, route, path, status, failure, duration_us, key_id, user_id, \
         booking_id, code, host, request_id, organization, mode";
    let copies = format!(
        "INSERT INTO request_log (id, {columns}) \
         SELECT substr(id, 1, 26) || CAST(1000000000 + n.i AS TEXT), {columns} FROM request_log \
         CROSS JOIN (WITH RECURSIVE numbers(i) AS \
           (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < 1100) \
           SELECT i FROM numbers) AS n \
         WHERE request_id = 'req-meanwhile'"
    );
    server.try_edit(&copies).await.unwrap();
    let mut stream = person.open_stream(path, Some(&last)).await.unwrap();
    let first = stream.next().await.unwrap();
    assert_eq!(
        (first.name.as_str(), first.data.as_str()),
        ("skipped", "some were skipped")
    );
    for _ in 0..1000 {
        let row = stream.next().await.unwrap();
        assert!(row.data.contains("req-meanwhile"), "{}", row.data);
    }
}

async fn stream_of_deliveries_repeats_only_what_has_changed(database: Database) {
    let server = Server::start(database).await;
    let person = DashboardClient::set_up(&server, EMAIL).await;
    let client = server.client();
    let path = "/stream/deliveries";
    let subscriber = Subscriber::start(&client).await;
    let subscription = &subscriber.subscription;
    let mut stream = person.open_stream(path, None).await.unwrap();
    let first = subscription.ping_until(&client, "DELIVERED").await;
    let first = first["id"].as_str().unwrap();
    while !stream.find("row", first).await.data.contains("Delivered") {}
    let last = stream.last_id().to_owned();
    drop(stream);
    let second = subscription.ping(&client).await;
    let mut stream = person.open_stream(path, Some(&last)).await.unwrap();
    let rows = rows_until(&mut stream, &second).await;
    assert_eq!(rows.len(), 1, "{rows:?}");
}

async fn stream_ends_with_the_session_the_role_and_the_mode(database: Database) {
    let server = Server::start(database).await;
    let path = "/stream/deliveries";
    for ending in ["sign-out", "mode", "disable"] {
        let email = format!("{ending}@example.com");
        let options = ["--role", "operator"];
        let person = DashboardClient::with_account(&server, &email, &options).await;
        let mut stream = person.open_stream(path, None).await.unwrap();
        match ending {
            "sign-out" => drop(person.post("/sign-out", &[]).await),
            "mode" => drop(
                person
                    .post("/mode", &[("mode", "live"), ("next", "/")])
                    .await,
            ),
            _ => drop(accounts(&server, &["disable", &email]).await),
        }
        let event = stream.next().await.unwrap();
        assert_eq!(event.name, "end", "{ending}");
        assert_eq!(stream.next().await, None, "{ending}");
    }
}

async fn stream_ends_when_its_rows_are_closed_to_the_person(database: Database) {
    let server = Server::start(database).await;
    let member = async |email: &str, organization: &str| {
        let options = ["--organization", organization, "--org-role", "admin"];
        DashboardClient::with_account(&server, email, &options).await
    };
    let admin = member("admin@example.com", "acme").await;
    let last_role = member("last@example.com", "acme").await;
    let another_role = member("another@example.com", "other").await;
    let fields = [("email", "another@example.com"), ("role", "viewer")];
    let invited = admin.post("/members", &fields).await;
    let accept = format!("{}/accept", link_path(invited.test_id("invite-link")));
    assert_eq!(another_role.post(&accept, &[]).await.status, 303);
    for (email, person) in [
        ("last@example.com", last_role),
        ("another@example.com", another_role),
    ] {
        let mut streams = Vec::new();
        for path in ["/stream/requests", "/stream/deliveries"] {
            streams.push(person.open_stream(path, None).await.unwrap());
        }
        let members = admin.get("/members").await.body;
        let (before, _) = members.split_once(&format!("data-row>{email}<")).unwrap();
        let (_, path) = before.rsplit_once("href=\"").unwrap();
        let path = path.split('"').next().unwrap();
        let removed = admin.post(&format!("{path}/remove"), &[]).await;
        assert_eq!(removed.status, 303, "{}", removed.body);
        let begin = Instant::now();
        for stream in &mut streams {
            assert_eq!(stream.next().await.unwrap().name, "end", "{email}");
            assert_eq!(stream.next().await, None, "{email}");
        }
        assert!(begin.elapsed() < END_TIME_MAX, "{email}");
    }
}

#[tokio::test]
async fn account_has_a_limited_number_of_streams() {
    let server = Server::start(Database::Sqlite).await;
    let person = DashboardClient::set_up(&server, EMAIL).await;
    let path = "/stream/deliveries";
    let mut streams: Vec<EventStream> = Vec::new();
    while streams.len() < STREAMS_PER_ACCOUNT_MAX {
        streams.push(person.open_stream(path, None).await.unwrap());
    }
    assert_eq!(person.open_stream(path, None).await.err(), Some(503));
    let another = DashboardClient::new(&server);
    // A browser would follow to the page of the sign-in and report it as a broken stream.
    assert_eq!(another.open_stream(path, None).await.err(), Some(204));
    assert_eq!(another.sign_in(EMAIL, PASSWORD).await.status, 303);
    assert_eq!(another.open_stream(path, None).await.err(), Some(503));
    drop(streams);
    tests::eventually("a free stream", async || {
        person.open_stream(path, None).await.ok()
    })
    .await;
}
