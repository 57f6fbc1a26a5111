//! The macro that turns a type's traits into the exports of a component.

/// Exports a type as a plugin: `export!(MySupplier: plugin, hotel_pricing);`.
///
/// The capabilities after the colon are named by their modules in [`capability`](crate::capability),
/// each once, and always include `plugin`. The type must implement the trait of each. A native build
/// exports nothing, so that several plugins can be linked into one test; it only checks the traits.
#[macro_export]
macro_rules! export {
    ($plugin:ident: $($capability:ident),+ $(,)?) => {$(
        const _: () = {
            const fn implements<T: $crate::capability::$capability::Capability>() {}
            implements::<$plugin>();
        };
        #[cfg(target_arch = "wasm32")]
        $crate::bindings::$capability::export!(
            $plugin with_types_in $crate::bindings::$capability
        );
    )+};
}
