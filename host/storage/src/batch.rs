//! PostgreSQL: steps of a write as one statement, because what costs is the way
//! to the server and back.
//!
//! The parts of such a statement do not see what the others do, and are carried out in
//! any order. So only steps are put together that cannot tell: none changes a table
//! that one before it changed. A new row may join all the same, because the unique
//! indexes of its table see everything: where one that is there already fails the write,
//! and where it is left alone, beside other new rows. So may the second of two steps that
//! never change the same row. Where a part then fails, it may be because of the others,
//! so that the steps are to be carried out one by one.
//!
//! Such a statement fails as a whole where a step does not change what it is expected
//! to: mostly it is all of the write, and then needs no transaction around it.

use crate::dialect::Dialect;
use crate::write::{Precondition, ConditionalStatement};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

/// The most steps of a statement, so that texts stay short enough to be kept prepared.
const STATEMENTS_MAX: usize = 16;

/// Steps in runs that may be put together, in their order.
pub(crate) fn combinable_runs(steps: &[ConditionalStatement]) -> impl Iterator<Item = &[ConditionalStatement]> {
    let mut tables = Vec::with_capacity(STATEMENTS_MAX);
    steps.chunk_by(move |before, step| {
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

/// The texts that runs of steps were put together to. There are as many as ways to
/// write, a few dozen; making one anew each time is a tenth of what a write costs here.
#[derive(Debug, Default)]
pub(crate) struct CombinedStatementCache {
    of: RwLock<HashMap<Vec<StatementShape<'static>>, Arc<CombinedStatement>>>,
}

/// All of a step that the text depends on.
type StatementShape<'a> = (Cow<'a, str>, Precondition);

/// More are not kept: something makes texts without end then.
const CACHE_ENTRIES_MAX: usize = 256;

/// A run of steps as one statement, with their arguments one after the other. Its only
/// row has `changed`: how many rows the last of them changed. It fails where a step does
/// not change what is expected of it.
#[derive(Debug)]
pub(crate) struct CombinedStatement {
    single: (usize, Arc<str>),
    /// Of several writes with these steps, by their number, the largest first. Made when
    /// it is asked for; empty where that cannot be.
    batched: OnceLock<Vec<(usize, Arc<str>)>>,
}

/// The numbers of writes that there are texts of. Few, because each is planned.
const BATCH_SIZES: [usize; 3] = [8, 4, 2];

impl CombinedStatement {
    /// Whether a write of these steps, which are this one's, can be carried out with others.
    pub(crate) fn can_batch(&self, batch: &[ConditionalStatement]) -> bool {
        let of = |writes| Some((writes, Arc::from(build_combined_sql(batch, writes)?)));
        let together = || BATCH_SIZES.into_iter().filter_map(of).collect();
        !self.batched.get_or_init(together).is_empty()
    }

    /// The most that can be carried out at once of so many, and their statement; none:
    /// there are none.
    pub(crate) fn largest_batch(&self, writes: usize) -> Option<&(usize, Arc<str>)> {
        let together = self.batched.get().into_iter().flatten();
        let mut texts = together.chain([&self.single]);
        texts.find(|(number, _)| *number <= writes)
    }
}

impl CombinedStatementCache {
    /// None: they cannot be one statement.
    pub(crate) fn get_or_build(&self, batch: &[ConditionalStatement]) -> Option<Arc<CombinedStatement>> {
        let shapes: Vec<StatementShape<'_>> = batch.iter().map(shape).collect();
        {
            let kept = self.of.read().unwrap_or_else(PoisonError::into_inner);
            let kept: &HashMap<Vec<StatementShape<'_>>, Arc<CombinedStatement>> = &kept;
            if let Some(joint) = kept.get(&shapes) {
                return Some(Arc::clone(joint));
            }
        }
        let joint = Arc::new(CombinedStatement {
            single: (1, build_combined_sql(batch, 1)?.into()),
            batched: OnceLock::new(),
        });
        let shapes = shapes.into_iter();
        let shapes = shapes.map(|(sql, expects)| (Cow::Owned(sql.into_owned()), expects));
        let mut kept = self.of.write().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= CACHE_ENTRIES_MAX {
            return Some(joint);
        }
        let joint = kept.entry(shapes.collect()).or_insert(joint);
        Some(Arc::clone(joint))
    }
}

fn shape(step: &ConditionalStatement) -> StatementShape<'_> {
    (Cow::Borrowed(&step.statement.sql), step.precondition)
}

/// The statement of so many writes, each with all of these steps; none: one of them can
/// only be made for one write.
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
                (Precondition::AnyRows, Some(Precondition::AnyRows | Precondition::OneRow(_))) => "",
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
    // Nothing but a failure undoes a statement: such a text is no number. It is made
    // when it is reached, or the planner would fail on it.
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

/// The condition that a part changed what is expected of its step, once for each write.
fn precondition_sql(expects: Precondition, part: usize, writes: usize) -> Option<String> {
    // Whether there is a row is cheaper to ask than how many there are, which each
    // time costs as much as what many of the steps do.
    let is_there = |part: usize| format!("EXISTS (SELECT FROM step_{part})");
    let before = part.saturating_sub(1);
    match (expects, writes) {
        (Precondition::AnyRows, _) => None,
        (Precondition::OneRow(_), 1) => Some(is_there(part)),
        (Precondition::OneRow(_), _) => Some(format!("{} = {writes}", number_of(part))),
        (Precondition::OneRowOfPair(_), 1) => Some(format!("{} <> {}", is_there(before), is_there(part))),
        (Precondition::OneRowOfPair(_), _) => {
            let (first, second) = (number_of(before), number_of(part));
            Some(format!("{first} + {second} = {writes}"))
        }
    }
}

/// Where the arguments of a step stand among those of all writes: one write's after the
/// other's, each with so many.
#[derive(Clone, Copy)]
struct ParameterLayout {
    before: usize,
    of_write: usize,
    writes: usize,
}

impl ParameterLayout {
    /// The row of each write.
    fn rows(self, row: &str) -> String {
        let of = |write| offset_parameters(row, self.before + write * self.of_write);
        let rows: Vec<_> = (0..self.writes).map(of).collect();
        rows.join(", ")
    }
}

/// Of a step that adds one row, or else fails: where it is added to, and the row. Without
/// leaving alone what is there, which costs a look before each, it fails by itself; and
/// rows of one table are one part.
fn new_row<'a>(step: &ConditionalStatement, sql: &'a str) -> Option<(&'a str, &'a str)> {
    if !matches!(step.precondition, Precondition::OneRow(_)) {
        return None;
    }
    inserted_row(sql.strip_suffix(ON_CONFLICT_DO_NOTHING)?)
}

