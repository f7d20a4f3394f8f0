-- Owner: renders, delivery. Pictures in paints that no preset names, and frames of signed addresses.

-- `renders.color` and `jobs.colors` hold paints: a preset (`silver`), or `#` and six hex digits with a finish that is not metallic
-- (`#1f4e8c-matt`), each with `-no-shadow` at the end where the ground shadow is left out. Only so many are kept that no preset names.
create index renders_custom on renders (changed_at_ms) where color like '#%' or color like '%-no-shadow';

-- How many such paints an account has had made in a day (UTC). Rows of past days are removed.
create table new_paints (
    account_id text not null,
    day_start_ms bigint not null,
    paints bigint not null,
    primary key (account_id, day_start_ms)
);

-- What a signed address says of its frame beside the box, as a query: `fit=contain&trim=true`.
alter table delivery_urls add column frame text not null default '';
