-- breaks older binaries: no
-- What the identity provider said has ended, for as long as a sign-in may take: one that comes back later opens no
-- session. Either column may be null: a provider names its session, the person, or both.
create table ended_provider_sessions (
  id bigint generated always as identity primary key,
  issuer text not null,
  subject text,
  provider_session text,
  ended_at timestamptz(3) not null
);
create index ended_provider_sessions_by_time on ended_provider_sessions (ended_at);
