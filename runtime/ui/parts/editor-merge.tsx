import { MergeView, unifiedMergeView } from '@codemirror/merge'
import { EditorState } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { useEffect, useRef } from 'preact/hooks'
import { language } from '../i18n/define.ts'
import { isNarrow } from '../state/viewport.ts'
import type { CompareProps } from './code.tsx'
import { baseExtensions } from './editor-setup.ts'

const COLLAPSE = { margin: 3, minSize: 6 }

/**
 * Let the lines that are left out be reached and opened by keyboard too, and let screen readers call them a button: the
 * library has them opened by a click alone. The function that it returns ends that.
 */
function openByKeyboard(host: HTMLElement): () => void {
  const mark = () => {
    for (const lines of host.querySelectorAll('.cm-collapsedLines:not([role])')) {
      lines.setAttribute('role', 'button')
      lines.setAttribute('tabindex', '0')
    }
  }
  const open = (event: KeyboardEvent) => {
    const lines = event.target instanceof HTMLElement && event.target.closest('.cm-collapsedLines')
    if (!(lines instanceof HTMLElement) || (event.key !== 'Enter' && event.key !== ' ')) return
    event.preventDefault()
    event.stopPropagation()
    const text = lines.closest<HTMLElement>('.cm-content')
    lines.click()
    // What was pressed is gone: one goes on from the text that it stood for.
    text?.focus({ preventScroll: true })
  }
  const drawn = new MutationObserver(mark)
  drawn.observe(host, { childList: true, subtree: true })
  host.addEventListener('keydown', open, { capture: true })
  mark()
  return () => {
    drawn.disconnect()
    host.removeEventListener('keydown', open, { capture: true })
  }
}

/** Browsers leave a text where it is that gets the focus and shows in part, also where that part is below a dialog's buttons. */
const showInDialog = ({ currentTarget: host }: { currentTarget: HTMLElement }) => {
  if (host.closest('dialog') !== null) host.scrollIntoView({ block: 'nearest' })
}

/** Two configs compared line by line: side by side, or in one column on a narrow page. */
export function Merge({ before, after, sides: [left, right] }: CompareProps) {
  const host = useRef<HTMLDivElement>(null)
  const narrow = isNarrow.value
  useEffect(() => openByKeyboard(host.current!), [])
  // Made anew when the language changes, which the editor's own words are in.
  useEffect(() => {
    const parent = host.current!
    // Half a page is narrow for an address: a long line goes on below, and none is cut.
    const extensionsOf = (label: string) => [baseExtensions(label, false), EditorView.lineWrapping]
    if (narrow) {
      const view = new EditorView({
        parent,
        state: EditorState.create({
          doc: after,
          extensions: [
            extensionsOf(right),
            unifiedMergeView({ original: before, mergeControls: false, collapseUnchanged: COLLAPSE }),
          ],
        }),
      })
      return () => view.destroy()
    }
    const merge = new MergeView({
      parent,
      a: { doc: before, extensions: extensionsOf(left) },
      b: { doc: after, extensions: extensionsOf(right) },
      collapseUnchanged: COLLAPSE,
      gutter: true,
    })
    return () => merge.destroy()
  }, [before, after, left, right, narrow, language.value])
  return (
    <>
      <div class={narrow ? 'sides' : 'sides beside'}>
        <span>
          <span aria-hidden="true">− </span>
          {left}
        </span>
        <span>
          <span aria-hidden="true">+ </span>
          {right}
        </span>
      </div>
      <div class="code" ref={host} onFocusIn={showInDialog} />
    </>
  )
}
