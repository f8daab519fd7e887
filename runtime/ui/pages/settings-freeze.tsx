import { useSignal } from '@preact/signals'
import type { FreezeRecord } from '../../../lib/wire/fleet-configs.ts'
import { say } from '../i18n/define.ts'
import { formatExact } from '../i18n/format.ts'
import { describeFrozen, freezeTexts } from '../i18n/freeze.ts'
import { selectorTexts } from '../i18n/selectors.ts'
import { readSelectorLines, selectorLines } from '../logic/selector-lines.ts'
import { Action, bind, TextArea, TextField } from '../parts/controls.tsx'
import { Loaded } from '../parts/failure.tsx'
import { Form, FormDialog } from '../parts/form.tsx'
import { inForce } from '../parts/freeze-notice.tsx'
import { Pairs } from '../parts/page.tsx'
import { toast, toastFailure } from '../parts/toast.tsx'
import { api } from '../state/endpoints.ts'
import { fleetLoaded, workloads } from '../state/fleet.ts'
import { can, holds } from '../state/session.ts'
import { textKey, useDebounced } from '../state/use-debounced.ts'
import { useDialog } from '../state/use-dialog.ts'
import { useResource } from '../state/use-resource.ts'

/** Typing rests for so long before workloads are counted. */
const PREVIEW_MS = 300

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
          [words.what, describeFrozen(of.selector)],
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

/** A moment as the field for one takes it: by the reader's clock, to the minute. */
function toField(moment: string): string {
  const at = new Date(moment)
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** Whether workloads are counted for this reader, which is done as for the form of a campaign. */
const isCounted = (): boolean => can('config_safety.campaigns') && holds('config:request')

/** How many workloads these conditions would freeze now; nothing while they are no conditions. */
function Preview({ lines, isBegun }: { lines: string; isBegun: boolean }) {
  const words = say(freezeTexts)
  const read = readSelectorLines(lines)
  const asked = useDebounced(lines.trim(), PREVIEW_MS)
  const matched = useResource(
    asked === '' || !read.ok || !isCounted() ? null : `freeze-preview:${textKey(asked)}`,
    (abort) => {
      const now = readSelectorLines(asked)
      return api.matchCampaign({ scope: { selector: now.ok ? now.conditions : {} } }, abort)
    },
  )
  if (lines.trim() === '') {
    // A form that nobody has touched says nothing yet.
    if (!isBegun) return null
    const all = fleetLoaded.value ? [...workloads.values()].filter((one) => !one.archived_at).length : null
    return <p class="warn">{words.previewAll(all)}</p>
  }
  if (!read.ok || asked !== lines.trim() || !matched.data) return null
  const count = matched.data.selected_count
  return (
    <p role="status" class={count === 0 ? 'warn' : ''}>
      {count === 0 ? words.previewNone : words.preview(count)}
    </p>
  )
}

function FreezeForm({ inForce, onDone }: { inForce: Freeze | null; onDone: () => void }) {
  const words = say(freezeTexts)
  const { conditions, conditionsHint, badCondition } = say(selectorTexts)
  // Whoever replaces one changes a part of it: the rest stays as it is.
  const lines = useSignal(inForce?.selector === undefined ? '' : selectorLines(inForce.selector).join('\n'))
  const why = useSignal(inForce?.reason ?? '')
  const until = useSignal(inForce === null ? '' : toField(inForce.until))
  const at = new Date(until.value)
  const isLater = at.getTime() > Date.now()
  const read = readSelectorLines(lines.value)
  // Nobody is told of a mistake in the midst of a word.
  const rested = readSelectorLines(useDebounced(lines.value, PREVIEW_MS))
  const mistake =
    read.ok || rested.ok ? null : `${badCondition(rested.line)}. ${words.example} ${conditionsHint}`
  const freeze = async () => {
    if (!read.ok) return
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
      send={inForce !== null ? words.replace : words.set}
      reason={!read.ok ? badCondition(read.line) : why.value.trim() === '' || !isLater ? words.needs : null}
    >
      <TextArea
        label={conditions}
        hint={`${words.selectorHint} ${words.example} ${conditionsHint}`}
        error={mistake}
        isMono
        {...bind(lines)}
      />
      <Preview lines={lines.value} isBegun={why.value !== '' || until.value !== ''} />
      <TextField
        label={words.until}
        {...bind(until)}
        type="datetime-local"
        error={until.value !== '' && !isLater ? words.isPast : null}
      />
      <TextField label={words.why} {...bind(why)} maxLength={1024} />
    </Form>
  )
}

/** What is frozen, until when and why; set and lifted here. */
export function FreezeSection() {
  const words = say(freezeTexts)
  const freeze = useResource('freeze', (abort) => api.freeze(abort))
  // Beside a freeze that holds, an open form would look as if it were still to be set.
  const isChanging = useSignal(false)
  const done = () => {
    isChanging.value = false
    freeze.reload()
  }
  return (
    <section class="pane stack">
      <p class="muted">{words.lead}</p>
      <Loaded of={freeze}>
        {({ freeze: known }) => {
          const holding = inForce(known)
          return (
            <>
              {holding === null ? <p>{words.none}</p> : <InForce of={holding} onDone={done} />}
              {holding !== null && !isChanging.value ? (
                <div class="actions">
                  <Action
                    onClick={() => {
                      isChanging.value = true
                    }}
                  >
                    {words.change}
                  </Action>
                </div>
              ) : (
                // What somebody writes there outlives the freeze that it began with.
                <FreezeForm key={known?.set_at ?? ''} inForce={holding} onDone={done} />
              )}
            </>
          )
        }}
      </Loaded>
    </section>
  )
}
