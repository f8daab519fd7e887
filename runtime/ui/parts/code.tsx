import type { ValidationMessage } from '../../../lib/wire/validation.ts'
import { lazy } from './lazy.tsx'

/** A finding to mark in the text. */
export interface CodeMark {
  severity: ValidationMessage['severity']
  message: string
  path?: string | undefined
  line?: number | undefined
}

/** What an editor shows, and what it tells. Without `onText` the text is only read. */
export interface EditorProps {
  text: string
  label: string
  onText?: (text: string) => void
  /** An editor that is typed in takes `text` at its start and whenever this changes, and ignores it otherwise. */
  revision?: number
  marks?: readonly CodeMark[]
  /** Where the cursor stands at first, as a line from 1; null while that is not known. */
  begin?: number | null
  /** Component kind to type names, offered while typing. */
  components?: Readonly<Record<string, readonly string[]>> | undefined
  /** The config path whose lines are marked and brought into sight. */
  meant?: string | undefined
  /** That path is of what fails: its lines have the colour of that. */
  isFault?: boolean | undefined
  /** What is wrong with the text as a whole, such as that there is none; shown below it. */
  error?: string | null
}

/** Two texts to compare. */
export interface CompareProps {
  before: string
  after: string
  /** What each of them is, as its heading and for screen readers. */
  sides: readonly [before: string, after: string]
}

/** The editor; its code comes when it is first shown. */
export const CodeEditor = lazy<EditorProps>(async () => (await import('./editor.tsx')).Editor)
/** Two texts side by side, or one under the other where there is no room. */
export const CompareView = lazy<CompareProps>(async () => (await import('./editor-merge.tsx')).Merge)

/** A text to read, with folding and search. */
export function CodeView({
  text,
  label,
  meant,
  isFault,
}: Pick<EditorProps, 'text' | 'label' | 'meant' | 'isFault'>) {
  return <CodeEditor text={text} label={label} meant={meant} isFault={isFault} />
}
