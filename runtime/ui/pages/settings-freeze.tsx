import { useSignal } from '@preact/signals'
import type { FreezeRecord } from '../../../lib/wire/fleet-configs.ts'
import { say } from '../i18n/define.ts'
import { formatExact } from '../i18n/format.ts'
import { freezeTexts } from '../i18n/freeze.ts'
import { selectorTexts } from '../i18n/selectors.ts'
import { readSelectorLines, selectorLines } from '../logic/selector-lines.ts'
import { Action, bind, TextArea, TextField } from '../parts/controls.tsx'
import { Loaded } from '../parts/failure.tsx'
import { Form, FormDialog } from '../parts/form.tsx'
import { Pairs } from '../parts/page.tsx'
import { toast, toastFailure } from '../parts/toast.tsx'
import { api } from '../state/endpoints.ts'
import { useDialog } from '../state/use-dialog.ts'
import { useResource } from '../state/use-resource.ts'

type Freeze = NonNullable<FreezeRecord['freeze']>

function InForce({ of, onDone }: { of: Freeze; onDone: () => void }) {
  const words = say(freezeTexts)
  const { about, open, close, done } = useDialog<'lifting'>(onDone)
  const lift = async () => {
    const lifted = await api.liftFreeze()
    if (!lifted.ok) {
      close()
      return toastFailure(lifted)
    }
    toast(words.lifted)
    done()
  }
  return (
    <>
      <Pairs
        of={[
          [words.what, of.selector === undefined ? words.all : selectorLines(of.selector).join(' · ')],
          [words.count, words.workloads(of.workload_count)],
          [words.until, formatExact(of.until)],
          [words.why, of.reason],
          [words.by, of.set_by],
        ]}
      />
      <div class="actions">
        <Action kind="danger" onClick={() => open('lifting')}>
          {words.lift}
        </Action>
      </div>
      {about === 'lifting' && (
        <FormDialog title={words.lift} onClose={close} onSend={lift} send={words.lift} kind="danger primary">
          <p>{words.liftAsk}</p>
        </FormDialog>
      )}
    </>
  )
}

function FreezeForm({ isReplacing, onDone }: { isReplacing: boolean; onDone: () => void }) {
  const words = say(freezeTexts)
  const { conditions, badCondition } = say(selectorTexts)
  const lines = useSignal('')
  const why = useSignal('')
  const until = useSignal('')
  const at = new Date(until.value)
  const isLater = at.getTime() > Date.now()
  const freeze = async () => {
    const read = readSelectorLines(lines.value)
    if (!read.ok) return toast(badCondition(read.line), 'bad')
    const set = await api.setFreeze({
      reason: why.value.trim(),
      until: at.toISOString(),
      ...(lines.value.trim() === '' ? {} : { selector: read.conditions }),
    })
    if (!set.ok) return toastFailure(set)
    toast(words.done)
    onDone()
  }
  return (
    <Form
      onSend={freeze}
      send={isReplacing ? words.replace : words.set}
      reason={why.value.trim() === '' || !isLater ? words.needs : null}
    >
      <TextArea label={conditions} hint={words.selectorHint} isMono {...bind(lines)} />
      <TextField label={words.until} {...bind(until)} type="datetime-local" />
      <TextField label={words.why} {...bind(why)} maxLength={1024} />
    </Form>
  )
}

/** What is frozen, until when and why; set and lifted here. */
export function FreezeSection() {
  const words = say(freezeTexts)
  const freeze = useResource('freeze', (abort) => api.freeze(abort))
  return (
    <section class="pane stack">
      <p class="muted">{words.lead}</p>
      <Loaded of={freeze}>
        {({ freeze: inForce }) => (
          <>
            {inForce === null ? <p>{words.none}</p> : <InForce of={inForce} onDone={freeze.reload} />}
            <FreezeForm key={inForce?.set_at ?? ''} isReplacing={inForce !== null} onDone={freeze.reload} />
          </>
        )}
      </Loaded>
    </section>
  )
}
