-- breaks older binaries: no

-- Instances that had failed a config before an operator pushed it again. What they say of that failure after the push
-- is old and does not keep the config from them, also where they were away and this process starts anew meanwhile.
create table lifted_quarantines (
  push_id uuid not null references pushes (push_id) on delete cascade,
  instance_uid text not null,
  primary key (push_id, instance_uid)
);
