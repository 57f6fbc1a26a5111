//! Tests of loading, rejecting and replacing plugins, and of recorded and replayed traffic.

use crate::support::guest::Guest;
use crate::support::upstream::Upstream;
use crate::support::{Bench, context, id};
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use host_domain::supplier::{Capability, ReadError};
use host_runtime::{CodeSource, LoadError, PluginSpec, SignatureError, Supplier, TrafficMode};
use std::fs;

async fn status(supplier: &Supplier, url: &str) -> u32 {
    supplier
        .read_hotel_reviews(&context(), url.to_owned(), 0)
        .await
        .unwrap()
        .count
}

#[tokio::test]
async fn loaded_plugin_reports_description_and_capabilities() {
    let bench = Bench::new();
    let info = bench
        .runtime
        .load(bench.spec(&Guest::quiet()))
        .await
        .unwrap();
    assert_eq!(
        (
            info.description.name.as_str(),
            info.description.version.as_str()
        ),
        ("test-guest", "1.0.0")
    );
    assert_eq!(
        info.capabilities,
        [Capability::HotelCancellation, Capability::HotelContent]
    );
    assert_eq!(bench.runtime.list().len(), 1);
    let supplier = bench.runtime.supplier(&id()).unwrap();
    assert!(
        supplier.supports(Capability::HotelContent) && !supplier.supports(Capability::HotelPricing)
    );
    assert!(bench.runtime.remove(&id()));
    assert!(bench.runtime.supplier(&id()).is_none() && !bench.runtime.remove(&id()));
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
    assert!(matches!(
        bench.runtime.load(spec).await,
        Err(LoadError::Digest { .. })
    ));
}

#[tokio::test]
async fn a_component_that_must_be_signed_loads_only_with_a_trusted_signature() {
    let bench = Bench::new();
    let mut spec = bench.spec(&Guest::quiet());
    let key = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap();
    let public = STANDARD.encode(key.public_key().as_ref());
    spec.signed_by = vec![public.parse().unwrap()];
    let sign = |key: &Ed25519KeyPair| key.sign(&std::fs::read(&spec.component).unwrap());
    let beside = spec.component.with_extension("wasm.sig");

    let unsigned = bench.runtime.load(spec.clone()).await;
    assert!(matches!(
        unsigned,
        Err(LoadError::Signature(SignatureError::Missing { .. }))
    ));
    let stranger = Ed25519KeyPair::from_seed_unchecked(&[8; 32]).unwrap();
    for wrong in [sign(&stranger).as_ref(), b"nonsense", b""] {
        std::fs::write(&beside, wrong).unwrap();
        let refused = bench.runtime.load(spec.clone()).await;
        assert!(matches!(
            refused,
            Err(LoadError::Signature(SignatureError::Untrusted))
        ));
    }
    for right in [
        sign(&key).as_ref().to_vec(),
        STANDARD.encode(sign(&key)).into_bytes(),
    ] {
        std::fs::write(&beside, right).unwrap();
        bench.runtime.load(spec.clone()).await.unwrap();
    }
}

#[tokio::test]
async fn invalid_plugin_does_not_load_and_old_plugin_stays() {
    let bench = Bench::new();
    bench.load(&Guest::quiet(), &[]).await;
    let spec = |name: &str, bytes: &[u8]| PluginSpec::new(id(), bench.write(name, bytes));
    let module = wat::parse_str("(module)").unwrap();
    for (name, bytes) in [
        ("empty.wasm", &b""[..]),
        ("text.wasm", b"hello"),
        ("module.wasm", &module),
    ] {
        assert!(
            matches!(
                bench.runtime.load(spec(name, bytes)).await,
                Err(LoadError::Compile(_))
            ),
            "{name}"
        );
    }
    let component = wat::parse_str("(component)").unwrap();
    assert!(matches!(
        bench.runtime.load(spec("component.wasm", &component)).await,
        Err(LoadError::Export(_))
    ));
    let missing = PluginSpec::new(id(), bench.folder.path().join("missing.wasm"));
    assert!(matches!(
        bench.runtime.load(missing).await,
        Err(LoadError::Compile(_))
    ));
    let supplier = bench.runtime.supplier(&id()).unwrap();
    assert_eq!(status(&supplier, "x").await, 0);
}

