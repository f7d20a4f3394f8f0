-- Owner: renders. What renders cost by the clock, and when the day's budget was how far used up.

-- As the node says when it joins, in millionths of a US dollar; null: a render is counted as the service's settings say.
alter table nodes add column microusd_per_hour bigint check (microusd_per_hour >= 0);

-- The price of an hour of the attempt's slot, as of the lease; null where the node has none. `cost_microusd` is what the budget holds for
-- the job while it lives, and what it came to when it has ended.
alter table jobs add column rate_microusd_per_hour bigint;
-- What its ended attempts cost on nodes with a price.
alter table jobs add column spent_microusd bigint not null default 0;
-- What an account has of a day.
create index jobs_cost_by_account on jobs (budget_day, account_id) where budget_day <> '';

-- Thresholds of a day's budget that have been reached, each once. `told` is 1 when the operator's letter is with the mail server.
create table budget_marks (
    day text not null,
    percent bigint not null,
    reached_at_ms bigint not null,
    told bigint not null default 0 check (told in (0, 1)),
    -- Of whoever writes the letter now.
    claimed_until_ms bigint not null default 0,
    primary key (day, percent)
);
