-- breaks older binaries: no
--
-- Whether an API token said it in its holder's name. Of what was said before that is not known.

alter table approval_comments add column is_by_token boolean not null default false;
alter table campaign_comments add column is_by_token boolean not null default false;
