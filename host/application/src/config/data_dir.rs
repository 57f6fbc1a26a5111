//! The data folder: a configuration overlay that keeps all data in one folder.

use std::path::Path;
use toml::{Table, Value};

pub fn data_dir_overlay(data_dir: &Path) -> Table {
    let path = |name: &str| data_dir.join(name).display().to_string();
    Table::from_iter([
        (
            "database".to_owned(),
            Value::from(format!("sqlite:{}", path("stopover.sqlite3"))),
        ),
        ("code_cache_dir".to_owned(), Value::from(path("code"))),
    ])
}
