//! Tests of hotel content, weather and the price calendar.

use super::shape::check_names;
use serde_json::json;
use tests::{
    Client, Database, HotelBookingBuilder, Server, ServerOptions, days_ahead, eventually,
    offers_request, on_both_databases, restore_content,
};

async fn hotel_id(client: &Client, hotel: &str) -> String {
    let reply = client
        .post("/v1/hotel/offers", &offers_request(hotel))
        .await
        .expect(200);
    reply.data()[0]["hotel_id"].as_str().unwrap().to_owned()
}

async fn hotel_content_is_capped_and_omits_reviewer_names(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let id = hotel_id(&client, "MANY").await;
    let reply = client
        .get(&format!("/v1/hotel/hotels/{id}"))
        .await
        .expect(200);
    assert_eq!(reply.data()["hotel_id"], id);
    assert_eq!(
        reply.data()["details"]["images"].as_array().unwrap().len(),
        20
    );
    let reviews = reply.data()["reviews"]["items"].as_array().unwrap();
    assert_eq!(reviews.len(), 20);
    assert!(
        reviews
            .iter()
            .all(|review| review.get("name").is_none() && review.get("reviewer").is_none())
    );
    assert_eq!(reply.body["meta"]["details"]["stale"], false);
    assert_eq!(reply.body["meta"]["reviews"]["supplier"], "SANDBOX_HOTELS");
    client
        .get("/v1/hotel/hotels/htl_unknown")
        .await
        .expect_problem(404, "hotel_not_found");
}

async fn fetched_details_are_kept_if_reviews_fail(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let id = hotel_id(&client, "CONTENT_DOWN").await;
    let path = format!("/v1/hotel/hotels/{id}");
    client
        .get(&path)
        .await
        .expect_problem(502, "supplier_error");
    let failed_at = jiff::Timestamp::now();
    restore_content(&server.sandbox_url).await;
    let healed = client.get(&path).await.expect(200);
    let fetched_at = |source: &str| -> jiff::Timestamp {
        let told = &healed.body["meta"][source]["fetched_at"];
        told.as_str().unwrap().parse().unwrap()
    };
    assert!(
        fetched_at("details") <= failed_at,
        "the details fetched before the failure are kept"
    );
    assert!(fetched_at("details") < fetched_at("reviews"));
    assert_eq!(
        healed.data()["reviews"]["items"].as_array().unwrap().len(),
        5
    );
    assert_eq!(
        healed.data()["details"]["images"].as_array().unwrap().len(),
        3
    );
}

async fn weather_covers_the_forecast_days_of_the_stay(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let mut request = offers_request("OK");
    request["check_in"] = json!(days_ahead(2));
    request["check_out"] = json!(days_ahead(4));
    let offers = client.post("/v1/hotel/offers", &request).await.expect(200);
    let offer = offers.data()[0]["offers"][0]["offer_reference"]
        .as_str()
        .unwrap()
        .to_owned();
    let booked = client
        .header("x-idempotency-key", "weather")
        .post("/v1/hotel/prebook", &tests::prebook_request(&offer, 1))
        .await
        .expect(201);
    let id = booked.data()["id"].as_str().unwrap().to_owned();
    let weather = client
        .get(&format!("/v1/hotel/bookings/{id}/weather"))
        .await
        .expect(200);
    assert_eq!(weather.data()["booking_id"], id);
    assert_eq!(weather.data()["units"], "metric");
    let dates: Vec<&str> = weather.data()["days"]
        .as_array()
        .unwrap()
        .iter()
        .map(|day| day["date"].as_str().unwrap())
        .collect();
    assert_eq!(dates, [days_ahead(2), days_ahead(3), days_ahead(4)]);
    let members = ["booking_id", "hotel_id", "start_date", "end_date", "units"];
    check_names("weather", weather.data(), &members, &["days"]);
    assert_eq!(weather.data()["start_date"], days_ahead(2));
    assert_eq!(weather.data()["end_date"], days_ahead(4));
    let day = &weather.data()["days"][0];
    for number in [
        "temperature_min",
        "temperature_max",
        "humidity_percent",
        "afternoon_humidity_percent",
        "wind_speed_mps",
        "maximum_wind_speed_mps",
        "precipitation_probability",
        "precipitation_total_mm",
    ] {
        assert!(day[number].is_number(), "{number} of {day:#}");
    }
    let sky = &day["conditions"][0];
    check_names("sky", sky, &["description", "icon"], &[]);
    assert!(day["summary"].is_string(), "{day:#}");
    let far = HotelBookingBuilder::at("OK").prebooked(&client).await;
    let none = client
        .get(&format!("/v1/hotel/bookings/{far}/weather"))
        .await
        .expect(200);
    assert_eq!(none.data()["days"], json!([]));
}

