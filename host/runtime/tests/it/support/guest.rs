//! Builder of plugins in WebAssembly text, without any toolchain. The plugin exports `plugin`,
//! `hotel-content` and `hotel-cancellation`, with a memory layout written by hand according to the
//! canonical ABI. Its `read-reviews` sends a request to the URL that is passed as the hotel's id;
//! the limit selects the method. It returns the response status as the review count, or 1000 plus
//! the error's number if there is no response. Its `cancel` posts to the URL that is passed as the
//! supplier's reference.

use std::fmt::Write as _;
use std::path::Path;
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::abi::{AbiVariant, WasmType};
use wit_parser::{Interface, Resolve};

/// Addresses of the guest's own data.
const DESCRIPTION: u32 = 1024;
const RESULT: u32 = 4096;
const RESPONSE: u32 = 8192;
const TEXTS: u32 = 12_000;
const HEADERS: u32 = 24_000;
const PRICES: u32 = 30_000;
const HEAP: u32 = 65_536;

/// Additional behaviour of a guest, as lines of WebAssembly text.
pub(crate) struct Guest {
    /// Code in `describe` before it returns.
    pub(crate) on_describe: String,
    /// Code in `read-reviews` before it sends.
    pub(crate) on_read: String,
    /// Whether `read-reviews` sends a request.
    pub(crate) sends_on_read: bool,
    /// Headers of the sent request.
    pub(crate) headers: Vec<(&'static str, &'static str)>,
    /// Whether `cancel` sends a request.
    pub(crate) sends_on_change: bool,
    /// Whether the guest states of its requests that they change nothing.
    pub(crate) states_reads: bool,
    /// Code in `cancel` after it has sent.
    pub(crate) on_change: String,
    /// Result of `cancel`: `refused`, `not-sent`, `rate-limited` or `unknown`.
    pub(crate) change_ends: &'static str,
    pub(crate) pages: u32,
    pub(crate) hosts: &'static str,
    pub(crate) version: &'static str,
    pub(crate) settings_schema: &'static str,
    /// Imports in addition to those of every guest.
    pub(crate) extra_imports: &'static str,
    pub(crate) extra_world: String,
    /// Functions of additional exports of the world, and data and tables, as WebAssembly text.
    pub(crate) extra_functions: String,
}

impl Default for Guest {
    fn default() -> Self {
        Self {
            on_describe: String::new(),
            on_read: String::new(),
            sends_on_read: true,
            headers: Vec::new(),
            sends_on_change: true,
            states_reads: false,
            on_change: String::new(),
            change_ends: "unknown",
            pages: 2,
            hosts: "*",
            version: "1.0.0",
            settings_schema: r#"{"type":"object","properties":{"url":{"type":"string"}},"additionalProperties":false}"#,
            extra_imports: "",
            extra_world: String::new(),
            extra_functions: String::new(),
        }
    }
}

impl Guest {
    /// A guest whose `read-reviews` sends no request.
    pub(crate) fn quiet() -> Self {
        Self {
            sends_on_read: false,
            ..Self::default()
        }
    }

    /// A quiet guest whose `read-reviews` runs this code.
    pub(crate) fn running(on_read: &str) -> Self {
        Self {
            on_read: on_read.to_owned(),
            ..Self::quiet()
        }
    }
}

/// Data segments in the syntax of WebAssembly text.
#[derive(Default)]
struct Data {
    lines: String,
    texts_end: u32,
}

impl Data {
    fn bytes(&mut self, at: u32, bytes: &[u8]) {
        let escaped = bytes.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "\\{byte:02x}");
            text
        });
        let _ = writeln!(self.lines, "(data (i32.const {at}) \"{escaped}\")");
    }

    fn word(&mut self, at: u32, word: u32) {
        self.bytes(at, &word.to_le_bytes());
    }

    /// Writes a pointer and a length at an address, and the text itself elsewhere.
    fn text(&mut self, at: u32, text: impl AsRef<[u8]>) {
        let text = text.as_ref();
        let place = TEXTS + self.texts_end;
        self.texts_end += u32::try_from(text.len()).unwrap();
        self.bytes(place, text);
        self.word(at, place);
        self.word(at + 4, u32::try_from(text.len()).unwrap());
    }
}

/// A pricing response with one offer of one hotel.
pub(crate) struct Price {
    pub(crate) hotel: &'static str,
    /// Bytes of a text, which may be invalid UTF-8.
    pub(crate) name: &'static [u8],
    pub(crate) latitude: f64,
    pub(crate) total: i64,
}

impl Price {
    /// Builds a guest that additionally exports `hotel-pricing` and always returns this response.
    pub(crate) fn guest(&self) -> Guest {
        let (hotel, offer) = (PRICES + 64, PRICES + 256);
        let mut data = Data {
            texts_end: 10_000,
            ..Data::default()
        };
        data.text(PRICES + 8, "EUR");
        data.word(PRICES + 16, hotel);
        data.word(PRICES + 20, 1);
        data.text(hotel, self.hotel);
        data.text(hotel + 8, self.name);
        data.word(hotel + 24, 1);
        data.bytes(hotel + 32, &self.latitude.to_le_bytes());
        data.word(hotel + 64, offer);
        data.word(hotel + 68, 1);
        data.text(offer, "offer");
        data.bytes(offer + 8, &self.total.to_le_bytes());
        let price = every_function(&["hotel-pricing"], &format!("(i32.const {PRICES})"));
        Guest {
            extra_world: exports(&["hotel-pricing"]),
            extra_functions: data.lines + &price,
            ..Guest::default()
        }
    }
}

