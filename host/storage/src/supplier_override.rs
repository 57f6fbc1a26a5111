//! Changes of suppliers by operators, which override the configuration.

use crate::statement::{Row, statement};
use crate::{DatabaseError, Store, UnitOfWork};
use host_domain::supplier::{Rank, SupplierId, SupplierOverride};

impl UnitOfWork {
    /// Sets whether a supplier is drained.
    pub fn set_supplier_drained(&mut self, supplier: &SupplierId, is_drained: bool) -> &mut Self {
        self.add(statement!(
            "INSERT INTO supplier_override (supplier, is_drained, updated_at) \
             VALUES ($1, $2, $3) \
             ON CONFLICT (supplier) DO UPDATE SET is_drained = excluded.is_drained, \
               updated_at = excluded.updated_at",
            supplier.as_str(),
            i64::from(is_drained),
            self.now,
        ))
    }

    /// Sets priority and weight of a supplier, or removes both.
    pub fn set_supplier_rank(&mut self, supplier: &SupplierId, rank: Option<Rank>) -> &mut Self {
        self.add(statement!(
            "INSERT INTO supplier_override (supplier, is_drained, priority, weight, updated_at) \
             VALUES ($1, 0, $2, $3, $4) \
             ON CONFLICT (supplier) DO UPDATE SET priority = excluded.priority, \
               weight = excluded.weight, updated_at = excluded.updated_at",
            supplier.as_str(),
            rank.map(|rank| i64::from(rank.priority)),
            rank.map(|rank| i64::from(rank.weight)),
            self.now,
        ))
    }
}

impl Store {
    /// Returns what operators changed about suppliers.
    pub async fn supplier_overrides(
        &self,
    ) -> Result<Vec<(SupplierId, SupplierOverride)>, DatabaseError> {
        let select =
            statement!("SELECT supplier, is_drained, priority, weight FROM supplier_override");
        self.read_all(select, read).await
    }
}

fn read(row: &Row) -> Result<(SupplierId, SupplierOverride), DatabaseError> {
    let number = |column| row.get::<Option<i64>>(column);
    let priority = number("priority")?.and_then(|priority| i32::try_from(priority).ok());
    let weight = number("weight")?.and_then(|weight| u32::try_from(weight).ok());
    let rank = priority.zip(weight);
    Ok((
        row.parsed("supplier", SupplierId::parse)?,
        SupplierOverride {
            is_drained: row.get::<i64>("is_drained")? != 0,
            rank: rank.map(|(priority, weight)| Rank { priority, weight }),
        },
    ))
}
