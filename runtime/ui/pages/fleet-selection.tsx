import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { say } from '../i18n/define.ts'
import { selectionTexts } from '../i18n/selection.ts'
import { readLabelLines } from '../logic/label-lines.ts'
import { inPieces } from '../logic/selection.ts'
import { Action, bind, TextArea, TextField, unless } from '../parts/controls.tsx'
import { FormDialog } from '../parts/form.tsx'
import { toast, toastFailure } from '../parts/toast.tsx'
import type { Result } from '../state/api.ts'
import { api } from '../state/endpoints.ts'
import { fleetVersion } from '../state/fleet.ts'
import { navigate } from '../state/router.ts'
import { addressWith, clearSelection, listSelected, selection } from '../state/selection.ts'
import { can } from '../state/session.ts'
import { useDebounced } from '../state/use-debounced.ts'
import { useDialog } from '../state/use-dialog.ts'
import { useResource } from '../state/use-resource.ts'

/** Workloads in one call: few enough for its time limit, and for progress to be seen. */
const AT_ONCE = 100
/** The most workloads that one campaign may name; the server has the same limit. */
const CAMPAIGN_MAX = 20_000

/** What stays free between a row that has the focus and the bar. */
const CLEAR_PX = 8

type Ask = 'labels' | 'hold' | 'release'

/**
 * Change these workloads, a piece at a time. Resolves with how many changed; null where a call failed, which is told
 * here.
 */
async function inTurn(
  ids: readonly string[],
  done: Signal<number>,
  change: (ids: readonly string[]) => Promise<Result<{ changed_count: number }>>,
): Promise<number | null> {
  let changed = 0
  done.value = 0
  for (const piece of inPieces(ids, AT_ONCE)) {
    const result = await change(piece)
    if (!result.ok) {
      toastFailure(result)
      const { changed_count: part } = result.body as { changed_count?: unknown }
      const all = done.value + (typeof part === 'number' ? part : 0)
      if (all > 0) toast(say(selectionTexts).stopped(all, ids.length), 'bad')
      return null
    }
    changed += result.value.changed_count
    done.value += piece.length
  }
  return changed
}

interface AskProps {
  ids: readonly string[]
  onClose: () => void
}

const Progress = ({ done, of }: { done: number; of: number }) => (
  <p class="muted" role="status">
    {done > 0 && say(selectionTexts).progress(done, of)}
  </p>
)

/** Workloads in one call that only counts and changes nothing. */
const COUNTED_AT_ONCE = 500

/**
 * How many of these workloads the labels would change, as the server counts it once the text has rested; null until
 * then.
 */
function useChangedCount(ids: readonly string[], labels: Record<string, string> | null): number | null {
  const key = useDebounced(labels === null ? '' : JSON.stringify(labels), 300)
  const counted = useResource(key === '' ? null : key, async (signal) => {
    let value = 0
    for (const some of inPieces(ids, COUNTED_AT_ONCE)) {
      const asked = { workload_ids: [...some], labels: JSON.parse(key) as Record<string, string> }
      const answer = await api.patchLabels({ ...asked, dry_run: true }, signal)
      if (!answer.ok) return answer
      value += answer.value.changed_count
    }
    return { ok: true as const, value, headers: new Headers() }
  })
  return key === JSON.stringify(labels) ? counted.data : null
}

function AskLabels({ ids, onClose }: AskProps) {
  const words = say(selectionTexts)
  const text = useSignal('')
  const done = useSignal(0)
  const read = readLabelLines(text.value)
  const isEmpty = read.ok && Object.keys(read.labels).length === 0
  const would = useChangedCount(ids, read.ok && !isEmpty ? read.labels : null)
  const reason = !read.ok ? words.badLine(read.line) : isEmpty ? words.labelsNeeded : null
  const send = async () => {
    if (!read.ok) return
    const changed = await inTurn(ids, done, (some) =>
      api.patchLabels({ workload_ids: [...some], labels: read.labels }),
    )
    if (changed === null) return
    toast(words.labelsDone(changed))
    onClose()
  }
  return (
    <FormDialog
      title={words.labelsTitle(ids.length)}
      onClose={onClose}
      onSend={send}
      send={words.set}
      reason={reason}
    >
      <TextArea label={words.labelsText} hint={words.labelsHint} isMono rows={4} {...bind(text)} />
      <p class="muted" role="status">
        {would !== null && words.labelsWould(would, ids.length)}
      </p>
      <Progress done={done.value} of={ids.length} />
    </FormDialog>
  )
}

