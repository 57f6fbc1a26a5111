//! The page "Unresolved": unknown outcomes, undecided refunds and parked jobs.

use serde_json::json;
use tests::{
    BookingBuilder, Client, DashboardClient, Database, HotelBookingBuilder, PageReply, Server,
    ServerOptions, eventually, on_both_databases,
};

on_both_databases!(
    page_shows_consequences_and_applies_the_decision,
    page_shows_what_was_sent,
    one_of_two_operators_wins,
    decision_waits_for_the_end_of_a_lookup,
    waiting_decision_is_withdrawn_even_if_its_job_is_parked,
    outcome_that_a_lookup_finds_first_holds,
    refused_decision_keeps_the_call_and_the_list,
    operator_retries_parked_job,
    cut_list_of_parked_jobs_says_so,
    only_operators_decide,
);

/// An unknown outcome and the fields with which its form names it.
#[derive(Clone)]
struct OpenCall {
    booking: String,
    call: String,
    seen_state: String,
}

impl OpenCall {
    /// Books at a supplier that never answers, and finds the call on the page.
    async fn of(server: &Server, builder: BookingBuilder, operator: &DashboardClient) -> Self {
        let (booking, reply) = builder.book(server).await;
        reply.expect_problem(500, "result_unknown");
        let path = format!("/unresolved?booking={}", booking.id);
        let page = operator.get(&path).await;
        assert_eq!((page.status, page.heading()), (200, "Unresolved"));
        Self {
            call: text_after(&page, "name=\"call\" value=\""),
            seen_state: text_after(&page, "name=\"seen_state\" value=\""),
            booking: booking.id,
        }
    }

    async fn settle(&self, person: &DashboardClient, fields: &[(&str, &str)]) -> PageReply {
        self.settle_from("", person, fields).await
    }

    /// Settles the call on the page of a list with this query.
    async fn settle_from(
        &self,
        query: &str,
        person: &DashboardClient,
        fields: &[(&str, &str)],
    ) -> PageReply {
        let call = [
            ("booking", self.booking.as_str()),
            ("call", &self.call),
            ("seen_state", &self.seen_state),
        ];
        let path = format!("/unresolved/settle{query}");
        person.post(&path, &[&call[..], fields].concat()).await
    }
}

const DONE: &[(&str, &str)] = &[
    ("choice", "done"),
    ("reference", "FLT-9"),
    ("note", "Confirmed by phone"),
];
const NOT_DONE: &[(&str, &str)] = &[("choice", "not_done"), ("note", "They have no order")];

fn never_known() -> BookingBuilder {
    BookingBuilder::new("SANDBOX_HOTELS", "BOOK_NEVER_KNOWN")
}

async fn operator(server: &Server, name: &str) -> DashboardClient {
    let email = format!("{name}@example.com");
    DashboardClient::with_account(server, &email, &["--role", "operator"]).await
}

/// Returns what is between a text and the next quotation mark.
fn text_after(page: &PageReply, text: &str) -> String {
    let rest = page.body.split_once(text).map(|(_, rest)| rest);
    let rest = rest.unwrap_or_else(|| panic!("no {text} on {}", page.body));
    rest.split('"').next().unwrap().to_owned()
}

