//! `stopover bookings`: bookings of a running gateway without personal data, through its admin
//! listener.

use crate::cli::api_client::{AdminOptions, ApiClient, print_json, print_list, text};
use crate::cli::{CliError, ScopeOptions, or_expected, parse, time};
use clap::{Args, Subcommand};
use host_domain::booking::BookingStatus;
use host_domain::console::booking::AnyBookingKind;
use host_domain::id::BookingId;
use host_domain::supplier::SupplierId;
use host_domain::time::Timestamp;

/// Options of `stopover bookings`.
#[derive(Debug, Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(super) struct BookingsOptions {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List bookings, latest first
    List(List),
    /// Show a booking with its payments and its timeline, as JSON
    Show(Subject),
}

#[derive(Debug, Args)]
struct List {
    #[command(flatten)]
    scope: ScopeOptions,
    /// Only bookings with this status, such as CONFIRMED
    #[arg(long, value_name = "STATUS", value_parser = status)]
    status: Option<BookingStatus>,
    /// Only bookings of this kind: hotel or flight
    #[arg(long, value_name = "KIND", value_parser = kind)]
    kind: Option<AnyBookingKind>,
    /// Only bookings at this supplier
    #[arg(long, value_name = "ID", value_parser = parse::<SupplierId>)]
    supplier: Option<SupplierId>,
    /// Only bookings of this user
    #[arg(long, value_name = "ID")]
    user: Option<String>,
    /// Only bookings with this id, supplier's reference or `reference_id`
    #[arg(long, value_name = "TEXT")]
    reference: Option<String>,
    /// Only bookings that were created at this time or later, such as 2027-01-31T12:00:00Z
    #[arg(long, value_name = "TIME", value_parser = time)]
    from: Option<Timestamp>,
    /// Only bookings that were created at this time or earlier
    #[arg(long, value_name = "TIME", value_parser = time)]
    to: Option<Timestamp>,
    /// Maximum number of bookings, at most 500
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    limit: u32,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    admin: AdminOptions,
}

#[derive(Debug, Args)]
struct Subject {
    /// Id of the booking
    #[arg(value_name = "ID", value_parser = parse::<BookingId>)]
    id: BookingId,
    #[command(flatten)]
    admin: AdminOptions,
}

fn status(text: &str) -> Result<BookingStatus, String> {
    or_expected(BookingStatus::parse(text), "a status such as CONFIRMED")
}

fn kind(text: &str) -> Result<AnyBookingKind, String> {
    or_expected(AnyBookingKind::parse(text), "hotel or flight")
}

pub(super) async fn run(options: BookingsOptions) -> Result<(), CliError> {
    match options.action {
        Action::List(options) => list(&options).await,
        Action::Show(subject) => {
            print_json(&subject.admin, &format!("/bookings/{}", subject.id)).await
        }
    }
}

async fn list(options: &List) -> Result<(), CliError> {
    let client = ApiClient::of_admin_listener(&options.admin)?;
    let found = client.list("/bookings", options.parameters(), options.limit);
    print_list(&found.await?, options.json, |booking| {
        Ok(format!(
            "{}  {}  {}  {}  {}  {}",
            text(booking, "created_at")?,
            text(booking, "id")?,
            text(booking, "kind")?,
            text(booking, "status")?,
            text(booking, "supplier")?,
            text(booking, "organization")?,
        ))
    })
}

impl List {
    /// Returns the parameters of the admin listener that are set.
    fn parameters(&self) -> Vec<(&'static str, String)> {
        let filters = [
            (
                "status",
                self.status.map(|status| status.as_str().to_owned()),
            ),
            ("kind", self.kind.map(|kind| kind.as_str().to_owned())),
            (
                "supplier",
                self.supplier.as_ref().map(SupplierId::to_string),
            ),
            ("user", self.user.clone()),
            ("q", self.reference.clone()),
            ("from", self.from.map(|at| at.to_string())),
            ("to", self.to.map(|at| at.to_string())),
        ];
        let set = filters.into_iter();
        let set = set.filter_map(|(name, value)| Some((name, value?)));
        self.scope.parameters().into_iter().chain(set).collect()
    }
}