function AskHold({ ids, onClose }: AskProps) {
  const words = say(selectionTexts)
  const why = useSignal('')
  const until = useSignal('')
  const done = useSignal(0)
  const at = new Date(until.value)
  const isOver = until.value !== '' && !(at.getTime() > Date.now())
  const send = async () => {
    const asked = { reason: why.value.trim(), ...(until.value === '' ? {} : { until: at.toISOString() }) }
    const held = await inTurn(ids, done, (some) => api.holdMany({ ...asked, workload_ids: [...some] }))
    if (held === null) return
    toast(words.held(held))
    onClose()
  }
  return (
    <FormDialog
      title={words.holdTitle(ids.length)}
      onClose={onClose}
      onSend={send}
      send={words.holdThem}
      reason={why.value.trim() === '' || isOver ? words.holdNeeds : null}
    >
      <p>{words.holdLead}</p>
      <TextField label={words.reason} {...bind(why)} maxLength={1024} />
      <TextField label={words.until} hint={words.untilHint} type="datetime-local" {...bind(until)} />
      <Progress done={done.value} of={ids.length} />
    </FormDialog>
  )
}

function AskRelease({ ids, onClose }: AskProps) {
  const words = say(selectionTexts)
  const done = useSignal(0)
  const send = async () => {
    const released = await inTurn(ids, done, (some) => api.releaseMany({ workload_ids: [...some] }))
    if (released === null) return
    toast(words.released(released))
    onClose()
  }
  return (
    <FormDialog title={words.releaseTitle(ids.length)} onClose={onClose} onSend={send} send={words.release}>
      <p>{words.releaseLead}</p>
      <Progress done={done.value} of={ids.length} />
    </FormDialog>
  )
}

const ASKS = { labels: AskLabels, hold: AskHold, release: AskRelease }

/** What can be done with the ticked workloads, each with the reason where it cannot. */
function Offers({ ids, onAsk }: { ids: readonly string[]; onAsk: (what: Ask) => void }) {
  const words = say(selectionTexts)
  const hasCampaigns = can('config_safety.campaigns')
  const mayPush = unless('workload:push_config')
  return (
    <>
      {hasCampaigns && (
        <Action
          kind="primary"
          onClick={() => navigate(addressWith('/campaigns/new', ids))}
          reason={
            unless('config:request') ?? (ids.length > CAMPAIGN_MAX ? words.tooMany(CAMPAIGN_MAX) : null)
          }
        >
          {words.change}
        </Action>
      )}
      <Action onClick={() => onAsk('labels')} reason={unless('settings:manage')}>
        {words.labels}
      </Action>
      {hasCampaigns && (
        <>
          <Action onClick={() => onAsk('hold')} reason={mayPush}>
            {words.hold}
          </Action>
          <Action onClick={() => onAsk('release')} reason={mayPush}>
            {words.release}
          </Action>
        </>
      )}
    </>
  )
}

/** Tell the styles how much of the window this part covers from below while it is there. */
function useCoverBelow() {
  const part = useRef<HTMLElement>(null)
  useEffect(() => {
    const { style } = document.documentElement
    const measured = new ResizeObserver(() =>
      style.setProperty('--covered-below', `${(part.current?.offsetHeight ?? 0) + CLEAR_PX}px`),
    )
    if (part.current) measured.observe(part.current)
    return () => {
      measured.disconnect()
      style.removeProperty('--covered-below')
    }
  }, [])
  return part
}

/** How many workloads are ticked, in sight or not, and what can be done with them. */
export function SelectionBar({ shown }: { shown: readonly string[] }) {
  const words = say(selectionTexts)
  const { about, open, close } = useDialog<{ what: Ask; ids: readonly string[] }>()
  const part = useCoverBelow()
  // Workloads come and go; only those that still exist are acted on.
  void fleetVersion.value
  const ids = listSelected()
  const inSight = new Set(shown)
  const hidden = ids.filter((id) => !inSight.has(id)).length
  const selectAll = () => {
    selection.value = new Set([...selection.value, ...shown])
  }
  const Asked = about === null ? null : ASKS[about.what]
  return (
    <section ref={part} class="selection" aria-label={words.bar}>
      <span role="status">{words.selected(ids.length, hidden)}</span>
      {ids.length - hidden < shown.length && (
        <Action kind="plain" onClick={selectAll}>
          {words.all(shown.length)}
        </Action>
      )}
      <Action kind="plain" onClick={clearSelection}>
        {words.clear}
      </Action>
      <Offers ids={ids} onAsk={(what) => open({ what, ids: listSelected() })} />
      {Asked !== null && about !== null && <Asked ids={about.ids} onClose={close} />}
    </section>
  )
}
