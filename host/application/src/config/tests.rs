use super::*;
use std::io::Write as _;

fn load(file: &str, environment: &Environment) -> Result<Config, ConfigError> {
    let mut path = tempfile::NamedTempFile::new().unwrap();
    path.write_all(file.as_bytes()).unwrap();
    Config::load(None, Some(path.path()), environment)
}

fn load_file(file: &str) -> Result<Config, ConfigError> {
    load(file, &Environment::default())
}

#[test]
fn defaults_load_as_complete_config() {
    // Loading rejects missing keys as well as unknown keys.
    let config = Config::load(None, None, &Environment::default()).unwrap();
    let shown: toml::Table = config.to_redacted_toml().unwrap().parse().unwrap();
    let written: toml::Table = DEFAULTS.parse().unwrap();
    assert_eq!(shown, written);
}

#[test]
fn default_file_documents_every_supplier_key() {
    let example: String = DEFAULTS
        .lines()
        .filter_map(|line| line.strip_prefix("#:"))
        .map(|line| format!("{}\n", line.trim_start()))
        .collect();
    let config = load_file(&example).unwrap();
    let explained: toml::Table = example.parse().unwrap();
    let explained = explained["suppliers"][0].as_table().unwrap();
    let keys: toml::Table = config.to_redacted_toml().unwrap().parse().unwrap();
    let keys = keys["suppliers"][0].as_table().unwrap();
    let names = |table: &toml::Table| table.keys().cloned().collect::<BTreeSet<_>>();
    assert_eq!(names(explained), names(keys));
    for (key, value) in explained {
        if key != "limits" {
            assert_eq!(value, &keys[key], "{key}");
        }
    }
    let plain = load_file(PLAIN_SUPPLIER).unwrap().to_redacted_toml();
    assert_eq!(plain.unwrap(), config.to_redacted_toml().unwrap());
}

const PLAIN_SUPPLIER: &str = "[[suppliers]]\nid = \"NUITEE_HOTELS\"\nkind = \"hotel\"\nmodes = [\"test\"]\ncomponent = \"nuitee-hotels.wasm\"\n";

#[test]
fn environment_overrides_file_and_file_overrides_defaults() {
    let environment = Environment::from([
        ("STOPOVER_LIMITS_BURST", "7"),
        ("STOPOVER_RECONCILE_SCHEDULE_S", "[1, 2]"),
        ("HOME", "/"),
    ]);
    let config = load("[limits]\nburst = 5\nrequests_per_s = 5\n", &environment).unwrap();
    assert_eq!(config.limits.burst, 7);
    assert_eq!(config.limits.requests_per_s, 5);
    assert_eq!(config.limits.request_s, 30);
    assert_eq!(config.reconcile.schedule_s, [1, 2]);
}

#[test]
fn unknown_keys_and_variables_are_rejected_by_name() {
    let error = load_file("[limits]\nbrust = 5\n").unwrap_err();
    assert!(error.to_string().contains("brust"), "{error}");
    let error = load("", &Environment::from([("STOPOVER_LIMITS_BRUST", "7")])).unwrap_err();
    let name = "STOPOVER_LIMITS_BRUST";
    assert!(error.to_string().contains(name), "{error}");
    load("", &Environment::from([("STOPOVER_TEST_POSTGRES", "7")])).unwrap();
}