async fn price_calendar_is_in_dollars_and_rate_limited(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let id = hotel_id(&client, "OK").await;
    let request = json!({"hotel_ids": [id], "from": days_ahead(10), "to": days_ahead(12)});
    let reply = client
        .post("/v1/hotel/price-calendar", &request)
        .await
        .expect(200);
    assert_eq!(reply.body["meta"]["supplier"], "SANDBOX_HOTELS");
    let prices = reply.data()[0]["prices"].as_array().unwrap();
    assert_eq!(prices.len(), 3);
    assert_eq!(prices[0]["average_nightly_price"]["currency"], "USD");
    check_names("calendar", &reply.data()[0], &["hotel_id", "prices"], &[]);
    let of_day = ["date", "average_nightly_price"];
    check_names("day", &prices[0], &of_day, &[]);
    let mut year = request.clone();
    year["to"] = json!(days_ahead(375));
    let year = client.post("/v1/hotel/price-calendar", &year).await;
    assert_eq!(year.expect(200).data()[0]["prices"][0], prices[0]);
    for (hotels, status, code) in [(50, 404, "hotel_not_found"), (51, 400, "validation_failed")] {
        let ids: Vec<String> = (0..hotels).map(|at| format!("htl_{at:032}")).collect();
        let mut many = request.clone();
        many["hotel_ids"] = json!(ids);
        let refused = client.post("/v1/hotel/price-calendar", &many).await;
        refused.expect_problem(status, code);
    }
    let mut unpublished = offers_request("OK");
    unpublished["supplier"] = json!("SANDBOX_MINI");
    let of_mini = client.post("/v1/hotel/offers", &unpublished).await;
    let mut of_nobody = request.clone();
    of_nobody["hotel_ids"] = json!([of_mini.expect(200).data()[0]["hotel_id"]]);
    let refused = client.post("/v1/hotel/price-calendar", &of_nobody).await;
    refused.expect_problem(422, "supplier_operation_unsupported");
    let mut of_two = of_nobody.clone();
    let of_mini = of_two["hotel_ids"][0].take();
    of_two["hotel_ids"] = json!([id, of_mini]);
    let refused = client.post("/v1/hotel/price-calendar", &of_two).await;
    refused.expect_problem(400, "validation_failed");
    let mut long = request.clone();
    long["to"] = json!(days_ahead(376));
    client
        .post("/v1/hotel/price-calendar", &long)
        .await
        .expect_problem(400, "validation_failed");
    let limited = hotel_id(&client, "CALENDAR_LIMITED").await;
    let mut at_limit = request.clone();
    at_limit["hotel_ids"] = json!([limited]);
    let refused = client
        .post("/v1/hotel/price-calendar", &at_limit)
        .await
        .expect_problem(503, "supplier_rate_limited");
    assert!(refused.header("retry-after").is_some());
    let over = tests::eventually("the gateway's own rate limit to be reached", async || {
        Some(client.post("/v1/hotel/price-calendar", &request).await)
            .filter(|reply| reply.status == 503)
    })
    .await;
    over.expect_problem(503, "supplier_rate_limited");
}

async fn stale_content_is_returned_at_once_and_refreshed_in_background(database: Database) {
    let options = ServerOptions::on(database)
        .config("[content]\ndetails_fresh_s = 1\nreviews_fresh_s = 3600");
    let server = Server::start_with(options).await;
    let client = server.client();
    let path = format!("/v1/hotel/hotels/{}", hotel_id(&client, "OK").await);
    let read = async || client.get(&path).await.expect(200).body;
    let first = read().await;
    assert_eq!(first["meta"]["details"]["stale"], false);
    let stale = eventually("the details to be stale", async || {
        Some(read().await).filter(|body| body["meta"]["details"]["stale"] == true)
    })
    .await;
    assert_eq!(stale["data"], first["data"]);
    assert_eq!(
        stale["meta"]["details"]["fetched_at"],
        first["meta"]["details"]["fetched_at"]
    );
    let fresh = eventually("the details to be refreshed", async || {
        Some(read().await).filter(|body| {
            body["meta"]["details"]["fetched_at"] != first["meta"]["details"]["fetched_at"]
        })
    })
    .await;
    // Details and reviews are refreshed independently.
    assert_eq!(fresh["meta"]["reviews"], first["meta"]["reviews"]);
}

on_both_databases! {
    hotel_content_is_capped_and_omits_reviewer_names,
    fetched_details_are_kept_if_reviews_fail,
    weather_covers_the_forecast_days_of_the_stay,
    price_calendar_is_in_dollars_and_rate_limited,
    stale_content_is_returned_at_once_and_refreshed_in_background,
}
