import {
  array,
  boolean,
  defaulted,
  enums,
  type Infer,
  integer,
  nullable,
  number,
  object,
  optional,
  string,
  type,
} from 'superstruct'
import { Selector } from './selectors.ts'
import { dictionary, listOf, named, note, type Sent, texts, textsByKey } from './structs.ts'
import { VARIABLE_KINDS } from './values.ts'

const Text = defaulted(string(), '')

const IN_GIT = {
  owner: string(),
  version: number(),
  commit_sha: optional(string()),
  commit_author: optional(string()),
}

export const FleetConfigRecord = named(
  'FleetConfigRecord',
  'A config for many workloads.',
  type({
    id: string(),
    name: string(),
    description: optional(string()),
    selector: Selector,
    priority: note(
      'The highest counts where several select one workload, but Git keeps what it has brought there.',
      number(),
    ),
    newest_version: note('0 before the first.', number()),
    workload_count: note('Workloads that are under it now.', number()),
    conflict_count: note('Of these, those that another one selects with the same priority.', number()),
    held_count: note('Of these, those that campaigns leave alone.', number()),
    kept_by: note(
      'Other fleet configs that keep workloads which this one selects too, as their priority is the same or higher, or Git has brought theirs there, and how many; `in_git_count`: of these, those where that is why, whatever the priorities. Absent where there are none.',
      optional(
        array(
          type({
            id: string(),
            name: string(),
            priority: number(),
            workload_count: number(),
            in_git_count: number(),
          }),
        ),
      ),
    ),
    managed: note(
      'Who keeps it in Git, and the version that Git asks for: it is changed there. Absent where nobody does.',
      optional(
        type({
          ...IN_GIT,
          ran_commit_sha: note(
            'In lists with `ran_commits=true`: the commit that first asked for what was brought last to all workloads under it. Whoever changed the documents since then is an author of what is asked for next.',
            optional(string()),
          ),
        }),
      ),
    ),
    created_by: string(),
    created_at: string(),
    updated_at: string(),
  }),
)
export type FleetConfigRecord = Infer<typeof FleetConfigRecord>

export const FleetConfigRequest = named(
  'FleetConfigRequest',
  'Body of `POST /api/fleet-configs` and `PUT /api/fleet-configs/{id}`.',
  type({
    name: Text,
    description: Text,
    selector: defaulted(Selector, () => ({})),
    priority: defaulted(integer(), 0),
  }),
)
export type FleetConfigRequest = Sent<typeof FleetConfigRequest>

export const VersionVariable = named(
  'VersionVariable',
  'A variable that a version declares: `${muster:name}` in its text.',
  type({
    name: string(),
    type: defaulted(enums(VARIABLE_KINDS), 'string'),
    required: note('Its value must be given: no default counts.', defaulted(boolean(), false)),
    pattern: note('Which a value meets as a whole.', optional(string())),
    default: optional(string()),
    description: optional(string()),
    label: note(
      'The label that it takes its value from where none is given: `identity/…`, `muster/…`, or a reported one, which needs a pattern and never goes to production by itself.',
      optional(string()),
    ),
  }),
)
export type VersionVariable = Infer<typeof VersionVariable>

export const ValueTable = named(
  'ValueTable',
  'Values by the value of a trusted label.',
  type({ label: string(), rows: dictionary(textsByKey(1_000), 2_000) }),
)
export type ValueTable = Infer<typeof ValueTable>

const versionSummary = {
  number: number(),
  hash: string(),
  comment: string(),
  author: string(),
  created_at: string(),
  rolled_back: note(
    'Whether a campaign that brought this text to all workloads was taken back: it applies by itself no more.',
    boolean(),
  ),
  rolled_back_by: note('That campaign, the last one of several.', optional(string())),
}

export const FleetConfigVersionSummary = named(
  'FleetConfigVersionSummary',
  'A version of a fleet config without its text, variables and table of values.',
  type(versionSummary),
)
export type FleetConfigVersionSummary = Infer<typeof FleetConfigVersionSummary>

export const FleetConfigVersion = named(
  'FleetConfigVersion',
  'A version of a fleet config, which never changes.',
  type({
    ...versionSummary,
    content: string(),
    variables: array(VersionVariable),
    table: optional(ValueTable),
  }),
)
export type FleetConfigVersion = Infer<typeof FleetConfigVersion>

export const FleetConfigVersionRequest = named(
  'FleetConfigVersionRequest',
  'Body of `POST /api/fleet-configs/{id}/versions`.',
  type({
    content: Text,
    variables: defaulted(listOf(1_000, VersionVariable), () => []),
    table: optional(ValueTable),
    comment: Text,
  }),
)
export type FleetConfigVersionRequest = Sent<typeof FleetConfigVersionRequest>

export const FleetConfigComparison = named(
  'FleetConfigComparison',
  'What the text of one version says that another one does not, as a unified diff.',
  type({ from: number(), to: number(), diff: string(), truncated: boolean() }),
)
export type FleetConfigComparison = Infer<typeof FleetConfigComparison>

