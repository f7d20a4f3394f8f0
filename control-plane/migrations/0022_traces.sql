-- Owner: renders. A job belongs to the trace of the request that it was queued for (W3C Trace Context); null: to none.
alter table jobs add column traceparent text;
