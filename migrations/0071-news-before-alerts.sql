-- breaks older binaries: no

-- What people did goes out before alerts, of which agents may cause thousands.
alter table webhook_deliveries add column is_news boolean not null default false;
create index webhook_deliveries_next on webhook_deliveries (is_news desc, next_attempt_at, id);
