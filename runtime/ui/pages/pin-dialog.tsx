import { useSignal } from '@preact/signals'
import type { RevisionRecord } from '../../../lib/wire/revisions.ts'
import { say } from '../i18n/define.ts'
import { shortHash } from '../i18n/format.ts'
import { historyTexts } from '../i18n/history.ts'
import { bind, TextField } from '../parts/controls.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Loaded } from '../parts/failure.tsx'
import { Form } from '../parts/form.tsx'
import { toast, toastFailure } from '../parts/toast.tsx'
import { api } from '../state/endpoints.ts'
import { useResource } from '../state/use-resource.ts'

/** The config that is pinned now, as a refusal names it; null when the refusal is about something else. */
function readConflict(body: object): string | null {
  const { code, current_known_good: current } = body as { code?: unknown; current_known_good?: unknown }
  return code === 'known_good_conflict' && typeof current === 'string' ? current : null
}

/**
 * Pin a config in place of another one. The dialog names the one that is pinned now, and the server refuses when
 * somebody has pinned a third one meanwhile.
 */
export function PinDialog({
  row,
  onClose,
  onDone,
}: {
  row: RevisionRecord
  onClose: () => void
  onDone: () => void
}) {
  const words = say(historyTexts)
  const reason = useSignal('')
  /** What somebody else has pinned since the dialog opened. */
  const moved = useSignal<string | null>(null)
  const known = useResource(`known-good:${row.workload_id}`, (abort) => api.knownGood(row.workload_id, abort))
  const pinned = moved.value ?? known.data?.config_id ?? ''
  const go = async () => {
    const result = await api.pinKnownGood(row.workload_id, row.config_hash, {
      if_current_known_good: pinned,
      replace_reason: reason.value.trim(),
    })
    if (result.ok) {
      toast(words.pinnedNow)
      onDone()
      return
    }
    const conflict = readConflict(result.body)
    if (conflict === null) toastFailure(result)
    else moved.value = conflict
  }
  return (
    <Dialog title={`${words.pin} · ${shortHash(row.config_hash)}`} onClose={onClose}>
      <Loaded of={known}>
        {() => (
          <Form onSend={go} send={words.pinReplace} onCancel={onClose}>
            {moved.value !== null && (
              <p class="warn" role="alert">
                {words.pinMoved}
              </p>
            )}
            <p>{words.pinReplaces(shortHash(pinned))}</p>
            <TextField label={words.pinReason} {...bind(reason)} />
          </Form>
        )}
      </Loaded>
    </Dialog>
  )
}
