//! Concurrent units of work: PostgreSQL batches those with the same statements, without changing
//! their results.

use super::plan::{FILL, explain_prepared};
use super::*;
use crate::combined_statement::CombinedStatementCache;
use crate::postgres_session::PLANNER_SETTINGS;
use crate::{Backend, IdempotencyKey};
use host_domain::event::Product;
use host_domain::id::{EventId, SubscriptionId};
use host_domain::remote_call::AttemptOutcome;
use host_domain::webhook::Subscription;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use std::time::Duration;
use tokio::time::timeout;

on_both_databases!(
    concurrent_units_have_the_effect_of_separate_ones,
    concurrent_units_receive_their_own_conflicts,
    concurrent_transitions_of_a_booking_store_one,
    unit_is_committed_after_its_caller_is_dropped,
);

/// Enough units for several batches.
const MANY: u32 = 24;
const JOB: &str = "hotel_booking";

/// A booking with the units of work of its workflow.
struct Workflow(HotelBooking);

impl Workflow {
    fn all() -> Vec<Self> {
        (1..=MANY).map(|number| Self(booking(number))).collect()
    }

    fn id(&self) -> &BookingId {
        &self.0.id
    }

    fn bound(&self) -> HotelBooking {
        moved(&self.0, BookingState::ReadyForComplete)
    }

    /// Returns the booking's id with another prefix.
    fn id_as(&self, prefix: &str) -> String {
        self.id().as_str().replace(BookingId::PREFIX, prefix)
    }

    fn attempt_id(&self) -> AttemptId {
        AttemptId::parse(&self.id_as(AttemptId::PREFIX)).unwrap()
    }

    fn event_id(&self) -> EventId {
        EventId::parse(&self.id_as(EventId::PREFIX)).unwrap()
    }

    fn key(&self) -> IdempotencyKey {
        IdempotencyKey::new(&owner(), "book", self.id().as_str())
    }

    fn begin(&self) -> UnitOfWork {
        let mut write = inserting(&self.0);
        write
            .insert_idempotency_key(&self.key(), "fingerprint", self.id().as_str())
            .append_booking_history(&tenant(), &history_entry(&self.0, 0))
            .append_booking_history(&tenant(), &history_entry(&self.0, 1))
            .insert_leased_job(JOB, self.id().as_str(), "mine", LEASE_MS);
        write
    }

    fn bind(&self) -> UnitOfWork {
        let bound = self.bound();
        let event = OutboxEvent {
            id: self.event_id(),
            event_type: "hotel.booking.confirmed".to_owned(),
            product: Product::Hotel,
            booking_id: Some(self.id().clone()),
            payload: format!("{{\"of\":\"{}\"}}", self.id()),
            created_at: bound.updated_at,
        };
        let mut write = updating(&bound);
        write
            .append_booking_history(&tenant(), &history_entry(&bound, 2))
            .publish(&tenant(), &event)
            .release_job(JOB, self.id().as_str(), "mine", NOW);
        write
    }

    fn send(&self) -> UnitOfWork {
        let attempt = new_attempt(self.attempt_id(), self.id(), self.id().as_str());
        unit(|write| {
            write.record_attempt(&tenant(), &attempt).insert_leased_job(
                JOB,
                self.id().as_str(),
                "mine",
                LEASE_MS,
            )
        })
    }

    fn finish(&self) -> UnitOfWork {
        let reference = format!("REF-{}", self.id());
        unit(|write| {
            write
                .finish_attempt(
                    &tenant(),
                    &self.attempt_id(),
                    AttemptOutcome::Succeeded,
                    Some(&reference),
                    None,
                )
                .complete_job(JOB, self.id().as_str(), "mine")
        })
    }
}

async fn all_committed(store: &Store, writes: Vec<UnitOfWork>) {
    let commits = writes.into_iter().map(|write| store.commit(write));
    join_all(commits).await.into_iter().for_each(Result::unwrap);
}

async fn begin_all(store: &Store) -> Vec<Workflow> {
    let workflows = Workflow::all();
    all_committed(store, workflows.iter().map(Workflow::begin).collect()).await;
    workflows
}