/// Builds a guest whose lookups of these interfaces find nothing. Before, they send a request to the
/// URL that is passed as their first text, if `sends`.
pub(crate) fn finding_nothing(interfaces: &[&str], sends: bool) -> Guest {
    let mut data = Data::default();
    data.bytes(PRICES, &[0]);
    data.bytes(PRICES + 8, &[1]);
    let url = "(local.get 0) (local.get 1)";
    let body = format!(
        "{} (i32.const {PRICES})",
        send(sends, "(i32.const 0)", url, 0)
    );
    // The other functions may have no text among their parameters.
    let body_of = |function: &str| match function.starts_with("find") {
        true => body.as_str(),
        false => "unreachable",
    };
    Guest {
        extra_world: exports(interfaces),
        extra_functions: data.lines + &functions(interfaces, body_of),
        ..Guest::quiet()
    }
}

fn interfaces() -> Resolve {
    let mut resolve = Resolve::default();
    for version in ["v1.0", "v1.1"] {
        let wit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wit");
        resolve.push_path(wit.join(version)).unwrap();
    }
    resolve
}

/// Builds the exports of a world that exports the given supplier and processor interfaces.
pub(crate) fn exports(names: &[&str]) -> String {
    let resolve = interfaces();
    let mut text = String::new();
    for name in names {
        let (path, _) = find_interface(&resolve, name);
        let _ = writeln!(text, "export {path};");
    }
    text
}

fn find_interface<'a>(resolve: &'a Resolve, name: &str) -> (String, &'a Interface) {
    let mut all = resolve.interfaces.iter();
    let found = all.find(|(_, interface)| interface.name.as_deref() == Some(name));
    let (id, interface) = found.unwrap();
    (resolve.id_of(id).unwrap(), interface)
}

/// Builds every function of the given supplier and processor interfaces with the same body, as
/// WebAssembly text.
pub(crate) fn every_function(names: &[&str], body: &str) -> String {
    functions(names, |_| body)
}

/// Builds every function of the given interfaces with the body that belongs to its name.
fn functions<'a>(names: &[&str], body: impl Fn(&str) -> &'a str) -> String {
    let (resolve, mut text) = (interfaces(), String::new());
    for name in names {
        let (path, interface) = find_interface(&resolve, name);
        for function in interface.functions.values() {
            let signature = resolve.wasm_signature(AbiVariant::GuestExport, function);
            let parameters = signature.params.iter().map(|kind| match kind {
                WasmType::I64 | WasmType::PointerOrI64 => " i64",
                WasmType::F32 => " f32",
                WasmType::F64 => " f64",
                WasmType::I32 | WasmType::Pointer | WasmType::Length => " i32",
            });
            let (parameters, function) = (parameters.collect::<String>(), &function.name);
            let body = body(function);
            let _ = writeln!(
                text,
                r#"(func (export "{path}#{function}") (param{parameters}) (result i32) {body})"#
            );
        }
    }
    assert!(!text.is_empty(), "no functions of {names:?}");
    text
}

/// Builds a request without a body. The response is stored at its fixed address.
fn send(sends: bool, method: &str, url: &str, headers: usize) -> String {
    if !sends {
        return String::new();
    }
    let nothing = "(i32.const 0) ".repeat(5);
    format!(
        "(call $send {method} {url} (i32.const {HEADERS}) (i32.const {headers}) {nothing} (i32.const {RESPONSE}))"
    )
}

impl Guest {
    fn data(&self) -> String {
        let mut data = Data::default();
        for (at, (name, value)) in (HEADERS..).step_by(16).zip(&self.headers) {
            data.text(at, name);
            data.text(at + 8, value);
        }
        data.text(DESCRIPTION, "test-guest");
        data.text(DESCRIPTION + 8, self.version);
        let hosts = 900;
        data.text(hosts, self.hosts);
        data.word(DESCRIPTION + 32, hosts);
        data.word(DESCRIPTION + 36, 1);
        data.text(DESCRIPTION + 48, self.settings_schema);
        match self.change_ends {
            "refused" => {
                data.bytes(RESULT, &[1]);
                data.bytes(RESULT + 8, &[0]);
                data.bytes(RESULT + 16, &[8]);
                data.text(RESULT + 52, "the supplier said no");
            }
            "rate-limited" => {
                data.bytes(RESULT, &[1]);
                data.bytes(RESULT + 8, &[2]);
                data.bytes(RESULT + 16, &[1]);
                data.word(RESULT + 20, 7);
            }
            ending => {
                data.bytes(RESULT, &[1]);
                data.bytes(RESULT + 8, &[if ending == "not-sent" { 1 } else { 3 }]);
                data.text(RESULT + 16, ending);
            }
        }
        data.lines
    }

