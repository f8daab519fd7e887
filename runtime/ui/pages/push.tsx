import { isOpen, splitOf } from '../../../lib/model/workload-states.ts'
import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import type { Convergence, ConvergenceTarget } from '../../../lib/wire/convergence.ts'
import type { RevisionErrorGroup, RevisionRecord } from '../../../lib/wire/revisions.ts'
import type { RolloutRecord, RolloutTarget } from '../../../lib/wire/rollouts.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { describeAftermath } from '../i18n/aftermath.ts'
import { describeMessage, describeWhy } from '../i18n/causes.ts'
import { say } from '../i18n/define.ts'
import { formatDuration, formatWhen, shortHash } from '../i18n/format.ts'
import { pushTexts } from '../i18n/push.ts'
import { describeAborted, describePush } from '../i18n/push-sentences.ts'
import { rolloutTexts } from '../i18n/rollout.ts'
import { describeReason } from '../i18n/trouble.ts'
import { workloadTexts } from '../i18n/workload.ts'
import { judgeHelp } from '../logic/helped.ts'
import { nameInstances } from '../logic/instances.ts'
import { hasRollbackTarget, isBack, isLateAnswer, NEEDS_A_PUSH, stateOf } from '../logic/pushes.ts'
import { titleOfRequest } from '../logic/requests.ts'
import { Capped } from '../parts/capped.tsx'
import { Causes } from '../parts/causes.tsx'
import { ActionLink } from '../parts/controls.tsx'
import { CorrectLink } from '../parts/correct-link.tsx'
import { Loaded, Waiting } from '../parts/failure.tsx'
import { useStanding } from '../parts/fleet-standing.tsx'
import { Head, Sheet } from '../parts/page.tsx'
import { Ago, Mark, PushMark, Track } from '../parts/state.tsx'
import { WayOut } from '../parts/way-out.tsx'
import { headingOf } from '../parts/workload-link.tsx'
import { api } from '../state/endpoints.ts'
import { callOf } from '../state/names.ts'
import { query } from '../state/router.ts'
import { can, may } from '../state/session.ts'
import { usePolling } from '../state/use-polling.ts'
import { useRequest } from '../state/use-request.ts'
import { isSettled, type Resource, touchesWorkload, useResource } from '../state/use-resource.ts'
import { BrokenGlass } from './push-glass.tsx'
import { StageBar } from './rollout.tsx'
import { RollBack } from './workload-actions.tsx'

const POLL_MS = 2_000

const QUANTILES = ['p50', 'p90', 'p99', 'p100'] as const

/** The bar, its words, and the times to 50, 90, 99 and 100 percent, as far as these were reached. */
export function ConvergenceBar({
  of,
  sickCount,
  connected,
}: {
  of: Convergence
  /** Of those that applied it, who are unhealthy with it. */
  sickCount: number
  /** How many instances its workload has. */
  connected: number
}) {
  const words = say(pushTexts)
  // What was given up was to reach all, and no share of them tells a time.
  const isGivenUp = of.phase === 'aborted'
  const total = isGivenUp ? Math.max(connected, of.target_count) : of.target_count
  const reached = (isGivenUp ? [] : QUANTILES).flatMap((key) => {
    const ms = of.times_ms[key]
    return ms === null ? [] : [[key, ms] as const]
  })
  return (
    <section class="pane stack tight" aria-label={words.bar}>
      <Track
        parts={[
          ['ok', Math.max(0, of.applied_count - sickCount)],
          ['bad', of.failed_count + sickCount],
          ['busy', of.applying_count],
        ]}
        total={total}
      />
      <p class="muted" role="status">
        {words.counts(of.applied_count, of.failed_count, of.applying_count, of.waiting_count)}
        {of.no_status_count > 0 && ` · ${words.noAnswer(of.no_status_count)}`} {words.of(total)}
        {sickCount > 0 && ` · ${words.sick(sickCount)}`}
      </p>
      {reached.length > 0 && (
        <div class="quant">
          {reached.map(([key, ms]) => (
            <span key={key}>
              <b>{formatDuration(ms)}</b>
              {words.timeTo(key.slice(1))}
            </span>
          ))}
        </div>
      )}
    </section>
  )
}

