import type { AutoApplyLeftOut, AutoApplyState, AutoApplyTarget } from '../../../lib/wire/auto-apply.ts'
import type { CampaignReason } from '../../../lib/wire/campaigns.ts'
import { autoApplyTexts } from '../i18n/auto-apply.ts'
import { campaignTexts } from '../i18n/campaigns.ts'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { Action } from '../parts/controls.tsx'
import { FailureNotice } from '../parts/failure.tsx'
import { OutsideScope } from '../parts/outside-scope.tsx'
import { Ago, PushMark } from '../parts/state.tsx'
import { Table, type TableColumn } from '../parts/table.tsx'
import { WorkloadName } from '../parts/workload-link.tsx'
import { api } from '../state/endpoints.ts'
import { holds } from '../state/session.ts'
import { usePages } from '../state/use-pages.ts'

/** Why a workload is left out, in the reader's words. */
export const leftOutReason = (reason: string): string =>
  say(autoApplyTexts).reason[reason] ?? say(campaignTexts).reason[reason as CampaignReason] ?? reason

const MARKS: Partial<Record<AutoApplyTarget['state'], string>> = {
  started: 'applying',
  overtaken: 'superseded',
  no_answer: 'no_status',
}

function pushedColumns(): TableColumn<AutoApplyTarget>[] {
  const words = say(autoApplyTexts)
  return [
    {
      title: words.column.workload,
      look: 'text',
      cell: (row) => (
        <>
          <WorkloadName
            name={row.workload_name}
            place={row.workload_place}
            href={`/workloads/${row.workload_id}/pushes/${row.result_hash}?push=${row.push_id}`}
          />
        </>
      ),
    },
    {
      title: words.column.state,
      cell: ({ state, cause, title }) => {
        // What kept it from going on amid its stages, until it was given up.
        const keptBy = state === 'overtaken' && cause !== undefined ? [leftOutReason(cause)] : []
        const why = [...keptBy, ...(title ? [title] : [])].join(': ')
        return (
          <>
            <PushMark state={MARKS[state] ?? state} />
            {why && <div class="beneath">{why}</div>}
          </>
        )
      },
    },
    { title: words.column.who, cell: (row) => (row.is_newcomer ? words.newcomer : words.older) },
    { title: words.column.when, look: 'muted', cell: ({ started_at }) => <Ago at={started_at} /> },
  ]
}

/** What was pushed by itself lately. */
export function PushedTable({ id }: { id: string }) {
  const words = say(autoApplyTexts)
  const isShown = holds('config:request')
  const { rows, outside, failure, isLoading, hasOlder, older, reload } = usePages<AutoApplyTarget>(
    `auto-apply-targets:${id}`,
    {
      idOf: ({ workload_id }) => workload_id,
      load: (address, abort) => api.autoApplyTargets(id, address, abort),
      touches: ({ type }) => type === 'auto_apply_update',
    },
  )
  const isEmpty = rows.length + outside === 0 && !isLoading && failure === null
  if (!isShown) return null
  return (
    <section class="stack" aria-label={words.pushed}>
      <h3>{words.pushed}</h3>
      {failure !== null && <FailureNotice failure={failure} retry={reload} />}
      {isEmpty && <p class="empty">{words.pushedNone}</p>}
      {rows.length > 0 && (
        <Table label={words.pushed} columns={pushedColumns()} rows={rows} keyOf={({ push_id }) => push_id} />
      )}
      <OutsideScope count={outside} />
      {hasOlder && <Action onClick={older}>{say(commonTexts).more}</Action>}
    </section>
  )
}

function leftOutColumns(): TableColumn<AutoApplyLeftOut>[] {
  const words = say(autoApplyTexts)
  return [
    {
      title: words.column.workload,
      look: 'text',
      cell: ({ workload_id, workload_name, workload_place }) => (
        <>
          <WorkloadName name={workload_name} place={workload_place} href={`/workloads/${workload_id}`} />
        </>
      ),
    },
    {
      title: words.column.why,
      look: 'text',
      cell: ({ reason, detail }) => (
        <>
          {leftOutReason(reason)}
          {detail !== undefined && `: ${words.variable(detail)}`}
        </>
      ),
    },
  ]
}

/** Who is left out, and why. */
export function LeftOutTable({ id, state }: { id: string; state: AutoApplyState }) {
  const words = say(autoApplyTexts)
  const { rows, failure, isLoading, hasOlder, older, reload } = usePages<AutoApplyLeftOut>(
    `auto-apply-left-out:${id}`,
    {
      idOf: ({ workload_id }) => workload_id,
      load: (address, abort) => api.autoApplyLeftOut(id, address, abort),
      touches: ({ type }) => type === 'auto_apply_update',
    },
  )
  return (
    <section class="stack" aria-label={words.leftOut}>
      <h3>{words.leftOut}</h3>
      <p class="muted">
        {Object.entries(state.left_out)
          .map(([reason, count]) => `${words.workload(count)}: ${leftOutReason(reason)}`)
          .join(' · ')}{' '}
        {state.looked_at && (
          <>
            {words.lookedAt} <Ago at={state.looked_at} />
          </>
        )}
      </p>
      {failure !== null && <FailureNotice failure={failure} retry={reload} />}
      {rows.length === 0 && !isLoading && failure === null && <p class="empty">{words.leftOutNone}</p>}
      {rows.length > 0 && (
        <Table
          label={words.leftOut}
          columns={leftOutColumns()}
          rows={rows}
          keyOf={({ workload_id }) => workload_id}
        />
      )}
      {hasOlder && <Action onClick={older}>{say(commonTexts).more}</Action>}
    </section>
  )
}
