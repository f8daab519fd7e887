-- breaks older binaries: no
-- People who sign in with an identity provider: bound to its issuer and subject, never to an e-mail.

ALTER TABLE users
  ADD COLUMN issuer text,
  ADD COLUMN subject text,
  DROP CONSTRAINT users_kind_check,
  ADD CONSTRAINT users_kind_check CHECK (kind IN ('local', 'service', 'external')),
  ADD CONSTRAINT users_identity CHECK (
    CASE kind
      WHEN 'external' THEN issuer IS NOT NULL AND subject IS NOT NULL
      -- A local user may be linked to one.
      WHEN 'local' THEN (issuer IS NULL) = (subject IS NULL)
      ELSE issuer IS NULL AND subject IS NULL
    END
  );
CREATE UNIQUE INDEX users_by_identity ON users (issuer, subject) WHERE issuer IS NOT NULL;

-- `provider_session` is the provider's own session, by which it ends ours; null for a login with a password.
ALTER TABLE sessions
  ADD COLUMN issuer text,
  ADD COLUMN provider_session text;
CREATE INDEX sessions_by_provider ON sessions (issuer, provider_session) WHERE issuer IS NOT NULL;

-- Somebody of the provider has the e-mail of a local user: an administrator says whether they are the same.
CREATE TABLE link_requests (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
  issuer text NOT NULL,
  subject text NOT NULL,
  email text NOT NULL,
  requested_at timestamptz(3) NOT NULL,
  UNIQUE (issuer, subject)
);
CREATE INDEX link_requests_by_user ON link_requests (user_id);
CREATE INDEX link_requests_by_time ON link_requests (requested_at);
