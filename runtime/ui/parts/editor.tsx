import { autocompletion, type CompletionContext, type CompletionResult } from '@codemirror/autocomplete'
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint'
import { Compartment, EditorState, StateEffect } from '@codemirror/state'
import { Decoration, EditorView } from '@codemirror/view'
import { useEffect, useId, useRef } from 'preact/hooks'
import { commonTexts } from '../i18n/common.ts'
import { language, say } from '../i18n/define.ts'
import { suggest } from '../logic/completion.ts'
import { lineOfPath, linesOfPath } from '../logic/yaml-lines.ts'
import type { CodeMark, EditorProps } from './code.tsx'
import { baseExtensions } from './editor-setup.ts'

function complete(components: () => EditorProps['components']) {
  return (context: CompletionContext): CompletionResult | null => {
    const line = context.state.doc.lineAt(context.pos)
    const word = context.matchBefore(/[\w/.-]*/)
    if (!word || (word.from === word.to && !context.explicit)) return null
    const lines = context.state.doc.sliceString(0, line.from).split('\n').slice(0, -1)
    const options = suggest(lines, line.text.slice(0, context.pos - line.from), components() ?? {})
    if (options.length === 0) return null
    return {
      from: word.from,
      options: options.map((label) => ({ label, type: 'property' })),
      validFor: /^[\w/.-]*$/,
    }
  }
}

function toDiagnostics(state: EditorState, marks: readonly CodeMark[]): Diagnostic[] {
  const text = state.doc.toString()
  return marks
    .filter(({ severity }) => severity !== 'info')
    .map((mark) => {
      const number = mark.line ?? (mark.path ? lineOfPath(text, mark.path) : 1)
      const line = state.doc.line(Math.min(Math.max(number, 1), state.doc.lines))
      const indent = /^\s*/.exec(line.text)?.[0].length ?? 0
      return {
        from: line.from + Math.min(indent, line.length),
        to: line.to,
        severity: mark.severity === 'error' ? ('error' as const) : ('warning' as const),
        message: mark.message,
      }
    })
    .sort((a, b) => a.from - b.from)
}

/** What assistive technology is told of the text as a whole. */
const fault = new Compartment()

const MEANT = Decoration.line({ class: 'cm-meant' })

/** Mark the lines of a config path, and bring them into sight. */
function showMeant(view: EditorView, path: string): void {
  const { doc } = view.state
  const { first, lines } = linesOfPath(doc.toString(), path)
  const marked = lines.flatMap((_, at) => (first + at <= doc.lines ? [doc.line(first + at).from] : []))
  const decorations = Decoration.set(marked.map((from) => MEANT.range(from)))
  view.dispatch({
    effects: [
      StateEffect.appendConfig.of(EditorView.decorations.of(decorations)),
      EditorView.scrollIntoView(marked[0] ?? 0, { y: 'center' }),
    ],
  })
}

/** Show findings in the text, and where its writing begins. */
function useMarks(
  view: { current: EditorView | null },
  marks: readonly CodeMark[] | undefined,
  begin: number | null,
): void {
  useEffect(() => {
    const now = view.current
    if (now && marks) now.dispatch(setDiagnostics(now.state, toDiagnostics(now.state, marks)))
  }, [marks])
  useBegin(view, begin)
}

/** Put the cursor once on the line where the writing begins, when that is known, unless somebody writes already. */
function useBegin(view: { current: EditorView | null }, begin: number | null): void {
  const hasBegun = useRef(false)
  useEffect(() => {
    const now = view.current
    if (begin === null || now === null || hasBegun.current) return
    hasBegun.current = true
    if (now.hasFocus || now.state.selection.main.head > 0) return
    const { from, text } = now.state.doc.line(Math.min(Math.max(begin, 1), now.state.doc.lines))
    const anchor = from + (/^\s*/.exec(text)?.[0].length ?? 0)
    now.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: 'center' }) })
  }, [begin])
}

/** Say of an editor what is wrong with its text as a whole, beside how its keys work; answers the id of that sentence. */
function useFault(
  view: { current: EditorView | null },
  { error, keysId, made }: { error: string | null; keysId: string; made: readonly unknown[] },
): string {
  const errorId = useId()
  useEffect(() => {
    const attributes: Record<string, string> =
      error === null
        ? { 'aria-describedby': keysId }
        : { 'aria-describedby': `${errorId} ${keysId}`, 'aria-invalid': 'true' }
    view.current?.dispatch({ effects: fault.reconfigure(EditorView.contentAttributes.of(attributes)) })
  }, [error, ...made])
  return errorId
}

/** CodeMirror with YAML; without `onText` it is only read. */
export function Editor(props: EditorProps) {
  const { text, label, onText, revision = 0 } = props
  const { marks, components, meant, isFault, error = null, begin = null } = props
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView | null>(null)
  const onTextRef = useRef(onText)
  onTextRef.current = onText
  const componentsRef = useRef(components)
  componentsRef.current = components
  const isEditable = onText !== undefined
  const keysId = useId()
  // Made once; what may change meanwhile is read through the references.
  useEffect(() => {
    const created = new EditorView({
      parent: host.current!,
      state: EditorState.create({
        doc: text,
        extensions: [
          baseExtensions(label, isEditable),
          fault.of([]),
          isEditable
            ? [autocompletion({ override: [complete(() => componentsRef.current)] }), lintGutter()]
            : [],
          EditorView.updateListener.of((update) => {
            if (update.docChanged) onTextRef.current?.(update.state.doc.toString())
          }),
        ],
      }),
    })
    view.current = created
    if (meant && !isEditable) showMeant(created, meant)
    return () => {
      created.destroy()
      view.current = null
    }
  }, [label, isEditable, language.value, meant])
  const errorId = useFault(view, { error, keysId, made: [label, isEditable, language.value] })
  // What is typed comes back as `text` a little later; taking it then would undo what was typed since.
  const wanted = isEditable ? revision : text
  useEffect(() => {
    const now = view.current
    if (now && now.state.doc.toString() !== text)
      now.dispatch({ changes: { from: 0, to: now.state.doc.length, insert: text } })
  }, [wanted])
  useMarks(view, marks, begin)
  if (!isEditable) return <div class={isFault ? 'code fault' : 'code'} ref={host} />
  return (
    <>
      <div class="code" ref={host} />
      {error !== null && (
        <p class="editor-keys bad" role="alert" id={errorId}>
          {error}
        </p>
      )}
      <p class="editor-keys muted" id={keysId}>
        {say(commonTexts).editorKeys(navigator.platform.startsWith('Mac') ? '⌘' : 'Ctrl')}
      </p>
    </>
  )
}
