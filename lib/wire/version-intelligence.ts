import {
  array,
  boolean,
  enums,
  type Infer,
  literal,
  number,
  optional,
  type Struct,
  string,
  type,
} from 'superstruct'
import { dictionary, named, note } from './structs.ts'
import { VERSION_VERDICTS } from './values.ts'

export const VersionStanding = named(
  'VersionStanding',
  '',
  enums(['not_applicable', 'unknown', 'below_recommended', 'at_recommended', 'above_recommended']),
)
export type VersionStanding = Infer<typeof VersionStanding>

export const RecommendedVersion = named(
  'RecommendedVersion',
  'The version that the fleet is measured by.',
  type({
    version: note('Empty when nobody recommends one.', string()),
    source: note(
      'Whether it was stored here or comes from `MIN_AGENT_VERSION`.',
      enums(['stored', 'environment', 'none']),
    ),
    updated_at: optional(string()),
    updated_by: note('The email of who stored it.', optional(string())),
  }),
)
export type RecommendedVersion = Infer<typeof RecommendedVersion>

export const RecommendedVersionRequest = named(
  'RecommendedVersionRequest',
  'Body of `PUT /api/settings/recommended-version`.',
  type({ version: note('Empty to forget the stored one.', string()) }),
)
export type RecommendedVersionRequest = Infer<typeof RecommendedVersionRequest>

export const BlockingReason = named(
  'BlockingReason',
  '',
  type({
    code: string(),
    message: string(),
  }),
)
export type BlockingReason = Infer<typeof BlockingReason>

export const UnsupportedComponent = named(
  'UnsupportedComponent',
  '',
  type({
    workload_id: string(),
    display_name: string(),
    place: note(
      'Namespace with its cluster, or host: what tells workloads of one name apart.',
      optional(string()),
    ),
    config_hash: string(),
    category: string(),
    component_type: string(),
    path: string(),
    available_hash: optional(string()),
    available_types: optional(array(string())),
  }),
)
export type UnsupportedComponent = Infer<typeof UnsupportedComponent>

const CollectorVersion = type({
  reported: note('The lowest of its live instances.', string()),
  status: VersionStanding,
  comparable: boolean(),
  reason: optional(string()),
  mix: note(
    'The versions of its live instances where they differ, the lowest ten of `count`.',
    optional(
      type({
        count: number(),
        lowest: array(type({ version: string(), instance_count: number(), status: VersionStanding })),
      }),
    ),
  ),
})

const CollectorConfig = type({
  hash: optional(string()),
  source: enums(['active_or_applied', 'none']),
})

export const CompatibilityRow = named(
  'CompatibilityRow',
  '',
  type({
    workload_id: string(),
    display_name: string(),
    place: note(
      'Namespace with its cluster, or host: what tells workloads of one name apart.',
      optional(string()),
    ),
    group: string(),
    status: string(),
    version: CollectorVersion,
    available_components: type({
      hash: optional(string()),
      categories: array(string()),
      component_types: dictionary(array(string())),
    }),
    required_components: array(
      type({
        category: string(),
        component_type: string(),
        path: string(),
      }),
    ),
    config: CollectorConfig,
    known_issues: array(
      type({
        code: string(),
        severity: string(),
        affected_version: string(),
        message: string(),
      }),
    ),
    opamp: type({
      accepts_remote_config: boolean(),
      remote_config_status: optional(string()),
      config_hash: optional(string()),
    }),
    runnable: boolean(),
    blocking_reasons: array(BlockingReason),
  }),
)
export type CompatibilityRow = Infer<typeof CompatibilityRow>

const RECOMMENDATION = {
  action: enums(['upgrade_collector', 'choose_older_config', 'remove_component']),
  reason: string(),
  workload_id: optional(string()),
  config_hash: optional(string()),
  components: optional(array(string())),
}

export const VersionIntelligence = named(
  'VersionIntelligence',
  '`GET /api/workloads/version-intelligence`: the fleet against a recommended version.',
  type({
    schema_version: literal('fleet-version-intelligence.v1'),
    recommended_version: string(),
    version_matrix: array(
      type({
        group: string(),
        type: string(),
        status: string(),
        version: string(),
        version_status: VersionStanding,
        count: number(),
        workload_ids: array(string()),
      }),
    ),
    compatibility_summary: type({
      total_collectors: number(),
      runnable_count: number(),
      not_runnable_count: number(),
      not_runnable_collectors: array(
        type({
          workload_id: string(),
          display_name: string(),
          blocking_reasons: array(BlockingReason),
        }),
      ),
    }),
    compatibility_matrix: array(CompatibilityRow),
    collectors_below_recommended: array(
      type({
        workload_id: string(),
        display_name: string(),
        group: string(),
        version: string(),
        recommended_version: string(),
      }),
    ),
    unsupported_config_components: array(UnsupportedComponent),
    invalid_versions: array(
      type({
        workload_id: string(),
        display_name: string(),
        version: string(),
        reason: enums(['empty_version', 'invalid_semver']),
      }),
    ),
    recommendations: array(type(RECOMMENDATION)),
  }),
)
export type VersionIntelligence = Infer<typeof VersionIntelligence>

/** The first rows of a list, and how many there are. */
const firstOf = <T>(row: Struct<T>) => type({ count: number(), first: array(row) })

export const VersionOverview = named(
  'VersionOverview',
  '`GET /api/workloads/version-overview`: what a page shows of the fleet against a recommended version. Of each list the first rows are told, and how many there are.',
  type({
    recommended_version: string(),
    counts: type({
      all: number(),
      can: number(),
      cannot: number(),
      unknown: number(),
      unassigned: note('Those that nothing blocks and that have no config from here.', number()),
    }),
    shares: array(
      type({
        version: string(),
        standing: VersionStanding,
        count: number(),
        mixed_count: note('Those among them of which other instances run another version.', number()),
        group_count: number(),
        groups: note('The largest.', array(type({ group: string(), count: number() }))),
      }),
    ),
    show: note(
      'Which collectors `rows` are: those that can run their config, cannot, have not said, or have none.',
      enums(VERSION_VERDICTS),
    ),
    rows: firstOf(
      type({
        workload_id: string(),
        display_name: string(),
        place: note(
          'Namespace with its cluster, or host: what tells workloads of one name apart.',
          optional(string()),
        ),
        version: CollectorVersion,
        config: CollectorConfig,
        blocking_reasons: array(BlockingReason),
      }),
    ),
    recommendations: firstOf(
      type({
        ...RECOMMENDATION,
        display_name: optional(string()),
        place: optional(string()),
        version: optional(CollectorVersion),
      }),
    ),
    unsupported: firstOf(UnsupportedComponent),
  }),
)
export type VersionOverview = Infer<typeof VersionOverview>