#[tokio::test]
async fn unknown_import_does_not_load() {
    let bench = Bench::new();
    let guest = Guest {
        extra_imports: r#"(import "secrets" "read" (func (param i32)))"#,
        extra_world: "import secrets: interface { read: func() -> string; }",
        ..Guest::quiet()
    };
    assert!(matches!(
        bench.runtime.load(bench.spec(&guest)).await,
        Err(LoadError::Imports(_))
    ));
}

#[tokio::test]
async fn plugin_whose_describe_fails_or_hangs_does_not_load() {
    let bench = Bench::new();
    let trap = Guest {
        on_describe: "unreachable".to_owned(),
        ..Guest::quiet()
    };
    assert!(matches!(
        bench.runtime.load(bench.spec(&trap)).await,
        Err(LoadError::DescribeFailed(_))
    ));
    let hang = Guest {
        on_describe: "(loop $again (br $again))".to_owned(),
        ..Guest::quiet()
    };
    assert!(matches!(
        bench.runtime.load(bench.spec(&hang)).await,
        Err(LoadError::DescribeFailed(_))
    ));
    let nonsense = Guest {
        version: "latest",
        ..Guest::quiet()
    };
    assert!(matches!(
        bench.runtime.load(bench.spec(&nonsense)).await,
        Err(LoadError::Description(_))
    ));
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
    assert!(matches!(
        bench.runtime.load(spec).await,
        Err(LoadError::Settings(_))
    ));
}

#[tokio::test]
async fn code_is_compiled_once_and_damaged_code_is_not_run() {
    let bench = Bench::new();
    let spec = bench.spec(&Guest::quiet());
    assert_eq!(
        bench.runtime.load(spec.clone()).await.unwrap().code,
        CodeSource::Compiled
    );
    assert_eq!(
        bench.runtime.reload(&id()).await.unwrap().code,
        CodeSource::Cached
    );
    let kept = fs::read_dir(bench.folder.path().join("code"))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let kept: Vec<_> = kept.collect();
    assert_eq!(kept.len(), 1);
    let mut bytes = fs::read(&kept[0]).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0xff;
    fs::write(&kept[0], bytes).unwrap();
    assert_eq!(
        bench.runtime.reload(&id()).await.unwrap().code,
        CodeSource::Compiled
    );
    assert_eq!(
        bench.runtime.reload(&id()).await.unwrap().code,
        CodeSource::Cached
    );
}

