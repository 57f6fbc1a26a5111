//! Tests of listing flight bookings.

use serde_json::{Value, json};
use tests::{Client, Database, FlightBookingBuilder, Server, on_both_databases};

/// Returns the ids and `meta.pagination` of a page.
async fn page(client: &Client, query: &str) -> (Vec<String>, Value) {
    let reply = client.get(&format!("/v1/flight/bookings{query}")).await;
    let reply = reply.expect(200);
    let bookings = reply.list().iter();
    let ids = bookings.map(|booking| booking["id"].as_str().unwrap().to_owned());
    (ids.collect(), reply.body["meta"]["pagination"].clone())
}

/// Returns the ids of a page.
async fn ids(client: &Client, query: &str) -> Vec<String> {
    page(client, query).await.0
}

fn pagination(limit: u32, offset: u64, has_more: bool, total: u32) -> Value {
    json!({"limit": limit, "offset": offset, "has_more": has_more, "total": total})
}

/// Returns the id of a booking whose prebook was refused, so that it has no price.
async fn unpriced(client: &Client) -> String {
    let refused = FlightBookingBuilder::on("LGW-LHR").prebook(client).await;
    refused.expect_problem(422, "offer_unavailable");
    ids(client, "?limit=1").await.remove(0)
}

async fn flight_list_pages_have_exact_totals(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let nothing = (vec![], pagination(20, 0, false, 0));
    assert_eq!(page(&client, "").await, nothing);
    let way = FlightBookingBuilder::on("LHR-JFK");
    let mut oldest_first = Vec::new();
    for _ in 0..4 {
        oldest_first.push(way.prebooked(&server).await);
    }
    assert_eq!(page(&client.user("stranger"), "").await, nothing);
    let newest_first: Vec<String> = oldest_first.iter().rev().cloned().collect();
    for (query, range, pagination) in [
        ("", 0..4, pagination(20, 0, false, 4)),
        ("?limit=4", 0..4, pagination(4, 0, false, 4)),
        ("?limit=3", 0..3, pagination(3, 0, true, 4)),
        ("?limit=3&offset=1", 1..4, pagination(3, 1, false, 4)),
        ("?limit=2&offset=1", 1..3, pagination(2, 1, true, 4)),
        ("?offset=3", 3..4, pagination(20, 3, false, 4)),
        ("?offset=4", 4..4, pagination(20, 4, false, 4)),
    ] {
        let expected = (newest_first[range].to_vec(), pagination);
        assert_eq!(page(&client, query).await, expected, "{query}");
    }
    let largest = format!("?offset={}", i64::MAX);
    let beyond = pagination(20, i64::MAX.unsigned_abs(), false, 4);
    assert_eq!(page(&client, &largest).await, (vec![], beyond));
    for (query, expected) in [
        ("?order=asc", &oldest_first),
        ("?sort=created_at&order=asc", &oldest_first),
        ("?sort=created_at", &newest_first),
        ("?order=desc", &newest_first),
    ] {
        assert_eq!(ids(&client, query).await, *expected, "{query}");
    }
}

async fn flight_list_filters_match_exactly(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let at = |supplier: &str| FlightBookingBuilder::on("LHR-JFK").at(supplier);
    let ready_at_b = at("SUPPLIER_B").prebooked(&server).await;
    let ticket_of_a = at("SUPPLIER_A").book_confirmed(&server).await;
    let ticket_of_b = at("SUPPLIER_B").book_confirmed(&server).await;
    let failed = unpriced(&client).await;
    let booking = client.flight_booking(&ticket_of_a).await;
    let reference = booking["supplier_reference"].as_str().unwrap();
    let by_reference = |reference: &str| format!("?supplier_reference={reference}");
    let twisted = reference.to_lowercase();
    assert_ne!(twisted, reference, "the reference contains capital letters");
    let own = by_reference(reference);
    for (query, expected) in [
        ("?status=CONFIRMED", vec![&ticket_of_b, &ticket_of_a]),
        ("?status=READY_FOR_COMPLETE", vec![&ready_at_b]),
        ("?status=FAILED", vec![&failed]),
        ("?status=CANCELED", vec![]),
        ("?supplier=SUPPLIER_A", vec![&failed, &ticket_of_a]),
        ("?supplier=SUPPLIER_B", vec![&ticket_of_b, &ready_at_b]),
        ("?supplier=SUPPLIER_B&status=CONFIRMED", vec![&ticket_of_b]),
        (&own, vec![&ticket_of_a]),
        (&format!("{own}&supplier=SUPPLIER_A"), vec![&ticket_of_a]),
        (&format!("{own}&supplier=SUPPLIER_B"), vec![]),
        (&by_reference(&twisted), vec![]),
        (&by_reference(&reference[1..]), vec![]),
    ] {
        let total = u32::try_from(expected.len()).unwrap();
        let expected: Vec<String> = expected.into_iter().cloned().collect();
        let expected = (expected, pagination(20, 0, false, total));
        assert_eq!(page(&client, query).await, expected, "{query}");
    }
    assert!(ids(&client.user("stranger"), &own).await.is_empty());
}

