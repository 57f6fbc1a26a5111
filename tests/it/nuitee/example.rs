//! The example's configuration, as the README has it run.

use tests::check_example;

#[test]
fn the_example_is_valid_with_a_key_in_the_environment() {
    let (is_valid, said) = check_example("nuitee.toml", &[("LITEAPI_KEY", Some("sand_canary"))]);
    assert!(is_valid, "{said}");
}

#[test]
fn without_a_key_the_example_says_which_variable_is_missing() {
    let (is_valid, said) = check_example("nuitee.toml", &[("LITEAPI_KEY", None)]);
    assert!(!is_valid);
    assert!(
        said.contains("credentials of NUITEE") && said.contains("LITEAPI_KEY"),
        "{said}"
    );
}
