//! The OpenAPI document, generated from the handlers, so that it always matches their types. The
//! attribute of a handler gives method, path, texts, statuses and the handler's own error codes.
//! Everything else is derived here.

pub(crate) mod describe;
pub(crate) mod example;
pub(crate) mod links;
pub(crate) mod operation;
pub(crate) mod webhook;

use crate::extract::context::Context;
use crate::extract::{DeferredBody, RequestPart, Validated};
use crate::openapi::describe::{
    DescribeOperation, DescribeResponse, OperationInputs, OperationOutputs,
};
use crate::problem::ApiError;
use axum::extract::State;

macro_rules! describe_handlers {
    ($($(#[$meta:meta])* ($($argument:ty),*) = ($($type:ident),*);)*) => {$(
        $(#[$meta])*
        impl<F, $($type,)* I, R, Fut> DescribeOperation<($($argument,)* I, R, Fut)> for F
        where
            F: Fn($($argument),*, Validated<I>) -> Fut,
            Fut: Future<Output = Result<R, ApiError>>,
            I: RequestPart,
            R: DescribeResponse,
        {
            fn describe() -> (OperationInputs, OperationOutputs) {
                describe_types::<I, R>()
            }
        }
    )*};
}

describe_handlers! {
    /// A handler that calls one service.
    (State<S>, Context) = (S);
    /// A handler that calls two services.
    (State<S>, State<T>, Context) = (S, T);
    /// A handler without a request context: its operation needs no API key.
    (State<S>) = (S);
}

/// A handler that reads the body itself; the body may have any form.
impl<F, S, I, R, Fut> DescribeOperation<(S, DeferredBody<I>, I, R, Fut)> for F
where
    F: Fn(State<S>, DeferredBody<I>) -> Fut,
    Fut: Future<Output = Result<R, ApiError>>,
    I: RequestPart,
    R: DescribeResponse,
{
    fn describe() -> (OperationInputs, OperationOutputs) {
        let (mut inputs, outputs) = describe_types::<I, R>();
        inputs.raw_body();
        (inputs, outputs)
    }
}

fn describe_types<I: RequestPart, R: DescribeResponse>() -> (OperationInputs, OperationOutputs) {
    let mut inputs = OperationInputs::default();
    let mut outputs = OperationOutputs::default();
    I::describe(&mut inputs);
    R::describe_handler(&mut outputs);
    (inputs, outputs)
}

pub(crate) fn describe_handler<Call, F: DescribeOperation<Call>>(
    _: &F,
) -> (OperationInputs, OperationOutputs) {
    F::describe()
}
