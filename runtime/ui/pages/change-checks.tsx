import type { LiveInstance } from '../../../lib/wire/instances.ts'
import type { ConfigPlan } from '../../../lib/wire/plan.ts'
import type { ValidationCheck, ValidationResult } from '../../../lib/wire/validation.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { changeTexts, sayBlocks } from '../i18n/change.ts'
import { findingTexts, translated } from '../i18n/check-findings.ts'
import { say } from '../i18n/define.ts'
import { formatNumber } from '../i18n/format.ts'
import type { Tone } from '../logic/diagnosis.ts'
import { nameInstances } from '../logic/instances.ts'
import { areStagesSuggested, listStageSizes, toStageRequests, USUAL_STAGES } from '../logic/stages.ts'
import { breakable } from '../parts/breakable.tsx'
import { FailureNotice } from '../parts/failure.tsx'
import { Icon, type Shape } from '../parts/icons.tsx'
import { can } from '../state/session.ts'
import type { Resource } from '../state/use-resource.ts'

const LOOK: Record<ValidationCheck['status'], readonly [Tone, Shape]> = {
  passed: ['ok', 'tick'],
  warning: ['warn', 'triangle'],
  failed: ['bad', 'cross'],
  skipped: ['idle', 'ring'],
}

/** Checks of what instances have: where none is connected they pass, as nobody says otherwise. */
const OF_INSTANCES: ReadonlySet<ValidationCheck['id']> = new Set([
  'component_availability',
  'collector_version_compatibility',
])

/** The five checks of a draft, each with what it found. */
export function Checks({
  of,
  isStale,
  isAway,
}: {
  of: Resource<ValidationResult>
  isStale: boolean
  /** Whether nothing is connected that it could be held to. */
  isAway: boolean
}) {
  const words = say(changeTexts)
  return (
    <section class="pane" aria-label={words.checks} aria-busy={isStale || of.isLoading}>
      <h2>
        {words.checks} {(isStale || of.isLoading) && <span class="faint">{words.checking}</span>}
      </h2>
      {of.failure && <FailureNotice failure={of.failure} retry={of.reload} />}
      <ul class="list" aria-live="polite">
        {of.data?.checks.map((check) => {
          const isUnknown = isAway && check.status === 'passed' && OF_INSTANCES.has(check.id)
          const [tone, shape] = LOOK[isUnknown ? 'skipped' : check.status]
          // Of a check that was not run, why is all that there is to say.
          const messages =
            check.messages?.filter(({ severity }) => severity !== 'info' || check.status === 'skipped') ?? []
          return (
            <li key={check.id} class={tone}>
              <Icon shape={shape} />
              <div>
                <span style={{ color: 'var(--ink)' }}>{words.check[check.id] ?? check.label}</span>
                {isUnknown && <span class="muted"> · {words.checkUnknown}</span>}
                {check.status === 'skipped' && <span class="muted"> · {words.skipped}</span>}
                {messages.map((message) => (
                  <div key={`${message.code}${message.path}${message.message}`}>
                    {translated(say(findingTexts), message.code, message.message)}
                    {message.path && <div class="mono muted">{breakable(message.path)}</div>}
                  </div>
                ))}
              </div>
            </li>
          )
        })}
      </ul>
    </section>
  )
}

