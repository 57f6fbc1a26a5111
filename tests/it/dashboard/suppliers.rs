//! Suppliers: what each role sees of them, and what operators change.

use tests::{
    BookingBuilder, DashboardClient, Database, HotelBookingBuilder, Server, ServerOptions,
    eventually, on_both_databases,
};

on_both_databases!(
    drained_supplier_gets_no_new_requests,
    rank_holds_until_it_is_reset,
    only_operators_see_and_change_how_a_supplier_is_called,
);

const HOTELS: &str = "/suppliers/SANDBOX_HOTELS";

async fn operator(server: &Server) -> DashboardClient {
    let options = ["--role", "operator"];
    DashboardClient::with_account(server, "ada@example.com", &options).await
}

async fn drained_supplier_gets_no_new_requests(database: Database) {
    let server = Server::start(database).await;
    let ada = operator(&server).await;
    let client = server.client();
    let hotel = HotelBookingBuilder::at("OK");
    let offered = BookingBuilder::new("SANDBOX_HOTELS", "OK")
        .prebooked(&server)
        .await;

    let drained = ada.post(&format!("{HOTELS}/drain"), &[]).await;
    assert_eq!(drained.status, 303, "{}", drained.body);
    let refused = hotel.price(&client).await;
    refused.expect_problem(503, "supplier_unavailable");
    // An offer of the time before can still be booked.
    let card = client.card_payment("tok_visa").await;
    offered.book(&card).await.expect(200);
    let page = ada.get(HOTELS).await;
    assert_eq!(page.heading(), "Supplier SANDBOX_HOTELS");
    assert!(page.body.contains("Stop draining"), "{}", page.body);

    let undrained = ada.post(&format!("{HOTELS}/undrain"), &[]).await;
    assert_eq!(undrained.status, 303, "{}", undrained.body);
    hotel.price(&client).await.expect(200);
    assert!(server.dump_database().await.contains("supplier.drained"));
}

#[tokio::test]
async fn other_processes_follow_within_seconds() {
    let options = ServerOptions::on(Database::Postgres);
    let server = Server::start_with_own_sandbox(options.clone()).await;
    let other = server.start_another_process(&options).await;
    let ada = operator(&server).await;
    let (client, hotel) = (other.client(), HotelBookingBuilder::at("OK"));
    hotel.price(&client).await.expect(200);
    ada.post(&format!("{HOTELS}/drain"), &[]).await;
    eventually("the other process to drain the supplier", async || {
        (hotel.price(&client).await.status == 503).then_some(())
    })
    .await;
}

async fn rank_holds_until_it_is_reset(database: Database) {
    let server = Server::start(database).await;
    let ada = operator(&server).await;
    let path = format!("{HOTELS}/rank");
    for (fields, problem) in [
        (
            &[("priority", "1.5"), ("weight", "1")][..],
            "priority-problem",
        ),
        (&[("priority", "1"), ("weight", "-1")], "weight-problem"),
        (
            &[("priority", "1000001"), ("weight", "1")],
            "priority-problem",
        ),
    ] {
        let refused = ada.post(&path, fields).await;
        assert_eq!(refused.status, 422, "{}", refused.body);
        assert!(refused.body.contains(problem), "{}", refused.body);
    }
    for (fields, rank) in [
        (&[("priority", "7"), ("weight", "3")][..], "7 · 3"),
        (&[("reset", "1")], "10 · 1"),
    ] {
        let changed = ada.post(&path, fields).await;
        assert_eq!(changed.status, 303, "{}", changed.body);
        let list = ada.get("/suppliers").await;
        assert_eq!(list.heading(), "Suppliers");
        let (_, row) = list
            .body
            .split_once("href=\"/suppliers/SANDBOX_HOTELS\"")
            .unwrap();
        let (row, _) = row.split_once("</tr>").unwrap();
        assert!(row.contains(rank), "{row}");
    }
}

async fn only_operators_see_and_change_how_a_supplier_is_called(database: Database) {
    let server = Server::start(database).await;
    let ada = operator(&server).await;
    let options = ["--organization", "demo", "--org-role", "admin"];
    let admin = DashboardClient::with_account(&server, "admin@example.com", &options).await;
    for (person, sees, status) in [(&admin, false, 403), (&ada, true, 303)] {
        let page = person.get(HOTELS).await;
        assert_eq!(page.status, 200);
        for text in [
            "Digest",
            "Hosts asked",
            "Hosts granted",
            "In flight",
            "Priority",
        ] {
            assert_eq!(page.body.contains(text), sees, "{text}: {}", page.body);
        }
        for change in ["reload", "drain", "undrain", "rank"] {
            let fields = [("reset", "1")];
            let changed = person.post(&format!("{HOTELS}/{change}"), &fields).await;
            assert_eq!(changed.status, status, "{change}: {}", changed.body);
        }
    }
    for path in ["/suppliers/UNKNOWN", "/suppliers/%20"] {
        assert_eq!(ada.get(path).await.status, 404);
    }
    ada.post("/mode", &[("mode", "live")]).await;
    assert_eq!(ada.get(HOTELS).await.status, 404);
}
