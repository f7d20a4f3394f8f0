-- Owner: renders, delivery. Years of a model that look alike have one picture.

-- Under which `make/model/year` the pictures of a look are kept: the year that was asked for first, or one that had pictures before looks
-- were known. `look` is a digest of what is drawn; a newer catalog or drawing makes another one.
create table looks (
    look text not null,
    view text not null,
    vehicle_key text not null,
    primary key (look, view)
);

-- The body that a signed address is of; empty for the one that the model usually has.
alter table delivery_urls add column body text not null default '';

-- What was asked for, as `renders.vehicle_key`: the picture itself may be that of another year with the same look. Empty for deliveries from
-- before looks were known, whose picture is that of the year that was asked for.
alter table deliveries add column vehicle_key text not null default '';
