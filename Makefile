# make demo      fits a simulated S-curve and prints where the picture is
# make test      everything CI runs: format, lints, docs, unit, identity, Geweke (fast), program, diagnostics compared with ArviZ's, Python package;
#                its last line lists what could not be tested; on a CI server (RFLVM_CI=1 or CI=true) that is a failure
# make test-python  only the Python package: its wheel in a separate environment; ONLY=slow: what is left to make validate
# make test-mpi  only one chain over several processes: builds the program with the feature mpi
# make lint-python  ruff on all Python files, and workflows, issue forms and CITATION.cff against their schemas
# make pictures  what the prior of each family assumes, as docs/images/prior-FAMILY.svg
# make site      the documentation as a web site, with a gallery of executed examples, into target/site; needs the package that test-python installs
# make validate  the statistical tests at full power, and the slow tests of the Python package; more than an hour on two cores
# make calibrate  whether 90% and 50% intervals of distances and hidden cells hold what they say, at default settings: the table of docs/calibration.md; hours
# make results   docs/results.md, what holds now, from evidence/claims.toml
# make bench     speed, compared with other programs; hours with ARGS="--authors PATH": see evidence/benchmarks/README.md
# make bench-quick  the benchmarks with small tables and few sweeps; a few minutes
# make bench-imputation  hidden cells by the usual methods; hours: see evidence/benchmarks/imputation/README.md. imputation-check: checks of these methods, a minute
# make paper     the paper's Tables 1 to 3 with every method that it names, into evidence/paper/RESULTS.md; days, resumable: see evidence/paper/README.md. paper-quick: every method once, ten minutes; paper-figures ARGS=NAME: one of its figures
# make paper-missing   the paper's Table 3, hidden cells; hours: see evidence/paper/README.md. paper-forecast: forecasts; paper-paths: known paths; paper-transform: new rows; paper-digits: images between images; paper-compare: model choice
# make test-gpu  what needs an NVIDIA card: each operation against the CPU's, and Geweke's test there; make bench-gpu: how fast it is
.PHONY: calibrate test-gpu bench-gpu demo test mpi forget test-mpi site settings results pictures test-python lint-python wheel environment browser verdict validate bench bench-quick bench-imputation imputation-check paper paper-quick paper-figures paper-missing paper-forecast paper-paths paper-transform paper-digits paper-compare paper-check check-tools

comma = ,

# Its tools are called as modules, because their scripts contain the path of the folder in which they were installed.
TEST_VENV = target/test-venv
TEST_PYTHON ?= python3

# Each stage of `make test` adds a line here for what it could not test, and so do skipped tests of the Python package (conftest.py).
export RFLVM_NOT_TESTED = $(abspath target/not-tested)
ON_CI = $(or $(RFLVM_CI),$(filter true,$(CI)))

# The demo reads no table, so the crates that read Parquet and Arrow need not be compiled.
demo: check-tools
	cargo run --release --quiet --package rflvm-cli --no-default-features -- demo $(ARGS)

PROGRAM ?= cargo run --release --quiet --package rflvm-cli --no-default-features --
FAMILIES = gaussian poisson bernoulli binomial negative-binomial multinomial student-t zero-inflated-poisson isotropic \
	zero-inflated-negative-binomial ordinal log-normal
pictures: check-tools
	@for family in $(FAMILIES); do \
	case $$family in binomial|multinomial) trials="--trials 10" ;; ordinal) trials="--trials 5" ;; *) trials= ;; esac; \
	$(PROGRAM) simulate --prior --likelihood $$family $$trials --rows 2 --columns 10 --seed 1 --out target/prior/$$family --overwrite && \
	cp target/prior/$$family/prior.svg docs/images/prior-$$family.svg || exit 1; done

