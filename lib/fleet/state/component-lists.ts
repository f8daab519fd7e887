import type { ComponentList } from '../../model/components.ts'
import { AGENT_CAPABILITIES, type ReportedComponents } from '../../opamp/report.ts'
import type { FleetDeps } from './deps.ts'
import type { Instance } from './model.ts'
import type { FleetState } from './state.ts'

/** Distinct component lists kept; past this an unused one makes room. */
const COMPONENT_LISTS_MAX = 5_000
/** How long an announced list is waited for. */
const WAIT_MS = 60_000
/** How often the wait begins again on a new connection, because the former connection ended before the wait did. */
const WAITS_AGAIN = 2
/** How many answers to the polls of one agent ask for its list, before they do so rarely. */
const HTTP_ASKS_MAX = 3
/** How long after the last of these a poller is asked again, and after that one again: all may have been lost. */
const HTTP_ASK_AGAIN_MS = 300_000

/** The wait for a component list of which only the hash is known. */
export interface ComponentWait {
  readonly hash: string
  /** Heard time; null while nothing is waited for: the wait was interrupted, or is over. */
  sinceMs: number | null
  /** How often the wait may begin again on a new connection. */
  waitsLeft: number
}

/** True while an instance's component list is waited for: no config is offered to it meanwhile. */
export function awaitsComponents({ componentWait }: Instance): boolean {
  return componentWait !== null && componentWait.sinceMs !== null
}

/** What instances say of their components: lists shared by their hashes, and asked for where only the hash is known. */
export class ComponentLists {
  readonly #deps: FleetDeps
  readonly #state: FleetState

  constructor(deps: FleetDeps, state: FleetState) {
    this.#deps = deps
    this.#state = state
  }

  take(instance: Instance, reported: ReportedComponents): void {
    instance.componentsHash = reported.hash
    if (reported.components !== null) instance.components = this.#intern(reported.hash, reported.components)
    else instance.components = this.#state.componentLists.get(reported.hash) ?? instance.components
  }

  #intern(hash: string, components: NonNullable<ReportedComponents['components']>): ComponentList {
    const lists = this.#state.componentLists
    const known = lists.get(hash)
    // An agent may send a wrong hash: lists are the same only when their contents are.
    if (known !== undefined && isSameList(known.components, components)) return known
    const list: ComponentList = { hash, components }
    if (lists.size >= COMPONENT_LISTS_MAX) lists.delete(lists.keys().next().value!)
    if (known === undefined) lists.set(hash, list)
    return list
  }

  /**
   * Should the answer to this instance ask for its list? Once for each connection and hash, and for a poller up to
   * `HTTP_ASKS_MAX` times, and rarely after that, as answers may be lost and it keeps its connection for good. The answer to a message that was sent again asks again and does
   * not count: many may have come while this process stood still, and only one of their answers is heard. The wait
   * begins with the first request.
   */
  ask(instance: Instance, isRetransmission: boolean): boolean {
    if (!isListMissing(instance)) {
      this.#endWait(instance)
      return false
    }
    const hash = instance.componentsHash
    const wait = instance.componentWait
    const nowMs = this.#deps.clock.heardMs()
    if (wait === null || (wait.hash !== hash && wait.sinceMs === null))
      instance.componentWait = { hash, sinceMs: nowMs, waitsLeft: WAITS_AGAIN }
    else if (wait.sinceMs === null && wait.waitsLeft > 0) {
      wait.sinceMs = nowMs
      wait.waitsLeft--
    }
    if (awaitsComponents(instance)) this.#state.awaitingComponents.add(instance)
    const isAsked = instance.askedComponentsHash === hash
    const isPoller = instance.connection?.transport === 'http'
    if (isAsked && isPoller && isRetransmission) return true
    // A poller may never have got the answer that asked it.
    const isDue = isPoller && nowMs - instance.componentsAskedMs >= HTTP_ASK_AGAIN_MS
    if (isAsked && !isDue && instance.componentAsks >= (isPoller ? HTTP_ASKS_MAX : 1)) return false
    instance.componentAsks = isAsked ? instance.componentAsks + 1 : 1
    instance.componentsAskedMs = nowMs
    instance.askedComponentsHash = hash
    return true
  }

  #endWait(instance: Instance): void {
    instance.componentWait = null
    this.#state.awaitingComponents.delete(instance)
  }

  /** End the waits that took too long, and return their instances: each counts as one that never reported a list. */
  giveUp(): Instance[] {
    const nowMs = this.#deps.clock.heardMs()
    const overdue: Instance[] = []
    for (const instance of this.#state.awaitingComponents) {
      const wait = instance.componentWait
      if (wait?.sinceMs != null && nowMs - wait.sinceMs < WAIT_MS) continue
      this.#state.awaitingComponents.delete(instance)
      if (wait === null) continue
      Object.assign(wait, { sinceMs: null, waitsLeft: 0 })
      loseFormerList(instance)
      overdue.push(instance)
    }
    return overdue
  }
}

/** An instance's connection ended: stop its wait. A new one begins when it comes back, at most `WAITS_AGAIN` times. */
export function interruptComponentWait(state: FleetState, instance: Instance): void {
  state.awaitingComponents.delete(instance)
  const wait = instance.componentWait
  if (wait === null) return
  wait.sinceMs = null
  if (wait.waitsLeft === 0) loseFormerList(instance)
}

/** Its list is waited for no more: a former one says nothing of the build that runs now. */
function loseFormerList(instance: Instance): void {
  instance.components = null
}

function isListMissing(instance: Instance): boolean {
  if ((instance.capabilities & AGENT_CAPABILITIES.reportsAvailableComponents) === 0) return false
  const { components, componentsHash: hash, isDescribed } = instance
  // An instance that has not described itself yet is asked for its full state first.
  if (!isDescribed && hash === '') return false
  return components === null || (hash !== '' && components.hash !== hash)
}

function isSameList(
  a: ReadonlyMap<string, readonly string[]>,
  b: ReadonlyMap<string, readonly string[]>,
): boolean {
  if (a.size !== b.size) return false
  for (const [category, types] of a) {
    const others = b.get(category)
    if (others === undefined || others.length !== types.length) return false
    if (!types.every((type, i) => type === others[i])) return false
  }
  return true
}
