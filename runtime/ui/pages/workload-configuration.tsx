import { deadEndOf, isOpen } from '../../../lib/model/workload-states.ts'
import type { RunningConfigs } from '../../../lib/wire/workloads.ts'
import { say } from '../i18n/define.ts'
import { quoted, shortHash } from '../i18n/format.ts'
import { historyTexts } from '../i18n/history.ts'
import { describeRunning, workloadTexts } from '../i18n/workload.ts'
import { listChoices, nameInstances } from '../logic/instances.ts'
import { otherwiseRunning, workableHashOf } from '../logic/workloads.ts'
import { CodeView } from '../parts/code.tsx'
import { ActionLink, Select, unless } from '../parts/controls.tsx'
import { Loaded } from '../parts/failure.tsx'
import { GitNotice, useInGit } from '../parts/git-notice.tsx'
import { Pipelines } from '../parts/pipelines.tsx'
import { Ago, Mark } from '../parts/state.tsx'
import { api } from '../state/endpoints.ts'
import { query, setQuery } from '../state/router.ts'
import { can, may } from '../state/session.ts'
import { useResource } from '../state/use-resource.ts'
import type { TabProps } from './workload.tsx'

/** The part of the config that the address leads to. */
const meantPath = (isHere = true) => (isHere ? (query.value.get('at') ?? undefined) : undefined)

function Wanted({ workload, failing }: Pick<TabProps, 'workload' | 'failing'>) {
  const words = say(historyTexts)
  const deadEnd = deadEndOf(workload)
  const hash = workableHashOf(workload) ?? ''
  const revision = useResource(hash === '' ? null : `revision:${workload.id}:${hash}`, (abort) =>
    api.revision(workload.id, hash, abort),
  )
  const push = workload.current_config_push
  if (deadEnd !== null && push !== undefined)
    return (
      <p>
        {words.deadEnd(shortHash(deadEnd))}{' '}
        <a href={`/workloads/${workload.id}/pushes/${deadEnd}?push=${push.push_id}`}>{words.seeFailed}</a>
      </p>
    )
  if (hash === '') return <p class="muted">{words.noWanted}</p>
  return (
    <Loaded of={revision}>
      {(data) => (
        <div class="stack">
          {data.content && (
            <div class="pane">
              <Pipelines yaml={data.content} failing={failing} />
            </div>
          )}
          <div class="pane flush">
            <div class="pane-head">
              <b>{words.wanted}</b>
              <span class="mono muted" title={hash}>
                {shortHash(hash)}
              </span>
              {data.label && <span>{quoted(data.label)}</span>}
              <span class="muted grow">
                {data.pushed_by} · <Ago at={data.submitted_at} />
              </span>
              {can('config_safety.approvals') && (
                <ActionLink href={`/workloads/${workload.id}/change`} reason={unless('config:request')}>
                  {say(workloadTexts).propose}
                </ActionLink>
              )}
            </div>
            <CodeView text={data.content ?? ''} label={words.wanted} meant={meantPath()} />
          </div>
        </div>
      )}
    </Loaded>
  )
}

/** What the instances run beside what the workload is to run: as a member of a rollout one is to run something else. */
function Otherwise({ workload, running }: Pick<TabProps, 'workload'> & { running: RunningConfigs }) {
  const words = say(historyTexts)
  const push = workload.current_config_push
  const rollout = push !== undefined && isOpen(push) ? push.rollout_id : undefined
  const other = rollout === undefined ? running.others[0]?.config_hash : push?.config_hash
  const base = `/workloads/${workload.id}`
  return (
    <>
      <Mark tone="warn" shape="triangle">
        {describeRunning(running)}.{rollout !== undefined && ` ${words.inRollout}`}
      </Mark>
      <div class="actions">
        {rollout !== undefined && (
          <ActionLink href={`${base}/rollouts/${rollout}`}>{words.seeRollout}</ActionLink>
        )}
        {other !== undefined && (
          <ActionLink href={`${base}/compare?from=${workload.active_config_hash}&to=${other}`}>
            {words.compare}
          </ActionLink>
        )}
      </div>
    </>
  )
}

/** How many instances run something else than what they should, or that they agree. */
function Agreement({
  workload,
  instances,
  odd,
}: Pick<TabProps, 'workload'> &
  Record<'instances' | 'odd', NonNullable<TabProps['topology']['data']>['instances']>) {
  const words = say(historyTexts)
  const running = otherwiseRunning(workload)
  return (
    <>
      {odd.length > 0 && (
        <Mark tone="warn" shape="triangle">
          {words.disagree(odd.length)}
        </Mark>
      )}
      {running !== undefined && <Otherwise workload={workload} running={running} />}
      {odd.length === 0 &&
        running === undefined &&
        instances.some((instance) => instance.effective_matches === true) && (
          <Mark tone="ok" shape="tick">
            {words.agree}
          </Mark>
        )}
    </>
  )
}

function Running({ workload, topology, failing }: Pick<TabProps, 'workload' | 'topology' | 'failing'>) {
  const words = say(historyTexts)
  const instances = topology.data?.instances ?? []
  const nameOf = nameInstances(instances, workload)
  const odd = instances.filter((instance) => instance.effective_matches === false)
  const wanted = query.value.get('instance')
  const shown = instances.find(({ instance_uid: uid }) => uid === wanted) ?? odd[0] ?? instances[0]
  const detail = useResource(shown ? `instance:${workload.id}:${shown.instance_uid}` : null, (abort) =>
    api.instance(workload.id, shown?.instance_uid ?? '', abort),
  )
  const text = detail.data?.effective_config
  // Nothing else is there to be drawn.
  const isAll = workableHashOf(workload) === undefined
  return (
    <section class="stack tight">
      <Agreement workload={workload} instances={instances} odd={odd} />
      {odd[0]?.effective_mismatch_paths?.map((path) => (
        <code key={path}>{path}</code>
      ))}
      {text && isAll && (
        <div class="pane">
          <Pipelines yaml={text} failing={failing} />
        </div>
      )}
      {text ? (
        <div class="pane flush">
          <div class="pane-head">
            <b>{words.running}</b>
            <span class="narrow-select">
              <Select
                isBare
                label={say(workloadTexts).health.of}
                value={shown?.instance_uid ?? ''}
                options={listChoices(instances, shown?.instance_uid ?? null).map((instance) => [
                  instance.instance_uid,
                  `${instance.effective_matches === false ? '▲ ' : ''}${nameOf(instance.instance_uid)}`,
                ])}
                onValue={(instance) => setQuery({ instance })}
              />
            </span>
            <span class="muted grow">
              {shown?.assigned_config_hash !== undefined &&
                shown.assigned_config_hash !== workload.active_config_hash &&
                `${words.given(shortHash(shown.assigned_config_hash))} `}
              {words.runningHint}
            </span>
          </div>
          <CodeView text={text} label={words.running} meant={meantPath(isAll)} />
        </div>
      ) : (
        <p class="muted">{words.noRunning}</p>
      )}
    </section>
  )
}

/** The config that is assigned, what the instances run, and the picture of the pipelines. */
export function ConfigurationTab({ workload, topology, failing }: TabProps) {
  const words = say(historyTexts)
  const git = useInGit(workload.id)
  if (!may('config:read_content')) return <p class="empty">{words.hidden}</p>
  return (
    <div class="stack">
      <GitNotice workload={workload} git={git} />
      <Wanted workload={workload} failing={failing} />
      <Running workload={workload} topology={topology} failing={failing} />
    </div>
  )
}
