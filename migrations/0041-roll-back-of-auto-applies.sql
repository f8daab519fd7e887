-- breaks older binaries: no

-- The roll-back of a campaign takes back those, too, to whom its version was brought by itself.
alter table auto_apply_targets
  add column rollback_push_id uuid unique,
  -- The campaign whose roll-back takes it back; null for none. No key: targets are evidence of their own.
  add column rolled_back_by text,
  drop constraint auto_apply_targets_state_check,
  add constraint auto_apply_targets_state_check check (
    state in ('started', 'applied', 'failed', 'no_answer', 'overtaken', 'rolling_back', 'rolled_back',
      'rollback_failed', 'moved_on', 'no_way_back')
  );
create index auto_apply_targets_taken_back on auto_apply_targets (rolled_back_by, state)
  where rolled_back_by is not null;
