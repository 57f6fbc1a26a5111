use super::*;
use serde_json::json;

/// A text that no rule keeps, whatever the member: a person's name with a number.
const SECRET: &str = "Ada Marker-4711";

fn redacted(value: &Value) -> String {
    redact_body(value.to_string().as_bytes(), BodyKind::Content).unwrap()
}

#[test]
fn texts_are_kept_only_where_a_rule_keeps_them() {
    for (value, expected) in [
        (json!({"currency": "EUR"}), r#"{"currency":"EUR"}"#),
        (json!({"currency": "to Ada"}), r#"{"currency":"[text, 6]"}"#),
        (
            json!({"code": "4242424242424242"}),
            r#"{"code":"[text, 16]"}"#,
        ),
        (json!({"id": "bkg_01a2"}), r#"{"id":"bkg_01a2"}"#),
        (
            json!({"user_id": "ada@example.com"}),
            r#"{"user_id":"[text, 15]"}"#,
        ),
        (
            json!({"description": "quiet room"}),
            r#"{"description":"[text, 10]"}"#,
        ),
        (
            json!({"first_name": "Ada"}),
            r#"{"first_name":"[redacted]"}"#,
        ),
        (json!({"first_name": null}), r#"{"first_name":null}"#),
        (json!({"card": {"cvc": 123}}), r#"{"card":"[redacted]"}"#),
        (
            json!({"phone": 442079460000_u64}),
            r#"{"phone":"[redacted]"}"#,
        ),
        (
            json!({"total": 12.5, "is_done": true}),
            r#"{"is_done":true,"total":12.5}"#,
        ),
        (json!({"Ada Lovelace": 1}), r#"{"[member]":1}"#),
        (json!(["Ada"]), r#"["[text, 3]"]"#),
    ] {
        let text = redacted(&value);
        assert_eq!(text, expected);
        serde_json::from_str::<Value>(&text).unwrap();
    }
    let problem = json!({"title": "The offer has expired", "detail": "Ada"});
    let text = redact_body(problem.to_string().as_bytes(), BodyKind::Problem).unwrap();
    assert_eq!(
        text,
        r#"{"detail":"[text, 3]","title":"The offer has expired"}"#
    );
    assert_eq!(redact_body(b"Ada", BodyKind::Content), None);
}

/// Only the gateway's own JSON has the names of what is sold where people have none.
#[test]
fn names_of_what_is_sold_are_kept_in_what_the_gateway_wrote() {
    let body = json!({
        "offer_expires_at": "2027-06-01T10:00:00Z",
        "hotel": {"name": "The Market Square Hotel"},
        "rooms": [{"name": "Double room", "board_name": "Bed and breakfast", "guests": [{"name": "Ada"}]}],
        "contact": {"name": "Ada", "hotel_name": "+44 20 7946 0000"},
        "name": "Ada",
    });
    let shown = redact_body(body.to_string().as_bytes(), BodyKind::Written).unwrap();
    for (text, is_kept) in [
        ("2027-06-01T10:00:00Z", true),
        ("The Market Square Hotel", true),
        ("Double room", true),
        ("Bed and breakfast", true),
        ("Ada", false),
        ("7946", false),
    ] {
        assert_eq!(shown.contains(text), is_kept, "{text}: {shown}");
    }
    let sent = redacted(&body);
    assert!(
        !sent.contains("Market") && !sent.contains("breakfast"),
        "{sent}"
    );
}

#[test]
fn numbers_of_cards_and_telephones_are_not_kept() {
    for (value, expected) in [
        (
            json!({"code": "4242-4242-4242-4242"}),
            r#"{"code":"[text, 19]"}"#,
        ),
        (json!({"code": "+442079460000"}), r#"{"code":"[text, 13]"}"#),
        (json!({"code": "2027-06-01"}), r#"{"code":"2027-06-01"}"#),
        (json!({"code": "12345.67"}), r#"{"code":"12345.67"}"#),
        (
            json!({"pan": 4_242_424_242_424_242_u64}),
            r#"{"pan":"[number]"}"#,
        ),
        (
            json!({"rate": 48.856_614_000_1}),
            r#"{"rate":48.8566140001}"#,
        ),
    ] {
        assert_eq!(redacted(&value), expected);
    }
}

#[test]
fn card_number_within_any_text_is_never_recorded() {
    let names = include_str!("fields.toml").split('"').skip(1).step_by(2);
    let names = names.map(|pattern| pattern.replace('*', "a"));
    for name in names.chain(["type".to_owned(), "other".to_owned()]) {
        for text in [
            "x4242424242424242",
            "pay_4242424242424242",
            "bkg_4242-4242-4242-4242",
            "X4242-4242-4242-4242",
            "v 3782 822463 10005",
            "/4242424242424242",
            "bkg_01a2031efb1771978f99678c5ff4034b-4242424242424242",
        ] {
            for value in [
                json!({name.as_str(): text}),
                json!({name.as_str(): [text]}),
                json!({text: {name.as_str(): text}}),
            ] {
                for kind in [BodyKind::Content, BodyKind::Written, BodyKind::Problem] {
                    let body = redact_body(value.to_string().as_bytes(), kind).unwrap();
                    assert!(!body.contains("4242") && !body.contains("822463"), "{body}");
                }
            }
            let query = format!("{name}={}", text.replace(' ', "+"));
            let route = format!("/v1/{{id}}/{{{name}}}");
            let uri = redact_uri(Some(&route), &format!("/v1/{text}/{text}"), Some(&query));
            assert!(!uri.contains("4242") && !uri.contains("822463"), "{uri}");
        }
    }
    let decimals = redacted(&json!({"rate": 0.424_242_424_242_424_2}));
    assert_eq!(decimals, r#"{"rate":"[number]"}"#);
}

/// The digits of a generated identifier may have the form of a card number.
#[test]
fn generated_identifier_is_kept_whatever_its_digits_are() {
    let id = "bkg_01a2031efb1771978042424202ffffff";
    assert!(contains_card_number(id));
    for id in [id.to_owned(), format!("{id}-1")] {
        assert_eq!(redacted(&json!({"id": id})), json!({"id": id}).to_string());
        let path = format!("/v1/bookings/{id}");
        assert_eq!(redact_uri(Some("/v1/bookings/{id}"), &path, None), path);
    }
}

#[test]
fn pointers_are_kept_if_they_have_the_names_of_schemas() {
    for (pointer, is_kept) in [
        ("/rooms/0/guests/12/first_name", true),
        ("", true),
        ("/Marker", false),
        ("/ada@example.com", false),
        ("/rooms/4242424242", false),
    ] {
        let text = redacted(&json!({"pointer": pointer}));
        assert_eq!(
            text.contains(&json!(pointer).to_string()),
            is_kept,
            "{text}"
        );
    }
}

#[test]
fn secret_in_any_member_is_never_recorded() {
    let names = include_str!("fields.toml").split('"').skip(1).step_by(2);
    for name in names.map(|pattern| pattern.replace('*', "a")) {
        for value in [
            json!({name.as_str(): SECRET}),
            json!({name.as_str(): [SECRET]}),
            json!({name.as_str(): {"inner": {name.as_str(): SECRET}}}),
            json!({SECRET: {name.as_str(): SECRET}}),
        ] {
            let text = redacted(&value);
            assert!(!text.contains("Marker") && !text.contains("4711"), "{text}");
        }
        let query = format!("{name}=Ada%20Marker-4711&Marker-4711=1");
        let uri = redact_uri(Some("/v1/{id}/{token}"), "/v1/Marker/4711", Some(&query));
        assert!(!uri.contains("Marker") && !uri.contains("4711"), "{uri}");
    }
}

#[test]
fn long_bodies_stay_below_the_limit_and_remain_json() {
    let item = json!({"status": "x".repeat(60), "deep": [[[[{"code": "y".repeat(70)}]]]]});
    let wide = json!({"data": vec![item; 1000]});
    let mut deep = json!({"code": "END"});
    for _ in 0..50 {
        deep = json!({"status": "x".repeat(70), "deep": [deep]});
    }
    for value in [wide, deep] {
        let text = redacted(&value);
        assert!(text.len() <= 8192, "{}", text.len());
        serde_json::from_str::<Value>(&text).unwrap();
    }
}

#[test]
fn paths_keep_templates_identifiers_and_codes() {
    let id = "bkg_01a2031efb1771978f99678c5ff4034b";
    for (route, path, query, expected) in [
        (
            Some("/v1/hotel/bookings/{id}"),
            format!("/v1/hotel/bookings/{id}"),
            None,
            format!("/v1/hotel/bookings/{id}"),
        ),
        (
            Some("/v1/suppliers/{id}/events/{token}"),
            "/v1/suppliers/ACME/events/abc".to_owned(),
            None,
            "/v1/suppliers/…/events/…".to_owned(),
        ),
        (
            Some("/v1/hotel/places"),
            "/v1/hotel/places".to_owned(),
            Some("query=Main%20Street&limit=5"),
            "/v1/hotel/places?query=…&limit=5".to_owned(),
        ),
        (
            None,
            "/ada@example.com".to_owned(),
            Some("a=b"),
            String::new(),
        ),
    ] {
        assert_eq!(redact_uri(route, &path, query), expected);
    }
    assert_eq!(
        redact_target(
            "GET",
            "https://api.example.com",
            "/v3/tokens/tok_visa/SMITH/4711000"
        ),
        "GET https://api.example.com/v3/tokens/…/…/…"
    );
}

#[test]
fn sentences_keep_words_in_lower_case() {
    for (sentence, expected) in [
        ("HTTP 503: no room left", "HTTP 503: no room left"),
        ("guest Ada Lovelace is unknown", "guest … is unknown"),
        ("no \"ada\" at 1234567", "no … at …"),
        (
            "the limit (limits.call_ms_max) of 30 ms",
            "the limit (limits.call_ms_max) of 30 ms",
        ),
        ("mail ada@example.com", "mail …"),
        ("card tok_visa was declined", "card … was declined"),
        (
            "card 4242 4242 4242 4242 was declined after 30 ms",
            "card … was declined after … ms",
        ),
    ] {
        assert_eq!(redact_sentence(sentence), expected);
    }
}
