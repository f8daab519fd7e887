-- breaks older binaries: no
-- The session at the identity provider in which a command line was signed in: its token ends when that one does.
alter table api_tokens add column provider_session text;
create index api_tokens_by_provider_session on api_tokens (provider_session) where provider_session is not null;
