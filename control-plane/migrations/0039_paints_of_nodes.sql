-- Owner: renders. Whether a node can read paints that are not presets with their shadow; nodes of earlier versions cannot.
alter table nodes add column custom_paints bigint not null default 0;
