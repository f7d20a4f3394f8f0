-- Owner: renders. The account that began the job with a request that it pays for; null for every other job, also when a client joins one later.
alter table jobs add column begun_by text;
-- When the client of that account left before it paid, for the first time.
alter table jobs add column abandoned_at_ms bigint;
update jobs set begun_by = account_id, abandoned_at_ms = queued_at_ms where is_abandoned = 1;
drop index jobs_abandoned;
-- `is_abandoned` stays for processes of the version before, which serve on during an upgrade; nothing reads it any more.
create index jobs_begun on jobs (begun_by, vehicle_key, view) where begun_by is not null;
create index jobs_abandoned on jobs (begun_by, abandoned_at_ms) where abandoned_at_ms is not null;
