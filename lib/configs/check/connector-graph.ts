import { type ConfigObject, isExpanded, isObject, sortedKeys } from '../yaml/value.ts'
import { pipelineSignal } from './component-id.ts'
import { connects, SIGNALS, type Signal } from './component-signals.ts'
import { componentType, definedIds, idsOf } from './components.ts'
import type { StructureFinding } from './structure-finding.ts'

interface Ends {
  /** Pipelines that send into the connector. */
  senders: string[]
  /** Pipelines that receive from it. */
  receivers: string[]
}

/**
 * Connectors that lead nowhere or come from nowhere, and cycles through connectors: the collector refuses to
 * build both. No findings where a `${…}` hides a list of a pipeline, or an entry of one, until the collector starts.
 */
export function connectorFindings(root: ConfigObject, pipelines: ConfigObject): StructureFinding[] {
  const connectors = definedIds(root, 'connectors')
  if (connectors.size === 0 || hasUnknownLists(pipelines)) return []
  const uses = connectorUses(pipelines, connectors)
  const findings: StructureFinding[] = []
  for (const id of [...uses.keys()].sort()) findings.push(...oneSided(id, uses.get(id)!))
  const cycle = findCycle(uses)
  if (cycle) {
    const message = `pipelines form a cycle through connectors: ${cycle.join(' → ')}`
    findings.push({
      code: 'connector_cycle',
      severity: 'error',
      message,
      path: `service.pipelines.${cycle[0]}`,
    })
  }
  return findings
}

function connectorUses(pipelines: ConfigObject, connectors: ReadonlySet<string>): Map<string, Ends> {
  const uses = new Map<string, Ends>()
  const endsOf = (id: string): Ends => {
    const ends = uses.get(id) ?? { senders: [], receivers: [] }
    uses.set(id, ends)
    return ends
  }
  for (const name of sortedKeys(pipelines)) {
    const pipeline = pipelines[name]
    if (!isObject(pipeline) || signalOf(name) === null) continue
    for (const { id } of idsOf(pipeline['exporters'])) if (connectors.has(id)) endsOf(id).senders.push(name)
    for (const { id } of idsOf(pipeline['receivers'])) if (connectors.has(id)) endsOf(id).receivers.push(name)
  }
  return uses
}

function oneSided(id: string, { senders, receivers }: Ends): StructureFinding[] {
  const findings: StructureFinding[] = []
  const type = componentType(id)
  const add = (pipeline: string, section: string, message: string) =>
    findings.push({
      code: 'unconnected_connector',
      severity: 'error',
      message,
      path: `service.pipelines.${pipeline}.${section}`,
    })
  const told = new Set<string>()
  for (const sender of senders) {
    const from = signalOf(sender)!
    if (told.has(from) || receivers.some((receiver) => connects(type, from, signalOf(receiver)!))) continue
    told.add(from)
    add(
      sender,
      'exporters',
      `connector "${id}" is an exporter of ${from} but no pipeline receives what it makes of them`,
    )
  }
  told.clear()
  for (const receiver of receivers) {
    const to = signalOf(receiver)!
    if (told.has(to) || senders.some((sender) => connects(type, signalOf(sender)!, to))) continue
    told.add(to)
    add(
      receiver,
      'receivers',
      `connector "${id}" is a receiver of ${to} but no pipeline sends it what it makes them of`,
    )
  }
  return findings
}

/** One cycle of pipeline names, the first repeated at the end; null when there is none. */
function findCycle(uses: ReadonlyMap<string, Ends>): string[] | null {
  const next = new Map<string, string[]>()
  for (const [id, { senders, receivers }] of uses) {
    for (const sender of senders) {
      const reached = receivers.filter((receiver) =>
        connects(componentType(id), signalOf(sender)!, signalOf(receiver)!),
      )
      next.set(sender, [...(next.get(sender) ?? []), ...reached])
    }
  }
  const done = new Set<string>()
  for (const start of [...next.keys()].sort()) {
    // Depth first with a list in place of recursion: a chain of pipelines may be longer than the call stack.
    const path: string[] = []
    const stack: Array<{ name: string; leave: boolean }> = [{ name: start, leave: false }]
    while (stack.length > 0) {
      const { name, leave } = stack.pop()!
      if (leave) {
        path.pop()
        done.add(name)
        continue
      }
      if (path.includes(name)) return [...path.slice(path.indexOf(name)), name]
      if (done.has(name)) continue
      path.push(name)
      stack.push({ name, leave: true })
      for (const reached of next.get(name) ?? []) stack.push({ name: reached, leave: false })
    }
  }
  return null
}

function hasUnknownLists(pipelines: ConfigObject): boolean {
  return Object.values(pipelines).some((pipeline) => {
    if (!isObject(pipeline)) return isExpanded(pipeline)
    return [pipeline['receivers'], pipeline['exporters']].some(
      (list) => isExpanded(list) || (Array.isArray(list) && list.some(isExpanded)),
    )
  })
}

function signalOf(pipeline: string): Signal | null {
  const id = pipelineSignal(pipeline)
  return 'signal' in id && (SIGNALS as readonly string[]).includes(id.signal) ? (id.signal as Signal) : null
}
