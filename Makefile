# make demo      fits the embedded S-curve and says where the picture lies
# make test      everything CI runs: format, lints, docs, unit, identity, Geweke (fast), program
# make validate  the statistical tests at real power, about a quarter of an hour on two cores
.PHONY: demo test validate check-tools

demo: check-tools
	cargo run --release --quiet --package rflvm-cli -- demo $(ARGS)

test: check-tools
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet
	cargo test --workspace

validate: check-tools
	cargo run --release --quiet --package rflvm-validation -- $(ARGS)
	cargo run --release --quiet --package rflvm-validation -- --planted $(ARGS)

check-tools:
	@command -v cargo >/dev/null || { echo "rflvm needs Rust 1.89 or newer: install it with rustup (https://rustup.rs), then try again"; exit 2; }
	@command -v cc >/dev/null || command -v gcc >/dev/null || { echo "rflvm needs a C linker: on Debian or Ubuntu, apt-get install gcc"; exit 2; }
