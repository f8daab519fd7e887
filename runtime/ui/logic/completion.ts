import { CATEGORIES, PIPELINE_SECTIONS } from '../../../lib/wire/values.ts'

const SIGNALS = ['traces', 'metrics', 'logs', 'profiles']

const indentOf = (line: string) => /^ */.exec(line)?.[0].length ?? 0

/** The keys around a line, outermost first, by indentation. */
function listParents(lines: readonly string[], indent: number): string[] {
  const parents: string[] = []
  let limit = indent
  for (let at = lines.length - 1; at >= 0 && limit > 0; at--) {
    const line = lines[at] ?? ''
    const match = /^( *)(?:- )?([\w./-]+):/.exec(line)
    if (!match || line.trim() === '' || indentOf(line) >= limit) continue
    limit = indentOf(line)
    parents.unshift(match[2] ?? '')
  }
  return parents
}

/** Ids defined under a top-level section. */
function listDefined(lines: readonly string[], section: string): string[] {
  const start = lines.findIndex((line) => line.startsWith(`${section}:`))
  if (start < 0) return []
  const ids: string[] = []
  let depth: number | null = null
  for (const line of lines.slice(start + 1)) {
    if (line.trim() === '' || line.trimStart().startsWith('#')) continue
    const indent = indentOf(line)
    if (indent === 0) break
    depth ??= indent
    const match = /^ *([\w./-]+):/.exec(line)
    if (indent === depth && match?.[1]) ids.push(match[1])
  }
  return ids
}

/**
 * What fits at a place in a collector config: the sections at the top, the component types that this collector
 * has under a section, the ids defined so far in a pipeline.
 */
export function suggest(
  linesBefore: readonly string[],
  linePrefix: string,
  components: Readonly<Record<string, readonly string[]>>,
): string[] {
  const indent = indentOf(linePrefix)
  if (indent === 0) return [...CATEGORIES, 'service']
  const parents = listParents(linesBefore, indent)
  const [top, second] = parents
  const inList =
    /^ *([\w-]+): *\[/.exec(linePrefix)?.[1] ?? (linePrefix.includes('- ') ? parents.at(-1) : undefined)
  if (top === 'service' && inList && (CATEGORIES as readonly string[]).includes(inList)) {
    const connectors =
      inList === 'processors' || inList === 'extensions' ? [] : listDefined(linesBefore, 'connectors')
    return [...listDefined(linesBefore, inList), ...connectors]
  }
  if (top === 'service' && second === 'pipelines' && parents.length === 2) return SIGNALS
  if (top === 'service' && second === 'pipelines' && parents.length === 3) return [...PIPELINE_SECTIONS]
  if (top === 'service' && parents.length === 1) return ['pipelines', 'extensions', 'telemetry']
  if (parents.length === 1 && top !== undefined) return [...(components[top] ?? [])]
  return []
}