#[test]
fn out_of_range_values_are_rejected() {
    for file in [
        "[limits]\nburst = 0\n",
        "[reconcile]\nschedule_s = []\n",
        "[reconcile]\nabsence_recheck_s = []\n",
        "[reconcile]\nundeclared_reads_s = 0\n",
        "[requests]\ndays = 366\n",
        "[requests]\nrows_max = 0\n",
        "public_url = \"example.com\"\n",
        "[admin]\nallowed_hosts = [\"https://stopover.internal\"]\n",
        "[admin]\nallowed_hosts = [\"stopover.internal:8081\"]\n",
        "[admin]\nallowed_hosts = [\"\"]\n",
        &format!("{PLAIN_SUPPLIER}events_token = \"0123456789012345678901234567890\"\n"),
        &format!("{PLAIN_SUPPLIER}events_token = \"0123456789012345678901234567890/\"\n"),
        "[payments]\nprocessor_live = \"X\"\n",
    ] {
        let loaded = load_file(file);
        assert!(matches!(loaded, Err(ConfigError::Invalid(_))), "{file}");
    }
    let loaded = load("", &Environment::from([("STOPOVER_LIMITS_BURST", "x")]));
    assert!(matches!(loaded, Err(ConfigError::InvalidVariable { .. })));
}

const SUPPLIER: &str = r#"
database = "postgres://stopover:hunter2@db.example.com/stopover"
[[suppliers]]
id = "S"
kind = "payment"
modes = ["live"]
component = "s.wasm"
credentials = [{ host = "api.example.com", header = "authorization", value = "Bearer ${TOKEN}" }]
secrets = { signing = "${TOKEN}" }
events_token = "${TOKEN}-0123456789012345678901234567890"
"#;

#[test]
fn secrets_expand_from_environment_and_are_never_printed() {
    let config = load(SUPPLIER, &Environment::from([("TOKEN", "s3cr3t")])).unwrap();
    let credential = &config.suppliers[0].credentials[0];
    assert_eq!(credential.value.expose(), "Bearer s3cr3t");
    let shown = config.to_redacted_toml().unwrap();
    assert!(shown.contains("postgres://***@db.example.com/stopover"));
    for shown in [shown, format!("{config:?}")] {
        let is_safe = !shown.contains("s3cr3t") && !shown.contains("hunter2");
        assert!(is_safe, "{shown}");
    }
    let error = load_file(SUPPLIER).unwrap_err();
    assert!(error.to_string().contains("TOKEN"), "{error}");
}

#[test]
fn sole_processor_of_a_mode_is_used_without_being_named() {
    let config = load(SUPPLIER, &Environment::from([("TOKEN", "x")])).unwrap();
    let live = config.processor(Mode::Live);
    assert_eq!(live.map(SupplierId::as_str), Some("S"));
    assert_eq!(config.processor(Mode::Test), None);
}

#[test]
fn file_suppliers_extend_overlay_and_replace_same_ids() {
    let overlay: toml::Table = SUPPLIER.replace("\"S\"", "\"T\"").parse().unwrap();
    let mut path = tempfile::NamedTempFile::new().unwrap();
    path.write_all(SUPPLIER.as_bytes()).unwrap();
    let environment = Environment::from([("TOKEN", "x")]);
    let both = Config::load(Some(overlay.clone()), Some(path.path()), &environment).unwrap();
    let ids = both.suppliers.iter().map(|supplier| supplier.id.as_str());
    assert!(ids.eq(["T", "S"]));
    let same: toml::Table = SUPPLIER.replace("s.wasm", "other.wasm").parse().unwrap();
    let replaced = Config::load(Some(same), Some(path.path()), &environment).unwrap();
    assert_eq!(replaced.suppliers.len(), 1);
    assert_eq!(replaced.suppliers[0].component, Path::new("s.wasm"));
}

#[test]
fn base_url_uses_the_reachable_listener_address() {
    for (listen, base) in [
        ("0.0.0.0:8080", "http://127.0.0.1:8080"),
        ("[::]:80", "http://[::1]:80"),
        ("10.0.0.1:80", "http://10.0.0.1:80"),
    ] {
        let config = load_file(&format!("listen = \"{listen}\"\n")).unwrap();
        assert_eq!(config.base_url(), base);
    }
    let named = load_file("public_url = \"https://api.example.com/\"\n").unwrap();
    assert_eq!(named.base_url(), "https://api.example.com");
}
