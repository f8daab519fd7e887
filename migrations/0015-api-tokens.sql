-- breaks older binaries: no
-- Machines that sign in: tokens of people, and accounts that are nobody's own.

-- `service` accounts have no password and no e-mail to log in with; `email` is the name they are shown by.
ALTER TABLE users
  ADD COLUMN kind text NOT NULL DEFAULT 'local' CHECK (kind IN ('local', 'service')),
  -- The person who answers for a service account; without one its tokens do not work.
  ADD COLUMN owner_id uuid REFERENCES users ON DELETE SET NULL,
  ALTER COLUMN email_key DROP NOT NULL,
  ALTER COLUMN password_hash DROP NOT NULL,
  ADD CONSTRAINT users_credentials CHECK (
    CASE kind
      WHEN 'local' THEN email_key IS NOT NULL AND password_hash IS NOT NULL AND owner_id IS NULL
      ELSE email_key IS NULL AND password_hash IS NULL
    END
  );
CREATE UNIQUE INDEX users_service_name ON users (email) WHERE kind = 'service';
CREATE INDEX users_by_owner ON users (owner_id) WHERE owner_id IS NOT NULL;

-- The token itself is nowhere; `hash` is its SHA-256 in lower-case hex.
CREATE TABLE api_tokens (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
  name text NOT NULL,
  hash text NOT NULL UNIQUE CHECK (length(hash) = 64),
  -- What it may do at most; what its holder lacks, it lacks as well.
  permissions text[] NOT NULL,
  created_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  -- To the minute.
  last_used_at timestamptz(3)
);
CREATE INDEX api_tokens_by_user ON api_tokens (user_id, created_at, id);
CREATE INDEX api_tokens_by_end ON api_tokens (expires_at);