export const RenderedVersion = named(
  'RenderedVersion',
  "A version with a workload's values in it: what would be pushed.",
  type({
    workload_id: string(),
    number: number(),
    content: string(),
    hash: string(),
    values: note('Those that the text takes; a default is not among them.', dictionary(string())),
  }),
)
export type RenderedVersion = Infer<typeof RenderedVersion>

export const HoldRecord = named(
  'HoldRecord',
  'Why campaigns leave a workload alone.',
  type({
    workload_id: string(),
    reason: string(),
    held_by: string(),
    held_at: string(),
    until: string(),
    overdue: note('The time is over, but nobody has released it.', boolean()),
  }),
)
export type HoldRecord = Infer<typeof HoldRecord>

export const HoldRequest = named(
  'HoldRequest',
  'Body of `POST /api/workloads/{id}/hold`.',
  type({ reason: Text, until: note('Seven days from now where it is absent.', optional(string())) }),
)
export type HoldRequest = Sent<typeof HoldRequest>

export const HoldsRequest = named(
  'HoldsRequest',
  'Body of `POST /api/holds`.',
  type({
    workload_ids: note(
      'At most 500.',
      defaulted(texts(1_000), () => []),
    ),
    reason: Text,
    until: note('Seven days from now where it is absent.', optional(string())),
  }),
)
export type HoldsRequest = Sent<typeof HoldsRequest>

export const HoldsReleaseRequest = named(
  'HoldsReleaseRequest',
  'Body of `POST /api/holds/release`.',
  type({
    workload_ids: note(
      'At most 500.',
      defaulted(texts(1_000), () => []),
    ),
  }),
)
export type HoldsReleaseRequest = Sent<typeof HoldsReleaseRequest>

export const HoldsChanged = named(
  'HoldsChanged',
  'How many workloads were held, or released.',
  type({ changed_count: number() }),
)
export type HoldsChanged = Infer<typeof HoldsChanged>

export const FleetConfigWorkload = named(
  'FleetConfigWorkload',
  'A workload under a fleet config.',
  type({
    workload_id: string(),
    display_name: string(),
    place: note(
      'Namespace with its cluster, or host: what tells workloads of one name apart.',
      optional(string()),
    ),
    status: string(),
    active_config_hash: optional(string()),
    version: note(
      'The version that it should run. Absent where what is assigned to it came from no version.',
      optional(number()),
    ),
    rivals: note('Names of others that select it with the same priority.', array(string())),
    hold: optional(HoldRecord),
  }),
)
export type FleetConfigWorkload = Infer<typeof FleetConfigWorkload>

export const FreezeRecord = named(
  'FreezeRecord',
  'A time in which workloads are not to be changed.',
  type({
    freeze: nullable(
      type({
        selector: note('Absent for the whole fleet.', optional(Selector)),
        reason: string(),
        until: string(),
        set_by: string(),
        set_at: string(),
        workload_count: note('Workloads that it is about now.', number()),
      }),
    ),
  }),
)
export type FreezeRecord = Infer<typeof FreezeRecord>

export const FreezeRequest = named(
  'FreezeRequest',
  'Body of `PUT /api/freeze`. Without `selector` it is about the whole fleet.',
  object({ selector: optional(Selector), reason: Text, until: string() }),
)
export type FreezeRequest = Sent<typeof FreezeRequest>

export const FleetStanding = named(
  'FleetStanding',
  'Where a workload stands among fleet configs, and what a push to it needs.',
  type({
    workload_id: string(),
    fleet_config: optional(type({ id: string(), name: string() })),
    kept_in_git: note(
      'Who keeps the workload in Git by its fleet config, and the version that Git asks for: requests of others are not approved there. Absent while nothing of the fleet config was brought to it, and where the workload is kept by itself.',
      optional(
        type({
          ...IN_GIT,
          overruled: note(
            'How something else came to run than what Git asks for; absent where nothing was pushed since Git asked.',
            optional(enums(['rolled_back', 'replaced'])),
          ),
        }),
      ),
    ),
    rivals: array(string()),
    hold: optional(HoldRecord),
    freeze: optional(type({ reason: string(), until: string() })),
  }),
)
export type FleetStanding = Infer<typeof FleetStanding>

export const WorkloadVariables = named(
  'WorkloadVariables',
  'Values of variables that belong to one workload.',
  type({ workload_id: string(), values: dictionary(string()) }),
)
export type WorkloadVariables = Infer<typeof WorkloadVariables>

export const WorkloadVariablesRequest = named(
  'WorkloadVariablesRequest',
  'Body of `PUT /api/workloads/{id}/variables`: all of them.',
  type({ values: defaulted(textsByKey(1_000), () => ({})) }),
)
export type WorkloadVariablesRequest = Sent<typeof WorkloadVariablesRequest>
