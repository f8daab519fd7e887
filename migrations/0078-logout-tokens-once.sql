-- breaks older binaries: no

-- The SHA-256 of what the provider signed, so that a logout token that somebody has seen ends nothing a second time.
-- Null for what a process of an older release noted.
alter table ended_provider_sessions add column token_hash text;
create unique index ended_provider_sessions_by_token on ended_provider_sessions (token_hash);