async fn page_shows_consequences_and_applies_the_decision(database: Database) {
    let server = Server::start_with(ServerOptions::on(database).without_reconciliation()).await;
    let ada = operator(&server, "ada").await;
    let flight = || BookingBuilder::new("SUPPLIER_A", "LTN-STN");
    for (builder, decision, status, money) in [
        (never_known(), DONE, "CONFIRMED", "capture"),
        (never_known(), NOT_DONE, "FAILED", "void"),
        (flight(), DONE, "CONFIRMED", "capture"),
        (flight(), NOT_DONE, "FAILED", "void"),
    ] {
        let open = OpenCall::of(&server, builder, &ada).await;
        let page = ada.get("/unresolved").await.body;
        for text in [
            &open.booking,
            "is captured.",
            "is released.",
            "Needs the reference",
        ] {
            assert!(page.contains(text), "{text}: {page}");
        }
        for (fields, problem) in [
            (&[("note", "Why")][..], "choice-problem"),
            (&[("choice", "not_done"), ("note", " ")], "note-problem"),
            (&[("choice", "done"), ("note", "Why")], "reference-problem"),
        ] {
            let refused = open.settle(&ada, fields).await;
            assert_eq!(refused.status, 422, "{}", refused.body);
            assert!(refused.body.contains(problem), "{}", refused.body);
        }
        // A form about another state of the booking, such as before an orphan was found.
        let old = OpenCall {
            seen_state: "FAILED 2026-11-26T00:00:00.000Z".to_owned(),
            ..open.clone()
        };
        assert_eq!(old.settle(&ada, decision).await.status, 409);
        let settled = open.settle(&ada, decision).await;
        assert_eq!(settled.status, 303, "{}", settled.body);
        let ledger = ["authorization", "booking", money];
        server.wait_for_ledger(&open.booking, &ledger).await;
        let path = format!("/unresolved?booking={}", open.booking);
        let page = ada.get(&path).await.body;
        assert!(page.contains("No open outcome matches"), "{page}");
        assert!(page.contains("ada@example.com"), "{page}");
        let late = open.settle(&ada, decision).await;
        assert_eq!(late.status, 409, "{status}: {}", late.body);
    }
    let audited = || async { server.dump_database().await.contains("booking.settled") };
    assert!(audited().await);
}

async fn page_shows_what_was_sent(database: Database) {
    let server = Server::start_with(ServerOptions::on(database).without_reconciliation()).await;
    let ada = operator(&server, "ada").await;
    let options = ["--organization", "demo", "--org-role", "viewer"];
    let viewer = DashboardClient::with_account(&server, "viewer@example.com", &options).await;
    OpenCall::of(&server, never_known(), &ada).await;
    for person in [&ada, &viewer] {
        // The log of calls is written beside them.
        let page = eventually("the logged call", async || {
            let page = person.get("/unresolved").await;
            page.body.contains("<dt>API request</dt>").then_some(page)
        })
        .await;
        for text in ["<dt>Call</dt>", ".book, ", "<dt>Our reference</dt>"] {
            assert!(page.body.contains(text), "{text}: {}", page.body);
        }
        let request = text_after(&page, "<dd><a href=\"/requests/");
        let request = person.get(&format!("/requests/{request}")).await;
        assert!(request.body.contains("/book"), "{}", request.body);
    }
    let page = viewer.get("/unresolved").await.body;
    let organization = "<td data-label=\"Organization\">demo</td>";
    assert!(!page.contains(organization), "{page}");
    assert!(!page.contains("filter-organization"), "{page}");
    let page = ada.get("/unresolved").await.body;
    assert!(
        page.contains("<th scope=\"col\">Organization</th>"),
        "{page}"
    );
    assert!(page.contains(organization), "{page}");
    let page = ada.get("/unresolved?booking=nonsense").await.body;
    assert!(page.contains("filter-booking-problem"), "{page}");
    assert!(page.contains("No open outcome matches"), "{page}");
}

async fn one_of_two_operators_wins(database: Database) {
    let server = Server::start_with(ServerOptions::on(database).without_reconciliation()).await;
    let (ada, bob) = (
        operator(&server, "ada").await,
        operator(&server, "bob").await,
    );
    let open = OpenCall::of(&server, never_known(), &ada).await;
    let (of_ada, of_bob) = tokio::join!(open.settle(&ada, DONE), open.settle(&bob, NOT_DONE));
    let (winner, loser, money) = match (of_ada.status, of_bob.status) {
        (303, 409) => ("ada@example.com", of_bob, "capture"),
        (409, 303) => ("bob@example.com", of_ada, "void"),
        statuses => panic!("{statuses:?}: {} {}", of_ada.body, of_bob.body),
    };
    let (_, alert) = loser.body.split_once("role=\"alert\"").unwrap();
    assert!(alert.contains(&format!("{winner} decided")), "{alert}");
    let ledger = ["authorization", "booking", money];
    server.wait_for_ledger(&open.booking, &ledger).await;
}

