import {
  array,
  boolean,
  defaulted,
  enums,
  type Infer,
  literal,
  nullable,
  number,
  optional,
  string,
  type,
} from 'superstruct'
import { RiskLevel, RiskScore } from './plan.ts'
import { anyOf, anything, dictionary, listOf, named, note, type Sent, textsByKey } from './structs.ts'
import { PIPELINE_SECTIONS } from './values.ts'

export const ChangeKind = named(
  'ChangeKind',
  '',
  enums(['added', 'removed', 'modified', 'moved', 'unchanged']),
)
export type ChangeKind = Infer<typeof ChangeKind>

const Text = defaulted(string(), '')
const Labels = defaulted(textsByKey(1_000), () => ({}))
const described = {
  display_name: Text,
  workload_type: Text,
  type: Text,
  status: Text,
  labels: Labels,
  fingerprint_keys: Labels,
}

export const DiffPeer = named(
  'DiffPeer',
  'A workload as the caller describes it, for a diff without the fleet.',
  type({ id: Text, ...described }),
)
export type DiffPeer = Infer<typeof DiffPeer>

export const DiffRequest = named(
  'DiffRequest',
  'Body of `POST /api/configs/diff`.',
  type({
    base_yaml: Text,
    target_yaml: Text,
    context: optional(
      type({
        workload_id: Text,
        ...described,
        fleet_peers: defaulted(listOf(2_000, DiffPeer), () => []),
      }),
    ),
  }),
)
export type DiffRequest = Sent<typeof DiffRequest>

export const DiffChangedField = named(
  'DiffChangedField',
  '',
  type({
    path: string(),
    before: optional(anything()),
    after: optional(anything()),
    risk: RiskLevel,
  }),
)
export type DiffChangedField = Infer<typeof DiffChangedField>

export const DiffComponentRef = named(
  'DiffComponentRef',
  '',
  type({
    category: string(),
    id: string(),
    type: string(),
    name: optional(string()),
    path: string(),
  }),
)
export type DiffComponentRef = Infer<typeof DiffComponentRef>

export const DiffComponent = named(
  'DiffComponent',
  '',
  type({
    id: string(),
    kind: ChangeKind,
    component: DiffComponentRef,
    risk: RiskLevel,
    title: string(),
    before: optional(anything()),
    after: optional(anything()),
    changed_fields: array(DiffChangedField),
    impacted_pipelines: array(string()),
    rules: array(string()),
    addresses: note(
      'Of an exporter that was added: where it sends to, as far as its settings say.',
      optional(array(string())),
    ),
    renamed_to: note(
      'Of one that was removed: the id under which it is there still, with the same settings and in the same pipelines.',
      optional(string()),
    ),
    renamed_from: note('Of one that was added: the id that it had before.', optional(string())),
  }),
)
export type DiffComponent = Infer<typeof DiffComponent>

export const DiffPipelineShape = named(
  'DiffPipelineShape',
  '',
  type({
    receivers: array(string()),
    processors: array(string()),
    exporters: array(string()),
  }),
)
export type DiffPipelineShape = Infer<typeof DiffPipelineShape>

export const DiffPipeline = named(
  'DiffPipeline',
  '',
  type({
    id: string(),
    kind: ChangeKind,
    pipeline_key: string(),
    signal: string(),
    risk: RiskLevel,
    before: optional(DiffPipelineShape),
    after: optional(DiffPipelineShape),
    component_ref_changes: array(
      type({
        section: enums(PIPELINE_SECTIONS),
        component_id: string(),
        kind: ChangeKind,
        from_index: optional(number()),
        to_index: optional(number()),
        risk: RiskLevel,
        reason: optional(string()),
        is_renamed: note('The component only got another id.', optional(boolean())),
      }),
    ),
    rules: array(string()),
  }),
)
export type DiffPipeline = Infer<typeof DiffPipeline>

export const DiffEndpointValue = named(
  'DiffEndpointValue',
  '',
  type({
    raw: string(),
    scheme: optional(string()),
    host: optional(string()),
    port: optional(number()),
    path: optional(string()),
    normalized: string(),
    insecure: optional(boolean()),
    tls_enabled: optional(boolean()),
  }),
)
export type DiffEndpointValue = Infer<typeof DiffEndpointValue>

export const DiffEndpoint = named(
  'DiffEndpoint',
  '',
  type({
    id: string(),
    kind: ChangeKind,
    component: DiffComponentRef,
    endpoint_kind: string(),
    field_path: string(),
    before: optional(DiffEndpointValue),
    after: optional(DiffEndpointValue),
    risk: RiskLevel,
    rules: array(string()),
  }),
)
export type DiffEndpoint = Infer<typeof DiffEndpoint>

