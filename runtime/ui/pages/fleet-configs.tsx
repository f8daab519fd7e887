import type { FleetConfigRecord } from '../../../lib/wire/fleet-configs.ts'
import { say } from '../i18n/define.ts'
import { fleetConfigTexts } from '../i18n/fleet-configs.ts'
import { formatNumber } from '../i18n/format.ts'
import { selectorLines } from '../logic/selector-lines.ts'
import { ActionLink, unless } from '../parts/controls.tsx'
import { EditionLine } from '../parts/edition.tsx'
import { Loaded } from '../parts/failure.tsx'
import { keptAlike } from '../parts/kept-by.tsx'
import { Head } from '../parts/page.tsx'
import { Table, type TableColumn } from '../parts/table.tsx'
import { api } from '../state/endpoints.ts'
import { can } from '../state/session.ts'
import { useResource } from '../state/use-resource.ts'

/** The conditions of a fleet config, each as one chip. */
export function SelectorChips({ of }: { of: FleetConfigRecord['selector'] }) {
  return (
    <span class="chips">
      {selectorLines(of).map((line) => (
        <span key={line} class="chip">
          {line}
        </span>
      ))}
    </span>
  )
}

/** Workloads that another one of the same priority selects too, whoever of them has them. */
const countConflicts = (config: FleetConfigRecord): number =>
  keptAlike(config).reduce((sum, { workload_count: count }) => sum + count, config.conflict_count)

function listColumns(): TableColumn<FleetConfigRecord>[] {
  const { column, keptShort } = say(fleetConfigTexts)
  const count = (value: number) => (value === 0 ? <span class="faint">–</span> : formatNumber(value))
  return [
    {
      title: column.name,
      look: 'text',
      cell: (config) => (
        <>
          <a class="name" href={`/fleet-configs/${config.id}`}>
            {config.name}
          </a>{' '}
          {config.description && <span class="sub">{config.description}</span>}
          {keptAlike(config).map(({ id, name, workload_count: count }) => (
            <span key={id} class="beneath warn">
              {keptShort(name, count)}
            </span>
          ))}
        </>
      ),
    },
    { title: column.selector, look: 'text', cell: ({ selector }) => <SelectorChips of={selector} /> },
    { title: column.priority, look: 'n', cell: ({ priority }) => formatNumber(priority) },
    { title: column.newest, look: 'n', cell: ({ newest_version }) => count(newest_version) },
    { title: column.workloads, look: 'n', cell: ({ workload_count }) => count(workload_count) },
    { title: column.conflicts, look: 'n', cell: (config) => count(countConflicts(config)) },
    { title: column.held, look: 'n', cell: ({ held_count }) => count(held_count) },
  ]
}

/** Every fleet config, by its name. */
export function FleetConfigsPage() {
  const words = say(fleetConfigTexts)
  const configs = useResource(can('config_safety.campaigns') ? 'fleet-configs' : null, (abort) =>
    api.fleetConfigs(abort),
  )
  return (
    <>
      <Head title={words.title}>
        <ActionLink href="/fleet-configs/new" kind="primary" reason={unless('config:create')}>
          {words.create}
        </ActionLink>
      </Head>
      <p class="muted">{words.lead}</p>
      <EditionLine parts={['campaigns']} />
      {can('config_safety.campaigns') && (
        <Loaded of={configs}>
          {(all) =>
            all.length === 0 ? (
              <p class="empty">{words.none}</p>
            ) : (
              <Table label={words.title} columns={listColumns()} rows={all} keyOf={({ id }) => id} />
            )
          }
        </Loaded>
      )}
    </>
  )
}
