import type { ValidationMessage } from '../../../lib/wire/validation.ts'
import { lazy } from './lazy.tsx'

/** A finding to mark in the text. */
export interface CodeMark {
  severity: ValidationMessage['severity']
  message: string
  path?: string | undefined
  line?: number | undefined
}

export interface EditorProps {
  text: string
  label: string
  onText?: (text: string) => void
  /** An editor takes `text` at its start and whenever this changes; what is typed is its own. */
  revision?: number
  marks?: readonly CodeMark[]
  /** Component kind to type names, offered while typing. */
  components?: Readonly<Record<string, readonly string[]>> | undefined
  /** The config path whose lines are meant: they are marked and brought into sight. */
  meant?: string | undefined
}

export interface CompareProps {
  before: string
  after: string
  label: string
}

/** The editor; its code comes when it is first shown. */
export const CodeEditor = lazy<EditorProps>(async () => (await import('./editor.tsx')).Editor)
/** Two texts side by side, or one under the other where there is no room. */
export const CompareView = lazy<CompareProps>(async () => (await import('./editor-merge.tsx')).Merge)

/** A text to read, with folding and search. */
export function CodeView({ text, label, meant }: Pick<EditorProps, 'text' | 'label' | 'meant'>) {
  return <CodeEditor text={text} label={label} meant={meant} />
}
