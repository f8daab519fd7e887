import { useSignal } from '@preact/signals'
import type { RevisionRecord } from '../../../lib/wire/revisions.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { workloadTexts } from '../i18n/workload.ts'
import { hasRollbackTarget } from '../logic/pushes.ts'
import { nameOf } from '../logic/workloads.ts'
import { Action, ActionLink, TextField, unless } from '../parts/controls.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { toast, toastFailure } from '../parts/toast.tsx'
import { api } from '../state/endpoints.ts'
import { navigate } from '../state/router.ts'
import { can, may } from '../state/session.ts'

/** What can be done with a workload as a whole. */
export function WorkloadActions({
  workload,
  history,
}: {
  workload: WorkloadRecord
  history: readonly RevisionRecord[] | null
}) {
  const words = say(workloadTexts)
  const common = say(commonTexts)
  const open = useSignal<'archive' | 'delete' | null>(null)
  const typed = useSignal('')
  const name = nameOf(workload)
  const close = () => {
    open.value = null
    typed.value = ''
  }
  const archive = async () => {
    const result = await api.archive(workload.id)
    close()
    if (!result.ok) return toastFailure(result)
    toast(words.archivedDone)
    navigate('/')
  }
  const remove = async () => {
    const result = await api.deleteWorkload(workload.id)
    close()
    if (!result.ok) return toastFailure(result)
    toast(words.deleted)
    navigate('/')
  }
  return (
    <>
      {can('config_safety.guided_rollback') && workload.current_config_push && (
        <ActionLink
          href={`/workloads/${workload.id}/history?rollback=1`}
          reason={
            unless('workload:push_config') ??
            (history === null || hasRollbackTarget(history) ? null : words.nothingToRollBack)
          }
        >
          {words.rollBack}
        </ActionLink>
      )}
      {workload.status === 'disconnected' && !workload.archived_at && (
        <Action
          reason={unless('workload:archive')}
          onClick={() => {
            open.value = 'archive'
          }}
        >
          {words.archive}
        </Action>
      )}
      {(workload.status === 'disconnected' || may('workload:delete')) && (
        <Action
          kind="danger"
          reason={unless('workload:delete')}
          onClick={() => {
            open.value = 'delete'
          }}
        >
          {words.delete}
        </Action>
      )}
      {open.value === 'archive' && (
        <Dialog title={words.archive} onClose={close}>
          <p>{words.archiveAsk}</p>
          <div class="actions">
            <Action onClick={close}>{common.cancel}</Action>
            <Action kind="primary" onClick={() => void archive()}>
              {words.archive}
            </Action>
          </div>
        </Dialog>
      )}
      {open.value === 'delete' && (
        <Dialog title={words.delete} onClose={close}>
          <p>{words.deleteAsk(name)}</p>
          <TextField
            label={name}
            value={typed.value}
            onValue={(value) => {
              typed.value = value
            }}
          />
          <div class="actions">
            <Action onClick={close}>{common.cancel}</Action>
            <Action
              kind="danger primary"
              reason={typed.value.trim() === name ? null : words.deleteAsk(name)}
              onClick={() => void remove()}
            >
              {words.delete}
            </Action>
          </div>
        </Dialog>
      )}
    </>
  )
}
