//! The examples do what they say.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Output;
use tokio::process::Command;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/verify")
}

async fn run(program: &str, script: &str, vectors: &Path) -> Output {
    let mut command = Command::new(program);
    command.arg(folder().join(script)).arg(vectors);
    let output = command.output().await;
    output.unwrap_or_else(|error| panic!("{program} does not start: {error}"))
}

#[tokio::test]
async fn verifiers_of_webhooks_find_what_the_vectors_say() {
    let path = folder().join("vectors.json");
    let mut vectors: Vec<Value> = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let expected: String = vectors
        .iter()
        .map(|vector| {
            let genuine = vector["genuine"].as_bool().unwrap();
            let found = if genuine { "genuine" } else { "refused" };
            format!("{}: {found}\n", vector["name"].as_str().unwrap())
        })
        .collect();
    // One that is told a wrong answer complains.
    vectors[0]["genuine"] = false.into();
    let wrong = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(wrong.path(), Value::from(vectors).to_string()).unwrap();
    for (program, script) in [("python3", "verify.py"), ("node", "verify.mjs")] {
        let good = run(program, script, &path).await;
        let complaint = String::from_utf8_lossy(&good.stderr);
        assert_eq!(
            String::from_utf8_lossy(&good.stdout),
            expected,
            "{complaint}"
        );
        assert!(good.status.success(), "{script}");
        let bad = run(program, script, wrong.path()).await;
        assert_eq!(bad.status.code(), Some(1), "{script}");
    }
}
