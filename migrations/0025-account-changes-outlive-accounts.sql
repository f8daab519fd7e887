-- breaks older binaries: no
-- Who made an account asked for what was asked with it, also when the account is gone again.
alter table account_changes drop constraint account_changes_user_id_fkey;
create index account_changes_by_whom on account_changes (by_id);
