import { useMemo } from 'preact/hooks'
import { baseInWordsOf } from '../../../lib/configs/effective/base-of-report.ts'
import { deadEndOf, isOpen, splitOf, stagingOf } from '../../../lib/model/workload-states.ts'
import type { LiveInstance } from '../../../lib/wire/instances.ts'
import type { RunningConfigs } from '../../../lib/wire/workloads.ts'
import { say } from '../i18n/define.ts'
import { quoted, shortHash } from '../i18n/format.ts'
import { historyTexts } from '../i18n/history.ts'
import { sideTexts } from '../i18n/sides.ts'
import { describeRunning, describeSplit, workloadTexts } from '../i18n/workload.ts'
import { diagnose } from '../logic/diagnosis.ts'
import { listComponents, pathOfComponent } from '../logic/health.ts'
import { instanceName, listChoices, nameInstances } from '../logic/instances.ts'
import { otherwiseRunning, workableHashOf } from '../logic/workloads.ts'
import { valueAt } from '../logic/yaml-lines.ts'
import { CodeView, CompareView } from '../parts/code.tsx'
import { Action, ActionLink, Select, unless } from '../parts/controls.tsx'
import { Loaded } from '../parts/failure.tsx'
import { GitNotice } from '../parts/git-notice.tsx'
import { LeftOutFor } from '../parts/left-out-for.tsx'
import { Sheet } from '../parts/page.tsx'
import { Pipelines } from '../parts/pipelines.tsx'
import { Ago, Mark } from '../parts/state.tsx'
import { api } from '../state/endpoints.ts'
import { query, setQuery } from '../state/router.ts'
import { can, may } from '../state/session.ts'
import { useInGit } from '../state/use-in-git.ts'
import { touchesWorkload, useResource } from '../state/use-resource.ts'
import type { TabProps } from './workload.tsx'
import { describeComplaint } from './workload-sentence.tsx'

/** The part of the config that the address leads to. */
const meantPath = (isHere = true) => (isHere ? (query.value.get('at') ?? undefined) : undefined)

/** Whether the part of the config that the address leads to is one that unhealthy instances complain of. */
const isComplained = (at: string | undefined, failing: TabProps['failing']): boolean =>
  at !== undefined && listComponents(failing).some((component) => pathOfComponent(component) === at)

/** A config to read, with the lines that the address leads to; where they are of what fails, below its error. */
function Told({
  text,
  label,
  at,
  failing,
  complaint,
}: { text: string; label: string; at: string | undefined } & Pick<TabProps, 'failing' | 'complaint'>) {
  const isFault = isComplained(at, failing)
  return (
    <>
      {isFault && (
        <p class="pane-said">
          <Mark tone="bad" shape="cross">
            {describeComplaint({ components: failing, complaint })}
          </Mark>
        </p>
      )}
      <CodeView text={text} label={label} meant={at} isFault={isFault} />
    </>
  )
}

type Sick = Pick<TabProps, 'failing' | 'complaint' | 'isFailingPart'>

