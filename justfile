# Every command a developer needs. Longer ones are in xtask, which works without just.

# List the commands
default:
    @just --list --unsorted

# Serve the demo; arguments go to `stopover serve --demo`
run *arguments:
    cargo xtask run -- {{ arguments }}

# The same, optimised
demo *arguments:
    cargo xtask run --release -- {{ arguments }}

# Does it compile?
check:
    cargo check --all-targets

# Format everything
fmt:
    cargo fmt --all

# Structure, format, lints and documentation as CI checks them
lint:
    cargo xtask lint

# Crates, modules, names and document paths; `just structure --all` lists what is permitted
structure *arguments:
    cargo xtask structure {{ arguments }}

# Every test, or what the arguments select: `just test -p host-storage expired`
test *arguments:
    cargo xtask test {{ arguments }}

# The storage tests on both databases
test-postgres:
    cargo xtask test -p tests --test it storage

# Kill the process at each step, restart, compare
crash:
    cargo xtask test -p tests --test crash

# Simulated lives by the ten thousand, crash tests again and again
soak *arguments:
    cargo xtask soak {{ arguments }}

# Build every plugin to target/plugins
plugins:
    cargo xtask plugins

# Build program, debug file and plugins for an installation to target/dist
release:
    cargo xtask release

# Fuzz the API of a fresh demo
fuzz *arguments:
    cargo xtask schemathesis {{ arguments }}

# Measure against the targets
bench *arguments:
    cargo xtask bench {{ arguments }}

# Review changed snapshots (needs cargo-insta)
snap:
    cargo insta review

# Licences, advisories, sources (needs cargo-deny)
deny:
    cargo deny check

# What must pass before a change is merged
ci:
    .ci/run
