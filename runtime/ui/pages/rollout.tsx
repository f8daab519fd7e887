import { type Signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { type Split, splitOf } from '../../../lib/model/workload-states.ts'
import type { RolloutStatus } from '../../../lib/wire/revisions.ts'
import type { RolloutRecord, RolloutStage } from '../../../lib/wire/rollouts.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { describeAftermath, describeTakenBack } from '../i18n/aftermath.ts'
import { describeWhy } from '../i18n/causes.ts'
import { changeTexts } from '../i18n/change.ts'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { formatDuration, formatLeft, formatList, formatNumber, shortHash } from '../i18n/format.ts'
import { pushTexts } from '../i18n/push.ts'
import { describeAborted } from '../i18n/push-sentences.ts'
import { describeHold, describeTripped, rolloutTexts } from '../i18n/rollout.ts'
import type { Tone } from '../logic/diagnosis.ts'
import { nameInstances } from '../logic/instances.ts'
import { NEEDS_A_PUSH } from '../logic/pushes.ts'
import { titleOfRequest } from '../logic/requests.ts'
import {
  awaitsPromotion,
  hasRecovered,
  isAnyUnhealthy,
  isStall,
  listStageShares,
  memberCountOf,
  sortMembers,
  valueSinceHalt,
  wasTakenBack,
} from '../logic/rollouts.ts'
import { STAGE_LOOK } from '../logic/stages.ts'
import { Causes } from '../parts/causes.tsx'
import { Action, ActionLink, bind, TextArea, unless } from '../parts/controls.tsx'
import { CorrectLink } from '../parts/correct-link.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Loaded, Waiting } from '../parts/failure.tsx'
import { useStanding } from '../parts/fleet-standing.tsx'
import type { Shape } from '../parts/icons.tsx'
import { Head, Sheet } from '../parts/page.tsx'
import { Ago, Mark, PushMark, Track } from '../parts/state.tsx'
import { toast, toastFailure } from '../parts/toast.tsx'
import { WayOut } from '../parts/way-out.tsx'
import { api } from '../state/endpoints.ts'
import { callOf } from '../state/names.ts'
import { query, setQuery } from '../state/router.ts'
import { useDialog } from '../state/use-dialog.ts'
import { useFailing } from '../state/use-failing.ts'
import { useNow } from '../state/use-now.ts'
import { usePolling } from '../state/use-polling.ts'
import { useRequest } from '../state/use-request.ts'
import { touchesWorkload, useResource } from '../state/use-resource.ts'
import { describeComplaint } from './workload-sentence.tsx'

const LOOK: Record<RolloutStatus, readonly [Tone, Shape]> = {
  running: ['busy', 'half'],
  halted: ['bad', 'triangle'],
  succeeded: ['ok', 'tick'],
  promoted: ['ok', 'tick'],
  aborted: ['idle', 'cross'],
  rollback_started: ['warn', 'back'],
  stopped: ['idle', 'cross'],
  failed: ['bad', 'cross'],
}
const NAMES_SHOWN = 3
const POLL_MS = 2000

const isOpen = (of: RolloutRecord) => of.status === 'running' || of.status === 'halted' || awaitsPromotion(of)

function elapsedOf(stage: RolloutStage, of: RolloutRecord, now: number): string {
  if (!stage.started_at) return '–'
  const end = stage.ended_at ?? (of.status === 'running' ? null : of.updated_at)
  const ms = (end === null ? now : Date.parse(end)) - Date.parse(stage.started_at)
  return formatDuration(Math.max(0, ms))
}

/** What people call an instance, by its uid. */
type NameOf = (uid: string) => string

function nameHalted(of: RolloutRecord, nameOf: NameOf): string {
  const names = (of.halt?.instance_uids ?? []).map(nameOf)
  const more = (of.halt?.value ?? 0) - NAMES_SHOWN
  return formatList([...names.slice(0, NAMES_SHOWN), ...(more > 0 ? [say(rolloutTexts).more(more)] : [])])
}

/** The instances that a halt names, where the health gate halted and nobody went on since. */
const listUnhealthy = ({ status, halt }: RolloutRecord) =>
  (status === 'halted' || status === 'aborted') && halt?.gate === 'health'
    ? halt.instance_uids.map((instance_uid) => ({ instance_uid, healthy: false }))
    : []

/** How a rollout stands, in a word or two. */
function nameStatus(of: RolloutRecord): string {
  const { waiting, status } = say(rolloutTexts)
  if (of.status === 'rollback_started') return describeTakenBack(of.aftermath).mark
  return awaitsPromotion(of) ? waiting : status[of.status]
}

/** What a stage is called to be: one of a rollout that is over and was never started waits for nothing. */
function nameStage(of: RolloutRecord, stage: RolloutStage): string {
  const { stageStatus, unstarted } = say(rolloutTexts)
  if (wasTakenBack(of, stage)) return describeTakenBack(of.aftermath).mark
  return stage.status === 'waiting' && !isOpen(of) ? unstarted : stageStatus[stage.status]
}

const lookOfStage = (of: RolloutRecord, stage: RolloutStage): readonly [Tone, Shape] =>
  wasTakenBack(of, stage) ? LOOK.rollback_started : STAGE_LOOK[stage.status]

/** A halt in one sentence. */
function describeHalt(of: RolloutRecord, nameOf: NameOf): string {
  const words = say(rolloutTexts)
  if (!of.halt) return words.status.halted
  const { gate, value, limit, stage } = of.halt
  const names = nameHalted(of, nameOf)
  if (isStall(gate)) return words.stalled[gate](stage + 1, value, names)
  const [what, allowed] = describeTripped({ gate, value, limit, of: memberCountOf(of, stage) })
  return words.halted(what, allowed, stage + 1, names, valueSinceHalt(of))
}

/** What goes on, in one sentence, and what is to be done about it. */
function toSentence(of: RolloutRecord, split: Split | null, nameOf: NameOf, now: number): [string, string] {
  const words = say(rolloutTexts)
  const stage = of.stages[of.stage_index]
  const all = of.stages.length
  switch (of.status) {
    case 'halted':
      return [describeHalt(of, nameOf), hasRecovered(of) ? words.recovered : words.decide]
    case 'running': {
      const number = of.stage_index + 1
      if (!stage) return [words.status.running, '']
      if (of.hold) return [words.waitsBefore(number + 1, all, describeHold(of.hold)), words.hold.afterwards]
      if (stage.status !== 'dwelling')
        return [words.applying(number, all, stage.counts.applied, stage.target_count), words.byItself]
      const left = Date.parse(stage.dwell_ends_at ?? of.updated_at) - now
      return [
        left > 0 ? words.watching(number, all, formatLeft(left)) : words.moving(number, all),
        words.byItself,
      ]
    }
    case 'succeeded':
    case 'promoted': {
      if (awaitsPromotion(of)) return [words.waits(of.counts.applied), words.waitsMore]
      const ms = Date.parse(of.promoted_at ?? of.updated_at) - Date.parse(of.created_at)
      return [words.finished(of.counts.applied, formatDuration(Math.max(0, ms))), '']
    }
    case 'failed':
      return [words.failed(of.counts.failed), `${describeAftermath(of.aftermath)} ${words.othersSafe}`]
    case 'rollback_started':
      return [
        describeTakenBack(of.aftermath).sentence,
        `${describeAftermath(of.aftermath)} ${words.othersSafe}`,
      ]
    case 'aborted':
      return describeAborted(split)
    case 'stopped':
      return [words.stopped, '']
  }
}

type Step = 'promote' | 'abort' | 'rollback'

/** The refusals of a step that a person gets around by breaking the glass. */
const NEEDS_GLASS: readonly string[] = [
  'managed_elsewhere',
  'rollout_not_approved',
  'rollout_on_hold',
  'workload_frozen',
]

/** What an operator can do about a rollout: each step with its text, its hint, and why it cannot be done now. */
function listRolloutSteps(
  of: RolloutRecord,
  name: string,
  nameOf: NameOf,
): [Step, string, string, string | null][] {
  const words = say(rolloutTexts)
  const over = isOpen(of) ? null : words.over
  // What holds a stage inside a campaign is decided about the campaign.
  const isHeld = of.hold !== undefined && of.approval_id !== undefined
  // Its members are assigned it, whether or not they have answered.
  const members = of.targets.length
  const from = shortHash(of.config_hash)
  return [
    [
      'promote',
      awaitsPromotion(of) ? words.promote : words.continue,
      awaitsPromotion(of)
        ? words.promoteHint
        : isHeld
          ? words.hold.afterwards
          : isStall(of.halt?.gate)
            ? words.standIns(nameHalted(of, nameOf))
            : words.continueHint(nameHalted(of, nameOf)),
      over ?? (of.status === 'halted' || awaitsPromotion(of) || isHeld ? null : words.onlyHalted),
    ],
    ['abort', words.abort, words.abortHint(members, from), over],
    [
      'rollback',
      words.rollBack,
      words.rollBackHint(name, members, from, shortHash(of.rollback_target_hash)),
      over ?? (of.rollback_target_hash ? null : words.nothingToRollBack),
    ],
  ]
}

type RolloutStep = ReturnType<typeof listRolloutSteps>[number]

/** What each step that can be taken now does, before somebody asks for it. */
const StepsTold = ({ steps }: { steps: readonly RolloutStep[] }) => (
  <ul class="muted small steps-told">
    {steps
      .filter(([, , , reason]) => reason === null)
      .map(([step, text, hint]) => (
        <li key={step}>
          <b>{text}</b>: {hint}
        </li>
      ))}
  </ul>
)

/** The dialog that says what a step does, and asks whether to take it. */
function StepDialog({
  of: [step, text, hint],
  why,
  onClose,
  go,
}: {
  of: RolloutStep
  /** The reason for breaking the glass; null where that is not asked for. */
  why: Signal<string> | null
  onClose: () => void
  go: (step: Step) => void
}) {
  return (
    <Dialog title={text} onClose={onClose}>
      <p>{hint}</p>
      {step === 'promote' && why !== null && (
        <>
          <p class="bad">{say(rolloutTexts).hold.glass}</p>
          <TextArea label={say(changeTexts).breakGlassReason} {...bind(why)} />
        </>
      )}
      <div class="actions">
        <Action onClick={onClose}>{say(commonTexts).cancel}</Action>
        <Action kind="primary" onClick={() => go(step)}>
          {text}
        </Action>
      </div>
    </Dialog>
  )
}

interface SteerProps {
  of: RolloutRecord
  /** What its workload is called. */
  name: string
  nameOf: NameOf
  reload: () => void
}

/** Ask whoever comes to roll back, at once and once only. */
function useAskedRollBack(isPossible: boolean, ask: () => void): void {
  useEffect(() => {
    if (query.peek().get('rollback') === null) return
    setQuery({ rollback: null })
    if (isPossible && unless('workload:push_config') === null) ask()
  }, [])
}

function Steer({ of, name, nameOf, reload }: SteerProps) {
  const words = say(rolloutTexts)
  const { about, open, close, done } = useDialog<Step>(reload)
  const steps = listRolloutSteps(of, name, nameOf)
  useAskedRollBack(
    steps.some(([step, , , reason]) => step === 'rollback' && reason === null),
    () => open('rollback'),
  )
  const why = useSignal('')
  const wasRefused = useSignal(false)
  // What a campaign brought, without a request of its own, goes on as the campaign says.
  const hasRequest = of.approval_id !== undefined
  const asksGlass =
    hasRequest && (wasRefused.value || of.hold !== undefined) && unless('config:break_glass') === null
  const go = async (step: Step) => {
    const reason = step === 'promote' && asksGlass ? why.value.trim() : ''
    const glass = reason === '' ? null : { break_glass: true, break_glass_reason: reason }
    const result = await api.steerRollout(of.workload_id, of.id, step, glass)
    if (!result.ok) {
      wasRefused.value = hasRequest && NEEDS_GLASS.some((code) => code === result.code)
      if (!wasRefused.value) close()
      return toastFailure(result)
    }
    toast(words.done[step])
    done()
  }
  // Of one that halted, what the reader may not do is said below, with who may.
  const isToldBelow = of.status === 'halted' && unless('workload:push_config') !== null
  const urged: Step = isAnyUnhealthy(of) ? 'rollback' : 'promote'
  return (
    <>
      <div class="actions">
        {steps.map(([step, text, hint, reason]) => (
          <span key={step} class="actions">
            <Action
              kind={step === urged ? 'primary' : ''}
              reason={unless('workload:push_config') ?? reason}
              isReasonShown={step === urged && !isToldBelow}
              onClick={() => open(step)}
            >
              {text}
            </Action>
            {about === step && (
              <StepDialog
                of={[step, text, hint, reason]}
                why={asksGlass ? why : null}
                onClose={close}
                go={(taken) => void go(taken)}
              />
            )}
          </span>
        ))}
      </div>
      {of.status !== 'running' && <StepsTold steps={steps} />}
    </>
  )
}

/** The stages as parts of one bar, each with its state and whom it reaches. */
export function StageBar({ of, instanceCount }: { of: RolloutRecord; instanceCount: number }) {
  const words = say(rolloutTexts)
  const shares = listStageShares(of, instanceCount)
  const total = shares.at(-1)?.size ?? 0
  return (
    <ol class="stages" aria-label={words.stages}>
      {shares.map(({ stage, size, added, applied, unhealthy, failed, applying }) => {
        const [tone, shape] = lookOfStage(of, stage)
        return (
          <li key={stage.index} style={{ flexGrow: Math.max(added, total * 0.2) }}>
            <Track
              parts={[
                ['ok', applied],
                ['bad', failed + unhealthy],
                ['busy', applying],
              ]}
              total={added}
            />
            <div class="stage-name">
              <b>{words.stage(stage.index + 1)}</b>{' '}
              <Mark tone={tone} shape={shape}>
                {nameStage(of, stage)}
              </Mark>
            </div>
            <div class="muted">
              {stage.percentage ? `${words.share(stage.percentage)} · ` : ''}
              {size === total ? words.everybody(total) : words.size(size, total)}
            </div>
          </li>
        )
      })}
    </ol>
  )
}

function Gates({ stage }: { stage: RolloutStage }) {
  const words = say(rolloutTexts)
  if (stage.gates.length === 0) return <span class="faint">–</span>
  return (
    <>
      {stage.gates.map((gate) => {
        const name = words.gate[gate.name] ?? gate.name
        if (stage.status === 'waiting')
          return (
            <div key={gate.name} class="muted">
              {words.gateLimit(name, gate.limit)}
            </div>
          )
        return (
          <div key={gate.name}>
            <Mark tone={gate.passed ? 'ok' : 'bad'} shape={gate.passed ? 'tick' : 'cross'}>
              {words.gateValue(name, gate.value, gate.limit)}
              {gate.waived ? ` · ${words.letPass(gate.waived)}` : ''}
            </Mark>
          </div>
        )
      })}
    </>
  )
}

function StageTable({ of, now }: { of: RolloutRecord; now: number }) {
  const words = say(rolloutTexts)
  const { column } = words
  return (
    <Sheet
      isStacked
      label={words.stages}
      head={
        <>
          <th scope="col">{column.stage}</th>
          <th scope="col">{column.state}</th>
          <th scope="col" class="n">
            {column.applied}
          </th>
          <th scope="col" class="n">
            {column.elapsed}
          </th>
          <th scope="col" class="n">
            {column.watch}
          </th>
          <th scope="col">{column.gates}</th>
        </>
      }
    >
      {of.stages.map((stage) => (
        <tr key={stage.index}>
          <td>{words.stage(stage.index + 1)}</td>
          <td>{nameStage(of, stage)}</td>
          <td class="n" data-label={column.applied}>
            {stage.status === 'waiting' ? (
              '–'
            ) : (
              <>
                {formatNumber(stage.counts.applied)}
                <span class="muted"> / {formatNumber(stage.target_count)}</span>
              </>
            )}
          </td>
          <td class="n" data-label={column.elapsed}>
            {elapsedOf(stage, of, now)}
          </td>
          <td class="n" data-label={column.watch}>
            {formatDuration(stage.dwell_seconds * 1000)}
          </td>
          <td class="text">
            <Gates stage={stage} />
          </td>
        </tr>
      ))}
    </Sheet>
  )
}

/** Why a member stopped the rollout, where nothing more is known than which gate it did not pass. */
function nameReason({ stop_reason: reason }: RolloutRecord['targets'][number]): string {
  const { gate } = say(rolloutTexts)
  return reason === undefined ? '' : (gate[reason as keyof typeof gate] ?? reason)
}

/** What became of a member, and that it is ill though it applied the config. */
function MemberState({ of: { unhealthy, status } }: { of: RolloutRecord['targets'][number] }) {
  return (
    <>
      {unhealthy && status === 'applied' && (
        <Mark tone="bad" shape="cross">
          {say(rolloutTexts).unhealthyNow}
        </Mark>
      )}{' '}
      <PushMark state={status} />
    </>
  )
}

function Members({ of, nameOf }: { of: RolloutRecord; nameOf: NameOf }) {
  const words = say(rolloutTexts)
  const { column } = words
  const answer = of.aftermath?.push_id === undefined ? null : of.aftermath
  const all = of.stages.reduce((most, stage) => Math.max(most, stage.target_count), 0)
  if (of.targets.length === 0) return null
  const hasReasons = of.targets.some((target) => target.stop_reason || describeWhy(target) !== '')
  return (
    <section class="stack tight">
      <h2>{words.members}</h2>
      {of.targets.length < all && <p class="muted">{words.membersFirst(of.targets.length, all)}</p>}
      {answer !== null && (
        <p class="muted">
          {words.membersBefore}{' '}
          <a
            class="link"
            href={`/workloads/${of.workload_id}/pushes/${answer.config_hash}?push=${answer.push_id}`}
          >
            {say(pushTexts).seeRollback}
          </a>
        </p>
      )}
      <Sheet
        isStacked
        label={words.members}
        head={
          <>
            <th scope="col">{column.instance}</th>
            <th scope="col">{column.stage}</th>
            <th scope="col">{column.state}</th>
            <th scope="col">{column.since}</th>
            {hasReasons && <th scope="col">{column.why}</th>}
          </>
        }
      >
        {sortMembers(of.targets, nameOf).map((target) => (
          <tr key={target.instance_uid}>
            <td>
              <a class="mono" href={`/workloads/${of.workload_id}/health?instance=${target.instance_uid}`}>
                {nameOf(target.instance_uid)}
              </a>
            </td>
            <td>{words.stage(target.stage + 1)}</td>
            <td>
              <MemberState of={target} />
            </td>
            <td class="muted">
              <Ago at={target.updated_at} />
            </td>
            {hasReasons && <td class="bad text">{describeWhy(target) || nameReason(target)}</td>}
          </tr>
        ))}
      </Sheet>
    </section>
  )
}

/** How a rollout left its workload, where it was aborted and nothing was pushed since. */
function leftSplit(of: RolloutRecord, workload: WorkloadRecord | null): Split | null {
  const split = workload === null ? null : splitOf(workload)
  return split?.rolloutId === of.id ? split : null
}

function Body({
  of,
  workload,
  nameOf,
  reload,
}: Omit<SteerProps, 'name'> & { workload: WorkloadRecord | null }) {
  const name = workload ? callOf(workload) : of.workload_id
  const standing = useStanding(of.workload_id)
  const now = useNow(of.status === 'running')
  const split = leftSplit(of, workload)
  const [what, next] = toSentence(of, split, nameOf, now)
  const needsPush = split !== null || (of.aftermath !== undefined && NEEDS_A_PUSH.has(of.aftermath.kind))
  const failing = useFailing(of.workload_id, listUnhealthy(of))
  return (
    <div class="stack" style={{ marginTop: '16px' }}>
      <div class={`say t-${split === null ? LOOK[of.status][0] : 'warn'}`}>
        <p role="status">
          <b>{what}</b> {`${describeComplaint(failing)} ${next}`.trim()}
        </p>
        {needsPush ? (
          <CorrectLink workloadId={of.workload_id} hash={of.config_hash} />
        ) : (
          <Steer of={of} name={name} nameOf={nameOf} reload={reload} />
        )}
        {workload && (needsPush || of.status === 'halted') && (
          <WayOut
            workload={workload}
            canGoBack={of.status === 'halted'}
            freeze={standing.data?.freeze ?? null}
          />
        )}
      </div>
      <Causes groups={of.error_groups} workloadId={of.workload_id} nameOf={nameOf} />
      <StageBar of={of} instanceCount={workload?.connected_instance_count ?? 0} />
      <StageTable of={of} now={now} />
      <Members of={of} nameOf={nameOf} />
    </div>
  )
}

/** A rollout stage by stage: one sentence, the bar, the gates, and what can be done. */
export function RolloutPage({ params }: { params: Record<string, string> }) {
  const words = say(rolloutTexts)
  const id = params['id'] ?? ''
  const rolloutId = params['rollout'] ?? ''
  const touches = touchesWorkload(id)
  const workload = useResource(`workload:${id}`, (abort) => api.workload(id, abort), touches)
  const rollout = useResource(`rollout:${rolloutId}`, (abort) => api.rollout(id, rolloutId, abort), touches)
  const isRunning = rollout.data?.status === 'running'
  const { asked, isAwaited } = useRequest(id, rollout.data?.approval_id)
  // The hub tells of changes; while it runs, a slow poll covers what the hub coalesces.
  usePolling(isRunning, rollout.reload, POLL_MS)
  return (
    <Loaded of={rollout} title={words.title}>
      {(data) => {
        const [tone, shape] = LOOK[data.status]
        const name = workload.data ? callOf(workload.data) : id
        if (isAwaited) return <Waiting title={words.title} />
        const said = titleOfRequest(asked)
        const title = said === null ? words.title : `${words.title} · ${said}`
        return (
          <>
            <Head
              title={title}
              inTab={`${name} · ${title}`}
              beside={
                <>
                  <Mark tone={tone} shape={shape}>
                    {nameStatus(data)}
                  </Mark>
                  <span class="muted">
                    <a href={`/workloads/${id}`}>{name}</a> ·{' '}
                    <span class="mono">{shortHash(data.config_hash)}</span> · {data.actor} ·{' '}
                    <Ago at={data.created_at} />
                  </span>
                </>
              }
            >
              <ActionLink href={`/workloads/${id}/pushes/${data.config_hash}?push=${data.push_id}`}>
                {words.seePush}
              </ActionLink>
              <ActionLink href={`/workloads/${id}`}>← {name}</ActionLink>
            </Head>
            <Body
              of={data}
              workload={workload.data}
              nameOf={nameInstances(data.targets, workload.data ?? {})}
              reload={rollout.reload}
            />
          </>
        )
      }}
    </Loaded>
  )
}
