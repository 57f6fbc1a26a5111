//! Values of the whole installation, such as the check value of the master key.

use crate::statement::statement;
use crate::{DatabaseError, Store, UnitOfWork};
use host_domain::time::Timestamp;

impl Store {
    /// Returns a value by its name.
    pub async fn setting(&self, name: &str) -> Result<Option<Vec<u8>>, DatabaseError> {
        let select = statement!("SELECT value FROM setting WHERE name = $1", name);
        self.read_optional(select, |row| row.blob("value")).await
    }

    /// Stores a value unless one exists, and returns the stored one. Concurrent callers all receive
    /// the value of the first.
    pub async fn setting_or_insert(
        &self,
        name: &str,
        value: &[u8],
    ) -> Result<Vec<u8>, DatabaseError> {
        let mut write = UnitOfWork::new(Timestamp(0));
        write.add_returning(statement!(
            "INSERT INTO setting (name, value) VALUES ($1, $2) \
             ON CONFLICT (name) DO UPDATE SET value = setting.value RETURNING value",
            name,
            value,
        ));
        let outcome = self.execute_unconditional(write).await?;
        let row = outcome.rows.first();
        row.map_or_else(|| Ok(value.to_vec()), |row| row.blob("value"))
    }

    /// Stores a value, replacing an existing one.
    pub async fn set_setting(&self, name: &str, value: &[u8]) -> Result<(), DatabaseError> {
        let mut write = UnitOfWork::new(Timestamp(0));
        write.add(statement!(
            "INSERT INTO setting (name, value) VALUES ($1, $2) \
             ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            name,
            value,
        ));
        self.execute_unconditional(write).await?;
        Ok(())
    }
}
