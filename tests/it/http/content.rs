//! Tests of hotel content, weather and the price calendar.

use super::resource_assertions::{check_names, check_refused_get};
use serde_json::{Value, json};
use tests::{
    Database, HotelBookingBuilder, Server, ServerOptions, days_ahead, eventually, offers_request,
    on_both_databases, prebook_request, restore_content,
};

const CALENDAR: &str = "/v1/hotel/price-calendar";

fn count(list: &Value) -> usize {
    list.as_array().unwrap().len()
}

async fn hotel_content_is_capped_and_omits_reviewer_names(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let id = client.hotel_id("MANY").await;
    let reply = client.get(&format!("/v1/hotel/hotels/{id}")).await;
    let reply = reply.expect(200);
    assert_eq!(reply.data()["hotel_id"], id);
    assert_eq!(count(&reply.data()["details"]["images"]), 20);
    let reviews = reply.data()["reviews"]["items"].as_array().unwrap();
    assert_eq!(reviews.len(), 20);
    for review in reviews {
        assert!(review.get("name").is_none() && review.get("reviewer").is_none());
    }
    assert_eq!(reply.body["meta"]["details"]["stale"], false);
    assert_eq!(reply.body["meta"]["reviews"]["supplier"], "SANDBOX_HOTELS");
    let unknown = "/v1/hotel/hotels/htl_unknown";
    check_refused_get(&client, unknown, 404, "hotel_not_found").await;
}

async fn fetched_details_are_kept_if_reviews_fail(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let id = client.hotel_id("CONTENT_DOWN").await;
    let path = format!("/v1/hotel/hotels/{id}");
    check_refused_get(&client, &path, 502, "supplier_error").await;
    let failed_at = jiff::Timestamp::now();
    restore_content(&server.sandbox_url).await;
    let healed = client.get(&path).await.expect(200);
    let fetched_at = |source: &str| -> jiff::Timestamp {
        let fetched_at = &healed.body["meta"][source]["fetched_at"];
        fetched_at.as_str().unwrap().parse().unwrap()
    };
    // The details that were fetched before the failure are kept.
    assert!(fetched_at("details") <= failed_at);
    assert!(fetched_at("details") < fetched_at("reviews"));
    assert_eq!(count(&healed.data()["reviews"]["items"]), 5);
    assert_eq!(count(&healed.data()["details"]["images"]), 3);
}

async fn weather_covers_the_forecast_days_of_the_stay(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let mut request = offers_request("OK");
    request["check_in"] = json!(days_ahead(2));
    request["check_out"] = json!(days_ahead(4));
    let offers = client.post("/v1/hotel/offers", &request).await.expect(200);
    let offer = &offers.data()[0]["offers"][0]["offer_reference"];
    let request = prebook_request(offer.as_str().unwrap(), 1);
    let keyed = client.header("x-idempotency-key", "weather");
    let booked = keyed.post("/v1/hotel/prebook", &request).await.expect(201);
    let read_weather = async |booking: &str| {
        let path = format!("/v1/hotel/bookings/{booking}/weather");
        client.get(&path).await.expect(200).data().clone()
    };
    let id = booked.data()["id"].as_str().unwrap();
    let weather = read_weather(id).await;
    let members = ["booking_id", "hotel_id", "start_date", "end_date", "units"];
    check_names("weather", &weather, &members, &["days"]);
    assert_eq!(weather["booking_id"], id);
    assert_eq!(weather["units"], "metric");
    assert_eq!(weather["start_date"], days_ahead(2));
    assert_eq!(weather["end_date"], days_ahead(4));
    let days = weather["days"].as_array().unwrap();
    let dates: Vec<Value> = days.iter().map(|day| day["date"].clone()).collect();
    assert_eq!(dates, [days_ahead(2), days_ahead(3), days_ahead(4)]);
    let day = &days[0];
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
    assert_eq!(read_weather(&far).await["days"], json!([]));
}

async fn price_calendar_is_in_dollars_and_rate_limited(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let id = client.hotel_id("OK").await;
    let request = |hotel_ids: Value, to: i64| {
        let (from, to) = (days_ahead(10), days_ahead(to));
        json!({"hotel_ids": hotel_ids, "from": from, "to": to})
    };
    let short = request(json!([id]), 12);
    let reply = client.post(CALENDAR, &short).await.expect(200);
    assert_eq!(reply.body["meta"]["supplier"], "SANDBOX_HOTELS");
    let calendar = &reply.data()[0];
    check_names("calendar", calendar, &["hotel_id", "prices"], &[]);
    assert_eq!(count(&calendar["prices"]), 3);
    let day = &calendar["prices"][0];
    check_names("day", day, &["date", "average_nightly_price"], &[]);
    assert_eq!(day["average_nightly_price"]["currency"], "USD");
    let year = client.post(CALENDAR, &request(json!([id]), 375)).await;
    assert_eq!(year.expect(200).data()[0]["prices"][0], *day);
    let mini = HotelBookingBuilder::at("OK").sold_by("SANDBOX_MINI");
    let of_mini = mini.price(&client).await.expect(200);
    let of_mini = &of_mini.data()[0]["hotel_id"];
    let limited = client.hotel_id("CALENDAR_LIMITED").await;
    let unknown =
        |count: usize| -> Value { (0..count).map(|at| format!("htl_{at:032}")).collect() };
    for (hotel_ids, to, status, code) in [
        (unknown(50), 12, 404, "hotel_not_found"),
        (unknown(51), 12, 400, "validation_failed"),
        (json!([of_mini]), 12, 422, "supplier_operation_unsupported"),
        (json!([id, of_mini]), 12, 400, "validation_failed"),
        (json!([id]), 376, 400, "validation_failed"),
    ] {
        let refused = client.post(CALENDAR, &request(hotel_ids, to)).await;
        refused.expect_problem(status, code);
    }
    let refused = client.post(CALENDAR, &request(json!([limited]), 12)).await;
    let refused = refused.expect_problem(503, "supplier_rate_limited");
    assert!(refused.header("retry-after").is_some());
    let over = eventually("the gateway's own rate limit to be reached", async || {
        Some(client.post(CALENDAR, &short).await).filter(|reply| reply.status == 503)
    })
    .await;
    over.expect_problem(503, "supplier_rate_limited");
}

async fn stale_content_is_returned_at_once_and_refreshed_in_background(database: Database) {
    let options = ServerOptions::on(database)
        .config("[content]\ndetails_fresh_s = 1\nreviews_fresh_s = 3600");
    let server = Server::start_with(options).await;
    let client = server.client();
    let path = format!("/v1/hotel/hotels/{}", client.hotel_id("OK").await);
    let read = async || client.get(&path).await.expect(200).body;
    let first = read().await;
    assert_eq!(first["meta"]["details"]["stale"], false);
    let stale = eventually("the details to be stale", async || {
        Some(read().await).filter(|body| body["meta"]["details"]["stale"] == true)
    })
    .await;
    assert_eq!(stale["data"], first["data"]);
    let fetched_at = |body: &Value| body["meta"]["details"]["fetched_at"].clone();
    assert_eq!(fetched_at(&stale), fetched_at(&first));
    let fresh = eventually("the details to be refreshed", async || {
        Some(read().await).filter(|body| fetched_at(body) != fetched_at(&first))
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