async fn flight_list_filters_by_creation_date_and_timestamp(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let mut made = Vec::new();
    for _ in 0..3 {
        let id = FlightBookingBuilder::on("LHR-JFK").prebooked(&server).await;
        let at = client.flight_booking(&id).await["created_at"].clone();
        made.push((id, at.as_str().unwrap().to_owned()));
    }
    let middle: jiff::Timestamp = made[1].1.parse().unwrap();
    let shifted = |milliseconds: i64| {
        let at = middle + jiff::SignedDuration::from_millis(milliseconds);
        format!("{at:.3}")
    };
    let elsewhere = middle.to_zoned(jiff::tz::TimeZone::fixed(jiff::tz::offset(2)));
    let elsewhere = elsewhere.strftime("%Y-%m-%dT%H:%M:%S%.3f%%2B02:00");
    let day = |at: &str, days: i64| {
        let date: jiff::civil::Date = at[..10].parse().unwrap();
        (date + jiff::Span::new().days(days)).to_string()
    };
    let at = &made[1].1;
    let (first_day, last_day) = (day(&made[0].1, 0), day(&made[2].1, 0));
    let (day_before, day_after) = (day(&made[0].1, -1), day(&made[2].1, 1));
    let (after, before) = (shifted(1), shifted(-1));
    for (query, expected) in [
        (format!("created_from={at}"), &[2, 1][..]),
        (format!("created_to={at}"), &[1, 0]),
        (format!("created_from={after}"), &[2]),
        (format!("created_to={before}"), &[0]),
        (format!("created_from={at}&created_to={at}"), &[1]),
        (
            format!("created_from={elsewhere}&created_to={elsewhere}"),
            &[1],
        ),
        (format!("created_from={first_day}"), &[2, 1, 0]),
        (format!("created_to={last_day}"), &[2, 1, 0]),
        (format!("created_from={day_after}"), &[]),
        (format!("created_to={day_before}"), &[]),
        (
            format!("created_from={first_day}&created_to={last_day}"),
            &[2, 1, 0],
        ),
        (
            format!("created_from={day_after}&created_to={day_before}"),
            &[],
        ),
    ] {
        let total = u32::try_from(expected.len()).unwrap();
        let expected = expected.iter().map(|at: &usize| made[*at].0.clone());
        let expected = (expected.collect(), pagination(20, 0, false, total));
        let listed = page(&client, &format!("?{query}")).await;
        assert_eq!(listed, expected, "{query}");
    }
}

/// Totals are compared as amounts in major units, whatever the minor units of their currency.
/// Bookings without a price come last.
async fn flight_list_sorts_totals_by_amount_in_major_units(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let unpriced = [unpriced(&client).await, unpriced(&client).await];
    let mut ascending = Vec::new();
    // In minor units the order would differ: 1480 yen are 1480 minor units, 320 dinars are 320,000.
    for (currency, fare, total) in [
        ("KWD", "Economy Basic", 320),
        ("GBP", "Economy Flex", 420),
        ("JPY", "Business", 1480),
    ] {
        let way = FlightBookingBuilder::on("LHR-JFK").currency(currency);
        let booking = way.fare(fare).prebooked(&server).await;
        let read = client.flight_booking(&booking).await;
        let money = json!({"amount": total, "currency": currency});
        assert_eq!(read["total_amount"], money);
        ascending.push(booking);
    }
    let descending: Vec<String> = ascending.iter().rev().cloned().collect();
    for (query, priced) in [
        ("?sort=total_amount&order=asc", &ascending),
        ("?sort=total_amount&order=desc", &descending),
        ("?sort=total_amount", &descending),
    ] {
        let listed = ids(&client, query).await;
        assert_eq!(listed[..3], priced[..], "{query}");
        let mut last = listed[3..].to_vec();
        last.sort();
        assert_eq!(last, unpriced, "{query}");
        // Paging yields the same order.
        let mut paged = Vec::new();
        for offset in 0..5 {
            paged.extend(ids(&client, &format!("{query}&limit=1&offset={offset}")).await);
        }
        assert_eq!(paged, listed, "{query}");
    }
}

async fn flight_list_with_invalid_query_returns_400(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    for query in [
        "limit=0",
        "limit=101",
        "limit=many",
        "offset=-1",
        "status=PARTIALLY_CANCELED",
        "status=confirmed",
        "supplier=supplier_a",
        "created_from=yesterday",
        "created_from=2026-02-30",
        "created_to=2026-01-01T10:00:00",
        "supplier_reference=",
        "sort=departure_time",
        "order=up",
        "page=2",
    ] {
        let refused = client.get(&format!("/v1/flight/bookings?{query}")).await;
        let refused = refused.expect_problem(400, "validation_failed");
        assert_eq!(refused.body["errors"][0]["in"], "query", "{query}");
    }
}

on_both_databases! {
    flight_list_pages_have_exact_totals,
    flight_list_filters_match_exactly,
    flight_list_filters_by_creation_date_and_timestamp,
    flight_list_sorts_totals_by_amount_in_major_units,
    flight_list_with_invalid_query_returns_400,
}
