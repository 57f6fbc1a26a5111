//! Tests of details, reviews, weather and published prices of the hotel supplier.

use serde_json::json;

use crate::market::{LODGE, Market, get, get_ok};

#[tokio::test]
async fn every_hotel_has_details_images_and_reviews() {
    let market = Market::open().await;
    for (hotel, images, reviews) in [("OK", 3, 5), ("MANY", 30, 30), ("NO_OFFERS", 3, 5)] {
        let details = get_ok(&market, LODGE, &format!("/hotels/{hotel}")).await;
        assert_eq!(details["hotel"]["zone"], "Europe/London");
        assert_eq!(details["images"].as_array().unwrap().len(), images);
        let answer = get_ok(&market, LODGE, &format!("/hotels/{hotel}/reviews")).await;
        assert_eq!(answer["count"], reviews);
        let listed = answer["reviews"].as_array().unwrap();
        assert_eq!(listed.len(), reviews);
        assert!(listed.iter().all(|review| review["author"].is_string()));
        assert!(listed[0]["stayed"].as_str() > listed[1]["stayed"].as_str());
        let few = get_ok(&market, LODGE, &format!("/hotels/{hotel}/reviews?limit=2")).await;
        assert_eq!(few["reviews"].as_array().unwrap().len(), 2);
    }
    assert_eq!(get(&market, LODGE, "/hotels/NOWHERE").await.0, 404);
    let details = get_ok(&market, LODGE, "/hotels/OK").await;
    let (status, picture) = market.get_text(&details["images"][2]["url"]).await;
    assert!(status == 200 && picture.starts_with("<svg"));
}

#[tokio::test]
async fn failing_reviews_work_after_heal() {
    let market = Market::open().await;
    assert_eq!(get(&market, LODGE, "/hotels/CONTENT_DOWN").await.0, 200);
    assert_eq!(
        get(&market, LODGE, "/hotels/CONTENT_DOWN/reviews").await.0,
        500
    );
    let healed = market.open_post("/control/heal", &json!({})).await;
    assert_eq!(healed, (200, json!({ "healed": true })));
    assert_eq!(
        get(&market, LODGE, "/hotels/CONTENT_DOWN/reviews").await.0,
        200
    );
}

#[tokio::test]
async fn weather_covers_today_and_the_next_nine_days() {
    let market = Market::open().await;
    let path = "/weather?lat=51.755&lng=-0.336&from=2026-11-01&to=2026-12-31";
    let answer = get_ok(&market, LODGE, path).await;
    let days = answer["days"].as_array().unwrap();
    assert_eq!(days.len(), 10);
    assert_eq!(days[0]["date"], "2026-11-21");
    assert_eq!(days[9]["date"], "2026-11-30");
    assert!(days[0]["min"].as_f64() < days[0]["max"].as_f64());
    assert!(days[0]["humidity"].is_number() && days[9].get("humidity").is_none());
    let path = "/weather?lat=51.755&lng=-0.336&from=2027-01-01&to=2027-01-02";
    assert_eq!(get(&market, LODGE, path).await.1["days"], json!([]));
}

#[tokio::test]
async fn price_calendar_is_in_dollars_from_today() {
    let market = Market::open().await;
    let price_change = json!({ "supplier_hotel_id": "MANY", "nightly": "88.25" });
    assert_eq!(
        market.open_post("/control/price", &price_change).await.0,
        200
    );
    let path = "/calendar?hotels=OK,MANY,NOWHERE&from=2026-11-20&to=2026-11-23";
    let answer = get_ok(&market, LODGE, path).await;
    assert_eq!(answer["currency"], "USD");
    let hotels = answer["hotels"].as_array().unwrap();
    assert_eq!(hotels.len(), 2);
    assert_eq!(
        hotels[0]["days"],
        json!([
            { "date": "2026-11-21", "average": "100.00" },
            { "date": "2026-11-22", "average": "100.00" },
            { "date": "2026-11-23", "average": "100.00" },
        ])
    );
    assert_eq!(hotels[1]["days"][0]["average"], "88.25");
    let path = "/calendar?hotels=OK,CALENDAR_LIMITED&from=2026-11-20&to=2026-11-23";
    let (status, answer) = get(&market, LODGE, path).await;
    assert_eq!(status, 429);
    assert_eq!(&answer["error"]["code"], &json!("TOO_MANY_REQUESTS"));
    let path = "/calendar?hotels=OK&from=2026-11-21&to=2027-11-21";
    assert_eq!(get(&market, LODGE, path).await.0, 200);
    let path = "/calendar?hotels=OK&from=2026-11-21&to=2027-11-22";
    assert_eq!(get(&market, LODGE, path).await.0, 400);
}
