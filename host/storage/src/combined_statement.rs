//! PostgreSQL: combines the statements of a unit of work into one, because round trips to the
//! server dominate the cost.
//!
//! The parts of a combined statement (CTEs) do not see each other's changes and run in any order.
//! Statements are therefore combined only if their order does not matter: none may change a table
//! that an earlier one changed. There are two exceptions:
//!
//! - An insert, because unique indexes see all rows. If a duplicate fails the unit, the insert may
//!   always join. If duplicates are ignored, it may join only other inserts.
//! - The second statement of a pair that never touches the same row.
//!
//! If a part fails, the cause may be the combination, so the statements are then executed one by
//! one.
//!
//! A combined statement fails as a whole if a part violates its precondition. It usually contains
//! the whole unit of work and then needs no explicit transaction.

use crate::dialect::Dialect;
use crate::unit_of_work::{ConditionalStatement, Precondition};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

/// Maximum number of statements in a combination. The limit keeps the SQL short enough to stay
/// prepared.
const STATEMENTS_MAX: usize = 16;

/// Splits statements, in order, into runs that can be combined.
pub(crate) fn combinable_runs(
    statements: &[ConditionalStatement],
) -> impl Iterator<Item = &[ConditionalStatement]> {
    let mut tables = Vec::with_capacity(STATEMENTS_MAX);
    statements.chunk_by(move |before, step| {
        let (before, step) = (TableChange::of(before), TableChange::of(step));
        tables.extend(before.map(|change| (change.table.to_owned(), change.kind)));
        let joins = before.is_some()
            && tables.len() < STATEMENTS_MAX
            && step.is_some_and(|change| change.can_combine(&tables));
        if !joins {
            tables.clear();
        }
        joins
    })
}

/// A cache of combined statements. There is one for each kind of unit of work, a few dozen in all.
/// Building one anew takes a tenth of the time that a unit costs here.
#[derive(Debug, Default)]
pub(crate) struct CombinedStatementCache {
    statements: RwLock<HashMap<Vec<StatementShape<'static>>, Arc<CombinedStatement>>>,
}

/// The properties of a statement that determine the combined SQL.
type StatementShape<'a> = (Cow<'a, str>, Precondition);

/// Maximum number of cached statements. Reaching it means that some code generates SQL without
/// bound; further statements are not cached.
const CACHE_ENTRIES_MAX: usize = 256;

/// A run of statements as one statement whose arguments are concatenated. Its only row has
/// `changed`, the number of rows that the last part changed. It fails if a part violates its
/// precondition.
#[derive(Debug)]
pub(crate) struct CombinedStatement {
    single: (usize, Arc<str>),
    /// The SQL for several units of work with these statements, by number of units, largest first.
    /// Built on first use; empty if units cannot be batched.
    batched: OnceLock<Vec<(usize, Arc<str>)>>,
}

/// Numbers of units of work for which SQL is built. They are few, because each SQL text is planned
/// separately.
const BATCH_SIZES: [usize; 3] = [8, 4, 2];

impl CombinedStatement {
    /// Returns whether a unit of work with the statements `batch`, from which this was built, can
    /// be committed together with others.
    pub(crate) fn can_batch(&self, batch: &[ConditionalStatement]) -> bool {
        let build = |writes| Some((writes, Arc::from(build_combined_sql(batch, writes)?)));
        let build_all = || BATCH_SIZES.into_iter().filter_map(build).collect();
        !self.batched.get_or_init(build_all).is_empty()
    }

    /// Returns the largest available batch of at most `writes` units of work, with its SQL. Returns
    /// `None` if `writes` is 0.
    pub(crate) fn largest_batch(&self, writes: usize) -> Option<&(usize, Arc<str>)> {
        let batched = self.batched.get().into_iter().flatten();
        let mut texts = batched.chain([&self.single]);
        texts.find(|(number, _)| *number <= writes)
    }
}

