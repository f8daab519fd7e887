-- breaks older binaries: no
--
-- What was said about a campaign between when it was asked for and when it was started, as of a request (0008).

create table campaign_comments (
  id bigint generated always as identity primary key,
  campaign_id text not null references campaigns (id) on delete cascade,
  author text not null,
  author_id text not null,
  body text not null,
  created_at timestamptz(3) not null
);
create index campaign_comments_by_campaign on campaign_comments (campaign_id, id);
