import { pathOfAgentError } from '../../configs/redact/agent-error.ts'
import type { PushTarget } from '../../store/push-targets.ts'
import type { AgentError, ToldFailure } from '../../store/pushes.ts'
import type { RevisionErrorGroup } from '../../wire/revisions.ts'
import { ROLLOUT_HALTED } from '../decide/rollout.ts'

/** Whether the redacted texts of agents are shown: only to those who may read configs. */
export interface TextAccess {
  withTexts: boolean
}

/** An agent's error as the wire carries it: cause and title for everyone. */
export function errorFields(
  error: AgentError | null,
  { withTexts }: TextAccess,
): {
  error_cause?: string
  error_title?: string
  error_parameters?: Record<string, string>
  error_message?: string
} {
  if (error === null) return {}
  return {
    error_cause: error.cause,
    error_title: error.title,
    ...parameterFields(error.parameters, { withTexts }),
    ...(withTexts && error.text !== '' ? { error_message: error.text } : {}),
  }
}

/** Why something failed, as lists and alerts say it, and whether the reader is not told all of it. */
export interface Why {
  error_cause?: string
  error_title?: string
  error_parameters?: Record<string, string>
  error_message?: string
  is_abridged?: boolean
}

/** Characters of an agent's own words that lists carry: a line of them is read there, and no more. */
const OWN_WORDS_MAX = 300

/**
 * What the agent itself said, in one line, where nothing else says what the error is about; '' where something does, and
 * where the words are muster's own.
 */
function ownWordsOf({ cause, parameters, text = '' }: ToldFailure): string {
  if (Object.keys(parameters).length > 0 || cause === ROLLOUT_HALTED.cause) return ''
  return [...text.replace(/\s+/g, ' ').trim()].slice(0, OWN_WORDS_MAX).join('')
}

/** Why something failed, for one line; nothing where muster has no words for it and the agent's own may not be told. */
export function whyOf(error: ToldFailure | null, { withTexts }: TextAccess): Why {
  if (error === null) return {}
  const own = ownWordsOf(error)
  const isAbridged = !withTexts && own !== ''
  if (error.cause === 'unknown' && (own === '' || isAbridged)) return isAbridged ? { is_abridged: true } : {}
  const fields = errorFields({ ...error, text: own }, { withTexts })
  const told = Object.keys(fields.error_parameters ?? {}).length
  const isCut = isAbridged || told < Object.keys(error.parameters).length
  return { ...fields, ...(isCut ? { is_abridged: true } : {}) }
}

/**
 * What an error is about; absent where nothing is known. Everyone sees numbers; names come from the config or the
 * agent, and are for those who may read texts.
 */
function parameterFields(
  parameters: AgentError['parameters'],
  { withTexts }: TextAccess,
): { error_parameters?: Record<string, string> } {
  const entries = Object.entries(parameters)
    .map(([key, value]) => [key, String(value)] as const)
    .filter(([, value]) => withTexts || /^-?\d{1,10}$/.test(value))
  return entries.length === 0 ? {} : { error_parameters: Object.fromEntries(entries) }
}

/** Instances of one push that failed for the same cause. */
export interface ErrorGroup {
  cause: string
  title: string
  count: number
  firstAt: Date
  lastAt: Date
  /** Some of the instances, sorted. */
  instanceUids: readonly string[]
  /** The redacted error text of one of them. */
  sample: string
  /** Empty unless they are the same for all of them. */
  parameters: AgentError['parameters']
}

/** How many instances a group names. */
export const GROUP_INSTANCES_MAX = 20

const MEDIUM = ['unknown', 'rollback_unavailable']
const FINAL = ['capability_mismatch', 'permission_or_policy', 'rollback_unavailable']

/** The failed targets of a push, grouped by cause. */
export function groupErrors(targets: Iterable<PushTarget>): ErrorGroup[] {
  const groups = new Map<string, { error: AgentError; times: number[]; uids: string[]; isAlike: boolean }>()
  for (const target of targets) {
    if (target.state !== 'failed') continue
    const error = target.error ?? { cause: 'unknown', title: 'Remote config error', parameters: {}, text: '' }
    const group = groups.get(error.cause) ?? { error, times: [], uids: [], isAlike: true }
    group.isAlike &&= isSame(group.error.parameters, error.parameters)
    group.times.push((target.endedAt ?? target.updatedAt).getTime())
    group.uids.push(target.instanceUid)
    groups.set(error.cause, group)
  }
  return [...groups.values()].map(({ error, times, uids, isAlike }) => ({
    cause: error.cause,
    title: error.title,
    count: uids.length,
    firstAt: new Date(times.reduce((a, b) => Math.min(a, b))),
    lastAt: new Date(times.reduce((a, b) => Math.max(a, b))),
    instanceUids: uids.sort().slice(0, GROUP_INSTANCES_MAX),
    sample: error.text,
    parameters: isAlike ? error.parameters : {},
  }))
}

const isSame = (a: AgentError['parameters'], b: AgentError['parameters']): boolean =>
  Object.keys(a).length === Object.keys(b).length && Object.keys(a).every((key) => a[key] === b[key])

/** One instance's error text, and the config path that it names; each absent where there is none. */
function sampleFields(text: string): Pick<RevisionErrorGroup, 'sample_message' | 'sample_path'> {
  const path = pathOfAgentError(text)
  return {
    ...(text === '' ? {} : { sample_message: text }),
    ...(path === '' ? {} : { sample_path: path }),
  }
}

/** Groups as the wire carries them: high severity first, then the most instances, then by cause. */
export function toErrorGroups(
  groups: readonly ErrorGroup[],
  configHash: string,
  { withTexts }: TextAccess,
): RevisionErrorGroup[] {
  const records = groups.map(
    (group): RevisionErrorGroup => ({
      cause: group.cause,
      title: group.title,
      severity: MEDIUM.includes(group.cause) ? 'medium' : 'high',
      count: group.count,
      first_seen_at: group.firstAt.toISOString(),
      last_seen_at: group.lastAt.toISOString(),
      retryable: !FINAL.includes(group.cause),
      ...(group.instanceUids.length === 0 ? {} : { affected_instances: [...group.instanceUids] }),
      ...parameterFields(group.parameters, { withTexts }),
      ...(withTexts ? sampleFields(group.sample) : {}),
      config_hash: configHash,
    }),
  )
  const rank = (record: RevisionErrorGroup) => (record.severity === 'high' ? 0 : 1)
  return records.sort((a, b) => rank(a) - rank(b) || b.count - a.count || (a.cause < b.cause ? -1 : 1))
}
