-- breaks older binaries: no

-- A workload that is not within the scopes any more which a campaign is cut to is left alone where that is rolled back.
alter table campaign_targets
  drop constraint campaign_targets_state_check,
  add constraint campaign_targets_state_check check (
    state in ('left_out', 'waiting', 'offline', 'started', 'applied', 'failed', 'no_answer', 'overtaken', 'skipped',
      'expired', 'cancelled', 'rolling_back', 'rolled_back', 'rollback_failed', 'moved_on', 'left_scope', 'no_way_back')
  );
alter table auto_apply_targets
  drop constraint auto_apply_targets_state_check,
  add constraint auto_apply_targets_state_check check (
    state in ('started', 'applied', 'failed', 'no_answer', 'overtaken', 'rolling_back', 'rolled_back',
      'rollback_failed', 'moved_on', 'left_scope', 'no_way_back')
  );