/** What the policies say about a draft. */
export function PolicyPane({ plan }: { plan: ConfigPlan }) {
  const words = say(changeTexts)
  const { findings } = plan.policy
  return (
    <section class="pane" aria-label={words.policy}>
      <h2>{words.policy}</h2>
      {findings.length === 0 ? (
        <p class="st ok">
          <Icon shape="tick" />
          <span>{words.policyPass}</span>
        </p>
      ) : (
        <>
          <p class="bad">{sayBlocks(plan.policy)}</p>
          <ul class="list">
            {findings.map((finding) => (
              <li
                key={`${finding.rule_code}${finding.path}`}
                class={finding.decision === 'block' ? 'bad' : 'warn'}
              >
                <Icon shape={finding.decision === 'block' ? 'cross' : 'triangle'} />
                <div>
                  {translated(words.rule, finding.rule_code, finding.message)}
                  {finding.component && <div class="mono">{breakable(finding.component)}</div>}
                  <div class="mono muted">{breakable(finding.path)}</div>
                  <div class="muted">
                    {breakable(translated(words.advice, finding.rule_code, finding.remediation))}
                  </div>
                </div>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  )
}

const REACHED_SHOWN = 100

/** What people call an instance, by its uid. */
type NameOf = (uid: string) => string

/** The instances that a push would reach, by name. */
function Reached({
  workloadId,
  instances,
  nameOf,
}: {
  workloadId: string
  instances: readonly LiveInstance[]
  nameOf: NameOf
}) {
  const words = say(changeTexts)
  if (instances.length === 0) return null
  return (
    <details>
      <summary>{words.reachNames}</summary>
      <ul class="names">
        {instances.slice(0, REACHED_SHOWN).map((instance) => (
          <li key={instance.instance_uid}>
            <a class="mono" href={`/workloads/${workloadId}/health?instance=${instance.instance_uid}`}>
              {nameOf(instance.instance_uid)}
            </a>
          </li>
        ))}
      </ul>
      {instances.length > REACHED_SHOWN && (
        <p class="muted">{words.reachMore(instances.length - REACHED_SHOWN)}</p>
      )}
    </details>
  )
}

/** The instances that it would leave out, and why. */
function Excluded({
  instances,
  nameOf,
}: {
  instances: NonNullable<ConfigPlan['excluded_instances']>
  nameOf: NameOf
}) {
  const words = say(changeTexts)
  if (instances.length === 0) return null
  return (
    <ul class="list">
      {instances.slice(0, 20).map((instance) => (
        <li key={instance.instance_uid} class="warn">
          <Icon shape="triangle" />
          <div>
            <span class="mono">{nameOf(instance.instance_uid)}</span>
            <div class="muted">
              {words.excluded[instance.reason] ?? instance.reason}
              {instance.missing_components?.length ? `: ${instance.missing_components.join(', ')}` : ''}
            </div>
          </div>
        </li>
      ))}
    </ul>
  )
}

/** Whether a push goes out in stages, unless whoever pushes says otherwise, and how many instances each has. */
function UsualStages({ isStaged, connected }: { isStaged: boolean; connected: number }) {
  const words = say(changeTexts)
  if (!isStaged) return <p class="muted spaced">{words.reachAtOnce}</p>
  const stages = toStageRequests(USUAL_STAGES.shares, USUAL_STAGES.dwellSeconds, [], connected)
  return (
    <p class="spaced">
      {words.reachStages(words.stagePreview(listStageSizes(stages, connected), connected))}
    </p>
  )
}

/** Numbers and words that count, each over what it is called. */
function Counts({ of }: { of: readonly (readonly [string, string])[] }) {
  return (
    <div class="quant">
      {of.map(([count, name]) => (
        <span key={name}>
          <b>{count}</b>
          {name}
        </span>
      ))}
    </div>
  )
}

/** Which instances a push would reach, and who is left out and why. */
export function ReachPane({
  plan,
  workload,
  instances,
  environment,
  isProduction,
}: {
  plan: ConfigPlan
  workload: WorkloadRecord
  instances: readonly LiveInstance[]
  environment: string
  isProduction: boolean
}) {
  const words = say(changeTexts)
  const excluded = plan.excluded_instances ?? []
  const nameOf = nameInstances([...excluded, ...instances], workload)
  const left = new Set(excluded.map(({ instance_uid: uid }) => uid))
  const isNobody = plan.targets.every((target) => target.excluded)
  const reached = isNobody ? [] : instances.filter(({ instance_uid: uid }) => !left.has(uid))
  const { connected_instance_count: connected } = workload
  const reasons = plan.targets.flatMap((target) => target.exclusion_reasons)
  const { reached_instance_count: reachedCount, excluded_instance_count: excludedCount } = plan.summary
  const counts: readonly (readonly [string, string])[] = [
    [formatNumber(reachedCount ?? reached.length), words.instancesWord(reachedCount ?? reached.length)],
    [formatNumber(excludedCount ?? excluded.length), words.excludedWord],
    [environment || '–', words.environmentWord],
  ]
  return (
    <section class="pane reach" aria-label={words.reach}>
      <h2>{words.reach}</h2>
      <Counts of={counts} />
      {can('config_safety.canary_rollout') && !isNobody && connected > 1 && (
        <UsualStages isStaged={areStagesSuggested(plan, { isProduction, connected })} connected={connected} />
      )}
      {isProduction && (
        <p class="st wraps warn">
          <Icon shape="triangle" />
          <span>{words.reachesProduction}</span>
        </p>
      )}
      <Reached workloadId={plan.workload_id} instances={reached} nameOf={nameOf} />
      {reasons.length > 0 && (
        <p class="warn">
          {[...new Set(reasons)].map((reason) => words.excluded[reason] ?? reason).join(' · ')}
        </p>
      )}
      <Excluded instances={excluded} nameOf={nameOf} />
    </section>
  )
}
