//! `stopover unresolved`: shows and settles the unknown outcomes and the undecided refunds of a
//! running gateway, through its admin listener.

use crate::cli::api_client::{AdminOptions, ApiClient, items, print_json, print_status, text};
use crate::cli::{CliError, or_expected, parse, print_line};
use clap::{Args, Subcommand};
use host_domain::id::BookingId;
use host_domain::money::Currency;
use serde_json::{Number, Value, json};

/// Options of `stopover unresolved`.
#[derive(Debug, Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(super) struct UnresolvedOptions {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List the calls with an unknown outcome and the undecided refunds, oldest first
    List(List),
    /// Show those of a booking with their evidence and with what each decision does, as JSON
    Show(Subject),
    /// Decide about a call or a refund; the gateway trusts the decision
    #[command(subcommand)]
    Settle(Decision),
    /// Withdraw a decision that waits for the end of a lookup
    Withdraw(Call),
}

#[derive(Debug, Subcommand)]
enum Decision {
    /// The call was executed
    Done(Done),
    /// The call was not executed and will not be
    NotDone(DecidedCall),
    /// A cancellation is done, and this amount is refunded
    Refund(Refund),
}

#[derive(Debug, Args)]
struct List {
    /// Only calls that were sent at least this long ago
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    older_than_s: u32,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    admin: AdminOptions,
}

#[derive(Debug, Args)]
struct Subject {
    /// Id of the booking
    #[arg(value_name = "BOOKING", value_parser = parse::<BookingId>)]
    booking: BookingId,
    #[command(flatten)]
    admin: AdminOptions,
}

/// A call of a booking.
#[derive(Debug, Args)]
struct Call {
    #[command(flatten)]
    subject: Subject,
    /// The gateway's reference of the call; required if several calls of the booking are open
    #[arg(long, value_name = "REFERENCE")]
    client_reference: Option<String>,
}

/// A call of a booking, and the reason of a decision about it.
#[derive(Debug, Args)]
struct DecidedCall {
    #[command(flatten)]
    call: Call,
    /// Reason of the decision, for the audit log
    #[arg(long, value_name = "TEXT", value_parser = note)]
    note: String,
}

#[derive(Debug, Args)]
struct Done {
    #[command(flatten)]
    decided: DecidedCall,
    /// Id of the booking or payment at the other side; required if the gateway does not have it
    #[arg(long, value_name = "REFERENCE")]
    supplier_reference: Option<String>,
}

#[derive(Debug, Args)]
struct Refund {
    #[command(flatten)]
    decided: DecidedCall,
    /// Amount in major units, such as 120.50
    #[arg(long, value_name = "AMOUNT", value_parser = amount)]
    amount: Number,
    /// Currency of the booking, such as EUR
    #[arg(long, value_name = "CODE", value_parser = parse::<Currency>)]
    currency: Currency,
}

fn note(text: &str) -> Result<String, String> {
    let note = Some(text.trim()).filter(|note| !note.is_empty());
    or_expected(note.map(str::to_owned), "a note that is not empty")
}

fn amount(text: &str) -> Result<Number, String> {
    or_expected(
        text.parse().ok(),
        "an amount in major units, such as 120.50",
    )
}

pub(super) async fn run(options: UnresolvedOptions) -> Result<(), CliError> {
    match options.action {
        Action::List(options) => list(&options).await,
        Action::Show(subject) => print_json(&subject.admin, &subject.path("")).await,
        Action::Settle(decision) => settle(decision).await,
        Action::Withdraw(call) => {
            let body = json!({ "client_reference": call.client_reference });
            call.subject.post("/withdraw", &body).await?;
            print_line(&format!(
                "the decision about {} is withdrawn",
                call.subject.booking
            ))
        }
    }
}

async fn list(options: &List) -> Result<(), CliError> {
    let client = ApiClient::of_admin_listener(&options.admin)?;
    let path = format!("/unresolved?older_than_s={}", options.older_than_s);
    let unresolved = client.get(&path).await?;
    let calls = items(unresolved.get("calls"))?;
    if options.json {
        return print_line(&serde_json::to_string_pretty(calls)?);
    }
    for call in calls {
        print_line(&line(call)?)?;
    }
    Ok(())
}

/// Applies a decision and prints the status of the booking.
async fn settle(decision: Decision) -> Result<(), CliError> {
    let (DecidedCall { call, note }, mut body) = match decision {
        Decision::Done(done) => {
            let reference = done.supplier_reference;
            let outcome = json!({ "outcome": "done", "supplier_reference": reference });
            (done.decided, outcome)
        }
        Decision::NotDone(decided) => (decided, json!({ "outcome": "not_done" })),
        Decision::Refund(refund) => {
            let currency = refund.currency.code();
            let amount = refund.amount;
            let outcome = json!({ "outcome": "refund", "amount": amount, "currency": currency });
            (refund.decided, outcome)
        }
    };
    if let Some(members) = body.as_object_mut() {
        members.insert("client_reference".to_owned(), call.client_reference.into());
        members.insert("note".to_owned(), note.into());
    }
    let settled = call.subject.post("", &body).await?;
    print_status(&settled)
}

/// Returns a call as one line: time, booking, step, supplier, organization, mode and the gateway's
/// reference.
fn line(call: &Value) -> Result<String, CliError> {
    Ok(format!(
        "{}  {}  {}  {}  {}  {}  {}",
        text(call, "sent_at")?,
        text(call, "booking_id")?,
        text(call, "step")?,
        text(call, "target")?,
        text(call, "organization")?,
        text(call, "mode")?,
        text(call, "client_reference")?,
    ))
}

impl Subject {
    /// Returns the booking's path on the admin listener with a suffix.
    fn path(&self, suffix: &str) -> String {
        format!("/unresolved/{}{suffix}", self.booking)
    }

    /// Sends a POST to a path of the booking and returns the data of the response.
    async fn post(&self, suffix: &str, body: &Value) -> Result<Value, CliError> {
        let client = ApiClient::of_admin_listener(&self.admin)?;
        client.post(&self.path(suffix), Some(body)).await
    }
}
