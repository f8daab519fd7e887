import { linesOfDiff } from '../logic/diff-lines.ts'

const KIND: Readonly<Record<string, string>> = { '+': 'added', '-': 'removed', '@': 'place' }

/** A unified diff, its lines marked by what they do. */
export function DiffText({ of }: { of: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1).
    <pre class="diff" tabIndex={0}>
      {linesOfDiff(of).map((line, at) => (
        <span key={at} class={KIND[line[0] ?? '']}>
          {line}
          {'\n'}
        </span>
      ))}
    </pre>
  )
}
