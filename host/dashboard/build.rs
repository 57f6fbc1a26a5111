//! Prepares the files of `assets/`: each gets a URL with its digest, so that browsers can keep it
//! for ever, and a compressed form. The result is `assets.rs`, which `src/asset.rs` includes.

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};
use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Hexadecimal digits of the digest in a URL.
const DIGEST_CHARS: usize = 16;

#[expect(
    clippy::disallowed_methods,
    reason = "cargo passes its settings to build scripts in variables"
)]
fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=assets");
    let assets = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("assets");
    let out_dir = PathBuf::from(env::var("OUT_DIR")?);
    let mut files = Vec::new();
    collect_files(&assets, &mut files)?;
    files.sort();
    let mut source = String::from("pub(crate) const ASSETS: &[Asset] = &[\n");
    for file in files {
        let Some(content_type) = content_type(&file) else {
            continue;
        };
        let name = file.strip_prefix(&assets)?.display().to_string();
        let bytes = fs::read(&file)?;
        let digest = hex::encode(Sha256::digest(&bytes));
        let digest = digest.get(..DIGEST_CHARS).unwrap_or(&digest);
        let compressed_file = out_dir.join(format!("{}.gz", name.replace('/', "_")));
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&bytes)?;
        fs::write(&compressed_file, encoder.finish()?)?;
        writeln!(
            source,
            "Asset {{ name: {name:?}, url: {:?}, content_type: {content_type:?}, \
             bytes: include_bytes!({:?}), gzip: include_bytes!({:?}) }},",
            format!("/assets/{digest}/{name}"),
            file.display().to_string(),
            compressed_file.display().to_string(),
        )?;
    }
    source.push_str("];\n");
    fs::write(out_dir.join("assets.rs"), source)?;
    Ok(())
}

fn collect_files(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect_files(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

/// Returns the type of a file that is served, or `None` for licences and other files beside them.
fn content_type(file: &Path) -> Option<&'static str> {
    match file.extension()?.to_str()? {
        "css" => Some("text/css; charset=utf-8"),
        "js" => Some("text/javascript; charset=utf-8"),
        "svg" => Some("image/svg+xml"),
        _ => None,
    }
}
