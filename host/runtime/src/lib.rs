//! Suppliers as sandboxed components: the only crate that knows WebAssembly.
//!
//! A plugin is loaded, asked what it is, and from then on called through
//! [`Supplier`]: typed requests in, typed answers or the closed errors of the
//! domain out. Every call runs in a fresh instance under limits; every request
//! of a plugin leaves through one door, which checks, authorizes and records it.
//! No type of the engine and no type of the WIT leaves this crate.
#![warn(missing_docs)]

pub mod address;
pub mod guard;

mod admission;
mod background;
mod bindings;
mod breaker;
mod call_log;
mod capability;
mod cassette;
mod compile;
mod convert;
mod describe;
mod egress;
mod engine;
mod exports;
mod guest;
mod import;
mod limits;
mod plugin;
mod provision;
mod registry;
mod runtime;
mod signature;
mod state;
mod supplier;

pub use breaker::HealthReport;
pub use call_log::{CallRecord, CallSink, ExchangeOutcome, ExchangeRecord, NoSink, PluginCallOutcome};
pub use capability::{HostGrant, InvalidHost, Scheme};
pub use cassette::CassetteError;
pub use compile::{CodeSource, CompileError};
pub use describe::DescriptionError;
pub use egress::{Credential, InvalidCredential};
pub use exports::ExportError;
pub use limits::PluginLimits;
pub use plugin::{PluginInfo, PluginSpec, TrafficMode};
pub use registry::LoadError;
pub use runtime::{CALLS_MAX_DEFAULT, Runtime, RuntimeConfig, RuntimeError};
pub use signature::{InvalidTrustedKey, SignatureError, TrustedKey};
pub use supplier::{
    AuthorizeRequest, CallContext, CaptureRequest, InstrumentDescription, PaymentLookup, RefundLookup,
    Intent, IntentRequest, ProcessorRefund, RefundRequest, Supplier, VoidRequest,
};