impl CombinedStatementCache {
    /// Returns the combined statement, building it on first use. Returns `None` if the statements
    /// cannot be combined.
    pub(crate) fn get_or_build(
        &self,
        batch: &[ConditionalStatement],
    ) -> Option<Arc<CombinedStatement>> {
        let shapes: Vec<StatementShape<'_>> = batch.iter().map(shape).collect();
        {
            let statements = self
                .statements
                .read()
                .unwrap_or_else(PoisonError::into_inner);
            let statements: &HashMap<Vec<StatementShape<'_>>, Arc<CombinedStatement>> = &statements;
            if let Some(combined) = statements.get(&shapes) {
                return Some(Arc::clone(combined));
            }
        }
        let combined = Arc::new(CombinedStatement {
            single: (1, build_combined_sql(batch, 1)?.into()),
            batched: OnceLock::new(),
        });
        let shapes = shapes.into_iter();
        let shapes = shapes.map(|(sql, expects)| (Cow::Owned(sql.into_owned()), expects));
        let mut statements = self
            .statements
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        if statements.len() >= CACHE_ENTRIES_MAX {
            return Some(combined);
        }
        let combined = statements.entry(shapes.collect()).or_insert(combined);
        Some(Arc::clone(combined))
    }
}

fn shape(step: &ConditionalStatement) -> StatementShape<'_> {
    (Cow::Borrowed(&step.statement.sql), step.precondition)
}

/// Builds the SQL for `writes` units of work that each have the statements `batch`. Returns `None`
/// if one of them can only be built for a single unit.
fn build_combined_sql(batch: &[ConditionalStatement], writes: usize) -> Option<String> {
    let of_write = batch.iter().map(|step| step.statement.args.len()).sum();
    let mut parts = Vec::<String>::with_capacity(batch.len());
    let mut expected = Vec::with_capacity(batch.len());
    let mut changed = "0".to_owned();
    let mut args = ParameterLayout {
        before: 0,
        of_write,
        writes,
    };
    for (number, step) in batch.iter().enumerate() {
        let sql = Dialect::Postgres.render(&step.statement);
        let next = batch.get(number + 1).map(|next| next.precondition);
        if let Some((into, row)) = new_row(step, &sql) {
            let rows = args.rows(row);
            match parts.iter_mut().find(|part| part.starts_with(into)) {
                Some(part) => part.extend([", ", &*rows]),
                None => parts.push(format!("{into} VALUES {rows}")),
            }
            changed = writes.to_string();
        } else {
            let sql = match writes {
                1 => offset_parameters(&sql, args.before),
                _ => build_batched_sql(step, next, &sql, args)?,
            };
            let part = parts.len();
            let returning = match (step.precondition, next) {
                (Precondition::AnyRows, Some(Precondition::AnyRows | Precondition::OneRow(_))) => {
                    ""
                }
                (Precondition::AnyRows, None | Some(Precondition::OneRowOfPair(_)))
                | (Precondition::OneRow(_) | Precondition::OneRowOfPair(_), _) => " RETURNING 1",
            };
            parts.push(format!("{sql}{returning}"));
            changed = match step.precondition {
                Precondition::OneRow(_) => writes.to_string(),
                Precondition::AnyRows | Precondition::OneRowOfPair(_) => number_of(part),
            };
            expected.extend(precondition_sql(step.precondition, part, writes));
        }
        args.before += step.statement.args.len();
    }
    let parts = parts.iter().enumerate();
    let parts: Vec<_> = parts
        .map(|(number, sql)| format!("step_{number} AS ({sql})"))
        .collect();
    // A statement outside a transaction is rolled back only by an error, so the `ELSE` branch casts
    // a text that is not a number. `clock_timestamp()` defers the cast to execution; a constant
    // would fail in the planner.
    let changed = match expected.as_slice() {
        [] => changed,
        _ => format!(
            "CASE WHEN {} THEN {changed} \
             ELSE CAST('not the rows that are expected, at ' || clock_timestamp() AS int) END",
            expected.join(" AND ")
        ),
    };
    Some(format!(
        "WITH {} SELECT CAST({changed} AS BIGINT) AS changed",
        parts.join(", ")
    ))
}

fn number_of(part: usize) -> String {
    format!("(SELECT COUNT(*) FROM step_{part})")
}

