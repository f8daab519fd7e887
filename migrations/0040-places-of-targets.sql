-- breaks older binaries: no

-- What tells workloads of one name apart, kept like the name: targets outlive their workloads.
alter table campaign_targets add column workload_place text not null default '';
alter table auto_apply_targets add column workload_place text not null default '';
