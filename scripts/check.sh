#!/usr/bin/env bash
# `make check`: the checks to run while working: formatting, lints, unit tests on SQLite and on a
# PostgreSQL that stays up, and the black-box tests that render nothing, on SQLite. `make test` runs
# everything.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/side_by_side.sh

scripts/install.sh test
CYCLORAMA_TEST_POSTGRES_URL=$(scripts/postgres.sh shared)
export CYCLORAMA_TEST_POSTGRES_URL
work=$(mktemp -d "$(scripts/postgres.sh folder)/cyclorama-check.XXXXXX")
export TMPDIR=$work/tmp
mkdir "$TMPDIR"
export CYCLORAMA_TEST_RUN=$$
trap 'end_parts; scripts/postgres.sh forget $$; rm -rf "$work"' EXIT

say "formatting, lints"
cargo fmt --all --check
cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
say "building"
# Always the whole workspace, because a part of it would build dependencies again with other
# features.
cargo build --workspace --locked --quiet
cargo test --workspace --locked --quiet --no-run

# Left to `make test`: tests that render; PostgreSQL, which takes as long again; clients by others;
# and tests that kill or flood a service repeatedly, or take longer than ten seconds for another
# reason.
left_out=(
    rendering:: ::postgres mcp_clients:: snippets::
    contract:: crashes:: broken_commits:: killed slow_bodies::
    answers_that_nobody_takes every_message_counts keys_of_one_account_share sizes_made_for_free_are_counted
    a_reload_reaches_every_process a_paused_batch_waits a_batch_is_planned_rendered two_processes
    a_node_that_takes_longer strangers_do_not_lock what_is_not_believed
    simulation:: one_token_that_asks what_is_kept_of_uncommon_sizes probes_are_answered_whatever a_slow_picture_is_told
    one_credit_that_is_never_spent a_client_that_comes_back notes_that_nobody_takes what_is_published an_operator_hears
)
units() {
    # More at a time than there are cores, here and below, because some of them wait.
    cargo test --workspace --locked --quiet --lib --bins -- --test-threads 6
    cargo test --workspace --locked --quiet --test tidy --test vectors
}
black_box() {
    cargo test --workspace --locked --quiet --test black_box -- "${left_out[@]/#/--skip=}" --test-threads 6
}
side_by_side "$work" units black_box
say "all green"
