-- Owner: payments. When the kept card was chosen: when the purchase that kept it was made, or the settings that kept it were saved. An older choice
-- that Stripe tells of later does not replace a newer one.
alter table stripe_customers add column card_chosen_at_ms bigint not null default 0;

-- Cards that were kept or detached. A detached card cannot be charged any more, and an event about an older purchase must not keep it again.
create table stripe_cards (
    payment_method text primary key,
    is_detached bigint not null check (is_detached in (0, 1)),
    -- When it was last kept or detached. Rows are removed when no event about the card can come any more.
    told_at_ms bigint not null
);
create index stripe_cards_by_time on stripe_cards (told_at_ms);

-- Owner: ledger. The SHA-256 of the request as it was sent, lower-case hex: finds the answer that was kept for the very same request when what it
-- asks for cannot be understood any more. Empty for what was kept before.
alter table idempotency_keys add column text_sha256 text not null default '';
