import type { FleetConfigWorkload } from '../../../lib/wire/fleet-configs.ts'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { fleetConfigTexts } from '../i18n/fleet-configs.ts'
import { formatList } from '../i18n/format.ts'
import { Action } from '../parts/controls.tsx'
import { FailureNotice, Waiting } from '../parts/failure.tsx'
import { Table, type TableColumn } from '../parts/table.tsx'
import { WorkloadName } from '../parts/workload-link.tsx'
import { api } from '../state/endpoints.ts'
import { usePages } from '../state/use-pages.ts'

/** How many are listed before more are asked for: what the page says besides stands below them. */
const FIRST = 10

/** Those that are held first, then those that do not run the newest version: somebody has to look at them. */
const sortRows = (rows: readonly FleetConfigWorkload[], newest: number): FleetConfigWorkload[] => {
  const rank = ({ hold, version }: FleetConfigWorkload) => (hold ? 0 : version === newest ? 2 : 1)
  return [...rows].sort((a, b) => rank(a) - rank(b))
}

function listColumns(): TableColumn<FleetConfigWorkload>[] {
  const words = say(fleetConfigTexts)
  return [
    {
      title: words.column.workload,
      look: 'text',
      cell: ({ workload_id, display_name, place, rivals }) => (
        <>
          <WorkloadName name={display_name} place={place} href={`/workloads/${workload_id}`} />{' '}
          {rivals.length > 0 && <span class="sub">{words.rivals(formatList(rivals))}</span>}
        </>
      ),
    },
    {
      title: words.runs,
      cell: ({ version }) =>
        version === undefined ? <span class="faint">{words.runsUnknown}</span> : words.version(version),
    },
    {
      title: words.column.hold,
      look: 'text',
      cell: ({ hold }) =>
        hold === undefined ? (
          <span class="faint">–</span>
        ) : (
          <>
            {words.heldBy(hold.held_by, hold.reason)}
            {hold.overdue && <b class="warn"> · {words.overdue}</b>}
          </>
        ),
    },
  ]
}

/** The workloads under a fleet config, page by page, kept up to date. */
export const useUnder = (id: string) =>
  usePages<FleetConfigWorkload>(`fleet-config-workloads:${id}`, {
    idOf: ({ workload_id }) => workload_id,
    load: (address, abort) => api.fleetConfigWorkloads(id, address, abort),
    touches: ({ type }) =>
      type === 'workload_config_status' || type === 'campaign_update' || type === 'auto_apply_update',
  })

/** How many of the workloads under a fleet config run a version; null while not all of them are known. */
export const countRunning = (
  { rows, hasOlder }: ReturnType<typeof useUnder>,
  number: number,
): number | null =>
  rows.length === 0 || hasOlder ? null : rows.filter(({ version }) => version === number).length

/** The workloads under a fleet config, with the version that each should run and why some are left alone. */
export function UnderConfig({ of, newest }: { of: ReturnType<typeof useUnder>; newest: number }) {
  const words = say(fleetConfigTexts)
  const { rows, failure, isLoading, hasOlder, older, reload } = of
  return (
    <section class="ground stack tight">
      <h2>{words.under}</h2>
      <p class="muted">{words.runsHint}</p>
      {failure !== null && <FailureNotice failure={failure} retry={reload} />}
      {rows.length === 0 && isLoading && <Waiting />}
      {rows.length === 0 && !isLoading && failure === null && <p class="empty">{words.nobody}</p>}
      {rows.length > 0 && (
        <Table
          label={words.under}
          columns={listColumns()}
          rows={sortRows(rows, newest)}
          first={FIRST}
          keyOf={({ workload_id }) => workload_id}
        />
      )}
      {hasOlder && <Action onClick={older}>{say(commonTexts).more}</Action>}
    </section>
  )
}
