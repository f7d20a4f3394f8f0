-- Owner: payments. Times are unix milliseconds.

-- Of a reload: until when money may still come of what Stripe was asked for, although its answer is not known. Null: nothing is unknown.
alter table payments add column unknown_until_ms bigint;
-- What the buyer paid in another currency than the one that packs are sold in, as far as Stripe tells it.
alter table payments add column presented_cents bigint;
alter table payments add column presented_currency text;
-- How often credits of it were taken back: names each of these entries of the ledger.
alter table payments add column reversals bigint not null default 0;

-- Reloads that were left open when auto-reload was turned off.
update payments set state = 'cancelled', ended_at_ms = created_at_ms
    where purpose = 'reload' and state = 'open'
        and not exists (select 1 from auto_reloads a where a.account_id = payments.account_id and a.is_on = 1);

-- What Stripe tells of money that goes back: one row for a dispute, a refund, or a charge with the sum of its refunds.
--
--   announced ──► gone ──► back
--   an inquiry    the money has left us    it has come back: a dispute was won, a refund failed
--
-- A state is never left for an earlier one, in whatever order Stripe's events come. A row may be here before its payment is known.
create table payment_returns (
    -- Stripe's.
    id text primary key,
    kind text not null check (kind in ('charge', 'refund', 'dispute')),
    state text not null check (state in ('announced', 'gone', 'back')),
    payment_id text references payments (id),
    payment_intent text,
    -- In the smallest unit of the currency. Of a charge: the most that was ever said to have been refunded.
    cents bigint not null,
    -- Lower case.
    currency text not null,
    told_at_ms bigint not null,
    check (payment_id is not null or payment_intent is not null)
);
create index payment_returns_by_payment on payment_returns (payment_id) where payment_id is not null;
create index payment_returns_by_intent on payment_returns (payment_intent) where payment_intent is not null;
create index payment_returns_unknown on payment_returns (told_at_ms) where payment_id is null;

-- What was told before this table was there. A dispute takes its row over once Stripe names it again.
insert into payment_returns (id, kind, state, payment_id, payment_intent, cents, currency, told_at_ms)
    select 'refunds of ' || id, 'charge', 'gone', id, payment_intent, refunded_cents, 'usd', coalesce(ended_at_ms, created_at_ms)
    from payments where refunded_cents > 0;
insert into payment_returns (id, kind, state, payment_id, payment_intent, cents, currency, told_at_ms)
    select 'dispute of ' || id, 'dispute', 'gone', id, payment_intent, disputed_cents, 'usd', coalesce(ended_at_ms, created_at_ms)
    from payments where disputed_cents > 0;

-- Locks a payment intent of Stripe's whose payment may not be known yet: what is told of both at once is done one after the other.
create table payment_intents (
    id text primary key,
    seen_at_ms bigint not null
);
create index payment_intents_by_time on payment_intents (seen_at_ms);
