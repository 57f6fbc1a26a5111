//! Tests that run the programs in `examples` and check their results.

use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Output;
use tests::{Database, Server, check_example, money};
use tokio::io::{copy, copy_bidirectional, sink};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;

fn example(path: &str) -> PathBuf {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    examples.join(path)
}

async fn output(command: &mut Command) -> Output {
    command.output().await.unwrap_or_else(|error| {
        panic!("{command:?} does not start ({error}): install python3 and nodejs, or have `cargo xtask test` do so")
    })
}

async fn verify(program: &str, script: &str, vectors: &Path) -> Output {
    let script = example("verify").join(script);
    output(Command::new(program).arg(script).arg(vectors)).await
}

#[tokio::test]
async fn webhook_verifiers_match_the_test_vectors() {
    let path = example("verify/vectors.json");
    let mut vectors: Vec<Value> = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let expected: String = vectors
        .iter()
        .map(|vector| {
            let genuine = vector["genuine"].as_bool().unwrap();
            let found = if genuine { "genuine" } else { "refused" };
            format!("{}: {found}\n", vector["name"].as_str().unwrap())
        })
        .collect();
    // A verifier must fail if the vectors expect a wrong result.
    vectors[0]["genuine"] = false.into();
    let wrong = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(wrong.path(), Value::from(vectors).to_string()).unwrap();
    for (program, script) in [("python3", "verify.py"), ("node", "verify.mjs")] {
        let good = verify(program, script, &path).await;
        let error_output = String::from_utf8_lossy(&good.stderr);
        let found = String::from_utf8_lossy(&good.stdout);
        assert_eq!(found, expected, "{error_output}");
        assert!(good.status.success(), "{script}");
        let bad = verify(program, script, wrong.path()).await;
        assert_eq!(bad.status.code(), Some(1), "{script}");
    }
}

/// Result of one run of the REST client: the booking or its error output.
struct ClientRun {
    succeeded: bool,
    booking: Value,
    error_output: String,
}

async fn book<'a>(
    server: &Server,
    base: &str,
    reference: &str,
    options: impl IntoIterator<Item = &'a str>,
) -> ClientRun {
    let mut command = Command::new("python3");
    command
        .arg(example("rest-client/book.py"))
        .args([reference, "Testville"])
        .args(options.into_iter().map(OsStr::new))
        .env("BASE", base)
        .env("KEY", &server.key)
        .env("NO_PROXY", "127.0.0.1");
    let run = output(&mut command).await;
    ClientRun {
        succeeded: run.status.success(),
        booking: serde_json::from_slice(&run.stdout).unwrap_or_default(),
        error_output: String::from_utf8(run.stderr).unwrap(),
    }
}

/// A sandbox hotel, the cards to try, and the expected result of booking and cancelling there.
struct Case {
    hotel: &'static str,
    cards: &'static [&'static str],
    status: &'static str,
    ledger: &'static [&'static str],
}

const WHOLE: &[&str] = &[
    "authorization",
    "booking",
    "capture",
    "cancellation",
    "refund",
];

const BOOKED: Case = Case {
    hotel: "The Market Square Hotel",
    cards: &["tok_visa"],
    status: "CANCELED",
    ledger: WHOLE,
};

const FAILED: Case = Case {
    cards: &["tok_visa", "tok_mastercard"],
    status: "FAILED",
    ledger: &["authorization", "void"],
    ..BOOKED
};

const CASES: &[Case] = &[
    BOOKED,
    // The first card is declined: nothing is charged, and the next card is tried.
    Case {
        cards: &["tok_declined", "tok_visa"],
        ..BOOKED
    },
    Case {
        cards: &["tok_declined"],
        status: "READY_FOR_COMPLETE",
        ledger: &[],
        ..BOOKED
    },
    // The supplier decides later: `book` returns 202.
    Case {
        hotel: "The Waiting Room",
        ..BOOKED
    },
    Case {
        hotel: "The Slow Goodbye",
        ..BOOKED
    },
    // The outcome is unknown at first: `book` returns 500 `result_unknown`.
    Case {
        hotel: "The Silent Bell",
        cards: &["tok_visa", "tok_mastercard"],
        ..BOOKED
    },
    Case {
        hotel: "The Lost Letter",
        ..FAILED
    },
    Case {
        hotel: "The Closed Door",
        ..FAILED
    },
];

#[tokio::test]
async fn rest_client_books_once_for_every_supplier_response() {
    let server = Server::start_with_fast_retries(Database::Sqlite).await;
    for (number, case) in CASES.iter().enumerate() {
        let reference = format!("trip-{number}");
        let options = ["--hotel", case.hotel, "--cancel", "--cards"];
        let options = options.iter().chain(case.cards).copied();
        let run = book(&server, &server.api, &reference, options).await;
        let (booking, said) = (&run.booking, &run.error_output);
        assert_eq!(booking["status"], case.status, "{}: {said}", case.hotel);
        assert_eq!(run.succeeded, case.status == "CANCELED", "{}", case.hotel);
        assert_eq!(booking["reference_id"], reference);
        let id = booking["id"].as_str().unwrap();
        server.wait_for_ledger(id, case.ledger).await;
    }
}

