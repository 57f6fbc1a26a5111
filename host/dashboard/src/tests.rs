//! Rules that every template obeys. The content security policy enforces most of them in browsers,
//! where a violation would only be a broken page.

mod account;
mod contrast;
mod dialogs;
mod errors;
mod filters;
mod go_live;
mod keys;
mod overview;
mod server;
mod vendor;

use crate::asset::{self, UNKNOWN_URL};
use std::fs;
use std::path::{Path, PathBuf};

fn files(folder: &str) -> Vec<(PathBuf, String)> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let text = fs::read_to_string(&path).unwrap();
                files.push((path, text));
            }
        }
    }
    assert!(!files.is_empty());
    files
}

#[test]
fn template_has_no_inline_code_and_no_foreign_address() {
    for (path, text) in files("templates") {
        for forbidden in [
            " style=",
            "<style",
            "|safe",
            "| safe",
            "http://",
            "https://",
            "javascript:",
        ] {
            assert!(!text.contains(forbidden), "{}: {forbidden}", path.display());
        }
        for script in text.split("<script").skip(1) {
            let tag = script.split('>').next().unwrap();
            let has_nonce = tag.contains("nonce=\"{{ page.nonce }}\"");
            assert!(has_nonce, "{}: <script{tag}>", path.display());
        }
        let words = text.split_whitespace();
        let handler = words.filter(|word| word.starts_with("on")).find(|word| {
            word.split_once('=')
                .is_some_and(|(name, _)| name.bytes().all(|byte| byte.is_ascii_lowercase()))
        });
        assert_eq!(handler, None, "{}", path.display());
    }
}

#[test]
fn template_names_existing_assets() {
    for (path, text) in files("templates") {
        for rest in text.split("asset::url(\"").skip(1) {
            let name = rest.split('"').next().unwrap();
            assert_ne!(asset::url(name), UNKNOWN_URL, "{}: {name}", path.display());
        }
    }
}

#[test]
fn template_and_asset_have_at_most_600_lines() {
    for (path, text) in [files("templates"), files("assets")].concat() {
        assert!(text.lines().count() <= 600, "{}", path.display());
    }
}
