//! From a guest's source to a validated component.

use std::fs;

use anyhow::{Context, Result, bail};
use wasm_encoder::reencode::{Reencode, RoundtripReencoder};
use wasm_encoder::{ExportSection, Module, RawSection};
use wasmparser::{Parser, Payload};
use wit_component::{ComponentEncoder, DecodedWasm};

use super::{Guest, StandardLibrary};
use crate::cargo;

/// Begins the name of a function that frees an answer, as bindings export one for each.
const FREES_AN_ANSWER: &str = "cabi_post_";

/// Compiles the guest to a core module and turns that into a component. The
/// custom section that the bindings embed says which world it is for.
pub(super) fn build(guest: &Guest<'_>, library: &StandardLibrary) -> Result<Vec<u8>> {
    let mut command = cargo::command();
    command
        .args(["rustc", "--lib", "--package", &guest.package.name])
        // Nothing but this: link-time optimisation is off for a crate that is
        // an ordinary library as well, which guests are for their native tests.
        .args(["--crate-type", "cdylib"])
        .args(["--profile", "guest", "--target", "wasm32-unknown-unknown"])
        .args(["--target-dir", "target/guest"]);
    if let Some(features) = &guest.features {
        command.args(["--no-default-features", "--features", &features.join(",")]);
    }
    library.apply(&mut command);

    let files = cargo::artifacts(&mut command, guest.package)?;
    let module = files
        .iter()
        .find(|file| {
            file.extension()
                .is_some_and(|extension| extension == "wasm")
        })
        .context("cargo built no module")?;
    let module = fs::read(module).with_context(|| format!("cannot read {}", module.display()))?;
    let module = keep_answers(&module).context("the module cannot be read")?;
    let component = ComponentEncoder::default()
        .validate(true)
        .module(&module)
        .and_then(|mut encoder| encoder.encode())
        .context("the module does not make a component")?;
    check_exports(&component)?;
    Ok(component)
}

/// Without the exports by which the engine has an answer's memory freed, text by text, once
/// the answer is read: an instance serves one call, and all of its memory goes with it.
fn keep_answers(module: &[u8]) -> Result<Vec<u8>> {
    let mut kept = Module::new();
    for payload in Parser::new(0).parse_all(module) {
        let payload = payload?;
        if let Payload::ExportSection(section) = payload {
            let mut exports = ExportSection::new();
            for export in section {
                let export = export?;
                if !export.name.starts_with(FREES_AN_ANSWER) {
                    let kind = RoundtripReencoder.export_kind(export.kind)?;
                    exports.export(export.name, kind, export.index);
                }
            }
            kept.section(&exports);
        } else if let Some((id, range)) = payload.as_section() {
            let data = module.get(range).context("a section ends too early")?;
            kept.section(&RawSection { id, data });
        }
    }
    Ok(kept.finish())
}

/// A crate that forgot to export what it implements compiles to a valid,
/// useless component.
fn check_exports(component: &[u8]) -> Result<()> {
    let decoded = wit_component::decode(component).context("the component cannot be read back")?;
    let DecodedWasm::Component(interfaces, world) = decoded else {
        bail!("the module makes a package of interfaces, not a component");
    };
    let exports = interfaces
        .worlds
        .get(world)
        .map(|world| world.exports.len());
    if exports.unwrap_or_default() == 0 {
        bail!("the component exports nothing: does the crate call the export macro?");
    }
    Ok(())
}
