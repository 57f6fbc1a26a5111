//! Tests of results that a plugin must not return, and of data that it must not store or send. The
//! table in `hostile_guests.rs` lists these tests.

use crate::support::guest::{Guest, Price, finding_nothing};
use crate::support::upstream::Upstream;
use crate::support::{Bench, context, find_request, id, review_count, stay, total};
use host_domain::hotel::supplier_api::{HotelFindExpectation, HotelPriceRequest};
use host_domain::supplier::{Capability, FindRequest, ReadError};
use host_runtime::{LoadError, PluginCallOutcome, PluginSpec, Supplier};

/// Review count that `read-reviews` returns if the gateway did not send its request.
const NOT_SENT: u32 = 1_001;

/// A price response that is valid except for its rooms.
const SOUND: Price = Price {
    hotel: "h1",
    name: b"Grand",
    latitude: 41.9,
    total: 12_000,
};

/// Returns the failure message of a call to a guest.
async fn fails(bench: &Bench, guest: &Guest) -> String {
    let supplier = bench.load(guest, &[]).await;
    let error = review_count(&supplier, "x", 0).await.unwrap_err();
    assert!(matches!(error, ReadError::AdapterFailed(_)), "{error:?}");
    assert_eq!(bench.sink.last_call().outcome, PluginCallOutcome::Trapped);
    format!("{error:?}")
}

/// Requests offers of hotel `h1` only.
async fn price(supplier: &Supplier) -> ReadError {
    let request = HotelPriceRequest {
        supplier_hotel_ids: vec!["h1".to_owned()],
        stay: stay(),
        max_offers_per_hotel: 2,
        include_package_rates: false,
    };
    supplier
        .price_hotels(&context(), request)
        .await
        .unwrap_err()
}

#[tokio::test]
async fn table_limit_is_enforced_with_reason() {
    let bench = Bench::new();
    let grows = "(if (i32.eq (i32.const -1) (table.grow (ref.null func) (i32.const 60001))) (then unreachable))";
    let reason = fails(&bench, &Guest::running(grows)).await;
    assert!(reason.contains("(limits.table_elements_max)"), "{reason}");
    let begins_large = Guest {
        extra_functions: "(table 60001 funcref)".to_owned(),
        ..Guest::default()
    };
    let error = bench.runtime.load(bench.spec(&begins_large)).await;
    let error = error.map(drop).unwrap_err();
    assert!(
        matches!(error, LoadError::DescribeFailed(_) | LoadError::Compile(_)),
        "{error:?}"
    );
}

#[tokio::test]
async fn handles_are_limited() {
    let bench = Bench::new();
    let takes = |handles: u32| Guest {
        extra_imports: r#"(import "wasi:cli/stdout@0.2.6" "get-stdout" (func $stdout (result i32)))"#,
        extra_world: "import wasi:cli/stdout@0.2.6;".to_owned(),
        ..Guest::running(&format!(
            "(local $i i32) (loop $more (drop (call $stdout)) \
             (br_if $more (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const {handles}))))"
        ))
    };
    let supplier = bench.load(&takes(500), &[]).await;
    assert_eq!(review_count(&supplier, "x", 0).await, Ok(0));
    fails(&bench, &takes(2_000)).await;
}

#[tokio::test]
async fn oversized_response_is_rejected() {
    let bench = Bench::new();
    // The first response fits into the guest's memory, the second does not.
    for bytes in [60 << 20, 100 << 20] {
        let mut guest = SOUND.guest();
        let response = format!(
            "(drop (memory.grow (i32.const 1000))) (i32.store (i32.const 30012) (i32.const {bytes})) (i32.const 30000)"
        );
        guest.extra_functions = guest
            .extra_functions
            .replace("(i32.const 30000))", &format!("{response})"));
        assert!(guest.extra_functions.contains(&response));
        let supplier = bench.load(&guest, &[]).await;
        let error = price(&supplier).await;
        assert!(matches!(error, ReadError::AdapterFailed(_)), "{error:?}");
    }
}

#[tokio::test]
async fn invalid_utf_8_text_is_rejected() {
    let bench = Bench::new();
    let guest = Price {
        name: b"Gr\xe4nd \xff\xfe",
        ..SOUND
    };
    let supplier = bench.load(&guest.guest(), &[]).await;
    let error = price(&supplier).await;
    assert!(
        matches!(
            &error,
            ReadError::AdapterFailed(_) | ReadError::InvalidResponse(_)
        ),
        "{error:?}"
    );
    assert_eq!(bench.sink.last_call().outcome, PluginCallOutcome::Trapped);
}

