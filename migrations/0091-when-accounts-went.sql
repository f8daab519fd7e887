-- breaks older binaries: no

-- When the account went; null while it is there. Who changed it is remembered for a while from then on.
alter table account_changes add column gone_at timestamptz(3);