/** What happened in one sentence, and what was done about it. */
function Sentence({
  of,
  push,
  history,
  workload,
}: {
  of: Convergence
  push: RevisionRecord | null
  history: readonly RevisionRecord[]
  workload: WorkloadRecord
}) {
  const words = say(pushTexts)
  const isHalted = push !== null && stateOf(push) === 'halted'
  const split = push?.rollout_id === undefined ? null : splitOf(workload)
  const left = split !== null && split.rolloutId === push?.rollout_id ? split : null
  const { tone, text } = isHalted
    ? {
        tone: 'bad',
        text: words.halted(of.applied_count, Math.max(of.target_count, workload.connected_instance_count)),
      }
    : left !== null
      ? { tone: 'warn', text: describeAborted(left).join(' ') }
      : describePush(of)
  const { aftermath } = of
  const freeze = useStanding(of.workload_id).data?.freeze
  // What an automatic rollback did is what its own page is about; that it did not help is said there as well.
  const isOwn = aftermath !== undefined && aftermath.push_id === of.push_id
  // Of a rollback that did not help, what is to be corrected is what it was to take back.
  const failedHash = isOwn
    ? NEEDS_A_PUSH.has(aftermath.kind)
      ? push?.failed_config_hash
      : undefined
    : push?.status === 'failed' || left !== null
      ? push?.config_hash
      : undefined
  const isRollback = push?.failed_config_hash ? words.isRollback(shortHash(push.failed_config_hash)) : ''
  return (
    <div class={`say t-${tone}`} role="status">
      <p>
        <b>{text}</b> {isRollback}{' '}
        {isOwn && !NEEDS_A_PUSH.has(aftermath.kind) ? '' : describeAftermath(aftermath)}
      </p>
      {aftermath?.push_id && !isOwn && (
        <ActionLink
          href={`/workloads/${of.workload_id}/pushes/${aftermath.config_hash}?push=${aftermath.push_id}`}
        >
          {words.seeRollback}
        </ActionLink>
      )}
      {failedHash !== undefined && <CorrectLink workloadId={of.workload_id} hash={failedHash} />}
      {failedHash !== undefined && (
        <WayOut
          workload={workload}
          canGoBack={!isBack(aftermath) && hasRollbackTarget(history)}
          freeze={freeze}
        />
      )}
    </div>
  )
}

/** What became of an instance, and that it is ill though it applied the config. */
const TargetState = ({
  of: row,
  push,
  isSick,
}: {
  of: ConvergenceTarget
  push: Pick<Convergence, 'ended_at'>
  isSick: boolean
}) => (
  <>
    {isSick && (
      <Mark tone="bad" shape="cross">
        {say(rolloutTexts).unhealthyNow}
      </Mark>
    )}{' '}
    <PushMark state={row.state} />
    {isLateAnswer(row, push) && <span class="muted"> {say(pushTexts).late}</span>}
  </>
)

function Targets({
  label,
  rows,
  of,
  sick,
  workloadId,
  nameOf,
  groups,
}: {
  label: string
  rows: readonly ConvergenceTarget[]
  of: Pick<Convergence, 'ended_at'>
  /** The members of a rollout that are unhealthy with it, by their uid. */
  sick: ReadonlyMap<string, RolloutTarget>
  /** What is said above of those that failed alike. */
  groups: readonly RevisionErrorGroup[] | undefined
  workloadId: string
  /** What people call an instance, by its uid. */
  nameOf: (uid: string) => string
}) {
  const words = say(pushTexts)
  const { column } = words
  return (
    <Sheet
      isStacked
      label={label}
      head={
        <>
          <th scope="col">{column.instance}</th>
          <th scope="col">{column.state}</th>
          <th scope="col" class="n">
            {column.time}
          </th>
          <th scope="col">{column.version}</th>
          <th scope="col">{column.error}</th>
        </>
      }
    >
      <Capped rows={rows}>
        {(row) => (
          <tr key={row.instance_uid}>
            <td>
              <a class="mono" href={`/workloads/${workloadId}/health?instance=${row.instance_uid}`}>
                {nameOf(row.instance_uid)}
              </a>
            </td>
            <td>
              <TargetState of={row} push={of} isSick={sick.has(row.instance_uid)} />
            </td>
            <td class="n">{row.duration_ms === undefined ? '–' : formatDuration(row.duration_ms)}</td>
            <td class="mono">{row.version ?? '–'}</td>
            <td class="text">
              {describeMessage(row, groups) || describeWhy(sick.get(row.instance_uid) ?? {})}
            </td>
          </tr>
        )}
      </Capped>
    </Sheet>
  )
}

