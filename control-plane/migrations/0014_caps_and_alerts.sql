-- Times are unix milliseconds; months are UTC, YYYY-MM.

-- Owner: ledger. A key may have a cap on what it takes in a month. What it took is counted from the moment that it has one, beginning with
-- what it had taken in that month; for keys without a cap nothing is counted here. Written by the meter, in the transaction that charges.
alter table api_keys add column monthly_cap_credits bigint check (monthly_cap_credits > 0);
alter table api_keys add column spent_month text;
alter table api_keys add column spent_credits bigint not null default 0 check (spent_credits >= 0);

-- The key whose cap a hold counts against, and in which month: what is released is given back there.
alter table holds add column capped_key_id text;
alter table holds add column capped_month text;

-- The month in which an address counts against the cap of its key; null where the key had none.
alter table delivery_urls add column capped_month text;

-- Owner: alerts. Letters that the holder of an account wants.
--
--   low_balance: told is null ──► the balance is below the threshold, the letter goes out ──► told is `low` ──► it is not below: null
--   daily_spend: told is the last day (YYYY-MM-DD) that needs no letter any more
create table alerts (
    account_id text not null references balances (account_id),
    kind text not null check (kind in ('low_balance', 'daily_spend')),
    threshold_credits bigint not null check (threshold_credits > 0),
    told text,
    -- A letter is on its way, or failed: nobody else tries before this.
    retry_at_ms bigint not null default 0,
    primary key (account_id, kind)
);
