-- breaks older binaries: no
--
-- What goes to an heir at a hand-over was noted twice: by the binary, which keeps no more names of a text than it takes, and by
-- these triggers, which are for older ones and kept them all. A binary that does it itself says so in its transaction.

drop trigger managed_configs_hand_unseen_over on managed_configs;
drop trigger git_wishes_hand_unseen_over on git_wishes;
drop trigger managed_fleet_configs_hand_unseen_over on managed_fleet_configs;
create trigger managed_configs_hand_unseen_over after update of owner, applied_by_id on managed_configs
  for each row when ((new.owner <> old.owner or new.applied_by_id is distinct from old.applied_by_id)
    and current_setting('muster.hands_over_itself', true) is distinct from 'yes')
  execute function note_wish_unseen();
create trigger git_wishes_hand_unseen_over after update of owner, applied_by_id on git_wishes
  for each row when ((new.owner <> old.owner or new.applied_by_id is distinct from old.applied_by_id)
    and current_setting('muster.hands_over_itself', true) is distinct from 'yes')
  execute function note_wish_unseen();
create trigger managed_fleet_configs_hand_unseen_over after update of owner, applied_by_id on managed_fleet_configs
  for each row when ((new.owner <> old.owner or new.applied_by_id is distinct from old.applied_by_id)
    and current_setting('muster.hands_over_itself', true) is distinct from 'yes')
  execute function note_wish_unseen();
