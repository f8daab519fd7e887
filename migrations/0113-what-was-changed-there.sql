-- breaks older binaries: no
--
-- That an instance was changed on its host, and that it runs again what it was asked to, stand in the log of its workload:
-- what people see of it has a since, which outlives the process that first saw it. Rows from before hold neither, so that
-- none has to be looked at. An older binary shows a kind of event that it does not know as a line of the log.

alter table workload_events drop constraint workload_events_event_type_check;
alter table workload_events add constraint workload_events_event_type_check
  check (event_type in ('connected', 'disconnected', 'version_changed', 'config_altered', 'config_restored')) not valid;

create index workload_events_altered on workload_events (instance_uid, occurred_at)
  where event_type in ('config_altered', 'config_restored');
