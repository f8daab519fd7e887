import { autocompletion, type CompletionContext, type CompletionResult } from '@codemirror/autocomplete'
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint'
import { EditorState, StateEffect } from '@codemirror/state'
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

/** CodeMirror with YAML; without `onText` it is only read. */
export function Editor({ text, label, onText, revision = 0, marks, components, meant }: EditorProps) {
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
          isEditable ? EditorView.contentAttributes.of({ 'aria-describedby': keysId }) : [],
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
  // What is typed comes back as `text` a little later; taking it then would undo what was typed since.
  const wanted = isEditable ? revision : text
  useEffect(() => {
    const now = view.current
    if (now && now.state.doc.toString() !== text)
      now.dispatch({ changes: { from: 0, to: now.state.doc.length, insert: text } })
  }, [wanted])
  useEffect(() => {
    const now = view.current
    if (now && marks) now.dispatch(setDiagnostics(now.state, toDiagnostics(now.state, marks)))
  }, [marks])
  if (!isEditable) return <div class="code" ref={host} />
  return (
    <>
      <div class="code" ref={host} />
      <p class="editor-keys muted" id={keysId}>
        {say(commonTexts).editorKeys(navigator.platform.startsWith('Mac') ? '⌘' : 'Ctrl')}
      </p>
    </>
  )
}