function Wanted({ workload, isFailingPart, ...told }: Pick<TabProps, 'workload'> & Sick) {
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
  const split = splitOf(workload)
  if (hash === '') return <p class="muted">{split === null ? words.noWanted : `${describeSplit(split)}.`}</p>
  return (
    <Loaded of={revision}>
      {(data) => (
        <div class="stack">
          {data.content && (
            <div class="pane">
              <Pipelines yaml={data.content} failing={told.failing} isPart={isFailingPart} />
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
            <Told text={data.content ?? ''} label={words.wanted} at={meantPath()} {...told} />
          </div>
        </div>
      )}
    </Loaded>
  )
}

const ASTRAY = { tone: 'warn', shape: 'triangle' } as const
const IN_STAGES = { tone: 'busy', shape: 'half' } as const

/** What the instances run beside what the workload is to run: as a member of a rollout one is to run something else. */
function Otherwise({ workload, running }: Pick<TabProps, 'workload'> & { running: RunningConfigs }) {
  const words = say(historyTexts)
  const push = workload.current_config_push
  const isUnderWay = push !== undefined && isOpen(push)
  const rollout = isUnderWay ? push.rollout_id : splitOf(workload)?.rolloutId
  const other = rollout === undefined ? running.others[0]?.config_hash : push?.config_hash
  const base = `/workloads/${workload.id}`
  return (
    <>
      <Mark {...(stagingOf(workload) === null ? ASTRAY : IN_STAGES)}>
        {describeRunning(workload, running)}.{isUnderWay && rollout !== undefined && ` ${words.inRollout}`}
      </Mark>
      <div class="actions">
        {rollout !== undefined && (
          <ActionLink href={`${base}/rollouts/${rollout}`}>{words.seeRollout}</ActionLink>
        )}
        {other !== undefined && workload.active_config_hash && (
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
  isTold,
}: Pick<TabProps, 'workload'> & { isTold: boolean } & Record<
    'instances' | 'odd',
    NonNullable<TabProps['topology']['data']>['instances']
  >) {
  const words = say(historyTexts)
  const running = otherwiseRunning(workload)
  return (
    <>
      {odd.length > 0 && !isTold && (
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

/** What differs between what an instance should run and what it does, each place with both values. */
function Differences({ paths, wanted, runs }: { paths: readonly string[]; wanted: string; runs: string }) {
  const { differs } = say(historyTexts)
  return (
    <Sheet
      isStacked
      label={differs.title}
      head={
        <>
          <th scope="col">{differs.place}</th>
          <th scope="col">{differs.should}</th>
          <th scope="col">{differs.does}</th>
        </>
      }
    >
      {paths.map((path) => (
        <tr key={path}>
          <td class="mono text">{path}</td>
          <td class="mono text" data-label={differs.should}>
            {valueAt(wanted, path) ?? differs.absent}
          </td>
          <td class="mono text" data-label={differs.does}>
            {valueAt(runs, path) ?? differs.absent}
          </td>
        </tr>
      ))}
    </Sheet>
  )
}

/** What an instance runs beside what it should run, in the words of that. */
function BesideWanted({
  wanted,
  runs,
  sides,
}: {
  wanted: string
  runs: string
  sides: readonly [string, string]
}) {
  const before = useMemo(() => baseInWordsOf(wanted, runs), [wanted, runs])
  return <CompareView before={wanted} after={before} sides={sides} />
}

/** Of which instance it is, which can be chosen, and whether it stands beside what it should be. */
function RunningHead({
  workload,
  instances,
  shown,
  isBeside,
}: Pick<TabProps, 'workload'> & {
  instances: readonly LiveInstance[]
  shown: LiveInstance | undefined
  /** Absent where there is nothing to compare it with. */
  isBeside: boolean | undefined
}) {
  const words = say(historyTexts)
  const nameOf = nameInstances(instances, workload)
  const given = shown?.assigned_config_hash
  return (
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
        {given !== undefined && given !== workload.active_config_hash && `${words.given(shortHash(given))} `}
        {isBeside ? words.differs.beside : words.runningHint}
      </span>
      {isBeside !== undefined && (
        <Action isPressed={isBeside} onClick={() => setQuery({ view: isBeside ? null : 'compare' })}>
          {words.compare}
        </Action>
      )}
    </div>
  )
}

/** An instance with what it runs, as it is now. */
const useInstance = (workloadId: string, uid: string | undefined) =>
  useResource(
    uid === undefined ? null : `instance:${workloadId}:${uid}`,
    (abort) => api.instance(workloadId, uid ?? '', abort),
    touchesWorkload(workloadId),
  )

interface RunningProps extends Pick<TabProps, 'workload' | 'topology'>, Sick {
  /** The sentence above the tabs says already that some run something else. */
  isTold: boolean
}

function Running({ workload, topology, failing, complaint, isFailingPart, isTold }: RunningProps) {
  const words = say(historyTexts)
  const instances = topology.data?.instances ?? []
  const odd = instances.filter((instance) => instance.effective_matches === false)
  const wanted = query.value.get('instance')
  const shown = instances.find(({ instance_uid: uid }) => uid === wanted) ?? odd[0] ?? instances[0]
  const detail = useInstance(workload.id, shown?.instance_uid)
  const text = detail.data?.effective_config
  const given = shown?.assigned_config_hash
  const revision = useResource(given === undefined ? null : `revision:${workload.id}:${given}`, (abort) =>
    api.revision(workload.id, given ?? '', abort),
  )
  const should = revision.data?.content
  const isBeside = should !== undefined && query.value.get('view') === 'compare'
  // Nothing else is there to be drawn.
  const isAll = workableHashOf(workload) === undefined
  return (
    <section class="stack tight">
      <Agreement workload={workload} instances={instances} odd={odd} isTold={isTold} />
      {shown?.effective_matches === false && text !== undefined && should !== undefined && (
        <Differences paths={shown.effective_mismatch_paths ?? []} wanted={should} runs={text} />
      )}
      {text && isAll && (
        <div class="pane">
          <Pipelines yaml={text} failing={failing} isPart={isFailingPart} />
        </div>
      )}
      {text ? (
        <div class="pane flush">
          <RunningHead
            workload={workload}
            instances={instances}
            shown={shown}
            isBeside={should === undefined ? undefined : isBeside}
          />
          {isBeside ? (
            <BesideWanted
              wanted={should}
              runs={text}
              sides={[
                say(sideTexts).wanted(shortHash(given ?? '')),
                say(sideTexts).runs(shown === undefined ? '' : instanceName(shown, workload)),
              ]}
            />
          ) : (
            <Told
              text={text}
              label={words.running}
              at={meantPath(isAll)}
              failing={failing}
              complaint={complaint}
            />
          )}
        </div>
      ) : (
        <p class="muted">{words.noRunning}</p>
      )}
    </section>
  )
}

/** The config that is assigned, what the instances run, and the picture of the pipelines. */
export function ConfigurationTab({ workload, topology, history, ...of }: TabProps) {
  const git = useInGit(workload.id, of.standing)
  if (!may('config:read_content')) return <LeftOutFor permission="config:read_content" />
  const { failing, complaint, isFailingPart } = of
  const told = { workload, failing, complaint, isFailingPart }
  // Where what runs differs, that is what one came to see.
  const isOdd = topology.data?.instances.some((instance) => instance.effective_matches === false) === true
  const isTold = diagnose(workload, topology.data, history.data ?? []).kind === 'differs'
  const running = <Running topology={topology} isTold={isTold} {...told} />
  return (
    <div class="stack">
      <GitNotice workload={workload} git={git} />
      {isOdd && running}
      <Wanted {...told} />
      {!isOdd && running}
    </div>
  )
}
