-- Owner: renders. 1 for a job whose picture the account that began it did not wait for: its client left before it paid.
alter table jobs add column is_abandoned bigint not null default 0 check (is_abandoned in (0, 1));
create index jobs_abandoned on jobs (account_id, queued_at_ms) where is_abandoned = 1;
