-- breaks older binaries: no

alter table approvals drop constraint approvals_status_check;
alter table approvals add constraint approvals_status_check check (
  status in ('pending', 'approved', 'pushed', 'rejected', 'withdrawn', 'retired')
);
-- Who rejected, withdrew or retired it, when, and what was said.
alter table approvals add column closed_by text;
alter table approvals add column closed_by_id text;
alter table approvals add column closed_at timestamptz(3);
alter table approvals add column close_comment text;
-- retired until now: when is known, by whom is not.
update approvals set closed_at = updated_at where status = 'retired';

-- What was said about a request while it waited.
create table approval_comments (
  id bigint generated always as identity primary key,
  approval_id text not null references approvals (id) on delete cascade,
  author text not null,
  author_id text not null,
  body text not null,
  created_at timestamptz(3) not null
);
create index approval_comments_by_approval on approval_comments (approval_id, id);