    pub(crate) fn text(&self) -> String {
        let (url, headers) = ("(local.get $url) (local.get $bytes)", self.headers.len());
        format!(
            r#"(module
  (import "{send_import}
    (func $send (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32)))
  (import "stopover:host/log@1.0.0" "log" (func $log (param i32 i32 i32)))
  {extra_imports}
  (memory (export "memory") {pages})
  (table 1 funcref)
  (global $heap (mut i32) (i32.const {HEAP}))
  {data}
  (func $recurse (call $recurse))
  (func (export "cabi_realloc") (param $old i32) (param $was i32) (param $align i32) (param $size i32) (result i32)
    (local $at i32)
    (local.set $at (i32.and (i32.add (global.get $heap) (i32.const 15)) (i32.const -16)))
    (global.set $heap (i32.add (local.get $at) (local.get $size)))
    (block $enough
      (br_if $enough (i32.le_u (global.get $heap) (i32.mul (memory.size) (i32.const 65536))))
      (br_if $enough (i32.ne (i32.const -1) (memory.grow (i32.add (i32.const 1)
        (i32.div_u (i32.sub (global.get $heap) (i32.mul (memory.size) (i32.const 65536))) (i32.const 65536))))))
      unreachable)
    (local.get $at))
  (func (export "stopover:supplier/plugin@1.0.0#describe") (result i32)
    {on_describe}
    (i32.const {DESCRIPTION}))
  (func (export "stopover:supplier/hotel-content@1.0.0#read-details") (param i32 i32) (result i32) unreachable)
  (func (export "stopover:supplier/hotel-content@1.0.0#read-reviews") (param $url i32) (param $bytes i32) (param $method i32) (result i32)
    {on_read}
    {send_on_read}
    ;; ok, no average, no items
    (i32.store8 (i32.const {ok}) (i32.const 0))
    (i32.store8 (i32.const {average}) (i32.const 0))
    (i32.store (i32.const {count}) (select
      (i32.load16_u (i32.const {status}))
      (i32.add (i32.const 1000) (i32.load8_u (i32.const {status})))
      (i32.eqz (i32.load8_u (i32.const {RESPONSE})))))
    (i32.store (i32.const {items}) (i32.const 0))
    (i32.store (i32.const {items_length}) (i32.const 0))
    (i32.const {ok}))
  (func (export "stopover:supplier/hotel-cancellation@1.0.0#quote-cancellation") (param i32 i32 i32 i32) (result i32) unreachable)
  (func (export "stopover:supplier/hotel-cancellation@1.0.0#cancel")
    (param i32 i32 i32 i32) (param $url i32) (param $bytes i32) (param i32 i32) (result i32)
    {send_on_change}
    {on_change}
    (i32.const {RESULT}))
  {extra_functions}
)"#,
            send_import = match self.states_reads {
                true => r#"stopover:host/reads@1.1.0" "send-read""#,
                false => r#"stopover:host/http@1.0.0" "send""#,
            },
            extra_functions = self.extra_functions,
            extra_imports = self.extra_imports,
            pages = self.pages,
            data = self.data(),
            on_describe = self.on_describe,
            on_read = self.on_read,
            send_on_read = send(self.sends_on_read, "(local.get $method)", url, headers),
            send_on_change = send(self.sends_on_change, "(i32.const 2)", url, headers),
            on_change = self.on_change,
            ok = RESULT + 2048,
            average = RESULT + 2048 + 8,
            count = RESULT + 2048 + 24,
            items = RESULT + 2048 + 28,
            items_length = RESULT + 2048 + 32,
            status = RESPONSE + 8,
        )
    }

    /// Builds the component in the form that a toolchain would produce.
    pub(crate) fn component(&self) -> Vec<u8> {
        let mut core = wat::parse_str(self.text()).unwrap();
        let mut resolve = interfaces();
        let world = format!(
            "package test:guest;
             world guest {{
                 import stopover:host/http@1.0.0;
                 import stopover:host/reads@1.1.0;
                 import stopover:host/log@1.0.0;
                 {}
                 export stopover:supplier/plugin@1.0.0;
                 export stopover:supplier/hotel-content@1.0.0;
                 export stopover:supplier/hotel-cancellation@1.0.0;
             }}",
            self.extra_world
        );
        let streams = "package wasi:io@0.2.6; interface streams { resource output-stream; }";
        resolve.push_str("streams.wit", streams).unwrap();
        let wasi = "package wasi:cli@0.2.6;
            interface environment { get-environment: func() -> list<tuple<string, string>>; }
            interface stdout { use wasi:io/streams@0.2.6.{output-stream}; get-stdout: func() -> output-stream; }";
        resolve.push_str("wasi.wit", wasi).unwrap();
        let package = resolve.push_str("guest.wit", &world).unwrap();
        let world = resolve.select_world(&[package], Some("guest")).unwrap();
        embed_component_metadata(&mut core, &resolve, world, StringEncoding::UTF8).unwrap();
        ComponentEncoder::default()
            .module(&core)
            .unwrap()
            .validate(true)
            .encode()
            .unwrap()
    }
}
