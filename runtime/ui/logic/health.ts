import type { HealthNode } from '../../../lib/wire/instances.ts'

/** What a component is called across pipelines and health trees: `traces exporter:otlphttp/eu`. */
export const componentKey = (lane: string, kind: string, id: string): string => `${lane} ${kind}:${id}`

const PIPELINE = /^pipeline:(.+)$/
const COMPONENT = /^(receiver|processor|exporter|connector):(.+)$/

/** A part of a collector as people say it: `exporter:otlp/eu` is `exporter otlp/eu`. */
export const nameOfPart = (part: string): string =>
  PIPELINE.test(part) || COMPONENT.test(part) ? part.replace(':', ' ') : part

/** How many of these instances report each component of their pipelines as unhealthy, by `componentKey`. */
export function countFailing(trees: readonly HealthNode[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const tree of trees) {
    for (const [name, pipeline] of Object.entries(tree.components ?? {})) {
      const lane = PIPELINE.exec(name)?.[1]
      if (lane === undefined) continue
      for (const [part, node] of Object.entries(pipeline.components ?? {})) {
        const match = COMPONENT.exec(part)
        if (node.healthy || !match) continue
        const key = componentKey(lane, match[1] ?? '', match[2] ?? '')
        counts.set(key, (counts.get(key) ?? 0) + 1)
      }
    }
  }
  return counts
}

/** Each component once, whatever pipelines it fails in: `exporter otlphttp/eu`; what fails most comes first. */
export function listComponents(failing: ReadonlyMap<string, number>): string[] {
  const sorted = [...failing].sort(([, a], [, b]) => b - a)
  return [...new Set(sorted.map(([key]) => key.slice(key.indexOf(' ') + 1).replace(':', ' ')))]
}

/** Where a config has a component that is named so: `exporter otlphttp/eu` is `exporters.otlphttp/eu`. */
export const pathOfComponent = (component: string): string => component.replace(' ', 's.')

/** The component that most of these instances complain of, as one of them reports it; null when none says why. */
export function findComplaint(trees: readonly HealthNode[]): HealthNode | null {
  const complaints = new Map<string, { node: HealthNode; count: number }>()
  const collect = (name: string, node: HealthNode) => {
    const children = Object.entries(node.components ?? {})
    for (const [child, below] of children) collect(child, below)
    // A node complains for itself only where none of its parts is unhealthy.
    const isOwn = !children.some(([, below]) => !below.healthy)
    if (node.healthy || !isOwn || !(node.last_error || node.error_cause)) return
    const known = complaints.get(name)
    if (known === undefined) complaints.set(name, { node, count: 1 })
    else known.count++
  }
  for (const tree of trees) collect('', tree)
  const [first] = [...complaints.values()].sort((a, b) => b.count - a.count)
  return first?.node ?? null
}

/** Whether a part of this node reports the same error, which is then shown there and not here. */
export function isSaidBelow(node: HealthNode): boolean {
  const error = node.last_error ?? node.error_cause
  const isSaidBy = (part: HealthNode): boolean =>
    (part.last_error ?? part.error_cause) === error || Object.values(part.components ?? {}).some(isSaidBy)
  return error !== undefined && Object.values(node.components ?? {}).some(isSaidBy)
}

/** The parts of a node in the order in which they are shown: what is unhealthy first. */
export const partsOf = (node: HealthNode): [string, HealthNode][] =>
  Object.entries(node.components ?? {}).sort(
    ([a, x], [b, y]) => Number(x.healthy) - Number(y.healthy) || a.localeCompare(b),
  )

/**
 * The nodes of a tree that repeat what a part of the same name said further up, such as an exporter in each of its
 * pipelines: the text is shown once.
 */
export function listRepeating(root: HealthNode): Set<HealthNode> {
  const repeating = new Set<HealthNode>()
  const said = new Set<string>()
  const look = (name: string, node: HealthNode): void => {
    const key = `${name} ${node.last_error ?? node.error_cause ?? ''}`
    if ((node.last_error ?? node.error_cause) !== undefined) {
      if (said.has(key)) repeating.add(node)
      said.add(key)
    }
    for (const [id, part] of partsOf(node)) look(id, part)
  }
  look('', root)
  return repeating
}

/** Less than this is no difference between clocks: a report takes a while. */
const CLOCK_MS = 60_000

/**
 * By how much the clock of an instance is ahead, in whole seconds, by the times that it reports; 0 where it need not be.
 * That it is behind cannot be told by them: what they are about may be as old as they say.
 */
export function aheadMs(health: HealthNode | undefined, nowMs: number): number {
  if (health === undefined) return 0
  const own = health.updated_at === undefined ? 0 : Date.parse(health.updated_at) - nowMs
  const ahead = Object.values(health.components ?? {}).reduce(
    (most, part) => Math.max(most, aheadMs(part, nowMs)),
    own,
  )
  return ahead < CLOCK_MS ? 0 : Math.floor(ahead / 1_000) * 1_000
}
