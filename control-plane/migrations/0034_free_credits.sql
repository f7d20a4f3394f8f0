-- Owner: accounts. How many accounts each network has made on a UTC day. Days that are over are forgotten.
create table sign_up_counts (
    -- `client` with an IPv4 address or an IPv6 /64, or `network` with a /24 or /48.
    network text not null,
    -- YYYY-MM-DD.
    day text not null,
    accounts bigint not null,
    primary key (network, day)
);
create index sign_up_counts_by_day on sign_up_counts (day);

-- Owner: ledger. 1 for an account that its holder made and that has had free credits only: no purchase, and no grant by the operator.
alter table balances add column only_free bigint not null default 0 check (only_free in (0, 1));
update balances set only_free = 1
    where exists (select 1 from users where users.account_id = balances.account_id)
        and not exists (
            select 1 from ledger_entries e where e.account_id = balances.account_id
                and (e.kind = 'purchase' or (e.kind = 'grant' and e.reason <> 'free credits of a new account')));

-- Owner: renders. 1 for a job that was queued for such an account: together they have a share of the day's budget.
alter table jobs add column of_free_account bigint not null default 0 check (of_free_account in (0, 1));
create index jobs_of_free_accounts on jobs (budget_day, cost_microusd) where of_free_account = 1;
