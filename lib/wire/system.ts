import { array, boolean, enums, type Infer, nullable, number, optional, string, type } from 'superstruct'
import { named, note } from './structs.ts'
import { CLIENT_AUTHS, LISTENER_NAMES } from './values.ts'

export const DatabaseCounters = named(
  'DatabaseCounters',
  '`GET /api/system/database`: counters only.',
  type({
    max_open_connections: number(),
    open_connections: number(),
    in_use: number(),
    idle: number(),
    wait_count: number(),
    wait_duration_ms: number(),
    max_idle_closed: number(),
    max_idle_time_closed: number(),
    max_lifetime_closed: number(),
  }),
)
export type DatabaseCounters = Infer<typeof DatabaseCounters>

export const ListenerName = named('ListenerName', '', enums(LISTENER_NAMES))
export type ListenerName = Infer<typeof ListenerName>

export const SystemInfo = named(
  'SystemInfo',
  '`GET /api/system/info`: which build runs, since when, on what, and where it listens.',
  type({
    version: string(),
    edition: string(),
    started_at: string(),
    node_version: string(),
    postgresql_version: string(),
    listeners: note(
      'As they were configured; an empty host is every address of the machine.',
      array(
        type({
          name: ListenerName,
          address: string(),
        }),
      ),
    ),
  }),
)
export type SystemInfo = Infer<typeof SystemInfo>

export const SingleSignOn = named(
  'SingleSignOn',
  '`GET /api/system/single-sign-on`: how people sign in with an identity provider, by the configuration of this process; no secret.',
  type({
    provider: note(
      'Absent where none is configured. Nothing is asked of it here.',
      optional(
        type({
          name: note('On the button of the sign-in page.', string()),
          issuer: string(),
          client_id: string(),
          client_auth: enums(CLIENT_AUTHS),
          scopes: string(),
          groups_claim: string(),
          session_hours: number(),
        }),
      ),
    ),
    groups: note(
      'Which groups here each group of the provider gives, and which of these there are not; absent where administrators give groups.',
      optional(array(type({ theirs: string(), ours: array(string()), missing: array(string()) }))),
    ),
    redirect_uri: note(
      'To be registered at the provider, like the next; absent without `MUSTER_PUBLIC_URL`.',
      optional(string()),
    ),
    logout_uri: optional(string()),
    only_password_login: note(
      'The one account that may sign in with a password; absent where all local ones may.',
      optional(string()),
    ),
  }),
)
export type SingleSignOn = Infer<typeof SingleSignOn>

export const ClusterMember = named(
  'ClusterMember',
  'One of the processes that run on this database.',
  type({
    id: string(),
    address: note('Where the others reach it.', string()),
    host: note('The machine that it runs on; empty where it is too old to say so.', string()),
    pid: note('The id of its process there; 0 where it is too old to say so.', number()),
    version: string(),
    started_at: string(),
    silent_ms: note('How long ago it was heard of last, by the clock of the database.', number()),
    is_owner: note('Whether it decides.', boolean()),
    is_silent: note('Whether it has not been heard of for so long that it is taken for gone.', boolean()),
    waits_for: note(
      'The addresses of members of older versions that have to stop before it may decide: its migrations break them.',
      array(string()),
    ),
    linked_since: note('Since when it has its way to the owner; null where it has none.', nullable(string())),
    agents: note('Agents on its WebSockets, as the owner knows them.', number()),
    counts: note(
      'What it said last of itself, which it does every five seconds.',
      nullable(
        type({
          waiting: note('Agents of which the owner has to be told, and reports without an answer.', number()),
          absorbed: note('Beats that it answered alone, since it started.', number()),
          forwarded: note('Messages that it passed on.', number()),
          replayed: note('Agents of which it told a new owner.', number()),
        }),
      ),
    ),
  }),
)
export type ClusterMember = Infer<typeof ClusterMember>

export const DepartedMember = named(
  'DepartedMember',
  'A process that ran on this database in the last hour, and does not any more.',
  type({
    id: string(),
    address: string(),
    host: string(),
    pid: number(),
    version: string(),
    until: note('When it was heard of last.', string()),
    has_left: note(
      'Whether it stopped in order. One that did not fell silent, and was forgotten.',
      boolean(),
    ),
  }),
)
export type DepartedMember = Infer<typeof DepartedMember>

export const Cluster = named(
  'Cluster',
  '`GET /api/system/cluster`: the processes that serve this fleet, and which of them decides since when.',
  type({
    is_one_of_several: note('False for a process that runs alone, or with standbys.', boolean()),
    epoch: note(
      'The number of the ownership: it grows with each start and each attempt to become the owner.',
      nullable(number()),
    ),
    served_by: note(
      'The id of the member that took this request, be it the owner or one that passed it on; null for a process that runs alone, or with standbys.',
      nullable(string()),
    ),
    takeovers: note(
      'How often a process became the owner in place of another one, as today’s owner saw it since it started itself.',
      number(),
    ),
    owned_since: nullable(string()),
    members: note('Who started last comes first.', array(ClusterMember)),
    departed: note(
      'Those that went away in the last hour, twenty at most, as the owner saw it since it started; the last one first.',
      array(DepartedMember),
    ),
    agents: note(
      'Where the agents are, each in one place: on WebSockets of the processes, polling over HTTP, or awaited, as their connection ended a moment ago.',
      type({ websocket: number(), polling: number(), awaited: number() }),
    ),
  }),
)
export type Cluster = Infer<typeof Cluster>
