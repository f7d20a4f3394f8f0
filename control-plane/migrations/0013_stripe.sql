-- Owner: payments, and the ledger where it says so. Times are unix milliseconds; ids are UUIDv7 as text.

-- Payments learn who takes the money, and what came back of it. Money that came is credited whatever the row said before: an offer at
-- Stripe can be paid after we took it for over.
--
--            it was paid (its credits are entered)
--   open ────────────────────────────────────────────► paid
--     │                                                  ▲
--     └───────────────────────────► cancelled ───────────┘
--            it will not be paid            Stripe alone: it was paid after all
--
-- An open one past expires_at_ms is over: this follows from the row and is not written.
create table payments_with_stripe (
    id text primary key,
    account_id text not null references balances (account_id),
    -- Who takes the money; `local` takes none.
    provider text not null check (provider in ('local', 'stripe')),
    -- A person pays on a page, or the kept card is charged.
    purpose text not null check (purpose in ('page', 'reload')),
    credits bigint not null check (credits > 0),
    cents bigint not null check (cents > 0),
    state text not null check (state in ('open', 'paid', 'cancelled')),
    -- Of our own page's address, which whoever has it may open: lower-case hex of SHA-256. A reload has none.
    page_sha256 text,
    -- Stripe's checkout session, and where a person pays in it; filled once it is made.
    session text,
    checkout_url text,
    -- Stripe's payment intent; filled once it is known.
    payment_intent text,
    -- The most that was ever said to have gone back, and to be disputed.
    refunded_cents bigint not null default 0 check (refunded_cents >= 0),
    disputed_cents bigint not null default 0 check (disputed_cents >= 0),
    -- Credits that were due back for it so far, and how many of them were spent already and could not be taken.
    returned_credits bigint not null default 0 check (returned_credits between 0 and credits),
    missing_credits bigint not null default 0 check (missing_credits between 0 and returned_credits),
    -- Of a reload: the card, how often Stripe was asked, and when it may be asked again.
    payment_method text,
    attempts bigint not null default 0,
    retry_at_ms bigint,
    created_at_ms bigint not null,
    expires_at_ms bigint not null,
    -- Filled when it leaves open.
    ended_at_ms bigint,
    check ((purpose = 'reload') = (page_sha256 is null)),
    check ((purpose = 'reload') = (payment_method is not null and retry_at_ms is not null)),
    check (provider = 'stripe' or purpose = 'page')
);
insert into payments_with_stripe (id, account_id, provider, purpose, credits, cents, state, page_sha256, created_at_ms, expires_at_ms, ended_at_ms)
    select id, account_id, provider, 'page', credits, cents, state, page_sha256, created_at_ms, expires_at_ms, ended_at_ms from payments;
drop table payments;
alter table payments_with_stripe rename to payments;
create unique index payments_by_page on payments (page_sha256);
create index payments_by_account on payments (account_id, created_at_ms);
create index payments_by_intent on payments (payment_intent) where payment_intent is not null;
-- One reload of an account at a time.
create unique index payments_one_reload on payments (account_id) where purpose = 'reload' and state = 'open';

-- What Stripe knows our accounts as: made with the first payment, once for good.
create table stripe_customers (
    account_id text primary key references balances (account_id),
    customer text not null unique,
    -- The card that may be charged while nobody is there.
    payment_method text
);

-- What Stripe told us, by its own id: written in the transaction that does what it says, so that it is done once.
create table webhook_events (
    id text primary key,
    kind text not null,
    -- `refused`: it does not fit what we know; `detail` says how, and an operator should look.
    outcome text not null check (outcome in ('applied', 'ignored', 'refused')),
    detail text,
    received_at_ms bigint not null
);
create index webhook_events_by_time on webhook_events (received_at_ms);

-- Accounts whose card is to be charged when their balance falls below a threshold.
create table auto_reloads (
    account_id text primary key references balances (account_id),
    is_on bigint not null check (is_on in (0, 1)),
    threshold_credits bigint not null check (threshold_credits > 0),
    pack_credits bigint not null check (pack_credits > 0)
);
create index auto_reloads_on on auto_reloads (account_id) where is_on = 1;

-- Ledger: it learns to take credits of a payment back whose money went back.
create table ledger_entries_with_reversals (
    id text primary key,
    account_id text not null references balances (account_id),
    kind text not null check (kind in ('grant', 'purchase', 'reversal', 'debit', 'hold', 'settle', 'release', 'refund')),
    credits bigint not null,
    -- Filled for hold, settle and release.
    hold_id text references holds (id),
    -- Filled for refunds.
    delivery_url_id text references delivery_urls (id),
    -- Filled for grants, purchases and reversals: why.
    reason text,
    -- Filled for purchases and reversals.
    reference text,
    at_ms bigint not null,
    check ((kind in ('hold', 'settle', 'release')) = (hold_id is not null)),
    check ((kind = 'refund') = (delivery_url_id is not null)),
    check ((kind in ('purchase', 'reversal')) = (reference is not null)),
    check (case kind when 'grant' then credits > 0 when 'purchase' then credits > 0 when 'release' then credits > 0
                     when 'refund' then credits = 1 when 'settle' then credits = 0 else credits < 0 end)
);
insert into ledger_entries_with_reversals (id, account_id, kind, credits, hold_id, delivery_url_id, reason, reference, at_ms)
    select id, account_id, kind, credits, hold_id, delivery_url_id, reason, reference, at_ms from ledger_entries;
drop table ledger_entries;
alter table ledger_entries_with_reversals rename to ledger_entries;
create index ledger_entries_by_account on ledger_entries (account_id, at_ms, id);
create unique index ledger_entries_one_outcome on ledger_entries (hold_id) where kind in ('settle', 'release');
create unique index ledger_entries_one_refund on ledger_entries (delivery_url_id) where kind = 'refund';
create unique index ledger_entries_one_purchase on ledger_entries (reference) where kind = 'purchase';
create unique index ledger_entries_one_reversal on ledger_entries (reference) where kind = 'reversal';
