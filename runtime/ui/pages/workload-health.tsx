import type { HealthNode, InstanceDetail, LiveInstance } from '../../../lib/wire/instances.ts'
import { describeError } from '../i18n/causes.ts'
import { say } from '../i18n/define.ts'
import { formatDuration, tick } from '../i18n/format.ts'
import { workloadTexts } from '../i18n/workload.ts'
import { aheadMs, isSaidBelow, listRepeating, partsOf } from '../logic/health.ts'
import { CHOICES_MAX, isUnwell, listChoices, nameInstances } from '../logic/instances.ts'
import { CodeView } from '../parts/code.tsx'
import { Select } from '../parts/controls.tsx'
import { Loaded } from '../parts/failure.tsx'
import { ConfigCell, MatchesCell } from '../parts/instance-cells.tsx'
import { fitsSearch, InstanceSearch } from '../parts/instance-search.tsx'
import { Pairs } from '../parts/page.tsx'
import { Ago, HealthMark } from '../parts/state.tsx'
import { api } from '../state/endpoints.ts'
import { query, setQuery } from '../state/router.ts'
import { touchesWorkload, useResource } from '../state/use-resource.ts'
import type { TabProps } from './workload.tsx'

function Node({
  name,
  node,
  repeating,
}: {
  name: string
  node: HealthNode
  repeating: ReadonlySet<HealthNode>
}) {
  const words = say(workloadTexts).health
  // Collectors repeat an exporter's error in its pipeline and at the top: it is said once, where it belongs.
  const isRepeated = repeating.has(node) && !node.healthy
  const error = isSaidBelow(node) || isRepeated ? '' : node.last_error || describeError(node)
  const children = partsOf(node)
  return (
    <li>
      <div class="row">
        <HealthMark of={node} />
        <span class="mono">{name}</span>
        {node.status && <span class="muted">{node.status}</span>}
        {node.updated_at && (
          <span class="faint">
            {words.reported} <Ago at={node.updated_at} />
          </span>
        )}
      </div>
      {error && <div class={node.healthy ? 'muted wrap' : 'bad wrap'}>{error}</div>}
      {isRepeated && <div class="muted">{words.repeated}</div>}
      {children.length > 0 && (
        <ul>
          {children.map(([id, child]) => (
            <Node key={id} name={id} node={child} repeating={repeating} />
          ))}
        </ul>
      )}
    </li>
  )
}

/** Which instance it is, and how it stands: what its row among the others says, and by whose clock it speaks. */
function About({ instance, name }: { instance: InstanceDetail; name: string }) {
  const { column, health, transports } = say(workloadTexts)
  const ahead = aheadMs(instance.health, tick.value)
  return (
    <section class="pane stack tight" aria-label={name}>
      <h2>{name}</h2>
      <Pairs
        isInline
        of={[
          [column.health, <HealthMark of={instance} />],
          [column.config, <ConfigCell instance={instance} />],
          [column.matches, <MatchesCell instance={instance} />],
          [column.version, <span class="mono">{instance.version ?? '–'}</span>],
          [column.connected, <Ago at={instance.connected_at} />],
          [column.message, <Ago at={instance.last_message_at} />],
          ...(instance.transport ? [[health.over, transports[instance.transport]] as const] : []),
          [column.uid, <span class="mono wrap">{instance.instance_uid}</span>],
        ]}
      />
      {ahead > 0 && <p class="warn">{health.ahead(formatDuration(ahead))}</p>}
    </section>
  )
}

function Detail({ instance, name }: { instance: InstanceDetail; name: string }) {
  const words = say(workloadTexts)
  return (
    <div class="two">
      <section class="pane">
        <h2>{words.tabs.health}</h2>
        {instance.health ? (
          <ul class="tree">
            <Node name={name} node={instance.health} repeating={listRepeating(instance.health)} />
          </ul>
        ) : (
          <p class="muted">{words.health.none}</p>
        )}
      </section>
      <div>
        <section class="pane">
          <h2>{words.health.attributes}</h2>
          <Pairs
            of={Object.entries(instance.attributes ?? {}).map(
              ([key, value]) => [key, <span class="mono">{value}</span>] as const,
            )}
          />
        </section>
        {instance.effective_config && (
          <section class="pane flush">
            <div class="pane-head">
              <b>{words.health.effective}</b>
            </div>
            <CodeView text={instance.effective_config} label={words.health.effective} />
          </section>
        )}
      </div>
    </div>
  )
}

/** The component tree of one instance as it reported it. */
export function HealthTab({ workload, topology }: TabProps) {
  const words = say(workloadTexts)
  const instances = topology.data?.instances ?? []
  const fits = (instance: LiveInstance) => fitsSearch(instance, workload)
  const fitting = instances.filter(fits).length
  const sick = instances.find(isUnwell) ?? instances[0]
  const wanted = query.value.get('instance') ?? sick?.instance_uid ?? null
  const detail = useResource(
    wanted === null ? null : `instance:${workload.id}:${wanted}`,
    (abort) => api.instance(workload.id, wanted ?? '', abort),
    touchesWorkload(workload.id),
  )
  // One that has left is looked at as well.
  const nameOf = nameInstances(detail.data ? [...instances, detail.data] : instances, workload)
  return (
    <Loaded of={topology}>
      {() =>
        instances.length === 0 && wanted === null ? (
          <p class="empty">{words.health.noInstance}</p>
        ) : (
          <div class="stack">
            <div class="tools">
              {instances.length > 1 && <InstanceSearch found={fitting} all={instances.length} />}
              <Select
                isBare
                label={words.health.of}
                value={wanted ?? ''}
                options={listChoices(instances, wanted, fits).map((instance) => [
                  instance.instance_uid,
                  `${isUnwell(instance) ? '▲ ' : ''}${nameOf(instance.instance_uid)}`,
                ])}
                onValue={(uid) => setQuery({ instance: uid })}
              />
            </div>
            {fitting > CHOICES_MAX && <p class="muted">{words.health.choices(CHOICES_MAX, fitting)}</p>}
            <Loaded of={detail}>
              {(instance) => (
                <>
                  <About instance={instance} name={nameOf(instance.instance_uid)} />
                  <Detail instance={instance} name={nameOf(instance.instance_uid)} />
                </>
              )}
            </Loaded>
          </div>
        )
      }
    </Loaded>
  )
}