async fn concurrent_units_have_the_effect_of_separate_ones(db: &TestStore) {
    let store = &db.store;
    let id = SubscriptionId::from_bits(1);
    let url = "https://receiver.example/hook".to_owned();
    let types = vec!["*".to_owned()];
    let subscription = Subscription::new(id, tenant(), Product::Hotel, url, types, None, NOW);
    commit(store, |write| {
        write.insert_subscription(&subscription, b"sealed")
    })
    .await;

    let workflows = begin_all(store).await;
    for write in [Workflow::bind, Workflow::send, Workflow::finish] {
        all_committed(store, workflows.iter().map(write).collect()).await;
    }
    for workflow in &workflows {
        let stored = stored(store, workflow.id()).await;
        assert_eq!(stored, Some(workflow.bound()));
        let key = store.idempotency_record(&workflow.key()).await;
        assert_eq!(key.unwrap().unwrap().resource_id, workflow.id().as_str());
        let (first, bound) = (&workflow.0, workflow.bound());
        let entries = [(first, 0), (first, 1), (&bound, 2)];
        let entries = entries.map(|(booking, sequence)| history_entry(booking, sequence));
        assert_eq!(history(store, workflow.id()).await, entries);
        let [event] = &outbox_events(store, workflow.id()).await[..] else {
            panic!("expected exactly one outbox event for {}", workflow.id());
        };
        assert_eq!(event.payload, format!("{{\"of\":\"{}\"}}", workflow.id()));
        let [call] = &store.attempts(&tenant(), workflow.id()).await.unwrap()[..] else {
            panic!("expected exactly one attempt for {}", workflow.id());
        };
        assert_eq!((call.number, call.outcome), (1, AttemptOutcome::Succeeded));
        let reference = format!("REF-{}", workflow.id());
        assert_eq!(call.supplier_reference, Some(reference));
        let job = store.job(JOB, workflow.id().as_str()).await.unwrap();
        assert_eq!(job, None);
    }
    let delivered = statement!("SELECT COUNT(DISTINCT event_id) AS number FROM webhook_delivery");
    let delivered = store.read_count(delivered).await.unwrap();
    assert_eq!(delivered, u64::from(MANY));
    if let Backend::Postgres(_) = &store.inner.backend {
        units_with_same_statements_shared_commits(store).await;
    }
}

async fn units_with_same_statements_shared_commits(store: &Store) {
    // Rows with the same transaction id were stored by one statement.
    for table in [
        "booking_history WHERE sequence = 0",
        "hotel_booking",
        "outbox",
        "remote_call_attempt",
    ] {
        let commits = format!("SELECT COUNT(DISTINCT CAST(xmin AS TEXT)) AS number FROM {table}");
        let commits = store.read_count(statement!(commits)).await.unwrap();
        assert!(commits < u64::from(MANY) / 2, "{table}: {commits}");
    }
}

async fn concurrent_units_receive_their_own_conflicts(db: &TestStore) {
    let workflows = begin_all(&db.store).await;
    let with_entry = |workflow: &Workflow, sequence| {
        let entry = history_entry(&workflow.0, sequence);
        let mut write = workflow.bind();
        write.append_booking_history(&tenant(), &entry).clone()
    };
    let without_lease = |workflow: &Workflow| {
        let mut write = updating(&workflow.bound());
        let id = workflow.id().as_str();
        write.release_job(JOB, id, "theirs", NOW).clone()
    };
    let sequence_exists = Some(Conflict::BookingHistorySequence);
    let cases = workflows.iter().enumerate();
    let cases = cases.map(|(number, workflow)| match number % 4 {
        0 => (with_entry(workflow, 1), sequence_exists),
        1 => (with_entry(workflow, 3), None),
        2 => (workflow.begin(), Some(Conflict::BookingExists)),
        _ => (without_lease(workflow), Some(Conflict::LeaseLost)),
    });
    let (writes, expected): (Vec<_>, Vec<_>) = cases.unzip();
    let commits = writes.into_iter().map(|write| conflict(&db.store, write));
    assert_eq!(join_all(commits).await, expected);
    for (number, (workflow, expected)) in workflows.iter().zip(expected).enumerate() {
        let moved = stored(&db.store, workflow.id()).await == Some(workflow.bound());
        assert_eq!(moved, expected.is_none(), "{number}");
        let events = outbox_events(&db.store, workflow.id()).await;
        assert_eq!(events.len(), usize::from(moved), "{number}");
    }
}

