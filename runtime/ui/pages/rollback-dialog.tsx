import { useSignal } from '@preact/signals'
import type { RevisionRecord } from '../../../lib/wire/revisions.ts'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { shortHash } from '../i18n/format.ts'
import { historyTexts } from '../i18n/history.ts'
import { CompareView } from '../parts/code.tsx'
import { Action } from '../parts/controls.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Loaded } from '../parts/failure.tsx'
import { FleetStandingNote } from '../parts/fleet-standing.tsx'
import { toast, toastFailure } from '../parts/toast.tsx'
import { api } from '../state/endpoints.ts'
import { navigate } from '../state/router.ts'
import { useResource } from '../state/use-resource.ts'

/** What a rollback would change, then the rollback itself. */
export function RollbackDialog({ row, onClose }: { row: RevisionRecord; onClose: () => void }) {
  const words = say(historyTexts)
  const common = say(commonTexts)
  const isBusy = useSignal(false)
  const prepared = useResource(`prepare:${row.workload_id}:${row.config_hash}`, (abort) =>
    api.prepareRollback(row.workload_id, row.config_hash, abort),
  )
  const go = async () => {
    if (isBusy.value) return
    isBusy.value = true
    const result = await api.rollbackTo(row.workload_id, row.config_hash)
    isBusy.value = false
    if (!result.ok) return toastFailure(result)
    toast(words.rolledBack)
    onClose()
    navigate(`/workloads/${row.workload_id}/pushes/${row.config_hash}?push=${result.value.push_id ?? ''}`)
  }
  return (
    <Dialog title={`${words.rollBack} · ${shortHash(row.config_hash)}`} onClose={onClose}>
      <p>{words.rollBackAsk}</p>
      <FleetStandingNote workloadId={row.workload_id} isPush />
      <Loaded of={prepared}>
        {({ current_config: current, target_config: target, validation, action }) => (
          <>
            {validation.findings.length > 0 && (
              <ul class="list">
                {validation.findings.map((finding) => (
                  <li key={`${finding.code}${finding.path}`} class={finding.blocking ? 'bad' : 'warn'}>
                    <div>{finding.message}</div>
                  </li>
                ))}
              </ul>
            )}
            <CompareView
              before={current.content ?? ''}
              after={target.content ?? ''}
              label={`${words.rollBack} ${shortHash(row.config_hash)}`}
            />
            <div class="actions">
              <Action onClick={onClose}>{common.cancel}</Action>
              <Action
                kind="primary"
                reason={action.can_submit ? null : action.blocking_reasons.join(', ')}
                onClick={() => void go()}
              >
                {words.rollBackGo}
              </Action>
            </div>
          </>
        )}
      </Loaded>
    </Dialog>
  )
}
