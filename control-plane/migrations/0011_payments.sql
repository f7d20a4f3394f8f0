-- Owner: payments. Times are unix milliseconds; ids are UUIDv7 as text.

-- An offer to pay for credits. The credits come by a ledger entry whose reference is this row, in the transaction that marks it paid.
--
--            a person pays (its credits are entered)
--   open ────────────────────────────────────────────► paid
--     │
--     └──────────────────────────────────────────────► cancelled
--            a person does not
--
-- An open one past expires_at_ms is over: this follows from the row and is not written.
create table payments (
    id text primary key,
    account_id text not null references balances (account_id),
    -- Who takes the money; `local` takes none.
    provider text not null check (provider in ('local')),
    credits bigint not null check (credits > 0),
    cents bigint not null check (cents > 0),
    state text not null check (state in ('open', 'paid', 'cancelled')),
    -- Of the payment page's address, which whoever has it may open: lower-case hex of SHA-256.
    page_sha256 text not null,
    created_at_ms bigint not null,
    expires_at_ms bigint not null,
    -- Filled when it leaves open.
    ended_at_ms bigint
);
create unique index payments_by_page on payments (page_sha256);
create index payments_by_account on payments (account_id, created_at_ms);
