-- breaks older binaries: no
-- An aborted rollout has its members and nobody else. Who joined in its last stage, and runs its config, was no stored
-- member of the rollouts that were aborted before, which had everyone.
insert into rollout_members (rollout_id, instance_uid, stage)
  select r.id, t.instance_uid, r.stage_index
  from workloads w
  join rollouts r on r.push_id = w.rollout_push_id and r.status = 'aborted'
  join push_targets t on t.push_id = r.push_id
  on conflict do nothing;