async fn decision_waits_for_the_end_of_a_lookup(database: Database) {
    let server = Server::start_with(ServerOptions::on(database).without_reconciliation()).await;
    let (ada, bob) = (
        operator(&server, "ada").await,
        operator(&server, "bob").await,
    );
    let open = OpenCall::of(&server, never_known(), &ada).await;
    server.hold_job(&open.booking).await;
    let kept = open.settle(&ada, NOT_DONE).await;
    assert_eq!(
        (kept.status, kept.header("location")),
        (303, "/unresolved?done=decision-kept")
    );
    let page = bob.get("/unresolved").await.body;
    assert!(
        page.contains("ada@example.com decided “not done”"),
        "{page}"
    );
    let refused = open.settle(&bob, DONE).await;
    assert_eq!(refused.status, 409);
    assert!(
        refused.body.contains("ada@example.com decided"),
        "{}",
        refused.body
    );
    server.release_job(&open.booking).await;
    let ledger = ["authorization", "booking", "void"];
    server.wait_for_ledger(&open.booking, &ledger).await;
    let page = bob.get("/unresolved").await.body;
    assert!(page.contains("Applied"), "{page}");
}

async fn waiting_decision_is_withdrawn_even_if_its_job_is_parked(database: Database) {
    let server = Server::start_with(ServerOptions::on(database).without_reconciliation()).await;
    let (ada, bob) = (
        operator(&server, "ada").await,
        operator(&server, "bob").await,
    );
    let options = ["--organization", "demo", "--org-role", "admin"];
    let admin = DashboardClient::with_account(&server, "admin@example.com", &options).await;
    let open = OpenCall::of(&server, never_known(), &ada).await;
    server.hold_job(&open.booking).await;
    let path = format!("/unresolved/{}/withdraw", open.booking);
    let listener = Client::new(&server.admin, "");
    let nothing = listener.post(&path, &json!({})).await;
    nothing.expect_problem(409, "booking_state_conflict");

    assert_eq!(open.settle(&ada, NOT_DONE).await.status, 303);
    let page = bob.get("/unresolved").await;
    let decision = page.hidden_field("decision").to_owned();
    let fields = [
        ("booking", open.booking.as_str()),
        ("call", &open.call),
        ("decision", &decision),
    ];
    assert!(!admin.get("/unresolved").await.body.contains("Withdraw"));
    for (person, expected) in [
        (&admin, (403, "")),
        (&bob, (303, "/unresolved?done=decision-withdrawn")),
        (&ada, (303, "/unresolved?done=decision-ended")),
    ] {
        let reply = person.post("/unresolved/withdraw", &fields).await;
        assert_eq!((reply.status, reply.header("location")), expected);
    }
    let page = ada.get("/unresolved").await.body;
    assert!(page.contains("Withdrawn by bob@example.com"), "{page}");
    let page = admin.get("/unresolved").await.body;
    assert!(page.contains("Withdrawn") && !page.contains("bob@example.com"));

    eventually("the end of the job", async || {
        let jobs = server.dump_tables(&["job"]).await;
        (!jobs.contains("settlement")).then_some(())
    })
    .await;
    // A decision whose job is parked would otherwise block every other decision.
    assert_eq!(open.settle(&bob, NOT_DONE).await.status, 303);
    let settlement = server.hold_job_of_kind("settlement").await;
    let spend = "UPDATE job SET attempt_count = 1000, due_at = 0, lease_token = NULL, \
         lease_expires_at = NULL WHERE kind = 'settlement'";
    server.try_edit(spend).await.unwrap();
    let is_parked = async || {
        let page = ada.get("/unresolved").await.body;
        page.contains(&format!("name=\"subject\" value=\"{settlement}\""))
    };
    eventually("the parked job", async || is_parked().await.then_some(())).await;
    assert_eq!(open.settle(&ada, DONE).await.status, 409);
    listener.post(&path, &json!({})).await.expect(200);
    eventually("the end of the job", async || {
        (!is_parked().await).then_some(())
    })
    .await;
    assert_eq!(open.settle(&ada, DONE).await.status, 303);
    server.release_job(&open.booking).await;
    let ledger = ["authorization", "booking", "capture"];
    server.wait_for_ledger(&open.booking, &ledger).await;
    let audit = ada.get("/audit/export").await.body;
    let entries = audit.matches("booking.settlement_withdrawn");
    assert_eq!(entries.count(), 2, "{audit}");
}

