import { useSignal } from '@preact/signals'
import type { RevisionRecord } from '../../../lib/wire/revisions.ts'
import { describeGroup } from '../i18n/causes.ts'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { formatNumber, shortHash } from '../i18n/format.ts'
import { historyTexts } from '../i18n/history.ts'
import { workloadTexts } from '../i18n/workload.ts'
import { appliedHashes, canPin, stateOf } from '../logic/pushes.ts'
import { Action, ActionLink, bind, TextField, unless } from '../parts/controls.tsx'
import { EditionLine } from '../parts/edition.tsx'
import { Loaded } from '../parts/failure.tsx'
import { FormDialog } from '../parts/form.tsx'
import { Ago, PushMark } from '../parts/state.tsx'
import { Table, type TableColumn } from '../parts/table.tsx'
import { toast, toastFailure } from '../parts/toast.tsx'
import { WorstHealth } from '../parts/worst-health.tsx'
import { api } from '../state/endpoints.ts'
import { query, setQuery } from '../state/router.ts'
import { can, may } from '../state/session.ts'
import { useDialog } from '../state/use-dialog.ts'
import { PinDialog } from './pin-dialog.tsx'
import { RollbackDialog } from './rollback-dialog.tsx'
import type { TabProps } from './workload.tsx'

type Open = { kind: 'label' | 'pin' | 'rollback'; row: RevisionRecord }

function LabelDialog({
  row,
  onClose,
  onDone,
}: {
  row: RevisionRecord
  onClose: () => void
  onDone: () => void
}) {
  const words = say(historyTexts)
  const common = say(commonTexts)
  const text = useSignal(row.label ?? '')
  const save = async () => {
    const result = await api.setLabel(row.workload_id, row.config_hash, text.value.trim())
    if (!result.ok) return toastFailure(result)
    toast(common.saved)
    onDone()
  }
  return (
    <FormDialog
      title={`${words.editLabel} ${shortHash(row.config_hash)}`}
      onClose={onClose}
      onSend={save}
      send={common.save}
    >
      <TextField label={words.label} hint={words.labelHint} maxLength={128} {...bind(text)} />
    </FormDialog>
  )
}

/** What sets a push apart; only the newest of the current config's pushes is the current one. */
function Marks({ row, isCurrent }: { row: RevisionRecord; isCurrent: boolean }) {
  const words = say(historyTexts)
  return (
    <span class="chips">
      {row.label && <span class="chip">{row.label}</span>}
      {isCurrent && <span class="chip quiet">{words.current}</span>}
      {row.is_last_known_good && <span class="chip quiet">{words.pinned}</span>}
      {row.rollout_id && (
        <a class="chip quiet" href={`/workloads/${row.workload_id}/rollouts/${row.rollout_id}`}>
          {words.stages}
        </a>
      )}
    </span>
  )
}

interface RowProps {
  row: RevisionRecord
  /** The whole history, newest first. */
  rows: readonly RevisionRecord[]
  onOpen: (open: Open) => void
  reload: () => void
}

/** Pin a config or take its pin away; asks first where another one is pinned. */
async function pinOrAsk({ row, rows, onOpen, reload }: RowProps) {
  // Another config is pinned: the dialog names it before it is replaced.
  if (!row.is_last_known_good && rows.some((one) => one.is_last_known_good))
    return onOpen({ kind: 'pin', row })
  const result = row.is_last_known_good
    ? await api.clearKnownGood(row.workload_id)
    : await api.pinKnownGood(row.workload_id, row.config_hash, { if_current_known_good: '' })
  // Somebody else has pinned a config meanwhile.
  if (!result.ok && result.code === 'known_good_conflict') return onOpen({ kind: 'pin', row })
  if (!result.ok) return toastFailure(result)
  reload()
}

function RowActions({ row, rows, onOpen, reload }: RowProps) {
  const words = say(historyTexts)
  const isActive = rows.find((one) => one.is_current)?.config_hash === row.config_hash
  const applied = appliedHashes(rows).has(row.config_hash) ? null : words.rollBackOnlyApplied
  return (
    <span class="actions row-actions short-names">
      <Action
        kind="plain"
        reason={unless('workload:push_config')}
        onClick={() => onOpen({ kind: 'label', row })}
      >
        {words.editLabel}
      </Action>
      {can('config_safety.guided_rollback') && (
        <>
          <Action
            kind="plain"
            label={row.is_last_known_good ? words.unpin : words.pin}
            reason={
              unless('workload:push_config') ??
              (canPin(rows, row.config_hash) || row.is_last_known_good ? null : words.pinOnlyApplied)
            }
            onClick={() => void pinOrAsk({ row, rows, onOpen, reload })}
          >
            {row.is_last_known_good ? words.unpin : words.pinShort}
          </Action>
          <Action
            kind="plain"
            label={words.rollBack}
            reason={unless('workload:push_config') ?? (isActive ? words.rollBackHere : applied)}
            onClick={() => onOpen({ kind: 'rollback', row })}
          >
            {words.rollBackShort}
          </Action>
        </>
      )}
    </span>
  )
}

