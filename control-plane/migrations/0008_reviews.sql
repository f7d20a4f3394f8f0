-- Owner: renders. Times are unix milliseconds; ids are UUIDv7 as text.

-- What an account thinks of one revision of a render; a later report takes the place of its earlier one.
create table feedback (
    id text primary key,
    account_id text not null references balances (account_id),
    render_id text not null references renders (id),
    revision bigint not null,
    -- 1 to 5.
    rating bigint,
    verdict text check (verdict in ('good', 'bad')),
    -- What counts towards a review.
    is_bad bigint not null check (is_bad in (0, 1)),
    reason text,
    at_ms bigint not null,
    unique (render_id, revision, account_id)
);

-- Renders that enough accounts called bad, one row a revision.
--
--             an operator looks at it and keeps it
--   flagged ───────────────────────────────────────► approved
--      │
--      └───────────────────────────────────────────► replaced
--             a newer revision is good
create table reviews (
    render_id text not null references renders (id),
    revision bigint not null,
    state text not null check (state in ('flagged', 'approved', 'replaced')),
    flagged_at_ms bigint not null,
    -- Filled when it leaves flagged.
    ended_at_ms bigint,
    primary key (render_id, revision)
);
create index reviews_flagged on reviews (flagged_at_ms) where state = 'flagged';
