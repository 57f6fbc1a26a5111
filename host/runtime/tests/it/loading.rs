//! Tests of loading, rejecting and replacing plugins, and of recorded and replayed traffic.

use crate::support::guest::{Guest, Price, every_function, exports};
use crate::support::upstream::Upstream;
use crate::support::{Bench, context, id, review_count, stay};
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use host_domain::hotel::supplier_api::HotelPriceRequest;
use host_domain::supplier::{Capability, ReadError};
use host_runtime::{CodeSource, LoadError, PluginSpec, Supplier, TrafficMode};
use std::fs;

async fn status(supplier: &Supplier, url: &str) -> u32 {
    review_count(supplier, url, 0).await.unwrap()
}

fn newer() -> Guest {
    Guest {
        version: "2.0.0",
        ..Guest::quiet()
    }
}

#[tokio::test]
async fn loaded_plugin_reports_description_and_capabilities_until_it_is_removed() {
    let bench = Bench::new();
    let supplier = bench.load(&Guest::quiet(), &[]).await;
    let info = supplier.info();
    assert_eq!(info.description.name, "test-guest");
    assert_eq!(info.description.version, "1.0.0");
    assert_eq!(
        info.capabilities,
        [Capability::HotelCancellation, Capability::HotelContent]
    );
    assert_eq!(bench.runtime.list().len(), 1);
    assert!(supplier.supports(Capability::HotelContent));
    assert!(!supplier.supports(Capability::HotelPricing));
    assert!(bench.runtime.remove(&id()));
    assert!(bench.runtime.supplier(&id()).is_none() && !bench.runtime.remove(&id()));
    let reloaded = bench.runtime.reload(&id()).await;
    assert!(matches!(reloaded, Err(LoadError::NotLoaded(_))));
}

/// Each function of the newer interface traps. The response of the older one has no valid offer.
#[tokio::test]
async fn plugin_may_have_either_version_of_hotel_pricing_and_newer_is_called() {
    let bench = Bench::new();
    let price = async |guest: &Guest| {
        let supplier = bench.load(guest, &[]).await;
        assert!(supplier.supports(Capability::HotelPricing));
        let request = HotelPriceRequest {
            supplier_hotel_ids: vec!["h1".to_owned()],
            stay: stay(),
            max_offers_per_hotel: 1,
            include_package_rates: false,
        };
        let priced = supplier.price_hotels(&context(), request).await;
        priced.unwrap_err()
    };
    let newer = ["detailed-hotel-pricing"];
    let (newer_exports, traps) = (exports(&newer), every_function(&newer, "unreachable"));
    let older = Price {
        hotel: "h1",
        name: b"Grand",
        latitude: 41.9,
        total: 0,
    };
    let error = price(&older.guest()).await;
    assert!(matches!(error, ReadError::InvalidResponse(_)), "{error:?}");
    let older = older.guest();
    let both = Guest {
        extra_world: format!("{} {newer_exports}", older.extra_world),
        extra_functions: format!("{} {traps}", older.extra_functions),
        ..older
    };
    let only_newer = Guest {
        extra_world: newer_exports,
        extra_functions: traps,
        ..Guest::default()
    };
    for guest in [both, only_newer] {
        let error = price(&guest).await;
        assert!(matches!(error, ReadError::AdapterFailed(_)), "{error:?}");
    }
}

#[tokio::test]
async fn pinned_digest_must_match() {
    let bench = Bench::new();
    let mut spec = bench.spec(&Guest::quiet());
    let info = bench.runtime.load(spec.clone()).await.unwrap();
    for right in [
        info.digest.clone(),
        format!("sha256:{}", info.digest.to_uppercase()),
    ] {
        spec.digest = Some(right);
        bench.runtime.load(spec.clone()).await.unwrap();
    }
    spec.digest = Some("0".repeat(64));
    bench.assert_not_loaded(spec, "Digest").await;
}