#[cfg(unix)]
#[test]
fn a_code_folder_that_others_may_write_is_refused() {
    use crate::support::StillClock;
    use host_runtime::{NoSink, Runtime, RuntimeConfig, RuntimeError};
    use std::os::unix::fs::PermissionsExt;
    use std::sync::Arc;

    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let config = RuntimeConfig {
        calls_max: 1,
        code_cache_dir: Some(folder.path().to_owned()),
        clock: Arc::new(StillClock),
    };
    assert!(matches!(
        Runtime::new(config, Arc::new(NoSink)),
        Err(RuntimeError::CodeCache(_))
    ));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plugin_is_replaced_under_load_and_no_call_fails() {
    let bench = Bench::with_calls(32);
    bench.load(&Guest::quiet(), &[]).await;
    let newer = bench.write(
        "newer.wasm",
        &Guest {
            version: "2.0.0",
            ..Guest::quiet()
        }
        .component(),
    );
    let runtime = &bench.runtime;
    let replaced = std::sync::atomic::AtomicBool::new(false);
    let callers = (0..16).map(|_| async {
        let (mut calls, mut with_new) = (0, 0);
        while with_new < 20 {
            let supplier = runtime.supplier(&id()).unwrap();
            assert_eq!(status(&supplier, "x").await, 0);
            calls += 1;
            with_new += usize::from(supplier.info().description.version == "2.0.0");
            if !replaced.load(std::sync::atomic::Ordering::Relaxed) {
                tokio::task::yield_now().await;
            }
        }
        calls
    });
    let replace = async {
        runtime.reload(&id()).await.unwrap();
        let info = runtime.load(PluginSpec::new(id(), newer)).await.unwrap();
        replaced.store(true, std::sync::atomic::Ordering::Relaxed);
        info
    };
    let (calls, info) = tokio::join!(futures::future::join_all(callers), replace);
    assert_eq!(info.description.version, "2.0.0");
    assert!(
        calls.iter().all(|calls| *calls > 20),
        "no call used the old plugin: {calls:?}"
    );
}

#[tokio::test]
async fn handle_keeps_its_plugin_after_reload() {
    let bench = Bench::new();
    let old = bench.load(&Guest::quiet(), &[]).await;
    let new = bench
        .load(
            &Guest {
                version: "2.0.0",
                ..Guest::quiet()
            },
            &[],
        )
        .await;
    assert!(bench.runtime.remove(&id()));
    assert_eq!((status(&old, "x").await, status(&new, "x").await), (0, 0));
    assert_eq!(
        (
            old.info().description.version.as_str(),
            new.info().description.version.as_str()
        ),
        ("1.0.0", "2.0.0")
    );
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
    let mut spec = bench.spec(&Guest::default());
    spec.grants = vec![origin.parse().unwrap()];
    spec.traffic = TrafficMode::Record(folder.clone());
    let recorded = bench.load_spec(spec.clone()).await;
    assert_eq!(
        status(
            &recorded,
            &format!("{origin}/v1/hotels?b=2&email=ada@example.com")
        )
        .await,
        207
    );
    let files: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    let text = fs::read_to_string(&files[0]).unwrap();
    assert!(
        files.len() == 1 && text.contains("\"status\": 207") && text.contains("\"total\": 12"),
        "{text}"
    );
    assert!(!text.contains("Ada") && !text.contains("ada@"), "{text}");

    drop(upstream);
    spec.traffic = TrafficMode::Replay(folder);
    let replayed = bench.load_spec(spec).await;
    assert_eq!(
        status(
            &replayed,
            &format!("{origin}/v1/hotels?email=eve@example.com&b=2")
        )
        .await,
        207
    );
    assert_eq!(status(&replayed, &format!("{origin}/v1/rates")).await, 1001);
    let missing = bench.sink.last_exchange().detail;
    assert!(
        missing.contains("no exchange kept") && missing.contains("GET /v1/rates"),
        "{missing}"
    );
}

#[tokio::test]
async fn reload_of_unloaded_plugin_returns_error() {
    let bench = Bench::new();
    assert!(matches!(
        bench.runtime.reload(&id()).await,
        Err(LoadError::NotLoaded(_))
    ));
}

#[tokio::test]
async fn wasi_component_loads_with_empty_environment() {
    let bench = Bench::new();
    // The guest counts the environment variables in the list that the host returns.
    let guest = Guest {
        extra_imports: r#"(import "wasi:cli/environment@0.2.6" "get-environment" (func $environment (param i32)))"#,
        extra_world: "import wasi:cli/environment@0.2.6;",
        on_read:
            "(call $environment (i32.const 200)) (if (i32.load (i32.const 204)) (then unreachable))"
                .to_owned(),
        ..Guest::quiet()
    };
    let supplier = bench.load(&guest, &[]).await;
    let response = supplier
        .read_hotel_reviews(&context(), "x".to_owned(), 0)
        .await;
    assert_eq!(
        response.map(|reviews| reviews.count),
        Ok::<u32, ReadError>(0)
    );
}
