//! Measures every page of the dashboard beside a million bookings and five million API calls and
//! deliveries. Filling a database takes minutes and 25 GB, so the pages are measured only if they are
//! named. `BENCH_BOOKINGS` sets another number of bookings.

mod catalog;
mod fill;
mod statements;

use crate::http_connection::{HttpConnection, request};
use crate::report::{Measured, measured};
use crate::sample::{Samples, ms};
use crate::setup::{NO_RATE_LIMIT, key};
use anyhow::{Context, Result};
use catalog::{Page, Person};
use flate2::Compression;
use flate2::write::GzEncoder;
use statements::{count_statements, log_statements};
use std::cmp::Reverse;
use std::io::Write;
use std::time::Instant;
use tests::{DashboardClient, Database, Server, ServerOptions};

/// Number of turns, in which all pages alternate, and of requests of a page in a turn. The overview
/// keeps its figures for five seconds, so the first request of each turn reads them again.
const ROUNDS: usize = 20;
const REQUESTS: usize = 5;
/// The first turns read from the disk.
const WARM_UP: usize = 2;

/// A page with what was measured of it.
struct Measurement {
    page: Page,
    times: Samples,
    /// Statements of a request, including the one that finds the session.
    statements: usize,
    kib: f64,
}

pub(super) async fn measure(database: Database) -> Result<Vec<Measured>> {
    let mut server = Server::start_with_own_sandbox(options(database)).await;
    let cookies = sign_in(&server).await?;
    let shown = fill::fill(&mut server).await?;
    let server = server.restart(options(database)).await;
    let pages = catalog::pages(&shown);
    let mut measured: Vec<_> = pages.into_iter().map(Measurement::new).collect();
    measure_times(&server, &cookies, &mut measured).await?;
    let server = server.restart(log_statements(options(database))).await;
    let visitor = Visitor::new(&server, &cookies);
    for one in &mut measured {
        let request = visitor.request(&one.page);
        let is_cached = one.page.is_cached();
        one.statements = count_statements(&server, &visitor.base, &request, is_cached).await?;
    }
    print(&mut measured);
    results(database, &measured)
}

fn options(database: Database) -> ServerOptions {
    ServerOptions::on(database).config(&format!("{NO_RATE_LIMIT}\n{}", fill::CONFIG))
}

/// Returns the cookie of each person.
async fn sign_in(server: &Server) -> Result<Vec<(Person, String)>> {
    let mut cookies = Vec::new();
    for person in Person::ALL {
        let client = match person {
            Person::Operator => DashboardClient::set_up(server, "operator@example.com").await,
            Person::Member => {
                let roles = ["--organization", "demo", "--org-role", "admin"];
                DashboardClient::with_account(server, "member@example.com", &roles).await
            }
            Person::Guest => {
                let roles = ["--organization", "rare", "--org-role", "viewer"];
                DashboardClient::with_account(server, "guest@example.com", &roles).await
            }
        };
        let cookie = client.cookie().context("the sign-in set no cookie")?;
        cookies.push((person, cookie));
    }
    let second_role = "INSERT INTO account_role (account_id, organization, role, created_at) \
                       SELECT id, 'empty', 'viewer', 0 FROM account \
                       WHERE email = 'guest@example.com'";
    let added = server.try_edit(second_role).await;
    added.map_err(anyhow::Error::msg)?;
    Ok(cookies)
}

/// Opens pages as one of the people.
struct Visitor<'a> {
    /// Base URL of the dashboard.
    base: String,
    cookies: &'a [(Person, String)],
}

impl<'a> Visitor<'a> {
    fn new(server: &Server, cookies: &'a [(Person, String)]) -> Self {
        Self {
            base: DashboardClient::new(server).base,
            cookies,
        }
    }

    fn request(&self, page: &Page) -> Vec<u8> {
        let mut cookies = self.cookies.iter();
        let cookie = cookies.find(|(person, _)| *person == page.person);
        let cookie = cookie.map_or("", |(_, cookie)| cookie.as_str());
        request("GET", &self.base, &page.path, &[("cookie", cookie)], None)
    }
}

async fn measure_times(
    server: &Server,
    cookies: &[(Person, String)],
    measured: &mut [Measurement],
) -> Result<()> {
    let visitor = Visitor::new(server, cookies);
    let mut connection = HttpConnection::connect(&visitor.base).await?;
    for turn in 0..WARM_UP + ROUNDS {
        for one in &mut *measured {
            let request = visitor.request(&one.page);
            for _ in 0..REQUESTS {
                let begin = Instant::now();
                let response = connection.exchange(&request).await?;
                let time = begin.elapsed();
                let response = response.expect(one.page.status);
                let response = response.with_context(|| one.page.path.clone())?;
                if turn >= WARM_UP {
                    one.times.push(time);
                } else {
                    one.kib = compressed_kib(response.body)?;
                }
            }
        }
    }
    Ok(())
}

/// Returns the size of a page that is compressed as browsers accept it.
fn compressed_kib(page: &[u8]) -> Result<f64> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(page)?;
    Ok(f64::from(u32::try_from(encoder.finish()?.len())?) / 1024.0)
}

fn print(measured: &mut [Measurement]) {
    measured.sort_by_key(|one| Reverse(one.times.percentile(99)));
    eprintln!("| Page | Person | Median | 99th percentile | Statements | Compressed |");
    eprintln!("|---|---|---:|---:|---:|---:|");
    for one in measured {
        eprintln!(
            "| `{}` | {} | {:.1} ms | {:.1} ms | {} | {:.1} KiB |",
            one.page.path,
            one.page.person.name(),
            ms(one.times.percentile(50)),
            ms(one.times.percentile(99)),
            one.statements,
            one.kib,
        );
    }
}

/// `measured` begins with the slowest page.
fn results(database: Database, measured_pages: &[Measurement]) -> Result<Vec<Measured>> {
    let slowest = measured_pages.first().context("no page was measured")?;
    let mut all = Samples::default();
    let (mut statements, mut kib) = (0, 0.0_f64);
    for one in measured_pages {
        all.extend(one.times.clone());
        statements = statements.max(one.statements);
        kib = kib.max(one.kib);
    }
    let key = format!("pages.{}", key(database));
    Ok(vec![
        measured(&key, ms(slowest.times.percentile(99))),
        measured(format!("{key}_p50"), ms(all.percentile(50))),
        measured(
            format!("{key}_statements"),
            f64::from(u32::try_from(statements)?),
        ),
        measured(format!("{key}_size"), kib),
    ])
}

impl Measurement {
    fn new(page: Page) -> Self {
        Self {
            page,
            times: Samples::default(),
            statements: 0,
            kib: 0.0,
        }
    }
}
