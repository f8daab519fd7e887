import type { CampaignSummary } from '../../store/campaigns.ts'

// A row may have been written by hand, or by another version. Only what the code reaches into is looked at: the words
// that a row holds grow with each version, and those of an old one go on being shown.

type Test = (value: unknown) => boolean

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isText: Test = (value) => typeof value === 'string'
const isNumber: Test = (value) => typeof value === 'number'
const isFlag: Test = (value) => typeof value === 'boolean'
const isListOf =
  (test: Test): Test =>
  (value) =>
    Array.isArray(value) && value.every(test)
const maybe =
  (test: Test): Test =>
  (value) =>
    value === undefined || test(value)
const isMade =
  (fields: Readonly<Record<string, Test>>): Test =>
  (value) =>
    isObject(value) && Object.entries(fields).every(([name, test]) => test(value[name]))
const isDictionaryOf =
  (test: Test): Test =>
  (value) =>
    isObject(value) && Object.values(value).every(test)
const orNull =
  (test: Test): Test =>
  (value) =>
    value === null || test(value)

const areNumbers = isDictionaryOf(isNumber)
const isVersion = isMade({ fleet_config_id: isText, number: isNumber })
const isHashed = isMade({ hash: isText })

const isChange: Test = (value) =>
  isObject(value) &&
  (value.kind === 'version'
    ? isVersion(value)
    : (value.kind === 'text' || value.kind === 'patch') && isHashed(value))

const SCOPE: Readonly<Record<string, Test>> = {
  selector: isObject,
  workload_ids: isListOf(isText),
  exclude_selector: isObject,
  exclude_ids: isListOf(isText),
  exclude_names: isListOf(isText),
  cut_to: isListOf(isMade({ key: isText, values: isListOf(isText) })),
}

// What this version does not know may be what another one cuts a scope to.
const isScope: Test = (value) =>
  isObject(value) && Object.entries(value).every(([name, part]) => SCOPE[name]?.(part) === true)

/** How each column must be that holds JSON, and what stands in the place of one that is not so. */
const SHAPES = {
  change: [isChange, { kind: 'text', hash: '' }],
  scope: [isScope, {}],
  rules: [
    isMade({
      waves: isListOf(isObject),
      limits: areNumbers,
      maxInFlight: isNumber,
      catchUpSeconds: isNumber,
      windows: isListOf(isObject),
      retryQuarantined: isFlag,
    }),
    { waves: [], limits: {}, maxInFlight: 0, catchUpSeconds: 0, windows: [], retryQuarantined: false },
  ],
  plan: [orNull(isMade({ verdicts: areNumbers, refused: areNumbers, waves: isListOf(isObject) })), null],
  halt: [
    orNull(
      isMade({
        gate: isText,
        workload_ids: isListOf(isText),
        workloads: maybe(isListOf(isMade({ workload_id: isText }))),
      }),
    ),
    null,
  ],
  raised: [areNumbers, {}],
  approvals: [isListOf(isMade({ by: isText, at: isText, comment: isText })), []],
} as const satisfies Partial<Record<keyof CampaignSummary, readonly [Test, unknown]>>

/** The columns of a campaign that hold something else than this version knows. */
export const unreadableOf = (campaign: CampaignSummary): string[] =>
  Object.entries(SHAPES).flatMap(([column, [fits]]) =>
    fits(campaign[column as keyof typeof SHAPES]) ? [] : [column],
  )

/** A campaign with nothing in the place of these columns. */
export const withoutColumns = (campaign: CampaignSummary, columns: readonly string[]): CampaignSummary => ({
  ...campaign,
  ...Object.fromEntries(columns.map((column) => [column, SHAPES[column as keyof typeof SHAPES][1]])),
})

/** Whether it can be told what a campaign reaches. */
export const isReachReadable = ({ scope, change }: Pick<CampaignSummary, 'scope' | 'change'>): boolean =>
  SHAPES.scope[0](scope) && SHAPES.change[0](change)
