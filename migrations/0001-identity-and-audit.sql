-- breaks older binaries: yes
-- Who may sign in, and what was done. Times come from the service's clock, so no column has a time default.

CREATE TABLE users (
  id uuid PRIMARY KEY,
  -- As typed, trimmed; compared by email_key.
  email text NOT NULL,
  email_key text NOT NULL UNIQUE,
  password_hash text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  last_login_at timestamptz(3)
);
CREATE INDEX users_order ON users (created_at, id);

CREATE TABLE groups (
  id text PRIMARY KEY,
  name text NOT NULL UNIQUE,
  role text NOT NULL CHECK (role IN ('viewer', 'editor', 'administrator')),
  is_system boolean NOT NULL,
  created_at timestamptz(3) NOT NULL
);
INSERT INTO groups (id, name, role, is_system, created_at) VALUES
  ('grp_system_viewer', 'viewer', 'viewer', true, '2026-01-01T00:00:00Z'),
  ('grp_system_editor', 'editor', 'editor', true, '2026-01-01T00:00:00Z'),
  ('grp_system_administrator', 'administrator', 'administrator', true, '2026-01-01T00:00:00Z');

CREATE TABLE user_groups (
  user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
  group_id text NOT NULL REFERENCES groups ON DELETE RESTRICT,
  PRIMARY KEY (user_id, group_id)
);
CREATE INDEX user_groups_by_group ON user_groups (group_id);

CREATE TABLE user_preferences (
  user_id uuid PRIMARY KEY REFERENCES users ON DELETE CASCADE,
  theme text NOT NULL CHECK (theme IN ('light', 'dark', 'system')),
  language text NOT NULL CHECK (language IN ('en', 'fr')),
  updated_at timestamptz(3) NOT NULL
);

-- A login token names its row here; the row's end is the token's end.
CREATE TABLE sessions (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
  created_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3) NOT NULL
);
CREATE INDEX sessions_by_user ON sessions (user_id);
CREATE INDEX sessions_by_end ON sessions (expires_at);

-- Append-only, a hash chain (lib/audit). No foreign keys: nothing may cascade into it, and it outlives what it names.
CREATE TABLE audit_events (
  seq bigint PRIMARY KEY CHECK (seq > 0),
  id uuid NOT NULL UNIQUE,
  occurred_at timestamptz(3) NOT NULL,
  action text NOT NULL,
  user_id text NOT NULL,
  email text NOT NULL,
  resource text NOT NULL,
  resource_id text NOT NULL,
  workload_id text NOT NULL,
  config_hash text NOT NULL,
  detail text NOT NULL,
  prev_hash text NOT NULL UNIQUE CHECK (length(prev_hash) = 64),
  event_hash text NOT NULL UNIQUE CHECK (length(event_hash) = 64)
);
CREATE INDEX audit_events_by_workload ON audit_events (workload_id, seq) WHERE workload_id <> '';
CREATE INDEX audit_events_by_action ON audit_events (action, seq);
CREATE INDEX audit_events_by_user ON audit_events (user_id, seq);
CREATE INDEX audit_events_by_time ON audit_events (occurred_at, seq);

CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'audit_events is append-only: % refused', TG_OP USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER audit_events_append_only BEFORE UPDATE OR DELETE ON audit_events
  FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_events_no_truncate BEFORE TRUNCATE ON audit_events
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
