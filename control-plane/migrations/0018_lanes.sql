-- Owner: renders. Whose turn it is in the queue.
--
-- `priority` is the number of the job's lane: 20 a request that waits, 10 the first load of a signed address, 5 an operator's new
-- revision, 0 the service's own examples, -10 prewarming. Inside a lane, jobs go by `turn`: an account's next job has the turn after
-- its last one, and whoever has nothing waiting begins at the turn that is being served, so accounts alternate however many jobs one has.
alter table jobs add column turn bigint not null default 0;
-- Who asked first; empty for what no account asked for.
alter table jobs add column account_id text not null default '';

drop index jobs_queued;
create index jobs_queued on jobs (priority desc, turn, queued_at_ms, id) where state = 'queued';
create index jobs_queued_by_account on jobs (account_id, priority, turn) where state = 'queued';