#[tokio::test]
async fn a_component_that_must_be_signed_loads_only_with_a_trusted_signature() {
    let bench = Bench::new();
    let mut spec = bench.spec(&Guest::quiet());
    let key = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap();
    let public = STANDARD.encode(key.public_key().as_ref());
    spec.signed_by = vec![public.parse().unwrap()];
    let sign = |key: &Ed25519KeyPair| key.sign(&fs::read(&spec.component).unwrap());
    let beside = spec.component.with_extension("wasm.sig");

    let missing = "Signature(Missing";
    bench.assert_not_loaded(spec.clone(), missing).await;
    let stranger = Ed25519KeyPair::from_seed_unchecked(&[8; 32]).unwrap();
    for wrong in [sign(&stranger).as_ref(), b"nonsense", b""] {
        fs::write(&beside, wrong).unwrap();
        let untrusted = "Signature(Untrusted";
        bench.assert_not_loaded(spec.clone(), untrusted).await;
    }
    for right in [
        sign(&key).as_ref().to_vec(),
        STANDARD.encode(sign(&key)).into_bytes(),
    ] {
        fs::write(&beside, right).unwrap();
        bench.runtime.load(spec.clone()).await.unwrap();
    }
}

#[tokio::test]
async fn invalid_plugin_does_not_load_and_old_plugin_stays() {
    let bench = Bench::new();
    bench.load(&Guest::quiet(), &[]).await;
    let spec = |name: &str, bytes: &[u8]| PluginSpec::new(id(), bench.write(name, bytes));
    let module = wat::parse_str("(module)").unwrap();
    let component = wat::parse_str("(component)").unwrap();
    for (name, bytes, error) in [
        ("empty.wasm", &b""[..], "Compile"),
        ("text.wasm", b"hello", "Compile"),
        ("module.wasm", &module, "Compile"),
        ("component.wasm", &component, "Export"),
    ] {
        bench.assert_not_loaded(spec(name, bytes), error).await;
    }
    let missing = PluginSpec::new(id(), bench.folder.path().join("missing.wasm"));
    bench.assert_not_loaded(missing, "Compile").await;
    let supplier = bench.runtime.supplier(&id()).unwrap();
    assert_eq!(status(&supplier, "x").await, 0);
}

#[tokio::test]
async fn guest_that_cannot_be_described_or_linked_does_not_load() {
    let bench = Bench::new();
    let describing = |code: &str| Guest {
        on_describe: code.to_owned(),
        ..Guest::quiet()
    };
    let unknown_import = Guest {
        extra_imports: r#"(import "secrets" "read" (func (param i32)))"#,
        extra_world: "import secrets: interface { read: func() -> string; }".to_owned(),
        ..Guest::quiet()
    };
    let invalid_version = Guest {
        version: "latest",
        ..Guest::quiet()
    };
    for (guest, error) in [
        (unknown_import, "Imports"),
        (describing("unreachable"), "DescribeFailed"),
        (describing("(loop $again (br $again))"), "DescribeFailed"),
        (invalid_version, "Description"),
    ] {
        bench.assert_not_loaded(bench.spec(&guest), error).await;
    }
}

#[tokio::test]
async fn settings_must_match_schema_and_errors_hide_their_values() {
    let bench = Bench::new();
    let mut spec = bench.spec(&Guest::quiet());
    spec.settings = serde_json::json!({"url": "https://api.example.com"});
    bench.runtime.load(spec.clone()).await.unwrap();
    spec.settings = serde_json::json!({"url": 4_711});
    let Err(LoadError::Settings(violations)) = bench.runtime.load(spec.clone()).await else {
        panic!("it fits")
    };
    assert!(
        violations[0].starts_with("`/url`") && !violations[0].contains("4711"),
        "{violations:?}"
    );
    spec.settings = serde_json::json!(["url"]);
    bench.assert_not_loaded(spec, "Settings").await;
}

