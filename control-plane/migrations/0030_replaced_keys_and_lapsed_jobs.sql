-- Owner: ledger. The key that has taken this one's place, always the last one of a row of rotations: what this key had taken and is given
-- back makes room under the cap of that one.
alter table api_keys add column replaced_by text;
create index api_keys_by_replacement on api_keys (replaced_by) where replaced_by is not null;

-- Owner: renders. Jobs that lapsed before any node had them are forgotten after a while.
create index jobs_lapsed on jobs (ended_at_ms) where state = 'lapsed';
