import { VERSION } from './version.ts'

/** What `--help` prints. */
export const HELP = `muster ${VERSION}: fleet manager for OpenTelemetry Collectors over OpAMP

Usage:
  muster [--edition community|complete]     run the service (community is the default)
  muster --check-config                     check the environment and the database, start nothing
  muster migrate                            bring the database's schema to this version
  muster create-user --email E --group G    add a user (viewer, editor or administrator); the
                                            password is read from standard input
  muster verify-audit [--head SEQ:HASH]     check the audit trail's hash chain and print its head; with one
                                            that was seen before (printed, logged or in an evidence
                                            pack), that the trail was not cut or written anew since
  muster verify-pack FILE [--key PEM]       check the hashes of an exported evidence pack (JSON), and
                                            that this public key has signed it
  muster --version | --help

As a client (muster COMMAND --help says more):
  muster login [--url URL]                  sign in to a service by the browser (MUSTER_URL)
  muster logout                             forget it
  muster get KIND                           list workloads, instances, revisions, requests or alerts
  muster status WORKLOAD                    how it is, and whether it runs what it should
  muster diff WORKLOAD FILE                 what a file would change in meaning
  muster plan FOLDER --owner NAME           what a folder of configs would change
  muster apply FOLDER --owner NAME          request what it holds, where it differs
  muster rollback WORKLOAD                  push the known-good or the former config again
  muster campaign ACTION [CAMPAIGN]         plan and carry out one change of many workloads
  muster validate FILE…                     check configs offline, for people, programs and code hosts
  muster completion bash|zsh|fish           print a script that completes commands in a shell

Exit codes: 0 done or stopped, 1 refused or failed, 2 wrong arguments. Of a client: 0 done, 1 failed,
3 something was refused, 4 differs or waits (--exit-code, --wait), 64 wrong arguments. Its environment:
MUSTER_URL, MUSTER_TOKEN, MUSTER_CA_FILE (certificates to trust beside the usual ones), and the proxies below.

Environment (durations are whole numbers above 0):
  JWT_SECRET                        signs logins; at least 32 characters (required)
  DB_DSN                            PostgreSQL 15 or newer, a direct connection (required); several
                                    hosts and target_session_attrs=read-write as in libpq
  LISTEN_ADDR                       REST API, UI and browser sockets (:8080)
  OPAMP_ADDR                        agents, at /v1/opamp (:4320)
  OPAMP_SHARED_SECRET               bearer token that agents must send (none); blanks
                                    around it do not count
  JWT_SECRET_FILE, DB_DSN_FILE, OPAMP_SHARED_SECRET_FILE, OIDC_CLIENT_SECRET_FILE
                                    files that hold these, in place of the variables
  SEED_ADMIN_EMAIL, SEED_ADMIN_PASSWORD
                                    first administrator, made while there are no users
  MUSTER_PUBLIC_URL                 where browsers find muster, such as https://muster.example.com (none)
  MUSTER_OPAMP_PUBLIC_URL           where agents find muster, such as wss://opamp.example.com, where a
                                    proxy has another host or port than OPAMP_ADDR (none)
  OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET
                                    sign-in with this OpenID Connect provider; needs MUSTER_PUBLIC_URL,
                                    the redirect URI is its /api/auth/oidc/callback (none)
  OIDC_CLIENT_AUTH                  how muster proves itself: basic, post or none (basic)
  OIDC_SCOPES                       what is asked for (openid profile email)
  OIDC_GROUPS_CLAIM                 the claim that holds the groups, a name or a JSON pointer (groups)
  OIDC_GROUP_MAP                    JSON, their groups to ours: {"otel-admins": "administrator"}; whoever
                                    has none of them does not get in (administrators assign)
  OIDC_NAME                         what the button says (single sign-on)
  OIDC_SESSION_HOURS                how long such a session lasts, 24 at most (10)
  PASSWORD_LOGIN                    only:<e-mail> leaves one local administrator (all)
  CORS_ORIGINS                      origins of other browser clients; with the session
                                    cookie only those set here (http://localhost:5173)
  WEBHOOK_URL                       called for each new alert, and for changes that are requested,
                                    approved, rejected or pushed by breaking the glass (none)
  HTTPS_PROXY, HTTP_PROXY, NO_PROXY the proxy on the way there and to OIDC_ISSUER, and hosts without it (none)
  MIN_AGENT_VERSION                 older collectors are flagged (none)
  DB_MAX_OPEN_CONNS, DB_MAX_IDLE_CONNS
                                    connections to the database (40, 10)
  DB_CONN_MAX_IDLE_TIME_SECONDS, DB_CONN_MAX_LIFETIME_SECONDS
                                    how long one is kept (300, 1800)
  WORKLOAD_DISCONNECT_GRACE_SECONDS still connected after its last instance left (120)
  WORKLOAD_RETENTION_DAYS           a disconnected workload is kept before it is archived (30)
  WORKLOAD_ARCHIVE_DAYS             an archived workload is kept before it is removed (90)
  ALERT_RETENTION_DAYS              a resolved alert is kept (90)
  WORKLOAD_JANITOR_INTERVAL_SECONDS between two clean-ups (300)
  WORKLOAD_EVENT_RETENTION_DAYS     the event log is kept (30)
  OTELCOL_RUNTIME_VALIDATION_ENABLED
                                    let a collector validate drafts, on a Linux with user
                                    namespaces (false)
  OTELCOL_BINARY_PATH, OTELCOL_RUNTIME_VALIDATION_TIMEOUT_SECONDS, OTELCOL_MIN_RUNTIME_VERSION
                                    which one, how long (5), and the oldest accepted (none)
  MUSTER_POLICY_OTLP_ALLOWLIST, MUSTER_POLICY_CRITICAL_EXPORTERS,
  MUSTER_POLICY_REQUIRED_RESOURCE_ATTRIBUTES
                                    comma-separated lists for the config policy (none)
  MUSTER_METRICS_ADDR               Prometheus metrics at /metrics (off)
  MUSTER_HEALTH_ADDR                /healthz and /readyz also here, where strangers take no room (off)
  MUSTER_TRUSTED_PROXIES            addresses or networks whose X-Forwarded-For and -Proto count (none)
  MUSTER_INTERNAL_ADDR              host:port for the other processes on this database (off): each
                                    then serves agents, browsers and the API, and one decides
  MUSTER_ADVERTISE_ADDR             where the others reach it (MUSTER_INTERNAL_ADDR)
  MUSTER_INTERNAL_TLS_CERT, MUSTER_INTERNAL_TLS_KEY, MUSTER_INTERNAL_TLS_CA
                                    PEM files; without them the address is on loopback
  MUSTER_INTERNAL_TLS_NAME          the name that these certificates are for (the host of MUSTER_ADVERTISE_ADDR)
  MUSTER_MAX_SOCKETS, MUSTER_MAX_SOCKETS_PER_ADDRESS
                                    WebSockets of each listener, in all and from one address (20000 each)
  MUSTER_OPAMP_MAX_MESSAGE_BYTES    largest message of an agent (16777216, at most 67108864)
`
