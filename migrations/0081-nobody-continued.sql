-- breaks older binaries: no

-- A version that was paused, or stopped applying by itself, ends where nobody continues it for long.
alter table auto_applies
  drop constraint auto_applies_end_cause_check,
  add constraint auto_applies_end_cause_check check (
    end_cause in ('turned_off', 'replaced', 'rolled_back', 'config_removed', 'not_continued')
  );
