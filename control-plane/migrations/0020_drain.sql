-- Owner: renders. A drain may have an end.

-- When a draining node has not finished by then, what it still holds is given to others; null: it has all the time it needs.
alter table nodes add column drain_until_ms bigint;
