-- Owner: catalog. Vehicles that were asked for and are in no release, by normalised name (make/model, or make/model/year where only the
-- year is missing). At most 5,000: those asked for least lately give way.
create table missing_vehicles (
    name text primary key,
    requests bigint not null,
    last_asked_at_ms bigint not null
);
create index missing_vehicles_by_time on missing_vehicles (last_asked_at_ms);
