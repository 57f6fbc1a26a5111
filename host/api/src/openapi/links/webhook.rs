//! Links from a subscription to its deliveries.

use crate::openapi::links::{Link, with_id};
use serde_json::json;

pub(super) fn links() -> Vec<Link> {
    let mut all = of_product([
        "create_hotel_subscription",
        "list_hotel_subscriptions",
        "read_hotel_subscription",
        "pause_hotel_subscription",
        "resume_hotel_subscription",
        "rotate_hotel_subscription_secret",
        "test_hotel_subscription",
        "list_hotel_deliveries",
        "read_hotel_delivery",
        "replay_hotel_delivery",
        "delete_hotel_subscription",
    ]);
    all.extend(of_product([
        "create_flight_subscription",
        "list_flight_subscriptions",
        "read_flight_subscription",
        "pause_flight_subscription",
        "resume_flight_subscription",
        "rotate_flight_subscription_secret",
        "test_flight_subscription",
        "list_flight_deliveries",
        "read_flight_delivery",
        "replay_flight_delivery",
        "delete_flight_subscription",
    ]));
    all
}

fn of_product(names: [&'static str; 11]) -> Vec<Link> {
    let [
        create,
        list,
        read,
        pause,
        resume,
        rotate,
        test,
        deliveries,
        delivery,
        replay,
        delete,
    ] = names;
    let link = |from, status, to, parameters| Link {
        from,
        status,
        to,
        parameters,
        body: None,
    };
    let listed = json!({ "id": "$response.body#/data/0/id" });
    let sent = json!({ "id": "$request.path.id", "delivery_id": "$response.body#/data/id" });
    let listed_delivery =
        json!({ "id": "$request.path.id", "delivery_id": "$response.body#/data/0/id" });
    let mut all: Vec<Link> = [read, pause, rotate, test, deliveries]
        .into_iter()
        .map(|to| with_id(create, "201", to))
        .collect();
    all.extend([
        link(list, "200", read, listed),
        link(test, "202", delivery, sent),
        link(deliveries, "200", replay, listed_delivery),
        with_id(pause, "200", resume),
        with_id(resume, "200", test),
        with_id(rotate, "200", delete),
    ]);
    all
}