async fn outcome_that_a_lookup_finds_first_holds(database: Database) {
    let server = Server::start(database).await;
    let ada = operator(&server, "ada").await;
    let lost = BookingBuilder::new("SANDBOX_HOTELS", "BOOK_LOST_ANSWER");
    let open = OpenCall::of(&server, lost, &ada).await;
    server.hold_job(&open.booking).await;
    assert_eq!(open.settle(&ada, NOT_DONE).await.status, 303);
    let settlement = server.hold_job_of_kind("settlement").await;
    server.release_job(&open.booking).await;
    let ledger = ["authorization", "booking", "capture"];
    server.wait_for_ledger(&open.booking, &ledger).await;
    server.release_job(&settlement).await;
    eventually("the end of the decision", async || {
        let page = ada.get("/unresolved").await.body;
        page.contains("Superseded").then_some(())
    })
    .await;
}

async fn refused_decision_keeps_the_call_and_the_list(database: Database) {
    let server = Server::start_with(ServerOptions::on(database).without_reconciliation()).await;
    let ada = operator(&server, "ada").await;
    let oldest = OpenCall::of(&server, never_known(), &ada).await;
    let open = OpenCall::of(&server, never_known(), &ada).await;
    // The list of this query lacks the call, as a page with older calls does.
    let query = format!("?booking={}&organization=demo", oldest.booking);
    let page = ada.get(&format!("/unresolved{query}")).await.body;
    let action = format!("action=\"/unresolved/settle{query}\"").replace('&', "&#38;");
    assert!(page.contains(&action), "{action}: {page}");
    let asks_about = |page: &PageReply| {
        assert!(page.body.contains("role=\"alert\""), "{}", page.body);
        let booking = format!("<a href=\"/bookings/{}\">Open booking</a>", open.booking);
        assert!(page.body.contains(&booking), "{}", page.body);
        let chip = format!("name=\"booking\" value=\"{}\"", oldest.booking);
        assert!(page.body.contains(&chip), "{}", page.body);
    };
    let refused = open.settle_from(&query, &ada, &[("choice", "done")]).await;
    assert_eq!(refused.status, 422);
    asks_about(&refused);
    assert!(refused.body.contains("note-problem"), "{}", refused.body);
    assert!(refused.body.contains(&action), "{}", refused.body);
    assert_eq!(refused.hidden_field("call"), open.call);

    let list = format!("/unresolved{query}");
    let settled = open.settle_from(&query, &ada, NOT_DONE).await;
    let expected = format!("{list}&done=outcome-settled");
    assert_eq!(
        (settled.status, settled.header("location")),
        (303, &*expected)
    );
    let late = open.settle_from(&query, &ada, DONE).await;
    assert_eq!(late.status, 409);
    asks_about(&late);
    assert!(
        late.body.contains("Nothing can be decided"),
        "{}",
        late.body
    );
    assert!(!late.body.contains("name=\"choice\""), "{}", late.body);

    server.hold_job(&oldest.booking).await;
    let kept = oldest.settle_from(&query, &ada, NOT_DONE).await;
    let expected = format!("{list}&done=decision-kept");
    assert_eq!(kept.header("location"), expected);
    let decision = ada.get(&list).await.hidden_field("decision").to_owned();
    let fields = [
        ("booking", oldest.booking.as_str()),
        ("call", &oldest.call),
        ("decision", &decision),
    ];
    let path = format!("/unresolved/withdraw{query}");
    let withdrawn = ada.post(&path, &fields).await;
    let expected = format!("{list}&done=decision-withdrawn");
    assert_eq!(withdrawn.header("location"), expected);
}