/** What it did to the health of its instances: the sentence that one waits for. */
function DidItHelp({ push, workload }: { push: RevisionRecord; workload: WorkloadRecord }) {
  const words = say(pushTexts)
  const touches = touchesWorkload(workload.id)
  const alerts = useResource(
    push.status === 'applied' ? `helped:${push.push_id}` : null,
    (abort) => api.alertsOf(workload.id, null, abort),
    (frame) => frame.type === 'alert_update' && touches(frame),
  )
  const helped = judgeHelp(push, workload, alerts.data ?? [])
  if (helped === null) return null
  if (helped.kind === 'healthy')
    return (
      <div class="say t-ok" role="status">
        <p>
          <b>{words.helped(helped.total, helped.since === undefined ? '' : formatWhen(helped.since))}</b>
        </p>
      </div>
    )
  const { kind, count, total } = helped
  const tell = { still: words.notHelped, since: words.since, unhealthy: words.unhealthy }[kind]
  return (
    <div class="say t-bad" role="status">
      <p>
        <b>{tell(count, total)}</b> {workload.trouble ? describeReason(workload.trouble) : ''}
      </p>
      <ActionLink href={`/workloads/${workload.id}`}>{words.whatIsWrong}</ActionLink>
    </div>
  )
}

interface RequestProps {
  push: RevisionRecord
  history: readonly RevisionRecord[]
  asked: ApprovalRecord | null
}

/** What was asked for and said, and where the difference is to be seen. */
function Request({ push, history, asked }: RequestProps) {
  const words = say(pushTexts)
  const { workload_id: id } = push
  const before = history.find(
    (row) => row.seq < push.seq && row.config_hash !== push.config_hash && row.status === 'applied',
  )
  // What was said as the glass was broken stands above.
  const comment = asked?.break_glass ? undefined : asked?.push_comment
  const isCompared = before !== undefined && may('config:read_content')
  if (asked === null && !isCompared) return null
  return (
    <section class="pane actions">
      <div class="grow">
        {asked && (
          <p>
            <a class="link" href={`/workloads/${id}/changes/${asked.id}`}>
              {titleOfRequest(asked) ?? words.theRequest}
            </a>{' '}
            <span class="muted">{words.askedBy(asked.requester, asked.approved_by ?? '')}</span>
          </p>
        )}
        {comment && <p class="muted">{comment}</p>}
      </div>
      {isCompared && (
        <ActionLink href={`/workloads/${id}/compare?from=${before.config_hash}&to=${push.config_hash}`}>
          {words.difference}
        </ActionLink>
      )}
    </section>
  )
}

/** The rollout of a push that goes out in stages. */
const useRollout = (id: string, rolloutId: string | undefined): Resource<RolloutRecord> =>
  useResource(
    rolloutId !== undefined && can('config_safety.canary_rollout') ? `rollout:${rolloutId}` : null,
    (abort) => api.rollout(id, rolloutId ?? '', abort),
    touchesWorkload(id),
  )

/** The members that run what a rollout brought and are unhealthy with it, by their uid. */
const sickMembers = (rollout: RolloutRecord | null): ReadonlyMap<string, RolloutTarget> =>
  new Map(
    (rollout?.targets ?? [])
      .filter(({ status, unhealthy }) => status === 'applied' && unhealthy)
      .map((target) => [target.instance_uid, target]),
  )

/** Those that are unhealthy with it first; the order is otherwise as it was: those that need attention first. */
const sickFirst = (rows: readonly ConvergenceTarget[], sick: ReadonlyMap<string, unknown>) =>
  [...rows].sort((a, b) => Number(sick.has(b.instance_uid)) - Number(sick.has(a.instance_uid)))

function Body({
  of,
  push,
  history,
  asked,
  workload,
  rollout,
}: {
  of: Convergence
  workload: WorkloadRecord
  push: RevisionRecord | null
  history: readonly RevisionRecord[]
  asked: ApprovalRecord | null
  rollout: RolloutRecord | null
}) {
  const words = say(pushTexts)
  const connected = workload.connected_instance_count
  const nameOf = nameInstances([...of.targets, ...of.joiners, ...of.stragglers], workload)
  const named = { workloadId: of.workload_id, nameOf, groups: push?.error_groups }
  const sick = sickMembers(rollout)
  const told = { ...named, of, sick }
  return (
    <div class="stack" style={{ marginTop: '16px' }}>
      <Sentence of={of} push={push} history={history} workload={workload} />
      {push && <DidItHelp push={push} workload={workload} />}
      {push && asked?.break_glass && <BrokenGlass push={push} asked={asked} />}
      {push && <Request push={push} history={history} asked={asked} />}
      {rollout && <StageBar of={rollout} instanceCount={connected} />}
      <ConvergenceBar of={of} sickCount={sick.size} connected={connected} />
      <Causes {...named} />
      <section hidden={of.stragglers.length === 0}>
        <h2>{words.stragglers}</h2>
        {of.stragglers_share.map((shared) => (
          <p key={`${shared.key}${shared.value}`} class="warn">
            {words.share(shared.key, shared.value, shared.count)}
          </p>
        ))}
        <Targets label={words.stragglers} rows={of.stragglers} {...told} />
      </section>
      {of.targets.length > 0 && (
        <section>
          <h2>{words.targets}</h2>
          {of.targets.length < of.target_count && (
            <p class="muted">{words.more(of.targets.length, of.target_count)}</p>
          )}
          <Targets label={words.targets} rows={sickFirst(of.targets, sick)} {...told} />
        </section>
      )}
      {of.joiners.length > 0 && (
        <section>
          <h2>{words.joined}</h2>
          <Targets label={words.joined} rows={of.joiners} {...told} />
        </section>
      )}
    </div>
  )
}