export const DiffSecurityItem = named(
  'DiffSecurityItem',
  '',
  type({
    id: string(),
    kind: ChangeKind,
    component: DiffComponentRef,
    path: string(),
    field: string(),
    before: optional(anything()),
    after: optional(anything()),
    risk: RiskLevel,
    rules: array(string()),
    message: string(),
  }),
)
export type DiffSecurityItem = Infer<typeof DiffSecurityItem>

export const DiffRiskItem = named(
  'DiffRiskItem',
  '',
  type({
    id: string(),
    risk: RiskLevel,
    category: enums(['security', 'data_loss', 'cost', 'routing']),
    rule: string(),
    title: string(),
    description: string(),
    affected_paths: array(string()),
    affected_pipelines: array(string()),
  }),
)
export type DiffRiskItem = Infer<typeof DiffRiskItem>

export const DiffSummaryLine = named(
  'DiffSummaryLine',
  'One sentence of the summary in words. The sentence holds no value; `before` and `after` do, secrets masked.',
  type({
    text: string(),
    category: note(
      '`signal`: no pipeline sends this signal any more, that one did before.',
      enums(['component', 'pipeline', 'field', 'signal', 'unchanged']),
    ),
    kind: ChangeKind,
    risk: RiskLevel,
    component_id: optional(string()),
    pipeline_key: optional(string()),
    signal: optional(string()),
    path: optional(string()),
    before: note('The value it had, on one line and cut where it is long.', optional(string())),
    after: note('The value it gets, likewise.', optional(string())),
  }),
)
export type DiffSummaryLine = Infer<typeof DiffSummaryLine>

const MadeOf = enums(['addsComponent', 'removesComponent', 'addsPipeline', 'removesPipeline', 'reorders'])

export const DiffWord = named(
  'DiffWord',
  'One thing that a change does, before it is put into words; values with secrets masked, on one line and cut where they are long.',
  anyOf([
    type({ kind: MadeOf, name: string() }),
    type({ kind: literal('renames'), name: string(), to: string() }),
    type({ kind: literal('addsDestination'), name: string(), addresses: array(string()) }),
    type({ kind: literal('addsSampler'), name: string(), percent: number(), signals: array(string()) }),
    type({
      kind: literal('changesField'),
      path: string(),
      before: note('Null where the field was not there.', nullable(string())),
      after: note('Null where it is taken out.', nullable(string())),
    }),
    type({ kind: enums(['routes', 'unroutes']), signal: string(), name: string() }),
    type({ kind: enums(['keeps', 'losesSignal']), signal: string() }),
  ]),
)
export type DiffWord = Infer<typeof DiffWord>

export const DiffBlastRadius = named(
  'DiffBlastRadius',
  '',
  type({
    schema_version: literal('otel-config-blast-radius.v1'),
    affected_signals: array(string()),
    touched_exporters: array(string()),
    impacted_services: array(
      type({
        service_name: string(),
        workload_id: optional(string()),
        display_name: optional(string()),
        type: optional(string()),
        status: optional(string()),
      }),
    ),
    impacted_clusters: array(string()),
    critical_collectors: array(
      type({
        workload_id: string(),
        display_name: optional(string()),
        status: optional(string()),
        reasons: array(string()),
      }),
    ),
  }),
)
export type DiffBlastRadius = Infer<typeof DiffBlastRadius>

export const ConfigDiff = named(
  'ConfigDiff',
  'Answer of `POST /api/configs/diff`; secrets are masked.',
  type({
    schema_version: literal('otel-config-diff.v1'),
    valid: boolean(),
    summary: type({
      overall_risk: RiskLevel,
      counts: dictionary(number()),
      headline: string(),
    }),
    risk_score: RiskScore,
    blast_radius: DiffBlastRadius,
    human_summary: array(DiffSummaryLine),
    components: array(DiffComponent),
    pipelines: array(DiffPipeline),
    endpoints: array(DiffEndpoint),
    security: array(DiffSecurityItem),
    risk_items: array(DiffRiskItem),
    diagnostics: array(
      type({
        side: enums(['base', 'target']),
        code: string(),
        message: string(),
        path: optional(string()),
        severity: string(),
      }),
    ),
    normalized: dictionary(anyOf([string(), number()])),
  }),
)
export type ConfigDiff = Infer<typeof ConfigDiff>