async fn operator_retries_parked_job(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let ada = operator(&server, "ada").await;
    let options = ["--organization", "demo", "--org-role", "admin"];
    let admin = DashboardClient::with_account(&server, "admin@example.com", &options).await;
    let (booking, reply) = HotelBookingBuilder::at("BOOK_LOST_ANSWER")
        .book(&client)
        .await;
    reply.expect_problem(500, "result_unknown");
    server.exhaust_attempts(&booking).await;
    let page = eventually("the parked job", async || {
        let page = ada.get("/unresolved").await.body;
        let button = format!("name=\"subject\" value=\"{booking}\"");
        page.contains(&button).then_some(page)
    })
    .await;
    let (_, jobs) = page.split_once("id=\"jobs\"").unwrap();
    let organization = "<td data-label=\"Organization\">demo</td>";
    assert!(jobs.contains(organization), "{jobs}");
    assert!(!admin.get("/unresolved").await.body.contains("Parked jobs"));
    for (query, sees) in [("?organization=demo", true), ("?organization=acme", false)] {
        let page = ada.get(&format!("/unresolved{query}")).await.body;
        let button = format!("name=\"subject\" value=\"{booking}\"");
        assert_eq!(page.contains(&button), sees, "{query}: {page}");
        assert_eq!(page.contains("No job is parked"), !sees, "{query}: {page}");
    }
    let job = [("kind", "hotel_booking"), ("subject", booking.as_str())];
    assert_eq!(admin.post("/unresolved/retry", &job).await.status, 403);
    let path = "/unresolved/retry?organization=demo";
    let retried = ada.post(path, &job).await;
    assert_eq!(
        (retried.status, retried.header("location")),
        (303, "/unresolved?organization=demo&done=job-retried")
    );
    // The timeline has it at once, and the audit log of the organization too.
    let page = admin.get(&format!("/bookings/{booking}")).await.body;
    assert!(page.contains("Job retried"), "{page}");
    assert!(!page.contains("ada@example.com"), "{page}");
    let audit = admin.get("/audit/export").await.body;
    assert!(audit.contains("job.retried"), "{audit}");
    client.wait_for_hotel_booking(&booking, "CONFIRMED").await;
}

async fn cut_list_of_parked_jobs_says_so(database: Database) {
    let server = Server::start(database).await;
    let ada = operator(&server, "ada").await;
    let park = "WITH RECURSIVE numbers (n) AS \
           (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 101) \
         INSERT INTO job (kind, subject, due_at, attempt_count, parked_at, created_at) \
         SELECT 'unknown', 'test/' || n, 0, 1, n, 0 FROM numbers";
    let subject = |n: u32| format!("name=\"subject\" value=\"test/{n}\"");
    let cut = "Only the 100 that have been parked longest are shown";
    server.try_edit(park).await.unwrap();
    let page = ada.get("/unresolved").await.body;
    assert!(page.contains(cut), "{page}");
    assert!(page.contains(&subject(100)) && !page.contains(&subject(101)));
    let job = [("kind", "unknown"), ("subject", "test/1")];
    assert_eq!(ada.post("/unresolved/retry", &job).await.status, 303);
    let page = ada.get("/unresolved").await.body;
    assert!(
        page.contains(&subject(101)) && !page.contains(cut),
        "{page}"
    );
}

async fn only_operators_decide(database: Database) {
    let server = Server::start_with(ServerOptions::on(database).without_reconciliation()).await;
    let ada = operator(&server, "ada").await;
    let member = async |name: &str, organization, role| {
        let email = format!("{name}@example.com");
        let options = ["--organization", organization, "--org-role", role];
        DashboardClient::with_account(&server, &email, &options).await
    };
    let admin = member("admin", "demo", "admin").await;
    let stranger = member("stranger", "other", "admin").await;
    let open = OpenCall::of(&server, never_known(), &ada).await;
    for (person, sees, status) in [(&admin, true, 403), (&stranger, false, 404)] {
        let page = person.get("/unresolved").await.body;
        assert_eq!(page.contains(&open.booking), sees, "{page}");
        assert!(!page.contains("/unresolved/settle"), "{page}");
        // Ownership and role are judged before the fields.
        for fields in [NOT_DONE, &[]] {
            assert_eq!(open.settle(person, fields).await.status, status);
        }
    }
    assert_eq!(open.settle(&ada, NOT_DONE).await.status, 303);
    for (person, sees) in [(&admin, false), (&ada, true)] {
        let page = person.get("/unresolved").await.body;
        assert!(page.contains("Not done"), "{page}");
        assert_eq!(page.contains("They have no order"), sees, "{page}");
        let path = format!("/bookings/{}", open.booking);
        for path in ["/audit", "/audit/export", &path] {
            let page = person.get(path).await.body.to_lowercase();
            assert!(page.contains("settled"), "{path}: {page}");
            for text in ["they have no order", "ada@example.com"] {
                assert!(sees || !page.contains(text), "{path}: {page}");
            }
        }
    }
    ada.post("/mode", &[("mode", "live")]).await;
    assert!(!ada.get("/unresolved").await.body.contains(&open.booking));
    assert_eq!(open.settle(&ada, NOT_DONE).await.status, 404);
}
