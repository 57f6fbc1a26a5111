//! Verifying and prebooking.

use serde_json::{Value, json};
use stopover_sdk::flight_booking::{BookRequest, PrebookRequest, PrebookResponse};
use stopover_sdk::http::Error;
use stopover_sdk::testing::Outcome::{NotSent, Refused, Unknown};
use stopover_sdk::testing::{outcome, refusal};
use stopover_sdk::types::flight::Gender;
use stopover_sdk::types::{Checkout, Money};
use stopover_sdk::{ChangeError, RefusalReason, time};

use crate::ask;

type Change = fn(&mut Value);

fn unchanged(_: &mut Value) {}

fn prebook_with(verify: Change, prebook: Change) -> Result<PrebookResponse, ChangeError> {
    let verified = ask::changed("verify.json", |response| verify(&mut response["data"][0]));
    let bound = ask::changed("prebook.json", |response| prebook(&mut response["data"][0]));
    ask::prebook(&ask::responding(&[(200, &verified), (200, &bound)]))
}

#[test]
fn prebook_verifies_offer_and_returns_checkout_token() {
    let gateway = ask::fixtures(&["verify.json", "prebook.json"]);
    let bound = ask::prebook(&gateway).unwrap();
    // A lower price is accepted; loyalty programmes may lower it.
    assert_eq!((bound.total, bound.currency.as_str()), (119_040, "EUR"));
    assert_eq!((bound.fare, bound.fare_tax), (Some(78_000), Some(39_040)));
    assert_eq!(bound.journeys.len(), 2);
    assert_eq!(bound.journeys[0].segments.len(), 2);
    assert_eq!(bound.journeys[0].segments[0].passengers.len(), 4);
    assert_eq!(bound.fare_conditions.refund.allowed, Some(true));
    let expires_at = time::parse_timestamp("2027-05-01T22:00:00Z");
    assert_eq!(bound.expires_at, expires_at);
    let checkout = Checkout {
        url: None,
        token: "pi_own_1_secret_own".to_owned(),
    };
    assert_eq!(bound.checkout, Some(checkout));
    assert!(!bound.supplier_prebook.contains("secret"));

    let sent = ["POST /flights/verify", "POST /flights/prebooks"];
    assert_eq!(ask::sent(&gateway), sent);
    let verify = json!({"offerId": "OFFER-FLEX"});
    assert_eq!(gateway.request_json(0), verify);
    let passenger = |name: &str, birthday: &str, passenger_type: u8| {
        json!({"firstName": name, "lastName": "Own", "birthday": birthday, "gender": "F",
            "passengerType": passenger_type, "nationality": "FR"})
    };
    let mut ana = passenger("Ana", "1990-01-15", 0);
    ana["documentType"] = json!("passport");
    ana["documentNumber"] = json!("X0000001");
    ana["documentIssueCountry"] = json!("FR");
    ana["documentExpiry"] = json!("2031-01-01");
    ana["loyaltyPrograms"] = json!([{"airlineCode": "XO", "programNumber": "XO123"}]);
    assert_eq!(
        gateway.request_json(1),
        json!({
            "offerId": "OFFER-FLEX",
            "usePaymentSdk": true,
            "contact": {"firstName": "Ana", "lastName": "Own", "email": "ana@guest.example",
                "phoneCountryCode": "33", "phoneNumber": "670000000"},
            // The second passenger turns twelve on the day of departure.
            "passengers": [ana, passenger("Bea", "2015-06-01", 0), passenger("Cleo", "2020-02-29", 1),
                passenger("Dot", "2026-08-01", 2)],
        })
    );
}

