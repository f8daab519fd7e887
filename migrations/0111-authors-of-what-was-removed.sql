-- breaks older binaries: no

-- Who wrote a version of a fleet config that was removed, had a campaign bring it, or asked for a text on a workload that
-- was: whoever may remove that would approve the text afterwards. One row for each text and author, kept for a year at
-- least and for as long as the text is used; what an older binary removes is not in it.
create table authors_of_removed (
  -- Of the text alone.
  hash text not null,
  -- Of a version's text, variables and values; '' of a text that was asked for.
  content_hash text not null,
  author_id text not null,
  removed_at timestamptz not null default now(),
  primary key (hash, content_hash, author_id)
);
create index authors_of_removed_by_content on authors_of_removed (content_hash);
create index authors_of_removed_by_time on authors_of_removed (removed_at);
