//! Events from suppliers are stored once and processed once.

use super::*;
use crate::{StoredSupplierEvent, SupplierEventState};
use host_domain::supplier_event::{SupplierEvent, SupplierEventKind};

on_both_databases!(
    supplier_event_is_read_as_stored,
    supplier_event_is_processed_once,
    purge_deletes_oldest_processed_supplier_events,
);

fn event(id: &str) -> SupplierEvent {
    SupplierEvent {
        id: id.into(),
        kind: SupplierEventKind::BookingChanged,
        supplier_reference: Some("ord_1".into()),
        client_reference: Some("bkg_1-book".into()),
        supplier_offer: Some("off \"ü' %".into()),
        occurred_at: Some(NOW),
    }
}

fn receiving(mode: Mode, supplier: &SupplierId, event: &SupplierEvent) -> UnitOfWork {
    unit(|write| write.insert_supplier_event(mode, supplier, event, &[7; 32]))
}

/// Builds a unit of work that marks an event as ignored, one second after `NOW`.
fn ignoring(id: &str) -> UnitOfWork {
    unit_at(NOW.plus_s(1), |write| {
        write.mark_supplier_event_processed(Mode::Test, &supplier(), id, None)
    })
}

async fn read(store: &Store, id: &str) -> Option<StoredSupplierEvent> {
    let read = store.supplier_event(Mode::Test, &supplier(), id).await;
    read.unwrap()
}

fn received(event: SupplierEvent) -> StoredSupplierEvent {
    StoredSupplierEvent {
        event,
        body_sha256: vec![7; 32],
        state: SupplierEventState::Received,
        booking_id: None,
        received_at: NOW,
        processed_at: None,
    }
}

async fn supplier_event_is_read_as_stored(db: &TestStore) {
    assert_eq!(read(&db.store, "e1").await, None);
    let bare = SupplierEvent {
        kind: SupplierEventKind::Irrelevant("a test".into()),
        supplier_reference: None,
        client_reference: None,
        supplier_offer: None,
        occurred_at: None,
        ..event("e2")
    };
    for event in [event("e1"), bare] {
        for (mode, supplier, expected) in [
            (Mode::Test, supplier(), None),
            (Mode::Test, supplier(), Some(Conflict::SupplierEventExists)),
            (Mode::Test, other_supplier(), None),
            (Mode::Live, supplier(), None),
        ] {
            let write = receiving(mode, &supplier, &event);
            let result = conflict(&db.store, write).await;
            assert_eq!(result, expected, "{mode:?} {supplier}");
        }
        let read = read(&db.store, &event.id).await;
        assert_eq!(read, Some(received(event)));
    }
}

async fn supplier_event_is_processed_once(db: &TestStore) {
    let booking = BookingId::from_bits(1);
    let later = NOW.plus_s(1);
    let applying = |id| {
        unit_at(later, |write| {
            write.mark_supplier_event_processed(Mode::Test, &supplier(), id, Some(&booking))
        })
    };
    let settled = Some(Conflict::SupplierEventProcessed);
    assert_eq!(conflict(&db.store, applying("e1")).await, settled);
    for id in ["e1", "e2"] {
        let write = receiving(Mode::Test, &supplier(), &event(id));
        db.store.commit(write).await.unwrap();
    }
    assert_eq!(conflict(&db.store, applying("e1")).await, None);
    assert_eq!(conflict(&db.store, ignoring("e2")).await, None);
    for write in [ignoring("e1"), applying("e1"), applying("e2")] {
        assert_eq!(conflict(&db.store, write).await, settled);
    }
    let applied = StoredSupplierEvent {
        state: SupplierEventState::Applied,
        booking_id: Some(booking.clone()),
        processed_at: Some(later),
        ..received(event("e1"))
    };
    assert_eq!(read(&db.store, "e1").await, Some(applied));
    let ignored = StoredSupplierEvent {
        state: SupplierEventState::Ignored,
        processed_at: Some(later),
        ..received(event("e2"))
    };
    assert_eq!(read(&db.store, "e2").await, Some(ignored));
}

async fn purge_deletes_oldest_processed_supplier_events(db: &TestStore) {
    let (now, supplier) = (NOW.plus_s(100), supplier());
    for (id, age_s, is_settled) in [
        ("e3", 1, true),
        ("e2", 2, true),
        ("e1", 3, true),
        ("open", 4, false),
        ("young", 0, true),
    ] {
        let write = unit_at(now.plus_s(-age_s), |write| {
            write.insert_supplier_event(Mode::Test, &supplier, &event(id), &[7; 32])
        });
        db.store.commit(write).await.unwrap();
        if is_settled {
            db.store.commit(ignoring(id)).await.unwrap();
        }
    }
    let all = ["e1", "e2", "e3", "open", "young"];
    for (forgotten, left) in [(2, &all[2..]), (1, &all[3..]), (0, &all[3..])] {
        let forget = db.store.purge_supplier_events(now, 2).await;
        assert_eq!(forget.unwrap(), forgotten);
        for id in all {
            let is_left = read(&db.store, id).await.is_some();
            assert_eq!(is_left, left.contains(&id), "{id}");
        }
    }
}