/// Returns the condition that a part met the precondition of its statement once for each unit of
/// work. Returns `None` if there is no precondition.
fn precondition_sql(expects: Precondition, part: usize, writes: usize) -> Option<String> {
    // `EXISTS` is cheaper than a count, which costs as much as many of the statements themselves.
    let is_there = |part: usize| format!("EXISTS (SELECT FROM step_{part})");
    let before = part.saturating_sub(1);
    match (expects, writes) {
        (Precondition::AnyRows, _) => None,
        (Precondition::OneRow(_), 1) => Some(is_there(part)),
        (Precondition::OneRow(_), _) => Some(format!("{} = {writes}", number_of(part))),
        (Precondition::OneRowOfPair(_), 1) => {
            Some(format!("{} <> {}", is_there(before), is_there(part)))
        }
        (Precondition::OneRowOfPair(_), _) => {
            let (first, second) = (number_of(before), number_of(part));
            Some(format!("{first} + {second} = {writes}"))
        }
    }
}

/// The positions of a statement's arguments among those of all units of work. The units' arguments
/// follow each other, `of_write` for each unit.
#[derive(Clone, Copy)]
struct ParameterLayout {
    before: usize,
    of_write: usize,
    writes: usize,
}

impl ParameterLayout {
    /// Returns the row of each unit of work, separated by commas.
    fn rows(self, row: &str) -> String {
        let of = |write| offset_parameters(row, self.before + write * self.of_write);
        let rows: Vec<_> = (0..self.writes).map(of).collect();
        rows.join(", ")
    }
}

/// Splits an insert that must add exactly one row into `INSERT INTO …` and its row. Without `ON
/// CONFLICT DO NOTHING`, which costs a lookup per row, the insert fails by itself on a duplicate.
/// Rows for one table form one part.
fn new_row<'a>(step: &ConditionalStatement, sql: &'a str) -> Option<(&'a str, &'a str)> {
    if !matches!(step.precondition, Precondition::OneRow(_)) {
        return None;
    }
    inserted_row(sql.strip_suffix(ON_CONFLICT_DO_NOTHING)?)
}

/// Splits an insert into the text before and after `VALUES`.
fn inserted_row(insert: &str) -> Option<(&str, &str)> {
    let (into, row) = insert.split_once(" VALUES ")?;
    // The text before `VALUES` must end with the column list; otherwise the row has another source.
    (into.find(')') == into.len().checked_sub(1)).then_some((into, row))
}

/// The end of an insert that ignores duplicates.
const ON_CONFLICT_DO_NOTHING: &str = " ON CONFLICT DO NOTHING";

/// Builds one statement that executes a statement with the arguments of several units of work.
/// Returns `None` if that is impossible. If two units name the same row, the statement changes
/// fewer rows than there are units, or fails. Only statements whose row count is checked qualify.
fn build_batched_sql(
    step: &ConditionalStatement,
    next: Option<Precondition>,
    sql: &str,
    args: ParameterLayout,
) -> Option<String> {
    let counted = match (step.precondition, next) {
        (Precondition::OneRow(_) | Precondition::OneRowOfPair(_), _)
        | (Precondition::AnyRows, Some(Precondition::OneRowOfPair(_))) => true,
        // A duplicate row makes no difference to an insert that ignores duplicates.
        (Precondition::AnyRows, _) => sql.ends_with(ON_CONFLICT_DO_NOTHING),
    };
    if !counted {
        return None;
    }
    if let Some((into, rest)) = inserted_row(sql) {
        let (row, conflict) = rest.split_once(" ON CONFLICT ")?;
        let rows = args.rows(row);
        let only_the_row_is_given = !conflict.contains('$');
        return only_the_row_is_given
            .then(|| format!("{into} VALUES {rows} ON CONFLICT {conflict}"));
    }
    let (head, condition) = sql.split_once(" WHERE ")?;
    let numbers = 1..=step.statement.args.len();
    let columns: Vec<_> = numbers.clone().map(|number| format!("a{number}")).collect();
    let row: Vec<_> = numbers.map(|number| format!("${number}")).collect();
    let rows = args.rows(&format!("({})", row.join(", ")));
    let given = format!("(VALUES {rows}) AS given({})", columns.join(", "));
    let selects = head.matches("SELECT").count();
    // The first ` WHERE ` may belong to a subquery if the head has another number of `SELECT`s.
    let head = match (head.split_once(' ')?.0, selects) {
        ("UPDATE", 0) => format!("{} FROM {given}", with_named_parameters(head)),
        ("DELETE", 0) => format!("{} USING {given}", with_named_parameters(head)),
        ("INSERT", 1) => {
            // `given` comes first, because the other sources may be computed from its columns.
            let (insert, from) = head.split_once(" FROM ")?;
            let is_one = !from.contains(" FROM ");
            is_one.then(|| {
                format!(
                    "{} FROM {given}, {}",
                    with_named_parameters(insert),
                    with_named_parameters(from)
                )
            })?
        }
        _ => return None,
    };
    Some(format!("{head} WHERE {}", with_named_parameters(condition)))
}