/** The title of a push: the first line of its request's comment, else its hash. */
function titleOf(hash: string, push: RevisionRecord | null, asked: ApprovalRecord | null): string {
  const words = say(pushTexts)
  const said = titleOfRequest(asked)
  if (said !== null) return said
  return push?.is_rollback ? words.backTo(shortHash(hash)) : words.title(shortHash(hash))
}

function Title({
  workload,
  hash,
  push,
  history,
  asked,
}: {
  workload: WorkloadRecord
  hash: string
  push: RevisionRecord | null
  history: readonly RevisionRecord[] | null
  asked: ApprovalRecord | null
}) {
  const words = say(pushTexts)
  const who = push?.pushed_by === 'auto-rollback' ? words.auto : (push?.pushed_by ?? '')
  return (
    <Head
      title={`${callOf(workload)} · ${titleOf(hash, push, asked)}`}
      beside={
        <>
          {push && <PushMark state={stateOf(push)} />}
          <span class="muted">
            <a href={`/workloads/${workload.id}/history`}>{say(workloadTexts).tabs.history}</a>
            {push && (
              <>
                {' · '}
                <span class="mono">{shortHash(hash)}</span> · {words.by(who)} · <Ago at={push.submitted_at} />
                {push.excluded_count ? ` · ${words.excluded(push.excluded_count)}` : ''}
              </>
            )}
          </span>
        </>
      }
    >
      {push?.rollout_id && (
        <ActionLink href={`/workloads/${workload.id}/rollouts/${push.rollout_id}`}>
          {words.rollout}
        </ActionLink>
      )}
      {push?.is_current && <RollBack workload={workload} history={history} />}
      <ActionLink href={`/workloads/${workload.id}`}>← {callOf(workload)}</ActionLink>
    </Head>
  )
}

/** One push, while it converges and after its end. */
export function PushPage({ params }: { params: Record<string, string> }) {
  const id = params['id'] ?? ''
  const hash = params['hash'] ?? ''
  const pushId = query.value.get('push') ?? undefined
  const touches = touchesWorkload(id)
  const workload = useResource(`workload:${id}`, (abort) => api.workload(id, abort), touches)
  const history = useResource(`history:${id}`, (abort) => api.revisions(id, abort), touches)
  const convergence = useResource(
    `convergence:${id}:${hash}:${pushId ?? ''}`,
    (abort) => api.convergence(id, hash, pushId, abort),
    touches,
  )
  const isRunning = convergence.data !== null && isOpen(convergence.data)
  // The hub tells of changes; while it runs, a slow poll covers what the hub coalesces.
  usePolling(isRunning, convergence.reload, POLL_MS)
  const push =
    history.data?.find((row) => (pushId ? row.push_id === pushId : row.config_hash === hash)) ?? null
  const { asked, isAwaited } = useRequest(id, push?.approval_id)
  const rollout = useRollout(id, push?.rollout_id)
  // What it is called and what stands in its parts comes from all of these: shown one by one they would push each other.
  const isKnown = !isAwaited && isSettled(history) && isSettled(rollout)
  return (
    <Loaded of={workload} title={headingOf(id)}>
      {(data) =>
        !isKnown ? (
          <Waiting title={callOf(data)} />
        ) : (
          <>
            <Title workload={data} hash={hash} push={push} history={history.data} asked={asked} />
            <Loaded of={convergence}>
              {(of) => (
                <Body
                  of={of}
                  push={push}
                  history={history.data ?? []}
                  asked={asked}
                  workload={data}
                  rollout={rollout.data}
                />
              )}
            </Loaded>
          </>
        )
      }
    </Loaded>
  )
}