# $(call stage,NAME,COMMANDS) says how long they took.
stage = @since=$$(date +%s); { $(2); }; status=$$?; echo "-- $(1): $$(($$(date +%s) - since)) s"; exit $$status
# $(call in_memory,COMMANDS) runs them with a folder for temporary files, which stays if a command fails. Every file of a fit is made to
# reach the disk, and tests on a disk wait for that most of the time.
IN_MEMORY := $(or $(shell df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 && $$4 > 4000000 { print $$6 }'),/tmp)
in_memory = export TMPDIR=$$(mktemp -d $(IN_MEMORY)/rflvm-XXXXXX) && export RFLVM_SCRATCH=$$TMPDIR && { $(1); } && rm -rf "$$TMPDIR"
IN_TESTS = --workspace --exclude rflvm-benchmarks $(WITH_MPI:%=--features %)

# Make expands all lines of a recipe before it runs the first: MPI must be installed before.
test: check-tools mpi
	.ci/check-ending
	cargo fmt --all --check
	@# The environment is installed while the lints run.
	$(call stage,lints and the environment,$(MAKE) --no-print-directory environment & environment=$$!; \
	cargo clippy --workspace --all-targets --features rflvm-study/cuda$(comma)rflvm-validation/cuda$(WITH_MPI:%=$(comma)%) --quiet -- -D warnings && \
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet; \
	status=$$?; wait $$environment && (exit $$status))
	@if test -f $(TEST_VENV)/installed; then $(MAKE) --no-print-directory lint-python; fi
	$(call stage,compiling the tests,cargo test --quiet --no-run $(IN_TESTS))
	$(call stage,tests in Rust,if test -f $(TEST_VENV)/installed; then export RFLVM_TEST_PYTHON=$(abspath $(TEST_VENV)/bin/python); fi; $(call in_memory,cargo test --no-fail-fast $(IN_TESTS)))
	$(call stage,calibration slice,if test -f $(TEST_VENV)/installed; then calibrate="$(TEST_VENV)/bin/python scripts/calibrate.py target/debug/rflvm --quick --check"; \
	$(call in_memory,$$calibrate && $$calibrate --planted one-chain); fi)
	$(call stage,tests in Python,if test -f $(TEST_VENV)/installed; then $(MAKE) --no-print-directory test-python; fi)
	@$(MAKE) --no-print-directory verdict

# What needs an NVIDIA card.
test-gpu: SHELL = bash -o pipefail
test-gpu: check-tools
	mkdir -p target/gpu
	RFLVM_REQUIRE_CARD=1 cargo test --release --package rflvm-cuda -- --nocapture | tee target/gpu/card.log
	cargo run --release --package rflvm-validation --features cuda -- --cuda --sweeps 10000 --chains 64 $(ARGS) | tee target/gpu/geweke.log
	$(or $(BENCH_PYTHON),python3) evidence/benchmarks/gpu/right.py target/gpu/card.log target/gpu/geweke.log

bench-gpu: check-tools
	cargo build --release --package rflvm-cli --features cuda
	mkdir -p target/gpu
	$(or $(BENCH_PYTHON),python3) evidence/benchmarks/gpu/run.py target/release/rflvm target/gpu $(ARGS)
	$(or $(BENCH_PYTHON),python3) evidence/benchmarks/gpu/agree.py target/release/rflvm target/gpu/agree

# Reports are tested in Chromium, and pictures as PNG and PDF with rsvg-convert: installed where that is allowed. The tests that need them
# say so if they are missing.
browser:
	@{ command -v chromium && command -v rsvg-convert; } >/dev/null || { \
	test "$$(id -u)" = 0 && command -v apt-get >/dev/null && apt-get -qq update && \
	DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends chromium librsvg2-bin fonts-dejavu-core; } >/dev/null 2>&1 || true

# The feature of the program with which chains run over several processes, where Open MPI is installed: `make test` tests the program with it.
WITH_MPI = $(shell command -v mpirun >/dev/null && command -v mpicc >/dev/null && command -v clang >/dev/null && echo rflvm-cli/mpi)

# Open MPI and libclang are installed where that is allowed.
mpi: forget
	@{ command -v mpirun && command -v mpicc && command -v clang; } >/dev/null || { \
	test "$$(id -u)" = 0 && command -v apt-get >/dev/null && apt-get -qq update && \
	DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends libopenmpi-dev openmpi-bin clang libclang-dev; } >/dev/null 2>&1 || true
	@{ command -v mpirun && command -v mpicc && command -v clang; } >/dev/null || { \
	echo "one chain over several processes (no Open MPI: install libopenmpi-dev, openmpi-bin, clang and libclang-dev)" >> $(RFLVM_NOT_TESTED); \
	test -z "$(ON_CI)"; }

test-mpi: check-tools mpi
	cargo test --workspace --exclude rflvm-benchmarks --features rflvm-cli/mpi --test mpi

# What an earlier run could not test.
forget:
	@mkdir -p target && rm -f $(RFLVM_NOT_TESTED)

# Without it the rest is still tested, except on a CI server, which must install it.
environment: browser
	@$(MAKE) --no-print-directory $(TEST_VENV)/installed || { \
	echo "the Python package, the comparison with ArviZ and the lints of Python and of workflow files (no Python 3.11 or newer with crates/rflvm-py/tests/requirements.txt)" >> $(RFLVM_NOT_TESTED); \
	test -z "$(ON_CI)"; }

# The last line of `make test`.
verdict:
	@test -e /dev/nvidia0 || echo "What needs an NVIDIA card was compiled, not run: make test-gpu."
	@if test -s $(RFLVM_NOT_TESTED); then \
	echo "Not tested: $$(sort -u $(RFLVM_NOT_TESTED) | paste -s -d '|' - | sed 's/|/; /g')"; test -z "$(ON_CI)"; \
	else echo "Everything was tested."; fi

lint-python: $(TEST_VENV)/installed
	$(TEST_VENV)/bin/python -m ruff check --quiet
	$(TEST_VENV)/bin/python -m ruff format --quiet --check
	$(TEST_VENV)/bin/python -m check_jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(TEST_VENV)/bin/python -m check_jsonschema --quiet --builtin-schema vendor.github-issue-forms $(filter-out %/config.yml,$(wildcard .github/ISSUE_TEMPLATE/*.yml))
	$(TEST_VENV)/bin/python -m check_jsonschema --quiet --builtin-schema vendor.dependabot .github/dependabot.yml
	$(TEST_VENV)/bin/python -m check_jsonschema --quiet --builtin-schema vendor.citation-file-format CITATION.cff

# The wheel is built with the profile of the tests, whose crates are already compiled; `pip install .` builds the release.
wheel: check-tools $(TEST_VENV)/installed
	rm -rf target/wheels
	$(TEST_VENV)/bin/python -m maturin build --quiet --profile dev --out target/wheels
	$(TEST_VENV)/bin/python -m pip install --quiet --force-reinstall --no-deps target/wheels/rflvm-*.whl

# Tests marked as slow are left to `make validate`.
ONLY = not slow

# Folders of tests that pass are removed at once: removing those of earlier runs at the end took pytest two minutes.
test-python: wheel
	@$(call in_memory,$(TEST_VENV)/bin/python -m pytest -q -n 2 --dist worksteal --durations 12 \
		-o tmp_path_retention_policy=failed -o tmp_path_retention_count=1 -m "$(ONLY)" crates/rflvm-py/tests)

# Wheels only, and one retry, so that without a network the other tests run soon.
$(TEST_VENV)/installed: crates/rflvm-py/tests/requirements.txt
	@rm -f $@
	@$(TEST_PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "the Python package is tested with Python 3.11 or newer: install it, or give its name with TEST_PYTHON=…"; exit 2; }
	$(TEST_PYTHON) -m venv $(TEST_VENV)
	$(TEST_VENV)/bin/python -m pip install --quiet --retries 1 --only-binary :all: -r crates/rflvm-py/tests/requirements.txt
	touch $@

site: check-tools $(TEST_VENV)/installed
	@$(TEST_VENV)/bin/python -c "import rflvm" 2>/dev/null || $(MAKE) --no-print-directory wheel
	$(TEST_VENV)/bin/python scripts/gallery.py target/gallery
	NO_MKDOCS_2_WARNING=1 $(TEST_VENV)/bin/python -m mkdocs build --strict --quiet
	cargo doc --no-deps --quiet --package rflvm --package rflvm-study
	cp -r target/doc target/site/rust
	@echo "the site: target/site/index.html"

# Regenerates docs/settings.md and Python's parameters from the table of settings.
settings: check-tools
	RFLVM_WRITE=1 cargo test --quiet --package rflvm-study --test settings

results:
	$(TEST_PYTHON) scripts/results.py

validate: check-tools
	cargo run --release --quiet --package rflvm-validation -- $(ARGS)
	cargo run --release --quiet --package rflvm-validation -- --planted $(ARGS)
	cargo run --release --quiet --package rflvm-validation -- --calibration $(ARGS)
	@$(MAKE) --no-print-directory calibrate
	@$(MAKE) --no-print-directory test-python ONLY=slow

# Also with planted faults, which must be seen.
calibrate: check-tools
	cargo build --release --quiet --package rflvm-cli --no-default-features
	$(TEST_PYTHON) scripts/calibrate.py target/release/rflvm --check $(ARGS)
	$(TEST_PYTHON) scripts/calibrate.py target/release/rflvm --check --families poisson --planted one-chain $(ARGS)
	$(TEST_PYTHON) scripts/calibrate.py target/release/rflvm --check --families poisson --planted narrow $(ARGS)

BENCH_VENV = target/bench-venv
BENCH_PYTHON ?= python3.11

# Wheels only: the versions are pinned, and nothing should be compiled for a timing.
$(BENCH_VENV)/installed: evidence/benchmarks/requirements.txt
	@command -v $(BENCH_PYTHON) >/dev/null || { echo "the benchmarks need Python 3.11: install it, or give its name with BENCH_PYTHON=…"; exit 2; }
	$(BENCH_PYTHON) -m venv $(BENCH_VENV)
	$(BENCH_VENV)/bin/pip install --quiet --only-binary :all: -r evidence/benchmarks/requirements.txt
	touch $@

bench: check-tools $(BENCH_VENV)/installed
	cargo build --release --quiet --package rflvm-benchmarks --package rflvm-cli
	$(BENCH_VENV)/bin/python evidence/benchmarks/run.py $(ARGS)

bench-quick:
	@$(MAKE) --no-print-directory bench ARGS="--quick $(ARGS)"

IMPUTATION ?= target/imputation
bench-imputation: $(BENCH_VENV)/installed
	$(BENCH_VENV)/bin/python evidence/benchmarks/imputation/prepare.py $(IMPUTATION)
	$(BENCH_VENV)/bin/python evidence/benchmarks/imputation/ours.py $(IMPUTATION)
	$(BENCH_VENV)/bin/python evidence/benchmarks/imputation/run.py $(IMPUTATION) $(ARGS)
	$(BENCH_VENV)/bin/python evidence/benchmarks/imputation/report.py $(IMPUTATION)

imputation-check: $(BENCH_VENV)/installed
	$(BENCH_VENV)/bin/python -W ignore evidence/benchmarks/imputation/check.py

paper-forecast paper-paths paper-transform paper-digits paper-compare: paper-%: check-tools $(BENCH_VENV)/installed
	cargo build --release --quiet --package rflvm-cli
	$(BENCH_VENV)/bin/python evidence/paper/$*.py $(ARGS)

# Every method of Table 1. PyTorch has small wheels for the CPU on a separate index of its project: name it with TORCH_INDEX=…; otherwise
# pip takes the usual ones, which bring 4 GB of libraries.
PAPER_VENV = target/paper-venv
PAPER_PYTHON ?= $(BENCH_PYTHON)
PAPER = $(PAPER_VENV)/bin/python -W ignore evidence/paper
# make paper DATA=folder of the data sets, PEERS=folder of the clones that evidence/paper/peers.py names
PAPER_DATA = $(if $(DATA),--data $(DATA))
PAPER_PEERS = $(if $(PEERS),--peers $(PEERS))

$(PAPER_VENV)/installed: evidence/paper/requirements.txt evidence/benchmarks/requirements.txt
	@command -v $(PAPER_PYTHON) >/dev/null || { echo "the paper's tables need Python 3.11: install it, or give its name with PAPER_PYTHON=…"; exit 2; }
	$(PAPER_PYTHON) -m venv $(PAPER_VENV)
	@if test -n "$(TORCH_INDEX)"; then $(PAPER_VENV)/bin/pip install --quiet --no-deps --index-url $(TORCH_INDEX) $$(grep ^torch== evidence/paper/requirements.txt); fi
	$(PAPER_VENV)/bin/pip install --quiet --only-binary :all: --no-binary hpfrec -r evidence/paper/requirements.txt
	touch $@

paper: check-tools $(PAPER_VENV)/installed
	cargo build --release --quiet --package rflvm-cli
	$(PAPER)/table1.py $(PAPER_DATA) $(PAPER_PEERS) $(ARGS)
	$(PAPER)/held.py $(PAPER_DATA)
	$(PAPER)/missing.py $(PAPER_DATA) $(PAPER_PEERS)
	$(PAPER)/rules.py $(PAPER_DATA)
	$(PAPER)/report.py

paper-quick: check-tools $(PAPER_VENV)/installed
	cargo build --release --quiet --package rflvm-cli
	$(PAPER)/table1.py --quick $(PAPER_DATA) $(PAPER_PEERS) $(ARGS)
	$(PAPER)/report.py --out evidence/paper/results/quick --to evidence/paper/results/quick/RESULTS.md
	@echo "the tables: evidence/paper/results/quick/RESULTS.md"

paper-missing paper-figures: paper-%: check-tools $(PAPER_VENV)/installed
	cargo build --release --quiet --package rflvm-cli
	$(PAPER)/$*.py $(PAPER_DATA) $(ARGS)

paper-check: $(PAPER_VENV)/installed
	$(PAPER)/ppca.py
	$(PAPER)/ldm.py
	$(PAPER)/check.py
	$(PAPER)/baselines/check.py

check-tools:
	@command -v cargo >/dev/null || { echo "rflvm needs Rust 1.89 or newer: install it with rustup (https://rustup.rs), then try again"; exit 2; }
	@command -v cc >/dev/null || command -v gcc >/dev/null || { echo "rflvm needs a C compiler: on Debian or Ubuntu, apt-get install gcc"; exit 2; }
