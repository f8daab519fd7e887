import { useRef } from 'preact/hooks'
import { statesThat } from '../../../lib/model/target-states.ts'
import type { CampaignRecord, CampaignStatus, CampaignTarget } from '../../../lib/wire/campaigns.ts'
import { describeFate, describeState, describeVerdict, describeWait } from '../i18n/campaign-sentences.ts'
import { campaignTexts } from '../i18n/campaigns.ts'
import { say } from '../i18n/define.ts'
import { formatNumber } from '../i18n/format.ts'
import { inOrder, shapeOfTarget, toneOfTarget } from '../logic/campaigns.ts'
import { Capped } from '../parts/capped.tsx'
import { Loaded } from '../parts/failure.tsx'
import { OutsideScope } from '../parts/outside-scope.tsx'
import { Sheet } from '../parts/page.tsx'
import { Ago, Mark } from '../parts/state.tsx'
import { WorkloadName } from '../parts/workload-link.tsx'
import { api } from '../state/endpoints.ts'
import { hrefWith, query } from '../state/router.ts'
import { type Resource, useReread, useResource } from '../state/use-resource.ts'
import { isNarrow } from '../state/viewport.ts'

function sinceOf({ started_at: startedAt, ended_at: endedAt }: CampaignTarget) {
  const since = endedAt ?? startedAt
  return since === undefined ? '' : <Ago at={since} />
}

/** The push that went wrong on a workload; null where none did. */
const hrefOfPush = ({
  state,
  workload_id: id,
  result_hash: hash,
  push_id: push,
}: CampaignTarget): string | null =>
  statesThat('went-wrong').includes(state) && hash !== undefined && push !== undefined
    ? `/workloads/${id}/pushes/${hash}?push=${push}`
    : null

/** Why it stands so, and what it waits for. */
function Why({ of: target, status }: { of: CampaignTarget; status: CampaignStatus }) {
  const [why, wait] = [describeFate(target), describeWait(target, status)]
  const push = hrefOfPush(target)
  const rival = (target.waits_for ?? target.overtakes)?.campaign_id
  return (
    <>
      {why} {rival === undefined ? wait : <a href={`/campaigns/${rival}`}>{wait}</a>}{' '}
      {push !== null && (
        <a class="link" href={push}>
          {say(campaignTexts).seePush}
        </a>
      )}
    </>
  )
}

/** Which columns are empty in each row: before a campaign is begun nothing has happened. */
interface Shown {
  why: boolean
  since: boolean
}

const shownIn = (all: readonly CampaignTarget[], status: CampaignStatus): Shown => ({
  why: all.some((target) => describeFate(target) !== '' || describeWait(target, status) !== ''),
  since: all.some((target) => sinceOf(target) !== ''),
})

function TargetRow({
  of: target,
  status,
  shown,
}: {
  of: CampaignTarget
  status: CampaignStatus
  shown: Shown
}) {
  return (
    <tr>
      <td class="text">
        <WorkloadName
          name={target.workload_name}
          place={target.workload_place}
          href={`/workloads/${target.workload_id}`}
        />
      </td>
      <td data-label={say(campaignTexts).column.wave}>
        {target.wave === null ? '–' : formatNumber(target.wave + 1)}
      </td>
      <td>{describeVerdict(target)}</td>
      <td>
        <Mark tone={toneOfTarget(target)} shape={shapeOfTarget(target)}>
          {describeState(target)}
        </Mark>
      </td>
      {shown.why && (
        <td class="text">
          <Why of={target} status={status} />
        </td>
      )}
      {shown.since && <td class="muted">{sinceOf(target)}</td>}
    </tr>
  )
}

/** How many workloads are read at once; with more, those that stand best are left to the links by state. */
const READ_MAX = 1_000

/** Rows that stand above what changes: below each other they are a screen each. */
const firstShown = () => (isNarrow.value ? 3 : 10)

interface TableProps {
  of: readonly CampaignTarget[]
  status: CampaignStatus
  first: number | undefined
}

function TargetTable({ of: all, status, first }: TableProps) {
  const words = say(campaignTexts)
  const { workload, wave, verdict, state, why, since } = words.column
  const shown = shownIn(all, status)
  return (
    <>
      <Sheet
        isStacked
        label={words.targets}
        head={[
          ...[workload, wave, verdict, state],
          ...(shown.why ? [why] : []),
          ...(shown.since ? [since] : []),
        ].map((title) => (
          <th key={title} scope="col">
            {title}
          </th>
        ))}
      >
        <Capped rows={all} {...(first === undefined ? {} : { first })}>
          {(target) => <TargetRow key={target.workload_id} of={target} status={status} shown={shown} />}
        </Capped>
      </Sheet>
      {all.length >= READ_MAX && <p class="muted">{words.readMax(READ_MAX)}</p>}
    </>
  )
}

/** The state of the address whose workloads alone are wanted. */
const wantedState = (): string | undefined => query.value.get('state') ?? undefined

/** The workloads of a campaign, kept up to date. */
export function useTargets(of: CampaignRecord): Resource<CampaignTarget[]> {
  const state = wantedState()
  const open = useRef<ReadonlySet<string>>(new Set())
  const targets = useResource(
    of.plan === undefined ? null : `campaign-targets:${of.id}:${of.plan_hash}:${state}`,
    (abort) =>
      api.campaignTargets(of.id, { order: 'worst', ...(state === undefined ? {} : { state }) }, abort),
    (frame) =>
      (frame.type === 'campaign_update' && frame.campaign.id === of.id) ||
      // One that was away, or is going back, may be back; the next stage of one may wait, or not any more.
      (frame.type === 'workload_update' && open.current.has(frame.workload.id)),
  )
  open.current = new Set(
    (targets.data ?? []).flatMap(({ state, aftermath, workload_id: id }) =>
      state === 'offline' || state === 'started' || aftermath?.kind === 'going_back' ? id : [],
    ),
  )
  useReread(targets, `${of.updated_at}:${of.became_unhealthy?.count ?? 0}`)
  return targets
}

/** The workloads of a campaign, those that need somebody first. */
export function Targets({ of, targets }: { of: CampaignRecord; targets: Resource<CampaignTarget[]> }) {
  const words = say(campaignTexts)
  const state = wantedState()
  if (of.plan === undefined) return null
  const states = inOrder(of.counts)
  return (
    <section class="stack">
      <h2>{words.targets}</h2>
      {states.length > 0 && (
        <p class="actions">
          <a
            class="link"
            aria-current={state === undefined ? 'true' : undefined}
            href={hrefWith({ state: null })}
          >
            {words.everyone}
          </a>
          {states.map(([name, count]) => (
            <a
              class="link"
              key={name}
              aria-current={state === name ? 'true' : undefined}
              href={hrefWith({ state: name })}
            >
              {`${words.state[name]} ${formatNumber(count)}`}
            </a>
          ))}
        </p>
      )}
      <Loaded of={targets}>
        {(all) => (
          <TargetTable
            key={state ?? ''}
            of={all}
            status={of.status}
            first={of.started_at !== undefined && state === undefined ? firstShown() : undefined}
          />
        )}
      </Loaded>
      <OutsideScope count={targets.outside} />
    </section>
  )
}
