/** Read `key=value` lines; `line` is the first one of another form. */
export function readLabelLines(
  text: string,
): { ok: true; labels: Record<string, string> } | { ok: false; line: string } {
  const labels: Record<string, string> = {}
  for (const raw of text.split('\n')) {
    const line = raw.trim()
    if (line === '') continue
    const match = /^([^=\s]+)\s*=\s*(\S.*)$/.exec(line)
    if (!match) return { ok: false, line }
    labels[match[1] ?? ''] = (match[2] ?? '').trim()
  }
  return { ok: true, labels }
}

/** Labels as such lines, sorted by key. */
export const writeLabelLines = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${value}`)
    .join('\n')

/** Read a list of words with commas or line ends between them; blanks and repetitions are left out. */
export const readWords = (text: string): string[] => [
  ...new Set(
    text
      .split(/[,\n]/)
      .map((word) => word.trim())
      .filter((word) => word !== ''),
  ),
]
