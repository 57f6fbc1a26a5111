//! Values of the whole installation, such as the check value of the master key.

use crate::statement::statement;
use crate::{DatabaseError, Store};

impl Store {
    /// Stores a value unless one exists, and returns the stored one. Concurrent callers all receive
    /// the value of the first.
    pub async fn setting_or_insert(
        &self,
        name: &str,
        value: &[u8],
    ) -> Result<Vec<u8>, DatabaseError> {
        let insert = statement!(
            "INSERT INTO setting (name, value) VALUES ($1, $2) \
             ON CONFLICT (name) DO UPDATE SET value = setting.value RETURNING value",
            name,
            value,
        );
        let stored = self.execute_returning(insert, |row| row.get::<Vec<u8>>("value"));
        Ok(stored.await?.pop().unwrap_or_else(|| value.to_vec()))
    }

    /// Returns a value, or `None` if none is stored.
    pub async fn setting(&self, name: &str) -> Result<Option<Vec<u8>>, DatabaseError> {
        let select = statement!("SELECT value FROM setting WHERE name = $1", name);
        let value = self.read_optional(select, |row| row.get("value"));
        value.await
    }

    /// Stores a value, replacing an existing one.
    pub async fn set_setting(&self, name: &str, value: &[u8]) -> Result<(), DatabaseError> {
        let upsert = statement!(
            "INSERT INTO setting (name, value) VALUES ($1, $2) \
             ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            name,
            value,
        );
        self.execute_statement(upsert).await.map(|_| ())
    }
}
