//! Builds a guest as a validated component.

use anyhow::{Context, Result, bail};
use wasm_encoder::reencode::{Reencode, RoundtripReencoder};
use wasm_encoder::{ExportSection, Module, RawSection};
use wasmparser::{Parser, Payload};
use wit_component::{ComponentEncoder, DecodedWasm};

use super::{Guest, StandardLibrary};
use crate::{cargo, files};

/// Prefix of the exported functions that free the memory of a result. Bindings export one
/// for each function.
const POST_RETURN_PREFIX: &str = "cabi_post_";

/// Compiles the guest to a core module and encodes that as a component. A custom section,
/// which the bindings embed, names the world of the component.
pub(super) fn build(guest: &Guest<'_>, library: &StandardLibrary) -> Result<Vec<u8>> {
    let mut command = cargo::command();
    command
        .args(["rustc", "--lib", "--package", &guest.package.name])
        // Guests are also ordinary libraries, for their native tests. Cargo would build both
        // crate types, without link-time optimisation.
        .args(["--crate-type", "cdylib"])
        .args(["--profile", "guest", "--target", "wasm32-unknown-unknown"])
        .args(["--target-dir", "target/guest"]);
    if let Some(features) = &guest.features {
        command.args(["--no-default-features", "--features", &features.join(",")]);
    }
    library.apply(&mut command);

    let files = cargo::build_artifacts(&mut command, guest.package)?;
    let module = files
        .iter()
        .find(|file| {
            file.extension()
                .is_some_and(|extension| extension == "wasm")
        })
        .context("`cargo rustc` built no .wasm file")?;
    let module = files::read(module)?;
    let module = strip_post_return(&module).context("cannot parse the module")?;
    let component = ComponentEncoder::default()
        .validate(true)
        .module(&module)
        .and_then(|mut encoder| encoder.encode())
        .context("cannot encode the module as a component")?;
    check_exports(&component)?;
    Ok(component)
}

/// Removes the exports that free the memory of a result. An instance serves one call and is
/// dropped with its memory, so freeing each string costs time for nothing (decision 0055).
fn strip_post_return(module: &[u8]) -> Result<Vec<u8>> {
    let mut kept = Module::new();
    for payload in Parser::new(0).parse_all(module) {
        let payload = payload?;
        if let Payload::ExportSection(section) = payload {
            let mut exports = ExportSection::new();
            for export in section {
                let export = export?;
                if !export.name.starts_with(POST_RETURN_PREFIX) {
                    let kind = RoundtripReencoder.export_kind(export.kind)?;
                    exports.export(export.name, kind, export.index);
                }
            }
            kept.section(&exports);
        } else if let Some((id, range)) = payload.as_section() {
            let data = module
                .get(range)
                .context("a section is longer than the module")?;
            kept.section(&RawSection { id, data });
        }
    }
    Ok(kept.finish())
}

/// Fails if the component exports nothing. A crate that does not call the export macro
/// compiles to a valid component without exports.
fn check_exports(component: &[u8]) -> Result<()> {
    let decoded = wit_component::decode(component).context("cannot decode the component")?;
    let DecodedWasm::Component(interfaces, world) = decoded else {
        bail!("the module encodes a WIT package, not a component");
    };
    let exports = interfaces
        .worlds
        .get(world)
        .map(|world| world.exports.len());
    if exports.unwrap_or_default() == 0 {
        bail!("the component exports nothing: call the export macro in the crate");
    }
    Ok(())
}
