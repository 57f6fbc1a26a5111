//! Runtime that executes suppliers as sandboxed WebAssembly components. This is the only crate that
//! depends on WebAssembly.
//!
//! The runtime loads a plugin, reads its description and then calls it through [`Supplier`]. Calls
//! take typed requests and return typed responses or the error enums of the domain. Every call runs
//! in a fresh instance under limits. Every request of a plugin passes through one egress, which
//! checks, authorizes and records it. This crate exposes no type of the engine and no type of the
//! WIT.
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
pub use call_log::{
    CallRecord, CallSink, ExchangeOutcome, ExchangeRecord, NoSink, PluginCallOutcome,
};
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
    AuthorizeRequest, CallContext, CaptureRequest, InstrumentDescription, Intent, IntentRequest,
    PaymentLookup, ProcessorRefund, RefundLookup, RefundRequest, Supplier, VoidRequest,
};
