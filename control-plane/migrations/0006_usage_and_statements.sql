-- Owner: ledger. Times are unix milliseconds; ids are UUIDv7 as text.

-- The ledger learns to take purchases, each once: `reference` is the payment's own id.
create table ledger_entries_with_purchases (
    id text primary key,
    account_id text not null references balances (account_id),
    kind text not null check (kind in ('grant', 'purchase', 'debit', 'hold', 'settle', 'release', 'refund')),
    credits bigint not null,
    -- Filled for hold, settle and release.
    hold_id text references holds (id),
    -- Filled for refunds.
    delivery_url_id text references delivery_urls (id),
    -- Filled for grants and purchases: why.
    reason text,
    -- Filled for purchases.
    reference text,
    at_ms bigint not null,
    check ((kind in ('hold', 'settle', 'release')) = (hold_id is not null)),
    check ((kind = 'refund') = (delivery_url_id is not null)),
    check ((kind = 'purchase') = (reference is not null)),
    check (case kind when 'grant' then credits > 0 when 'purchase' then credits > 0 when 'release' then credits > 0
                     when 'refund' then credits = 1 when 'settle' then credits = 0 else credits < 0 end)
);
insert into ledger_entries_with_purchases (id, account_id, kind, credits, hold_id, delivery_url_id, reason, at_ms)
    select id, account_id, kind, credits, hold_id, delivery_url_id, reason, at_ms from ledger_entries;
drop table ledger_entries;
alter table ledger_entries_with_purchases rename to ledger_entries;
create index ledger_entries_by_account on ledger_entries (account_id, at_ms, id);
create unique index ledger_entries_one_outcome on ledger_entries (hold_id) where kind in ('settle', 'release');
create unique index ledger_entries_one_refund on ledger_entries (delivery_url_id) where kind = 'refund';
create unique index ledger_entries_one_purchase on ledger_entries (reference) where kind = 'purchase';

-- What each account did on each UTC day (YYYY-MM-DD). Written by the meter, in the transaction of what it counts.
create table usage_daily (
    account_id text not null references balances (account_id),
    day text not null,
    -- Requests of its keys, refused ones included.
    requests bigint not null,
    -- Pictures delivered, by key or as a counted load of a signed address, and how many of them existed already.
    images bigint not null,
    cached_images bigint not null,
    -- Taken less given back: below zero on a day that only gave back.
    credits_spent bigint not null,
    primary key (account_id, day)
);

-- A window counts a key's requests, or one client address's for one purpose.
alter table rate_windows rename column key_id to counted;
create index rate_windows_by_start on rate_windows (window_start_ms);

-- Requests that name themselves, so that a repetition is answered without being done again.
--
--             the answer is kept, in the transaction that charges
--   running ─────────────────────────────────────────────────────► done
--      │
--      └► (the row goes: nothing was charged, and the same key may be tried again)
--
-- A running one whose process is dead is taken over by the next request with its key.
create table idempotency_keys (
    account_id text not null references balances (account_id),
    endpoint text not null,
    idempotency_key text not null,
    -- Of the request's body, lower-case hex.
    body_sha256 text not null,
    state text not null check (state in ('running', 'done')),
    -- Which attempt runs, and the service process it runs in.
    attempt_id text not null,
    owner text not null,
    -- Filled when done: the JSON answer, and the balance right after its charge.
    answer text,
    credits_remaining bigint,
    expires_at_ms bigint not null,
    primary key (account_id, endpoint, idempotency_key),
    check ((state = 'done') = (answer is not null))
);
create unique index idempotency_keys_by_attempt on idempotency_keys (attempt_id);
create index idempotency_keys_by_end on idempotency_keys (expires_at_ms);
