-- breaks older binaries: no
-- Who may approve what: every approval with the rule under which it was given, and who made or changed whose account.

create table approval_votes (
  approval_id text not null references approvals (id) on delete cascade,
  -- Without a key: what somebody approved outlives the account, and then counts no more.
  user_id text not null,
  email text not null,
  comment text not null,
  approved_at timestamptz(3) not null,
  -- The rule as it was: at least so many, whether the author counts, and for how many hours; null where none was kept.
  rule jsonb,
  -- Given while nobody else could approve anything.
  sole_approver boolean not null,
  primary key (approval_id, user_id)
);
insert into approval_votes (approval_id, user_id, email, comment, approved_at, rule, sole_approver)
  select id, approver_id, approver, coalesce(approval_comment, ''), approved_at, null, false from approvals
  where status = 'approved' and approver_id is not null and approved_at is not null;
-- Everybody who requested a text is its author.
create index approvals_by_draft on approvals (draft_hash);

-- Who made an account, set its password, linked or regrouped it, and when last.
create table account_changes (
  user_id uuid not null references users on delete cascade,
  by_id text not null,
  changed_at timestamptz(3) not null,
  primary key (user_id, by_id)
);

-- Whether two people at once ever could approve; from then on nobody is the sole approver again.
create table approver_history (
  only_row boolean primary key check (only_row),
  had_two boolean not null
);
insert into approver_history (only_row, had_two)
  select true, count(distinct u.id) >= 2 from users u
    join user_groups m on m.user_id = u.id join groups g on g.id = m.group_id
  where u.kind <> 'service' and g.role in ('editor', 'administrator');
