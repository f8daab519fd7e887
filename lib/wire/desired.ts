import {
  array,
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
import { listOf, named, note, type Sent, texts } from './structs.ts'

/** The longest name of a person with its address. */
const NAME_LENGTH_MAX = 512

const COMMIT_AUTHORS = note(
  'Everybody whom the commit names: its author, its committer and those who wrote it with them, each as `name <address>`. None of them counts as a second person for what this account asks for with this text, nor for what others ask for afterwards with it of the same workload or fleet config.',
  defaulted(listOf(200, size(string(), 0, NAME_LENGTH_MAX)), []),
)

/** What a request says of the commit that it is made for. */
const COMMIT = {
  commit_sha: note('The commit that asks for it.', defaulted(size(string(), 0, 128), '')),
  commit_author: note('Its author, as `name <address>`.', defaulted(size(string(), 0, NAME_LENGTH_MAX), '')),
  commit_authors: COMMIT_AUTHORS,
}

const UNKNOWN_AUTHORS = note(
  'Those whom the commit names and nobody here is called: whoever they are, they count as a second person for this text. Absent where there are none, and where nothing is proposed and nothing waits.',
  optional(array(string())),
)

export const DesiredRequest = named(
  'DesiredRequest',
  'Body of `POST /api/workloads/{id}/config/desired`.',
  object({
    owner: note('Who keeps the config, such as the name of a repository.', defaulted(string(), '')),
    config: defaulted(string(), ''),
    ...COMMIT,
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
      'Why it is held: it failed there, its request was rejected, or something else was pushed in its place. Or what it waits for, where that is no request: its own rollout in stages, or another one.',
      optional(enums(['failed', 'rejected', 'replaced', 'rolling_out', 'other_rolling_out'])),
    ),
    config_hash: string(),
    active_config_hash: optional(string()),
    approval_id: note('The request that it is about.', optional(string())),
    unknown_authors: UNKNOWN_AUTHORS,
  }),
)
export type DesiredResult = Infer<typeof DesiredResult>

export const ManagedConfigRecord = named(
  'ManagedConfigRecord',
  'What an owner in Git asks for of a workload. Once it is accepted, changes by hand can only be pushed by breaking the glass.',
  type({
    workload_id: string(),
    owner: string(),
    accepted: note(
      'Whether a request of the owner was approved there. Until then it keeps nobody out.',
      boolean(),
    ),
    config_hash: note('What Git asks for, which need not be what runs.', string()),
    commit_sha: optional(string()),
    commit_author: optional(string()),
    ran_commit_sha: note(
      'The commit that first asked for what runs, or else for what ran last of what Git asked for: whoever changed the documents since then is an author of what is asked for next.',
      optional(string()),
    ),
    applied_at: string(),
    applied_by: string(),
  }),
)
export type ManagedConfigRecord = Infer<typeof ManagedConfigRecord>

const HANDED_OVER_MAX = 100

export const HandOverRequest = named(
  'HandOverRequest',
  'Body of `POST /api/managed-configs/hand-over`. Without a list all that the owner keeps is handed over.',
  type({
    owner: note('Who keeps it in Git until then.', defaulted(string(), '')),
    to_owner: note('Who keeps it from then on; absent for the same name.', optional(string())),
    to_account_id: note(
      'The user or service account that speaks for it from then on, whose credential the pipeline takes: its id, the e-mail of a user, or `service:` and the name of a service account.',
      defaulted(string(), ''),
    ),
    workload_ids: optional(texts(HANDED_OVER_MAX)),
    fleet_config_ids: optional(texts(HANDED_OVER_MAX)),
  }),
)
export type HandOverRequest = Sent<typeof HandOverRequest>

export const HandOverResult = named(
  'HandOverResult',
  'What was handed over.',
  type({ workload_count: number(), fleet_config_count: number() }),
)
export type HandOverResult = Infer<typeof HandOverResult>

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
    ...COMMIT,
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
      'Why it is held: what became of the campaign that carried it, or of the version at a workload that it was brought to: it failed there, was rolled back, or something else was pushed in its place. Or that it waits for the end of another campaign, `campaign_id`.',
      optional(enums(['rejected', 'aborted', 'rolled_back', 'failed', 'replaced', 'other_under_way'])),
    ),
    fleet_config_id: note('Absent where it would be made.', optional(string())),
    version: note('The version that says what Git says; absent where it would be added.', optional(number())),
    campaign_id: note(
      'The campaign that carries it. A draft is still to be planned and asked for.',
      optional(string()),
    ),
    unknown_authors: UNKNOWN_AUTHORS,
    campaign_status: optional(CampaignStatus),
    campaign_rules: note(
      'Where Git says other rules than its campaign has: `new` where it is proposed anew with these, `former` where it was started and goes on by its own, so that those of Git count for the next one.',
      optional(enums(['new', 'former'])),
    ),
    workload_count: note('Workloads that are under it now.', number()),
    definition_changes: note(
      'What becomes another of the fleet config itself; absent where nothing does.',
      optional(array(enums(['description', 'selector', 'priority']))),
    ),
    joining_count: note(
      'Workloads that come under it by that; absent where nothing changes.',
      optional(number()),
    ),
    leaving_count: note('Workloads that leave it by that.', optional(number())),
  }),
)
export type DesiredFleetResult = Infer<typeof DesiredFleetResult>