/// Replaces each parameter by the column of `given` that holds it.
fn with_named_parameters(sql: &str) -> String {
    map_parameters(sql, |number| format!("given.a{number}"))
}

/// The change that a statement makes to a table.
#[derive(Clone, Copy)]
struct TableChange<'a> {
    table: &'a str,
    sql: &'a str,
    kind: ChangeKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ChangeKind {
    /// The insert of a row that must not exist yet.
    InsertOrFail,
    /// The insert of rows that are skipped if they exist.
    InsertIgnore,
    /// A change to other rows of the table than those that the previous statement changes.
    DisjointUpdate,
    Other,
}

impl<'a> TableChange<'a> {
    /// Returns `None` if the statement must not be combined.
    fn of(step: &'a ConditionalStatement) -> Option<Self> {
        if step.returns_rows {
            return None;
        }
        let sql = &*step.statement.sql;
        let mut words = sql.split_ascii_whitespace();
        let verb = words.next()?;
        let table = match verb {
            "UPDATE" => words.next(),
            "INSERT" | "DELETE" => words.nth(1),
            _ => None,
        }?;
        let changes_nothing_there = sql.ends_with(ON_CONFLICT_DO_NOTHING);
        let kind = match step.precondition {
            Precondition::OneRowOfPair(_) => ChangeKind::DisjointUpdate,
            Precondition::OneRow(_) if changes_nothing_there => ChangeKind::InsertOrFail,
            Precondition::AnyRows if changes_nothing_there => ChangeKind::InsertIgnore,
            Precondition::OneRow(_) | Precondition::AnyRows => ChangeKind::Other,
        };
        Some(Self { table, sql, kind })
    }

    /// Returns whether the statement can be combined with statements that changed `tables`. Table
    /// names are searched in the SQL text; a false match only costs a round trip.
    fn can_combine(self, tables: &[(String, ChangeKind)]) -> bool {
        !tables.iter().any(|(table, kind)| {
            let cannot_tell = match self.kind {
                ChangeKind::InsertOrFail | ChangeKind::DisjointUpdate => true,
                ChangeKind::InsertIgnore => {
                    matches!(kind, ChangeKind::InsertOrFail | ChangeKind::InsertIgnore)
                }
                ChangeKind::Other => false,
            };
            names_table(self.sql, table) && !(table == self.table && cannot_tell)
        })
    }
}

/// Returns whether the SQL text contains the name of a table. A column `<table>_id`, which refers
/// to a row of the table, does not count.
fn names_table(sql: &str, table: &str) -> bool {
    let mut rests = sql.match_indices(table).map(|(at, _)| sql.get(at..));
    rests.any(|rest| {
        let rest = rest.and_then(|rest| rest.strip_prefix(table));
        !rest.is_some_and(|rest| rest.starts_with("_id"))
    })
}

/// Increases the number of each parameter by `before`.
fn offset_parameters(sql: &str, before: usize) -> String {
    map_parameters(sql, |number| format!("${}", number + before))
}

/// Replaces each parameter `$n` by `name(n)`.
fn map_parameters(sql: &str, name: impl Fn(usize) -> String) -> String {
    let mut pieces = sql.split('$');
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let digits = piece
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(piece.len());
        let (number, rest) = piece.split_at(digits);
        text.push_str(&name(number.parse().unwrap_or_default()));
        text.push_str(rest);
    }
    text
}
