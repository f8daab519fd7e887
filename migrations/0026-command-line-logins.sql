-- breaks older binaries: no

-- Sign-ins of a command line that somebody has confirmed in the browser, until the command line comes for its token.
-- They go with the session that confirmed them. Of the code only the SHA-256 is here, in lower-case hex.
create table command_line_logins (
  code_hash text primary key check (length(code_hash) = 64),
  user_id uuid not null references users on delete cascade,
  session_id uuid not null references sessions on delete cascade,
  -- PKCE, S256: only whoever made it can say what it is the hash of.
  challenge text not null,
  machine text not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null
);
create index command_line_logins_by_user on command_line_logins (user_id, created_at);
create index command_line_logins_by_session on command_line_logins (session_id);
create index command_line_logins_by_end on command_line_logins (expires_at);

-- Tokens that a command line got by a sign-in: they last hours, and make room for each other.
alter table api_tokens add column is_login boolean not null default false;
