import {
  boolean,
  defaulted,
  enums,
  type Infer,
  number,
  object,
  optional,
  size,
  string,
  type,
} from 'superstruct'
import { CAMPAIGN_RULES, CampaignStatus } from './campaigns.ts'
import { FleetConfigRequest, FleetConfigVersionRequest } from './fleet-configs.ts'
import { listOf, named, note, type Sent } from './structs.ts'

const COMMIT_AUTHORS = note(
  'Everybody whom the commit names: its author, its committer and those who wrote it with them, each as `name <address>`. None of them counts as a second person for this text.',
  defaulted(listOf(200, size(string(), 0, 512)), []),
)

export const DesiredRequest = named(
  'DesiredRequest',
  'Body of `POST /api/workloads/{id}/config/desired`.',
  object({
    owner: note('Who keeps the config, such as the name of a repository.', defaulted(string(), '')),
    config: defaulted(string(), ''),
    commit_sha: defaulted(string(), ''),
    commit_author: defaulted(string(), ''),
    commit_authors: COMMIT_AUTHORS,
    again: note('Ask again for what is held.', defaulted(boolean(), false)),
    dry_run: note('Only say what would be done.', defaulted(boolean(), false)),
  }),
)
export type DesiredRequest = Sent<typeof DesiredRequest>

export const DesiredResult = named(
  'DesiredResult',
  'What is done, or with `dry_run` would be, about a config that Git holds for a workload.',
  type({
    workload_id: string(),
    action: enums(['unchanged', 'propose', 'waits', 'held']),
    reason: note(
      'Why it is held: it failed there, its request was rejected, or something else was pushed in its place.',
      optional(enums(['failed', 'rejected', 'replaced'])),
    ),
    config_hash: string(),
    active_config_hash: optional(string()),
    approval_id: note('The request that it is about.', optional(string())),
  }),
)
export type DesiredResult = Infer<typeof DesiredResult>

export const ManagedConfigRecord = named(
  'ManagedConfigRecord',
  'A workload whose config is kept in Git: changes by hand can only be pushed by breaking the glass.',
  type({
    workload_id: string(),
    owner: string(),
    config_hash: note('What Git asks for, which need not be what runs.', string()),
    commit_sha: optional(string()),
    commit_author: optional(string()),
    applied_at: string(),
    applied_by: string(),
  }),
)
export type ManagedConfigRecord = Infer<typeof ManagedConfigRecord>

const { content, variables, table } = FleetConfigVersionRequest.schema

export const DesiredFleetRequest = named(
  'DesiredFleetRequest',
  'Body of `POST /api/fleet-configs/desired`: a fleet config by its name, what its newest version is to say, and how it is carried.',
  object({
    owner: note('Who keeps the config, such as the name of a repository.', defaulted(string(), '')),
    ...FleetConfigRequest.schema,
    content,
    variables,
    table,
    campaign: optional(
      object({
        takeover: note(
          'Whether workloads that muster never pushed to are changed as well; there is no way back for them.',
          optional(boolean()),
        ),
        ...CAMPAIGN_RULES,
      }),
    ),
    commit_sha: defaulted(string(), ''),
    commit_author: defaulted(string(), ''),
    commit_authors: COMMIT_AUTHORS,
    again: note('Ask again for what is held.', defaulted(boolean(), false)),
    dry_run: note('Only say what would be done.', defaulted(boolean(), false)),
  }),
)
export type DesiredFleetRequest = Sent<typeof DesiredFleetRequest>

export const DesiredFleetResult = named(
  'DesiredFleetResult',
  'What is done, or with `dry_run` would be, about a fleet config that Git holds.',
  type({
    name: string(),
    action: enums(['unchanged', 'propose', 'waits', 'held']),
    reason: note(
      'Why it is held: what became of the campaign that carried it.',
      optional(enums(['rejected', 'aborted', 'rolled_back'])),
    ),
    fleet_config_id: note('Absent where it would be made.', optional(string())),
    version: note('The version that says what Git says; absent where it would be added.', optional(number())),
    campaign_id: note(
      'The campaign that carries it. A draft is still to be planned and asked for.',
      optional(string()),
    ),
    campaign_status: optional(CampaignStatus),
    workload_count: note('Workloads that are under it now.', number()),
  }),
)
export type DesiredFleetResult = Infer<typeof DesiredFleetResult>
