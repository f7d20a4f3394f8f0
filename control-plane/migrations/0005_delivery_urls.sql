-- Owner: delivery. Times are unix milliseconds; ids are UUIDv7 as text.

-- What delivery tokens are signed with. The newest signs; an older one is still believed until every address it signed has
-- expired.
create table signing_keys (
    number bigint primary key,
    -- 32 random bytes in hex.
    secret text not null,
    created_at_ms bigint not null,
    -- Filled when a newer one takes its place.
    retired_at_ms bigint
);

-- A signed address of one picture: paid when it is made, free to load until it expires. Written by the ledger, in the
-- transaction that takes or gives back its credit.
--
--            the first load fails: its credit is given back
--   active ────────────────────────────────────────────────► consumed
--
-- An active one whose uses have reached max_uses is exhausted, one past expires_at_ms expired, one of a revoked key invalid:
-- these follow from the row and are not written.
create table delivery_urls (
    id text primary key,
    account_id text not null references balances (account_id),
    key_id text not null references api_keys (id),
    -- Of the request that made it: not unique.
    request_id text not null,
    make text not null,
    model text not null,
    year bigint not null,
    view text not null,
    color text not null,
    format text not null,
    -- The box the picture fits in, where one was asked for.
    width bigint,
    height bigint,
    -- 0: as many as one likes.
    max_uses bigint not null check (max_uses between 0 and 1000),
    -- Counted for every load of a capped address, and for the first load of any.
    uses bigint not null check (uses >= 0 and (max_uses = 0 or uses <= max_uses)),
    state text not null check (state in ('active', 'consumed')),
    created_at_ms bigint not null,
    expires_at_ms bigint not null,
    -- What was loaded once is never given back.
    check (state = 'active' or uses = 0)
);
create index delivery_urls_by_key on delivery_urls (key_id);
create index delivery_urls_by_request on delivery_urls (request_id);

-- The ledger learns to give the credit of a signed address back, once.
create table ledger_entries_with_refunds (
    id text primary key,
    account_id text not null references balances (account_id),
    kind text not null check (kind in ('grant', 'debit', 'hold', 'settle', 'release', 'refund')),
    credits bigint not null,
    -- Filled for hold, settle and release.
    hold_id text references holds (id),
    -- Filled for refunds.
    delivery_url_id text references delivery_urls (id),
    -- Filled for grants: why.
    reason text,
    at_ms bigint not null,
    check ((kind in ('hold', 'settle', 'release')) = (hold_id is not null)),
    check ((kind = 'refund') = (delivery_url_id is not null)),
    check (case kind when 'grant' then credits > 0 when 'release' then credits > 0 when 'refund' then credits = 1
                     when 'settle' then credits = 0 else credits < 0 end)
);
insert into ledger_entries_with_refunds (id, account_id, kind, credits, hold_id, reason, at_ms)
    select id, account_id, kind, credits, hold_id, reason, at_ms from ledger_entries;
drop table ledger_entries;
alter table ledger_entries_with_refunds rename to ledger_entries;
create index ledger_entries_by_account on ledger_entries (account_id);
create unique index ledger_entries_one_outcome on ledger_entries (hold_id) where kind in ('settle', 'release');
create unique index ledger_entries_one_refund on ledger_entries (delivery_url_id) where kind = 'refund';
