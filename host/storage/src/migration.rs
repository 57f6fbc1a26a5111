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
    "0001_setting",
    "0002_api_key",
    "0003_idempotency_record",
    "0004_job",
    "0005_hotel_booking",
    "0006_flight_booking",
    "0007_flight_booking_count",
    "0008_booking_history",
    "0009_remote_call_attempt",
    "0010_outbox",
    "0011_webhook",
    "0012_watch",
    "0013_watch_event_log",
    "0014_mandate",
    "0015_payment_instrument",
    "0016_hotel_mapping",
    "0017_hotel_content",
    "0018_place",
    "0019_airport",
    "0020_airline",
    "0021_supplier_event",
    "0022_write_probe",
    "0023_account",
    "0024_account_session",
    "0025_audit_log",
    "0026_request_log",
    "0027_statistics",
    "0028_console",
    "0029_operation",
    "0030_second_factor",
    "0031_account_identity",
];

/// Finds the first migration of the schema that development versions had before the migrations were
/// rewritten. That schema cannot be migrated. Fails if no migrations are recorded.
pub(crate) const SELECT_EARLIER_SCHEMA: &str =
    "SELECT 1 FROM _sqlx_migrations WHERE version = 1 AND description = 'hotels'";

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
