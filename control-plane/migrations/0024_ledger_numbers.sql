-- Owner: ledger. Times are unix milliseconds; ids are UUIDv7 as text.

-- A balance knows what is on hold and how many entries it has. What its entries add up to is `credits + held`: a hold is entered when it
-- is settled, and not at all when it is released.
alter table balances add column held bigint not null default 0 check (held >= 0);
alter table balances add column entries bigint not null default 0 check (entries >= 0);
update balances set held = coalesce(
    (select sum(h.credits) from holds h where h.account_id = balances.account_id and h.state = 'open'), 0);

-- An account's entries are numbered from 1 without gaps, in the order in which they changed its balance, and each says what the entries
-- add up to after it, so that a page of a statement reads the entries of that page and nothing else.
--
-- Released holds of earlier versions keep their two entries and their row. The entry of a hold that is open now goes: its settlement will be
-- entered. Such a hold is written from now on as
--
--           settle (picture delivered; entered)
--   open ─────────────────────────────────────► settled
--     │
--     └► (the row goes: released, and nothing was entered)
create table ledger_entries_numbered (
    id text primary key,
    account_id text not null references balances (account_id),
    number bigint not null check (number > 0),
    kind text not null check (kind in ('grant', 'purchase', 'reversal', 'debit', 'hold', 'settle', 'release', 'refund', 'correction')),
    credits bigint not null,
    balance bigint not null,
    -- Filled for hold, settle and release.
    hold_id text references holds (id),
    -- Filled for refunds.
    delivery_url_id text references delivery_urls (id),
    -- Filled for corrections: the debit or settlement that is given back because nobody was told of it.
    corrects text,
    -- Why, or what for.
    reason text,
    -- Filled for purchases and reversals.
    reference text,
    at_ms bigint not null,
    check ((kind in ('hold', 'settle', 'release')) = (hold_id is not null)),
    check ((kind = 'refund') = (delivery_url_id is not null)),
    check ((kind = 'correction') = (corrects is not null)),
    check ((kind in ('purchase', 'reversal')) = (reference is not null)),
    -- Settlements of earlier versions are zero: their hold was entered.
    check (case kind when 'grant' then credits > 0 when 'purchase' then credits > 0 when 'release' then credits > 0
                     when 'correction' then credits > 0 when 'refund' then credits = 1 when 'settle' then credits <= 0
                     else credits < 0 end)
);
insert into ledger_entries_numbered
        (id, account_id, number, kind, credits, balance, hold_id, delivery_url_id, reason, reference, at_ms)
    select id, account_id, row_number() over (partition by account_id order by at_ms, id), kind, credits,
           sum(credits) over (partition by account_id order by at_ms, id), hold_id, delivery_url_id, reason, reference, at_ms
    from ledger_entries
    where not (kind = 'hold' and hold_id in (select id from holds where state = 'open'));
drop table ledger_entries;
alter table ledger_entries_numbered rename to ledger_entries;
create unique index ledger_entries_by_number on ledger_entries (account_id, number);
create unique index ledger_entries_one_outcome on ledger_entries (hold_id) where kind in ('settle', 'release');
create unique index ledger_entries_one_refund on ledger_entries (delivery_url_id) where kind = 'refund';
create unique index ledger_entries_one_correction on ledger_entries (corrects) where kind = 'correction';
create unique index ledger_entries_one_purchase on ledger_entries (reference) where kind = 'purchase';
create unique index ledger_entries_one_reversal on ledger_entries (reference) where kind = 'reversal';
create index ledger_entries_purchases on ledger_entries (account_id) where kind = 'purchase';
update balances set entries = (select count(*) from ledger_entries e where e.account_id = balances.account_id);

-- Transactions of the meter that charged somebody, for as long as it may be that nobody was told. The ids of a batch's entries begin
-- with its own, so the row names them all. Written in the transaction that charges.
--
--            the process says so before it tells anybody           the row goes with a later batch
--   open ────────────────────────────────────────────────► answered ─────────────────────────────►
--     │
--     └──────────────────────────────────────────────────► undo ──► (what was charged is given back, and the row goes)
--            whether it was committed was not known when its callers were answered, or its process is gone
create table meter_batches (
    id text primary key,
    -- The service process that wrote it.
    owner text not null,
    state text not null check (state in ('open', 'answered', 'undo')),
    -- The signed addresses whose loads it counted, separated by spaces.
    loads text not null,
    at_ms bigint not null
);

-- The entry that an address was paid with.
alter table delivery_urls add column entry_id text;
create index delivery_urls_by_entry on delivery_urls (entry_id) where entry_id is not null;

-- The entry that the kept answer was charged with, and whether the answer was given again: then the charge stays.
alter table idempotency_keys add column entry_id text;
alter table idempotency_keys add column replayed bigint not null default 0 check (replayed in (0, 1));
create index idempotency_keys_by_entry on idempotency_keys (entry_id) where entry_id is not null;