#[tokio::test]
async fn rest_client_rerun_resumes_the_same_booking() {
    let server = Server::start_with_fast_retries(Database::Sqlite).await;
    let run = async |options: &[&str]| {
        let options = options.iter().copied();
        let run = book(&server, &server.api, "trip", options).await;
        (run.succeeded, run.booking)
    };
    let (_, declined) = run(&["--cards", "tok_declined"]).await;
    assert_eq!(declined["status"], "READY_FOR_COMPLETE");
    for (options, status) in [
        (&[][..], "CONFIRMED"),
        (&[], "CONFIRMED"),
        (&["--cancel"], "CANCELED"),
        (&["--cancel"], "CANCELED"),
    ] {
        let (succeeded, booking) = run(options).await;
        assert!(succeeded, "{booking:#}");
        assert_eq!(booking["status"], status);
        assert_eq!(booking["id"], declined["id"]);
    }
    let ledger = server.ledger().await;
    let id = declined["id"].as_str().unwrap();
    assert_eq!(ledger.count(id, "booking"), 1);
    assert_eq!(ledger.count(id, "authorization"), 1);
}

#[tokio::test]
async fn rest_client_reports_a_price_increase() {
    let server = Server::start(Database::Sqlite).await;
    let options = ["--hotel", "The Rising Sun"];
    let run = book(&server, &server.api, "trip", options).await;
    assert!(!run.succeeded);
    let problem: Value = serde_json::from_str(&run.error_output).unwrap();
    assert_eq!(problem["code"], "offer_price_changed");
    assert_eq!(problem["offered"], money(260.0, "EUR"));
    assert_eq!(problem["current"], money(286.0, "EUR"));
    let bookings = server.client().get("/v1/hotel/bookings").await.expect(200);
    for booking in bookings.list() {
        assert_eq!(booking["status"], "FAILED");
    }
}

/// Starts a proxy and returns its base URL. It forwards every second request and drops the
/// response.
async fn losing_answers(server: &Server) -> String {
    let gateway = server.api.trim_start_matches("http://").to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        for number in 0_u32.. {
            let (mut client, _) = listener.accept().await.unwrap();
            let mut server = TcpStream::connect(&gateway).await.unwrap();
            if number % 2 == 1 {
                let _ended = copy_bidirectional(&mut client, &mut server).await;
                continue;
            }
            let (mut asked, _) = client.split();
            let (mut answered, mut asking) = server.split();
            let mut nowhere = sink();
            tokio::select! {
                _ = copy(&mut asked, &mut asking) => {}
                _ = copy(&mut answered, &mut nowhere) => {}
            }
        }
    });
    base
}

#[tokio::test]
async fn rest_client_books_once_when_responses_are_lost() {
    let server = Server::start_with_fast_retries(Database::Sqlite).await;
    let base = losing_answers(&server).await;
    let run = book(&server, &base, "trip", ["--cancel"]).await;
    assert!(run.succeeded, "{}", run.error_output);
    let id = run.booking["id"].as_str().unwrap();
    server.wait_for_ledger(id, WHOLE).await;
    let bookings = server.client().get("/v1/hotel/bookings").await;
    assert_eq!(bookings.expect(200).list().len(), 1);
}

#[test]
fn example_configs_require_their_secrets_in_the_environment() {
    let key = ("LITEAPI_KEY", "sand_0123456789abcdef");
    let token = ("DUFFEL_TOKEN", "duffel_test_canary");
    let secret = ("DUFFEL_WEBHOOK_SECRET", "whsec-canary");
    let stripe = ("STRIPE_SECRET_KEY", "sk_test_canary");
    for (file, needed, part) in [
        ("duffel.toml", &[token, secret][..], "DUFFEL"),
        ("nuitee.toml", &[key], "credentials of NUITEE"),
        ("stripe.toml", &[stripe], "STRIPE"),
    ] {
        let given = needed.iter().map(|(name, value)| (*name, Some(*value)));
        let mut given: Vec<_> = given.collect();
        let (is_valid, said) = check_example(file, &given);
        assert!(is_valid, "{said}");
        for (missing, _) in needed {
            given.push((*missing, None));
            let (is_valid, said) = check_example(file, &given);
            assert!(!is_valid, "{file} without {missing}");
            assert!(said.contains(missing) && said.contains(part), "{said}");
            given.pop();
        }
    }
}
