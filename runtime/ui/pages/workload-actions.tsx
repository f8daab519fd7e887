import { useSignal } from '@preact/signals'
import type { RevisionRecord } from '../../../lib/wire/revisions.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { say } from '../i18n/define.ts'
import { workloadTexts } from '../i18n/workload.ts'
import { hasRollbackTarget, openRolloutOf, rollBackPath } from '../logic/pushes.ts'
import { Action, ActionLink, bind, TextField, unless } from '../parts/controls.tsx'
import { FormDialog } from '../parts/form.tsx'
import { toast, toastFailure } from '../parts/toast.tsx'
import { api } from '../state/endpoints.ts'
import { callOf } from '../state/names.ts'
import { navigate } from '../state/router.ts'
import { can, may } from '../state/session.ts'
import { useDialog } from '../state/use-dialog.ts'

/** Archive or delete a workload, and go back to the fleet. */
function LeaveDialog({
  workload,
  how,
  onClose,
}: {
  workload: WorkloadRecord
  how: 'archive' | 'delete'
  onClose: () => void
}) {
  const words = say(workloadTexts)
  const typed = useSignal('')
  const name = callOf(workload)
  const isDelete = how === 'delete'
  const act = async () => {
    const result = isDelete ? await api.deleteWorkload(workload.id) : await api.archive(workload.id)
    onClose()
    if (!result.ok) return toastFailure(result)
    toast(isDelete ? words.deleted : words.archivedDone)
    navigate('/')
  }
  return (
    <FormDialog
      title={words[how]}
      onClose={onClose}
      onSend={act}
      send={words[how]}
      kind={isDelete ? 'danger primary' : 'primary'}
      reason={isDelete && typed.value.trim() !== name ? words.deleteAsk(name) : null}
    >
      <p>{isDelete ? words.deleteAsk(name) : words.archiveAsk}</p>
      {isDelete && <TextField label={name} {...bind(typed)} />}
    </FormDialog>
  )
}

interface ActedOn {
  workload: WorkloadRecord
  history: readonly RevisionRecord[] | null
}

/** Whether there is an earlier config to go back to; true as long as the history is not read. */
export const canGoBack = ({ workload, history }: ActedOn): boolean =>
  history === null || openRolloutOf(workload) !== null || hasRollbackTarget(history)

/** The way back to an earlier config. Where it is urged it is there only for somebody who can take it. */
export function RollBack({ workload, history, isUrged = false }: ActedOn & { isUrged?: boolean }) {
  const words = say(workloadTexts)
  if (!can('config_safety.guided_rollback') || !workload.current_config_push) return null
  const reason =
    unless('workload:push_config') ?? (canGoBack({ workload, history }) ? null : words.nothingToRollBack)
  if (isUrged && (reason !== null || history === null)) return null
  return (
    <ActionLink href={rollBackPath(workload)} reason={reason} kind={isUrged ? 'primary' : ''}>
      {words.rollBack}
    </ActionLink>
  )
}

/** What can be done with a workload as a whole. */
export const WorkloadActions = (of: ActedOn) => <RollBack {...of} />

/** Ways out of the fleet; they stand at the end of the overview, apart from what is done every day. */
export function WorkloadLeaving({ workload }: { workload: WorkloadRecord }) {
  const words = say(workloadTexts)
  const { about, open, close } = useDialog<'archive' | 'delete'>()
  const isAway = workload.status === 'disconnected'
  const mayLeave = isAway || may('workload:delete')
  if (!mayLeave) return null
  return (
    <section class="ground">
      <h2>{words.leaving}</h2>
      <div class="actions">
        {isAway && !workload.archived_at && (
          <Action reason={unless('workload:archive')} onClick={() => open('archive')}>
            {words.archive}
          </Action>
        )}
        {(isAway || may('workload:delete')) && (
          <Action kind="danger" reason={unless('workload:delete')} onClick={() => open('delete')}>
            {words.delete}
          </Action>
        )}
      </div>
      {about && <LeaveDialog workload={workload} how={about} onClose={close} />}
    </section>
  )
}