#[test]
fn prebook_on_credit_has_no_checkout() {
    let prebook = ask::changed("prebook.json", |response| {
        response["data"][0]["secretKey"] = json!("");
        response["data"][0]["transactionId"] = Value::Null;
    });
    let gateway = ask::fixtures(&["verify.json"])
        .respond_with(200, prebook)
        .respond_with(201, ask::fixture("booking.json"))
        .settings(r#"{"payment_method": "CREDIT"}"#);
    let bound = ask::prebook(&gateway).unwrap();
    assert_eq!(bound.checkout, None);
    let request = BookRequest {
        supplier_prebook: bound.supplier_prebook,
        ..ask::book_request()
    };
    ask::book_with(&gateway, request).unwrap();
    assert_eq!(gateway.request_json(1)["usePaymentSdk"], false);
    let payment = json!({"method": "CREDIT"});
    assert_eq!(gateway.request_json(2)["payment"], payment);
}

#[test]
fn prebook_with_changed_terms_is_refused() {
    let cases: [Change; 5] = [
        |item| item["changes"] = json!({"cabinChanged": true, "messages": ["m"]}),
        |item| item["changes"] = json!({"fareChanged": true, "priceChanged": false}),
        |item| item["journey"]["segments"][0]["departureTime"] = json!("2027-06-01T07:45:00"),
        |item| item["journey"]["segments"][2]["flight"]["marketingNumber"] = json!("208"),
        |item| {
            item["journey"]["segments"].as_array_mut().unwrap().pop();
        },
    ];
    for change in cases {
        let verify = ask::changed("verify.json", |response| change(&mut response["data"][0]));
        let gateway = ask::responding(&[(200, &verify)]);
        assert_eq!(outcome(&ask::prebook(&gateway)), Refused("terms changed"));
        assert_eq!(gateway.requests().len(), 1);
    }
    let other_flights: Change = |item| {
        item["booking"]["journey"]["segments"][1]["destinationCode"] = json!("EWR");
    };
    let result = prebook_with(unchanged, other_flights);
    assert_eq!(outcome(&result), Refused("terms changed"));
}

/// The verification states both conditions with their fees.
#[test]
fn terms_that_a_prebook_does_not_state_are_the_verified_ones() {
    let bound = prebook_with(unchanged, |item| {
        item["booking"]["journey"]["terms"] = Value::Null;
    });
    let verified = bound.unwrap().fare_conditions;
    assert_eq!(verified.refund.allowed, Some(true));
    assert!(verified.refund.penalty.is_some() && verified.change.penalty.is_some());
    let unstated: [Change; 4] = [
        |terms| *terms = json!({}),
        |terms| *terms = json!(""),
        |terms| terms["refundable"] = Value::Null,
        |terms| terms["refundFee"] = Value::Null,
    ];
    let with = |change: Change| {
        let bound = ask::changed("prebook.json", |response| {
            change(&mut response["data"][0]["booking"]["journey"]["terms"]);
        });
        let verify = ask::fixture("verify.json");
        let bound = ask::prebook(&ask::responding(&[(200, &verify), (200, &bound)]));
        bound.unwrap().fare_conditions
    };
    for change in unstated {
        assert_eq!(with(change), verified);
    }
    // A condition that changed has no fee of the verification.
    let refused = with(|terms| *terms = json!({"refundable": false}));
    assert_eq!(refused.refund.allowed, Some(false));
    assert_eq!(refused.refund.penalty, None);
    assert_eq!(refused.change, verified.change);
    let dearer = with(|terms| {
        let amount = json!({"amount": 130, "currency": "EUR"});
        *terms = json!({"refundFee": {"pricing": {"display": amount}}});
    });
    assert_eq!(dearer.refund.allowed, Some(true));
    assert_eq!(dearer.refund.penalty, Some(Money::new(13_000, "EUR")));
}

#[test]
fn prebook_with_higher_price_is_refused_and_lower_price_accepted() {
    let higher = |amount| RefusalReason::PriceChanged(Money::new(amount, "EUR"));
    let reason = |verify, prebook| refusal(prebook_with(verify, prebook)).reason;
    let dearer: Change = |item| item["journey"]["pricing"]["display"]["total"] = json!(1210.41);
    assert_eq!(reason(dearer, unchanged), higher(121_041));
    let dearer: Change = |item| item["price"] = json!(1300);
    assert_eq!(reason(unchanged, dearer), higher(130_000));
    let cheaper: Change = |item| {
        item["journey"]["pricing"]["display"]["total"] = json!(1100);
        item["changes"] = json!({"priceChanged": true});
    };
    let bound = prebook_with(cheaper, |item| item["price"] = json!("1100.00")).unwrap();
    // The price has no parts, because those in the response belong to another price.
    assert_eq!((bound.total, bound.fare), (110_000, None));
}

#[test]
fn prebook_with_unreadable_verification_is_not_sent() {
    let cases: [Change; 13] = [
        |item| item["journey"] = Value::Null,
        // The name of the fare does not tell the cabin of a flight whose own cabin is unknown.
        |item| {
            item["journey"]["fare"]["family"] = json!("Economy");
            item["journey"]["segmentFares"][1]["cabin"] = json!("Premium");
        },
        |item| {
            item["journey"]["fare"]["family"] = json!("Economy");
            item["journey"]["segmentFares"] = json!([7]);
        },
        // Unreadable flights are no proof that they changed.
        |item| item["journey"]["segments"] = Value::Null,
        |item| item["journey"]["segments"] = json!([]),
        |item| item["journey"]["segments"][0] = json!("text"),
        |item| item["journey"]["segments"][0]["departureTime"] = Value::Null,
        |item| item["journey"]["segments"][2]["flight"] = Value::Null,
        |item| item["journey"]["pricing"]["display"]["currency"] = json!("USD"),
        |item| item["journey"]["pricing"]["display"] = Value::Null,
        |item| item["journey"]["pricing"]["display"]["total"] = json!(0),
        |item| item["journey"]["segmentFares"] = json!([]),
        |item| *item = json!("text"),
    ];
    for change in cases {
        let result = prebook_with(change, unchanged);
        assert_eq!(outcome(&result), NotSent, "{result:?}");
    }
    let texts = [Error::TimedOut, Error::ConnectionLost, Error::NotSent];
    let errors = texts.map(|error| error("why".to_owned())).into_iter();
    for error in errors.chain([Error::TooLarge(1)]) {
        let result = ask::prebook(&ask::gateway().fail_with(error));
        assert_eq!(outcome(&result), NotSent, "{result:?}");
    }
}

#[test]
fn prebook_that_does_not_match_offer_is_unknown() {
    let cases: [Change; 8] = [
        |item| item["booking"]["journey"]["segments"][0]["originCode"] = Value::Null,
        |item| item["prebookId"] = json!(""),
        |item| item["currency"] = json!("USD"),
        |item| item["price"] = Value::Null,
        |item| item["price"] = json!(0),
        |item| item["secretKey"] = json!(""),
        |item| item["transactionId"] = Value::Null,
        |item| *item = json!(["text"]),
    ];
    for change in cases {
        let result = prebook_with(unchanged, change);
        assert_eq!(outcome(&result), Unknown, "{result:?}");
    }
    for body in [r#"{"data": []}"#, "{}", ""] {
        let gateway = ask::fixtures(&["verify.json"]).respond_with(200, body);
        let result = ask::prebook(&gateway);
        assert_eq!(outcome(&result), Unknown, "{result:?}");
    }
}

#[test]
fn prebook_with_invalid_passenger_data_is_refused_without_request() {
    let cases: [fn(&mut PrebookRequest); 8] = [
        // No country code, an unassigned one, and too few digits.
        |request| request.contact.phone = "0670000000".to_owned(),
        |request| request.contact.phone = "+28967000000".to_owned(),
        |request| request.contact.phone = "+33670".to_owned(),
        |request| request.passengers[2].gender = Gender::Unspecified,
        // Not a date, and a date after departure.
        |request| request.passengers[0].date_of_birth = "1990-02-30".to_owned(),
        |request| request.passengers[3].date_of_birth = "2027-06-02".to_owned(),
        // Only children remain.
        |request| drop(request.passengers.drain(..2)),
        |request| request.supplier_offer = "OFFER-FLEX".to_owned(),
    ];
    for change in cases {
        let mut request = ask::prebook_request();
        change(&mut request);
        let name = format!("{request:?}");
        let gateway = ask::gateway();
        let result = ask::prebook_with(&gateway, request);
        assert_eq!(outcome(&result), Refused("invalid"), "{name}");
        assert!(gateway.requests().is_empty(), "{name}");
    }
}

#[test]
fn only_the_verification_is_sent_as_a_read() {
    let gateway = ask::fixtures(&["verify.json", "prebook.json"]);
    ask::prebook(&gateway).unwrap();
    let verify = "https://api.liteapi.travel/v3.0/flights/verify";
    assert_eq!(gateway.urls_of_reads(), [verify]);
}

#[test]
fn change_that_is_neither_true_nor_false_is_not_agreed_to() {
    for field in ["cabinChanged", "fareChanged"] {
        for odd in [json!({}), json!("yes"), json!(2), json!([true])] {
            let verified = ask::changed("verify.json", |response| {
                response["data"][0]["changes"] = json!({field: odd});
            });
            let prebook = ask::prebook(&ask::responding(&[(200, &verified)]));
            assert_eq!(outcome(&prebook), NotSent, "{field} {odd}: {prebook:?}");
        }
    }
}

#[test]
fn verified_cabin_must_be_the_offered_one() {
    let verified = |cabin: &str| {
        ask::changed("verify.json", |response| {
            response["data"][0]["journey"]["segmentFares"][0]["cabin"] = json!(cabin);
        })
    };
    let prebook = |cabin: &str, request| {
        let prebooked = ask::fixture("prebook.json");
        let gateway = ask::responding(&[(200, &verified(cabin)), (200, &prebooked)]);
        ask::prebook_with(&gateway, request)
    };
    let fares: Value = serde_json::from_str(&ask::fixture("verify.json")).unwrap();
    let offered = &fares["data"][0]["journey"]["segmentFares"][0]["cabin"];
    let offered = offered.as_str().unwrap();
    assert!(prebook(&offered.to_uppercase(), ask::prebook_request()).is_ok());
    let other = if offered.eq_ignore_ascii_case("first") {
        "Business"
    } else {
        "First"
    };
    let refused = refusal(prebook(other, ask::prebook_request()));
    assert_eq!(refused.reason, RefusalReason::TermsChanged);
    // An offer of an older version of the adapter has no cabins.
    let mut request = ask::prebook_request();
    let mut offer: Value = serde_json::from_str(&request.supplier_offer).unwrap();
    offer.as_object_mut().unwrap().remove("cabins").unwrap();
    request.supplier_offer = offer.to_string();
    assert!(prebook(other, request).is_ok());
}