async fn concurrent_transitions_of_a_booking_store_one(db: &TestStore) {
    let workflow = Workflow(booking(1));
    db.store.commit(workflow.begin()).await.unwrap();
    let moves = (0..MANY).map(|number| {
        let mut write = updating(&workflow.bound());
        let entry = history_entry(&workflow.0, i64::from(number) + 2);
        write.append_booking_history(&tenant(), &entry).clone()
    });
    one_is_stored(db, moves.collect(), Conflict::BookingVersion).await;
    assert_eq!(history(&db.store, workflow.id()).await.len(), 3);
}

async fn unit_is_committed_after_its_caller_is_dropped(db: &TestStore) {
    let workflows = Workflow::all();
    let mut first = Box::pin(db.store.commit(workflows[0].begin()));
    // The commit has started; SQLite may have finished it already.
    let _ = futures::poll!(&mut first);
    drop(first);
    let others = workflows[1..].iter().map(Workflow::begin).collect();
    all_committed(&db.store, others).await;
    // If the writer stalls, later units of work may be committed before this one.
    let stored = async {
        loop {
            if let Some(stored) = stored(&db.store, workflows[0].id()).await {
                return stored;
            }
        }
    };
    let stored = timeout(Duration::from_secs(30), stored).await.unwrap();
    assert_eq!(stored, workflows[0].0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn unit_waiting_for_a_lock_does_not_delay_others() {
    let db = TestStore::postgres().await;
    let workflows = begin_all(&db.store).await;
    let mut other = PgConnection::connect(db.url()).await.unwrap();
    other.execute("BEGIN").await.unwrap();
    let lock = sqlx::query("SELECT 1 FROM hotel_booking WHERE id = $1 FOR UPDATE");
    lock.bind(workflows[0].id().as_str())
        .execute(&mut other)
        .await
        .unwrap();

    let mut waiting = Box::pin(db.store.commit(workflows[0].bind()));
    assert!(futures::poll!(&mut waiting).is_pending());
    all_committed(
        &db.store,
        workflows[1..].iter().map(Workflow::bind).collect(),
    )
    .await;
    assert!(futures::poll!(&mut waiting).is_pending());
    other.execute("ROLLBACK").await.unwrap();
    waiting.await.unwrap();
    other.close().await.unwrap();
    db.remove().await;
}

/// The planner finds the rows of each unit of work by key, whatever statistics it has.
#[tokio::test]
async fn batched_statements_find_rows_by_key() {
    let db = TestStore::postgres().await;
    let mut connection = PgConnection::connect(db.url()).await.unwrap();
    for (name, value) in PLANNER_SETTINGS {
        let set = AssertSqlSafe(format!("SET {name} = {value}"));
        connection.execute(set).await.unwrap();
    }
    let workflow = Workflow(booking(1));
    let writes = [
        workflow.begin(),
        workflow.bind(),
        workflow.send(),
        workflow.finish(),
    ];
    let texts = CombinedStatementCache::default();
    plans_are_good(&mut connection, &texts, &writes).await;
    for sql in FILL {
        if *sql == "ANALYZE" {
            plans_are_good(&mut connection, &texts, &writes).await;
        }
        connection.execute(*sql).await.unwrap();
    }
    plans_are_good(&mut connection, &texts, &writes).await;
    connection.close().await.unwrap();
    db.remove().await;
}

async fn plans_are_good(
    connection: &mut PgConnection,
    texts: &CombinedStatementCache,
    writes: &[UnitOfWork],
) {
    for write in writes {
        let combined = texts.get_or_build(&write.statements).unwrap();
        assert!(combined.can_batch(&write.statements));
        let (writes_per_batch, text) = combined.largest_batch(8).unwrap();
        assert_eq!(*writes_per_batch, 8);
        let steps = vec![&write.statements; *writes_per_batch];
        let steps = steps.into_iter().flatten();
        let args = steps.flat_map(|step| step.statement.args.clone());
        let plan = explain_prepared(connection, text, &args.collect::<Vec<_>>()).await;
        let by_a_list = plan.contains("booking_list") || plan.contains("_unresolved");
        assert!(!by_a_list && !plan.contains("Seq Scan"), "{text}\n{plan}");
    }
}
