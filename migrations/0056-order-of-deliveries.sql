-- breaks older binaries: no
-- What is told of one request, alert or campaign goes out in the order in which it happened: times are not enough for
-- that, because a clock may be put back.
alter table webhook_deliveries add column seq bigint generated always as identity;
create index webhook_deliveries_about on webhook_deliveries (alert_id, seq);
