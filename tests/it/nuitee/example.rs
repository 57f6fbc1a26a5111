//! The example's configuration, as the README has it run.

use std::path::Path;
use std::process::{Command, Output};
use tests::{binary, target_dir};

fn check(key: Option<&str>) -> Output {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/nuitee.toml");
    let mut command = Command::new(binary());
    command
        .args(["config", "check", "--config"])
        .arg(example)
        .env("STOPOVER_PLUGINS_DIR", target_dir().join("plugins"))
        .env_remove("LITEAPI_KEY");
    if let Some(key) = key {
        command.env("LITEAPI_KEY", key);
    }
    command.output().unwrap()
}

#[test]
fn the_example_is_valid_with_a_key_in_the_environment() {
    let checked = check(Some("sand_canary"));
    assert!(checked.status.success(), "{checked:?}");
}

#[test]
fn without_a_key_the_example_says_which_variable_is_missing() {
    let checked = check(None);
    let said = String::from_utf8(checked.stderr).unwrap();
    assert!(!checked.status.success());
    assert!(
        said.contains("credentials of NUITEE") && said.contains("LITEAPI_KEY"),
        "{said}"
    );
}
