const KIND: Readonly<Record<string, string>> = { '+': 'added', '-': 'removed', '@': 'place' }

/**
 * A unified diff, its lines marked by what they do. Its two heading lines are left out: the page says what they name.
 */
export function DiffText({ of }: { of: string }) {
  const lines = of.split('\n').filter((line) => !/^(---|\+\+\+) /.test(line))
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1).
    <pre class="diff" tabIndex={0}>
      {lines.map((line, at) => (
        <span key={at} class={KIND[line[0] ?? '']}>
          {line}
          {'\n'}
        </span>
      ))}
    </pre>
  )
}
