//! Tests of the settings of suppliers that operators changed.

use super::*;
use host_domain::supplier::{Rank, SupplierOverride};

on_both_databases!(changes_of_a_supplier_are_independent);

async fn changes_of_a_supplier_are_independent(db: &TestStore) {
    let id = supplier();
    let rank = Some(Rank {
        priority: -3,
        weight: 0,
    });
    let drain = |is_drained| unit(|write| write.set_supplier_drained(&id, is_drained));
    let order = |rank| unit(|write| write.set_supplier_rank(&id, rank));
    for (write, is_drained, rank) in [
        (order(rank), false, rank),
        (drain(true), true, rank),
        (order(None), true, None),
        (order(rank), true, rank),
        (drain(false), false, rank),
    ] {
        db.store.commit(write).await.unwrap();
        let stored = db.store.supplier_overrides().await.unwrap();
        let expected = SupplierOverride { is_drained, rank };
        assert_eq!(stored, [(id.clone(), expected)]);
    }
}
