# Commands for development. Long ones are in xtask, which works without just.

# List the commands
default:
    @just --list --unsorted

# Serve the demo; arguments go to `stopover serve --demo`
run *arguments:
    cargo xtask run -- {{ arguments }}

# Serve the demo with an optimised gateway
demo *arguments:
    cargo xtask run --release -- {{ arguments }}

# Check that everything compiles
check:
    cargo check --all-targets

# Format everything
fmt:
    cargo fmt --all

# Check structure, format, lints and documentation, as CI does
lint:
    cargo xtask lint

# Check dependencies, imports, type names and document paths
structure:
    cargo xtask structure

# Run all tests, or those that the arguments select: `just test -p host-storage expired`
test *arguments:
    cargo xtask test {{ arguments }}

# Run the storage tests, which use SQLite and PostgreSQL
test-storage *arguments:
    cargo xtask test -p host-storage {{ arguments }}

# Run the crash tests, which kill the process at each step and restart it
crash *arguments:
    cargo xtask test -p tests --test crash {{ arguments }}

# Run simulations, fuzz targets and crash tests for long
soak *arguments:
    cargo xtask soak {{ arguments }}

# Build all plugins, or those that the arguments name, to target/plugins
plugins *arguments:
    cargo xtask plugins {{ arguments }}

# Build program, debug file and plugins for installation, in target/dist
release:
    cargo xtask release

# Run all variants of suppliers' responses, or those that `--case` selects
variants *arguments:
    cargo xtask variants {{ arguments }}

# Fuzz the API of a fresh demo
fuzz *arguments:
    cargo xtask schemathesis {{ arguments }}

# Run the benchmarks and compare them with the targets
bench *arguments:
    cargo xtask bench {{ arguments }}

# Review changed snapshots (needs cargo-insta)
snap:
    cargo insta review

# Check licences, advisories and sources (needs cargo-deny)
deny:
    cargo deny check

# Run all checks that must pass before a merge
ci:
    .ci/run
