import type { HealthNode } from '../../../lib/wire/instances.ts'

/** What a component is called across pipelines and health trees: `traces exporter:otlphttp/eu`. */
export const componentKey = (lane: string, kind: string, id: string): string => `${lane} ${kind}:${id}`

const PIPELINE = /^pipeline:(.+)$/
const COMPONENT = /^(receiver|processor|exporter|connector):(.+)$/

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
