//! Schema migrations: the files of `migrations/`, compiled into the program. They are listed here
//! because the macro that reads a folder compiles the drivers of both databases a second time, for
//! the compiler.

use sqlx::SqlSafeStr;
use sqlx::migrate::{Migration, MigrationType, Migrator};
use std::borrow::Cow;
use std::sync::LazyLock;

/// A migration with its SQL for each of the two databases.
struct File {
    name: &'static str,
    sqlite: &'static str,
    postgres: &'static str,
}

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(File {
            name: $name,
            sqlite: include_str!(concat!("../migrations/sqlite/", $name, ".sql")),
            postgres: include_str!(concat!("../migrations/postgres/", $name, ".sql")),
        }),*]
    };
}

/// The migrations in the order in which they run; the first has version 1.
const FILES: &[File] = files![
    "0001_hotels",
    "0002_flights",
    "0003_webhooks",
    "0004_watch_log",
    "0005_mandates",
    "0006_watches",
    "0007_indexes",
    "0008_lists_and_documents",
    "0009_flight_counts",
];

pub(crate) static SQLITE: LazyLock<Migrator> = LazyLock::new(|| migrator(|file| file.sqlite));
pub(crate) static POSTGRES: LazyLock<Migrator> = LazyLock::new(|| migrator(|file| file.postgres));

fn migrator(text: impl Fn(&File) -> &'static str) -> Migrator {
    let numbered = (1..).zip(FILES);
    let migrations = numbered.map(|(version, file)| {
        let (_, description) = file.name.split_once('_').unwrap_or_default();
        let description = Cow::Owned(description.replace('_', " "));
        let text = text(file).into_sql_str();
        Migration::new(version, description, MigrationType::Simple, text, false)
    });
    Migrator::with_migrations(migrations.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    #[test]
    fn migration_files_are_listed_in_numeric_order() {
        let listed: Vec<_> = FILES
            .iter()
            .map(|file| format!("{}.sql", file.name))
            .collect();
        for (number, file) in (1..).zip(&listed) {
            assert!(file.starts_with(&format!("{number:04}_")), "{file}");
        }
        for folder in ["sqlite", "postgres"] {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("migrations")
                .join(folder);
            let entries = fs::read_dir(folder).unwrap();
            let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            let mut found: Vec<_> = names.collect();
            found.sort();
            assert_eq!(found, listed);
        }
    }
}
