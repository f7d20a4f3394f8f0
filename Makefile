# make run            everything needed, then a running service with a picture to look at
# make check          formatting, lints and the tests that draw nothing: what to run while working
# make test           every test, on SQLite and on PostgreSQL
# make test-long      the same, with more kills of the service and more made-up requests
# make dist           what is deployed, optimised in full, in out/dist
# make bench          figures, side by side with peers
# make contact-sheet  famous vehicles, some of every type, all views and colours, on pages to look at
# make abuse          a service under everybody who wants to make it slow or full: five minutes, or MINUTES=60; WITH=--postgres
# make farm-trial     three control planes and four nodes on hosts of their own, in trouble (root; some twenty minutes)
# make fuzz           the parsers of free text against libFuzzer (needs a nightly compiler)
# make model          the built-in model from nothing: data, training, export (some three hours on two cores)

# Outside the checkout, so that a fresh clone reuses what was compiled before.
export CYCLORAMA_CACHE ?= $(HOME)/.cache/cyclorama
export CARGO_TARGET_DIR ?= $(CYCLORAMA_CACHE)/target

.PHONY: run check test test-long dist bench abuse farm-trial fuzz contact-sheet model model-eval audit

run:
	@scripts/run.sh

check:
	@scripts/check.sh

test:
	@scripts/test.sh

test-long:
	@CYCLORAMA_TEST_LONG=1 scripts/test.sh

dist:
	@scripts/dist.sh out/dist

bench:
	@scripts/bench.sh

abuse:
	@scripts/abuse.sh $(if $(MINUTES),--minutes $(MINUTES)) $(WITH)

farm-trial:
	@scripts/farm-trial.sh

fuzz:
	@scripts/fuzz.sh

contact-sheet:
	@scripts/contact-sheet.sh

model:
	@models/make_model.sh

# Figures of the shipped model against the path tracer, on vehicles it never saw.
model-eval:
	@models/make_model.sh evaluate

# Licences, sources and known weaknesses of everything we link (installs cargo-deny on first use). What is known comes from the advisory
# database, which is fetched with git; where that is not reached the target fails and says so.
audit:
	@command -v cargo-deny >/dev/null || cargo install --locked cargo-deny
	cargo deny check licenses bans sources
	@cargo deny check advisories || { echo "audit: advisories were not all checked, or one concerns us: see above" >&2; exit 1; }
