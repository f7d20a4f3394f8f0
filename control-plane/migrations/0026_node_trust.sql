-- Owner: renders. What is kept of nodes that do not do what they should, and which bytes a row of layers names.

-- The digest in the name of the layers' object, the same as `sha256`. Null, or another one: a version before this one wrote the row last,
-- and its object is named by vehicle, view and revision alone.
alter table layers add column named_by_sha256 text;
alter table candidate_layers add column named_by_sha256 text;

-- When a lost lease was last counted against the node as a failure: leases that were lost at the same time count once.
alter table nodes add column lost_at_ms bigint;
-- Jobs that the node was told to stop and still reports, JSON: the time since when by id.
alter table nodes add column cancelled_jobs text;
