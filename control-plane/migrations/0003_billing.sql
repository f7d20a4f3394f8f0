-- Owner: ledger. Credits are whole numbers; times are unix milliseconds; ids are UUIDv7 as text.

-- What each account can spend now. Open holds are already taken off.
create table balances (
    account_id text primary key,
    -- A charge is a guarded update; this check is the second lock on the same door.
    credits bigint not null check (credits >= 0)
);

-- A credit reserved for a delivery that has not happened yet. Every change names `open` as the state it expects.
--
--           settle (picture delivered)
--   open ─────────────────────────────► settled
--     │
--     └───────────────────────────────► released
--           release (render failed, client left, or nobody waits for it any more)
create table holds (
    id text primary key,
    account_id text not null references balances (account_id),
    credits bigint not null check (credits > 0),
    state text not null check (state in ('open', 'settled', 'released')),
    -- The service process that waits; when it is gone the hold is released by any other (see `processes`).
    owner text not null,
    opened_at_ms bigint not null,
    -- Beyond the longest wait: whoever owns it, nobody waits any more.
    expires_at_ms bigint not null,
    -- Filled when the state leaves `open`.
    ended_at_ms bigint
);
create index holds_open on holds (account_id) where state = 'open';

-- Append only. The sum of an account's entries is its balance. A grant and a release add, a debit and a hold take, a settle is
-- zero: it says how its hold ended.
create table ledger_entries (
    id text primary key,
    account_id text not null references balances (account_id),
    kind text not null check (kind in ('grant', 'debit', 'hold', 'settle', 'release')),
    credits bigint not null,
    -- Filled for hold, settle and release.
    hold_id text references holds (id),
    -- Filled for grants: why.
    reason text,
    at_ms bigint not null,
    check ((kind in ('hold', 'settle', 'release')) = (hold_id is not null)),
    check (case kind when 'grant' then credits > 0 when 'release' then credits > 0 when 'settle' then credits = 0 else credits < 0 end)
);
create index ledger_entries_by_account on ledger_entries (account_id);
-- A hold ends once.
create unique index ledger_entries_one_outcome on ledger_entries (hold_id) where kind in ('settle', 'release');

-- One row per picture given to a client. Written in the transaction that takes the credit.
create table deliveries (
    id text primary key,
    account_id text not null,
    key_id text not null,
    -- As sent by the client or made by the service: not unique.
    request_id text not null,
    -- The render (variant) and the revision that was delivered.
    render_id text not null,
    revision bigint not null,
    format text not null,
    width bigint not null,
    height bigint not null,
    source text not null check (source in ('cache', 'generated')),
    credits bigint not null,
    at_ms bigint not null
);
create index deliveries_by_account on deliveries (account_id, at_ms);
create index deliveries_by_request on deliveries (request_id);

-- Requests of a key in its current fixed window of 60 s: one row per key, taken over by the next window.
create table rate_windows (
    key_id text primary key,
    window_start_ms bigint not null,
    requests bigint not null
);

-- Service processes that are alive, by their heartbeat. A hold whose owner is missing here or silent is released.
create table processes (
    id text primary key,
    started_at_ms bigint not null,
    seen_at_ms bigint not null
);
