-- Owner: ledger.

-- Requests for new pictures whose client left before it paid, in the day: their renders were begun and nobody was charged.
alter table usage_daily add column abandoned_renders bigint not null default 0;
