//! Tests of the example configuration that the README uses.

use tests::check_example;

#[test]
fn nuitee_example_config_with_key_in_environment_is_valid() {
    let (is_valid, said) = check_example("nuitee.toml", &[("LITEAPI_KEY", Some("sand_canary"))]);
    assert!(is_valid, "{said}");
}

#[test]
fn nuitee_example_config_without_key_names_the_missing_variable() {
    let (is_valid, said) = check_example("nuitee.toml", &[("LITEAPI_KEY", None)]);
    assert!(!is_valid);
    assert!(
        said.contains("credentials of NUITEE") && said.contains("LITEAPI_KEY"),
        "{said}"
    );
}
