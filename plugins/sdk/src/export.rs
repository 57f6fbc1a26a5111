//! The macro that turns a type's traits into the exports of a component.

/// Exports a type as a plugin: `export!(MySupplier: plugin, hotel_pricing);`.
///
/// The capabilities after the colon are named by their modules in [`capability`](crate::capability),
/// each once, and always include `plugin`. The type must implement the trait of each. A native build
/// exports nothing, so that several plugins can be linked into one test; it only checks the traits.
///
/// A panic of an exported function is logged with its message and place before it traps.
#[macro_export]
macro_rules! export {
    ($plugin:ident: $($capability:ident),+ $(,)?) => {
        // A component runs its constructors before the first call of an instance.
        #[cfg(target_arch = "wasm32")]
        const _: () = {
            #[used]
            #[unsafe(link_section = ".init_array")]
            static INSTALL_PANIC_HOOK: extern "C" fn() = install_panic_hook;

            extern "C" fn install_panic_hook() {
                $crate::panic_hook::install();
            }
        };
        $(const _: () = {
            const fn implements<T: $crate::capability::$capability::Capability>() {}
            implements::<$plugin>();
        };
        #[cfg(target_arch = "wasm32")]
        $crate::bindings::$capability::export!(
            $plugin with_types_in $crate::bindings::$capability
        );)+
    };
}