/// What stands before and behind `VALUES`.
fn inserted_row(insert: &str) -> Option<(&str, &str)> {
    let (into, row) = insert.split_once(" VALUES ")?;
    // The columns are all that is before it: the row comes from nowhere else.
    (into.find(')') == into.len().checked_sub(1)).then_some((into, row))
}

/// How a step ends that adds only what is not there.
const ON_CONFLICT_DO_NOTHING: &str = " ON CONFLICT DO NOTHING";

/// A step for the arguments of several writes, where it can be made for them at once.
/// Where two of the writes name the same row, it changes one row less than there are
/// writes, or fails: therefore only steps of which that is told.
fn build_batched_sql(step: &ConditionalStatement, next: Option<Precondition>, sql: &str, args: ParameterLayout) -> Option<String> {
    let counted = match (step.precondition, next) {
        (Precondition::OneRow(_) | Precondition::OneRowOfPair(_), _)
        | (Precondition::AnyRows, Some(Precondition::OneRowOfPair(_))) => true,
        // New rows are the same however often they are told.
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
    // Else that is not the condition of the step itself.
    let head = match (head.split_once(' ')?.0, selects) {
        ("UPDATE", 0) => format!("{} FROM {given}", with_named_parameters(head)),
        ("DELETE", 0) => format!("{} USING {given}", with_named_parameters(head)),
        ("INSERT", 1) => {
            // Before what may be made of it.
            let (insert, from) = head.split_once(" FROM ")?;
            let is_one = !from.contains(" FROM ");
            is_one.then(|| format!("{} FROM {given}, {}", with_named_parameters(insert), with_named_parameters(from)))?
        }
        _ => return None,
    };
    Some(format!("{head} WHERE {}", with_named_parameters(condition)))
}

/// The text with the columns of `given` for its arguments.
fn with_named_parameters(sql: &str) -> String {
    map_parameters(sql, |number| format!("given.a{number}"))
}

/// What a step changes.
#[derive(Clone, Copy)]
struct TableChange<'a> {
    table: &'a str,
    sql: &'a str,
    kind: ChangeKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ChangeKind {
    /// A row that must not be there.
    InsertOrFail,
    /// Rows that may be there, and are left alone then.
    InsertIgnore,
    /// Other rows of its table than the step before it changes.
    DisjointUpdate,
    Other,
}

impl<'a> TableChange<'a> {
    /// None of a step that must stay alone.
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

    /// Whether it may stand with steps that change these tables. A table that is
    /// named for another reason only costs a round trip.
    fn can_combine(self, tables: &[(String, ChangeKind)]) -> bool {
        !tables.iter().any(|(table, kind)| {
            let cannot_tell = match self.kind {
                ChangeKind::InsertOrFail | ChangeKind::DisjointUpdate => true,
                ChangeKind::InsertIgnore => matches!(kind, ChangeKind::InsertOrFail | ChangeKind::InsertIgnore),
                ChangeKind::Other => false,
            };
            self.sql.contains(table) && !(table == self.table && cannot_tell)
        })
    }
}

/// The text with `$1` counted on from so many arguments before it.
fn offset_parameters(sql: &str, before: usize) -> String {
    map_parameters(sql, |number| format!("${}", number + before))
}

/// The text with another name for each argument.
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