#[tokio::test]
async fn invalid_response_is_rejected_with_its_field() {
    let bench = Bench::new();
    let elsewhere = Price {
        hotel: "h2",
        ..SOUND
    };
    let nowhere = |latitude| Price { latitude, ..SOUND };
    let priced = |total| Price { total, ..SOUND };
    for (response, field) in [
        // The response is valid up to this field; only the rooms are missing.
        (SOUND, "rooms"),
        (elsewhere, "hotels.supplier-hotel-id"),
        (priced(i64::MIN), "offers.total"),
        // The bits of a NaN, used as an amount and as a coordinate.
        (priced(f64::NAN.to_bits().cast_signed()), "offers.total"),
        (nowhere(f64::NAN), "hotel.location"),
        (nowhere(f64::INFINITY), "hotel.location"),
    ] {
        let supplier = bench.load(&response.guest(), &[]).await;
        let ReadError::InvalidResponse(reason) = price(&supplier).await else {
            panic!("{field} is not validated")
        };
        assert!(reason.starts_with(&format!("{field}: ")), "{reason}");
        let dropped = std::mem::take(&mut *bench.sink.dropped.lock().unwrap());
        let counted = (Capability::HotelPricing, field.to_owned(), 1);
        // A hotel that was not asked for is no item that can be left out.
        match field {
            "hotels.supplier-hotel-id" => assert_eq!(dropped, []),
            _ => assert_eq!(dropped, [counted]),
        }
    }
}

#[tokio::test]
async fn headers_are_not_injected() {
    let bench = Bench::new();
    let upstream = Upstream::with_status("200 OK").await;
    for header in [
        ("x-a", "a\r\nx-b: c"),
        ("x-a\r\nx-b", "c"),
        ("host", "other.example.com"),
    ] {
        let guest = Guest {
            headers: vec![header],
            ..Guest::default()
        };
        let supplier = bench.load(&guest, &[&upstream.origin()]).await;
        let sent = review_count(&supplier, &upstream.origin(), 0).await;
        assert_eq!(sent, Ok(NOT_SENT), "{header:?}");
    }
    assert_eq!(upstream.requests().len(), 0);
    let sound = Guest {
        headers: vec![("x-a", "a b"), ("x-a", "c")],
        ..Guest::default()
    };
    let supplier = bench.load(&sound, &[&upstream.origin()]).await;
    assert_eq!(
        review_count(&supplier, &upstream.origin(), 0).await,
        Ok(200)
    );
    let sent = upstream.requests();
    assert!(sent.iter().all(|text| text.contains("x-a: a b\r\n")));
}

#[tokio::test]
async fn another_version_of_an_interface_does_not_load() {
    let bench = Bench::new();
    let plugin = |version: &str| {
        format!(
            r#"(component (instance $none) (export "stopover:supplier/plugin@{version}" (instance $none)))"#
        )
    };
    let imports =
        r#"(component (import "stopover:host/http@2.0.0" (instance (export "send" (func)))))"#;
    let [old, new] = ["0.9.0", "2.0.0"].map(plugin);
    for (text, error) in [(&*old, "Export"), (&*new, "Export"), (imports, "Imports")] {
        let file = bench.write("other.wasm", &wat::parse_str(text).unwrap());
        bench
            .assert_not_loaded(PluginSpec::new(id(), file), error)
            .await;
    }
}

/// Returns the results of all lookups of a guest, in debug format. The URL is in the reference with
/// which they begin.
async fn lookups(supplier: &Supplier, url: &str) -> [String; 4] {
    let request = || FindRequest {
        client_reference: url.to_owned(),
        ..find_request()
    };
    let expected = HotelFindExpectation {
        currency: None,
        rooms: None,
    };
    let (context, reference) = (context(), || url.to_owned());
    let hotel = supplier.find_hotel_booking(&context, request(), expected);
    let flight = supplier.find_flight_booking(&context, request(), None);
    let payment = supplier.find_payment(&context, reference(), None, total());
    let refund = supplier.find_refund(&context, reference(), String::new(), total());
    [
        format!("{:?}", hotel.await),
        format!("{:?}", flight.await),
        format!("{:?}", payment.await),
        format!("{:?}", refund.await),
    ]
}

/// Two lookups that find nothing can prove that a booking was never made, so that its payment is
/// voided.
#[tokio::test]
async fn absence_is_believed_only_after_a_response() {
    let upstream = Upstream::with_status("200 OK").await;
    let (answered, closed) = (upstream.origin(), Upstream::closed_origin().await);
    for booking in ["", "detailed-"] {
        let [hotel, flight] =
            ["hotel-booking", "flight-booking"].map(|name| format!("{booking}{name}"));
        for (sends, url, is_believed) in [
            (false, answered.as_str(), false),
            (true, closed.as_str(), false),
            (true, answered.as_str(), true),
        ] {
            let bench = Bench::new();
            let guest = finding_nothing(&[hotel.as_str(), flight.as_str(), "processor"], sends);
            let supplier = bench.load(&guest, &[url]).await;
            for result in lookups(&supplier, url).await {
                let (expected, outcome) = match is_believed {
                    true => ("Ok(NotFound)", PluginCallOutcome::Succeeded),
                    false => (
                        "Err(InvalidResponse(\"not-found: the last request of the call has no response\"))",
                        PluginCallOutcome::InvalidResponse,
                    ),
                };
                assert_eq!(result, expected, "{booking} {sends} {url}");
                assert_eq!(bench.sink.last_call().outcome, outcome);
            }
        }
    }
}