#[tokio::test]
async fn code_is_compiled_once_and_damaged_code_is_not_run() {
    let bench = Bench::new();
    let code_source = async || bench.runtime.reload(&id()).await.unwrap().code;
    let supplier = bench.load(&Guest::quiet(), &[]).await;
    assert_eq!(supplier.info().code, CodeSource::Compiled);
    assert_eq!(code_source().await, CodeSource::Cached);
    let kept = fs::read_dir(bench.folder.path().join("code")).unwrap();
    let kept: Vec<_> = kept.map(|entry| entry.unwrap().path()).collect();
    assert_eq!(kept.len(), 1);
    let mut bytes = fs::read(&kept[0]).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0xff;
    fs::write(&kept[0], bytes).unwrap();
    assert_eq!(code_source().await, CodeSource::Compiled);
    assert_eq!(code_source().await, CodeSource::Cached);
}

#[cfg(unix)]
#[test]
fn a_code_folder_that_others_may_write_is_refused() {
    use crate::support::FixedClock;
    use host_runtime::{NoSink, Runtime, RuntimeConfig, RuntimeError};
    use std::os::unix::fs::PermissionsExt;
    use std::sync::Arc;

    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let config = RuntimeConfig {
        calls_max: 1,
        code_cache_dir: Some(folder.path().to_owned()),
        clock: Arc::new(FixedClock),
    };
    assert!(matches!(
        Runtime::new(config, Arc::new(NoSink)),
        Err(RuntimeError::CodeCache(_))
    ));
}

#[tokio::test]
async fn handle_keeps_its_plugin_after_reload() {
    let bench = Bench::new();
    let old = bench.load(&Guest::quiet(), &[]).await;
    let new = bench.load(&newer(), &[]).await;
    assert!(bench.runtime.remove(&id()));
    for (supplier, version) in [(old, "1.0.0"), (new, "2.0.0")] {
        assert_eq!(status(&supplier, "x").await, 0);
        assert_eq!(supplier.info().description.version, version);
    }
}

#[tokio::test]
async fn recorded_exchanges_are_replayed_without_network() {
    let bench = Bench::new();
    let body = r#"{"guests":[{"firstName":"Ada","email":"ada@example.com"}],"total":12}"#;
    let upstream = Upstream::responding_with(&format!(
        "HTTP/1.1 207 Some\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    ))
    .await;
    let (origin, folder) = (upstream.origin(), bench.folder.path().join("exchanges"));
    let mut spec = bench.granted_spec(&Guest::default(), &[&origin]);
    spec.traffic = TrafficMode::Record(folder.clone());
    let recorded = bench.load_spec(spec.clone()).await;
    let url = format!("{origin}/v1/hotels?b=2&email=ada@example.com");
    assert_eq!(status(&recorded, &url).await, 207);
    let files = fs::read_dir(&folder).unwrap();
    let files: Vec<_> = files.map(|entry| entry.unwrap().path()).collect();
    let text = fs::read_to_string(&files[0]).unwrap();
    assert!(
        files.len() == 1 && text.contains("\"status\": 207") && text.contains("\"total\": 12"),
        "{text}"
    );
    assert!(!text.contains("Ada") && !text.contains("ada@"), "{text}");

    drop(upstream);
    spec.traffic = TrafficMode::Replay(folder);
    let replayed = bench.load_spec(spec).await;
    let url = format!("{origin}/v1/hotels?email=eve@example.com&b=2");
    assert_eq!(status(&replayed, &url).await, 207);
    assert_eq!(status(&replayed, &format!("{origin}/v1/rates")).await, 1001);
    let missing = bench.sink.last_exchange().detail;
    assert!(
        missing.contains("no exchange kept") && missing.contains("GET /v1/rates"),
        "{missing}"
    );
}

#[tokio::test]
async fn wasi_component_loads_with_empty_environment() {
    let bench = Bench::new();
    // The guest counts the environment variables in the list that the host returns.
    let guest = Guest {
        extra_imports: r#"(import "wasi:cli/environment@0.2.6" "get-environment" (func $environment (param i32)))"#,
        extra_world: "import wasi:cli/environment@0.2.6;".to_owned(),
        on_read:
            "(call $environment (i32.const 200)) (if (i32.load (i32.const 204)) (then unreachable))"
                .to_owned(),
        ..Guest::quiet()
    };
    let supplier = bench.load(&guest, &[]).await;
    assert_eq!(status(&supplier, "x").await, 0);
}