/** The two hashes that the address chooses to compare, and how to choose others. */
function useChosen() {
  const hashes = (query.value.get('compare') ?? '').split(',').filter((hash) => hash !== '')
  const toggle = (hash: string, isOn: boolean) => {
    const next = isOn ? [...hashes, hash].slice(-2) : hashes.filter((other) => other !== hash)
    setQuery({ compare: next.join(',') })
  }
  return { hashes, toggle }
}

type Chosen = ReturnType<typeof useChosen>

function CompareTools({ workloadId, chosen }: { workloadId: string; chosen: Chosen }) {
  const words = say(historyTexts)
  const [from = '', to = ''] = chosen.hashes
  return (
    <div class="tools">
      {may('config:read_content') && (
        <ActionLink
          href={`/workloads/${workloadId}/compare?from=${from}&to=${to}`}
          reason={to === '' ? words.compareHint : null}
        >
          {words.compare}
        </ActionLink>
      )}
      <span class="muted">{query.value.get('rollback') ? words.rollBackChoose : words.compareHint}</span>
    </div>
  )
}

function columnsOf(
  rows: readonly RevisionRecord[],
  chosen: Chosen,
  onOpen: (open: Open) => void,
  reload: () => void,
): TableColumn<RevisionRecord>[] {
  const words = say(historyTexts)
  const { column } = say(workloadTexts)
  return [
    {
      title: words.compare,
      isTitleHidden: true,
      cell: ({ config_hash: hash }) => (
        <input
          type="checkbox"
          aria-label={words.choose(shortHash(hash))}
          checked={chosen.hashes.includes(hash)}
          onChange={(event) => chosen.toggle(hash, event.currentTarget.checked)}
        />
      ),
    },
    { title: column.hash, cell: (row) => <PushLink row={row} /> },
    { title: column.when, look: 'muted', cell: (row) => <Ago at={row.submitted_at} /> },
    {
      title: column.author,
      cell: (row) => (row.pushed_by === 'auto-rollback' ? words.autoRollback : row.pushed_by),
    },
    { title: column.status, look: 'text', cell: (row) => <Outcome row={row} /> },
    {
      title: column.counts,
      look: 'n',
      cell: (row) => (
        <>
          {formatNumber(row.applied_count)}
          <span class="muted"> / {formatNumber(row.target_count)}</span>
        </>
      ),
    },
    { title: column.label, cell: (row) => <Marks row={row} isCurrent={row.is_current} /> },
    {
      title: say(commonTexts).actions,
      isTitleHidden: true,
      cell: (row) => <RowActions row={row} rows={rows} reload={reload} onOpen={onOpen} />,
    },
  ]
}

const PushLink = ({ row }: { row: RevisionRecord }) => (
  <a class="mono name" href={`/workloads/${row.workload_id}/pushes/${row.config_hash}?push=${row.push_id}`}>
    {shortHash(row.config_hash)}
  </a>
)

function Outcome({ row }: { row: RevisionRecord }) {
  return (
    <>
      <PushMark state={stateOf(row)} />
      <WorstHealth of={row.worst_health} />
      {row.error_groups?.[0] && (
        <span class="bad">
          {' · '}
          {describeGroup(row.error_groups[0])}
        </span>
      )}
    </>
  )
}

/** Every push, newest first: compare any two, label, pin, roll back. */
export function HistoryTab({ workload, history }: TabProps) {
  const { about, open, close, done } = useDialog<Open>(history.reload)
  const chosen = useChosen()
  return (
    <Loaded of={history}>
      {(rows) =>
        rows.length === 0 ? (
          <p class="empty">{say(historyTexts).nothing}</p>
        ) : (
          <>
            <CompareTools workloadId={workload.id} chosen={chosen} />
            <EditionLine parts={['guided_rollback']} />
            <Table
              label={say(workloadTexts).tabs.history}
              columns={columnsOf(rows, chosen, open, history.reload)}
              rows={rows}
              keyOf={(row) => row.push_id}
            />
            {about?.kind === 'label' && <LabelDialog row={about.row} onClose={close} onDone={done} />}
            {about?.kind === 'pin' && <PinDialog row={about.row} onClose={close} onDone={done} />}
            {about?.kind === 'rollback' && (
              <RollbackDialog workload={workload} row={about.row} onClose={close} />
            )}
          </>
        )
      }
    </Loaded>
  )
}
