import type { AvailableComponents, ComponentList } from '../../model/components.ts'
import { type AgentReport, type HealthNode, keptBytesOf } from '../../opamp/report.ts'
import { isWorkloadLabel } from '../decide/workload-identity.ts'
import type { Instance, Workload } from './model.ts'

/** About what a key and its value take beside their characters, of which one may take two bytes. */
const ENTRY_BYTES = 96
const NAME_BYTES = 48

const textBytes = (text: string): number => 2 * text.length

function entriesBytes(entries: Iterable<readonly [string, string]>): number {
  let bytes = 0
  for (const [key, value] of entries) bytes += ENTRY_BYTES + textBytes(key) + textBytes(value)
  return bytes
}

function namesBytes(categories: Iterable<readonly [string, readonly string[]]>): number {
  let bytes = 0
  for (const [category, names] of categories) {
    bytes += ENTRY_BYTES + textBytes(category)
    for (const name of names) bytes += NAME_BYTES + textBytes(name)
  }
  return bytes
}

const attributesBytes = (attributes: ReadonlyMap<string, string> | null): number =>
  attributes === null ? 0 : entriesBytes(attributes)

const healthBytes = (health: HealthNode | null): number => (health === null ? 0 : keptBytesOf(health))

const listBytes = (list: ComponentList | AvailableComponents): number =>
  namesBytes(list.components instanceof Map ? list.components : Object.entries(list.components))

/** What is counted of an instance or a workload. */
interface Counted {
  bytes: number
  /** Shared with others: counted once for all who have it. */
  list: ComponentList | AvailableComponents | null
  /** The WebSocket on whose share it is; null for one that polls, or whose socket is not known. */
  on: number | null
}

const NOTHING: Counted = { bytes: 0, list: null, on: null }

/** A poller is one agent, and has a connection of its own: only WebSockets, which carry many, have shares. */
const socketOf = ({ connection }: Pick<Instance, 'connection'>): number | null =>
  connection?.transport === 'ws' ? connection.id : null

/**
 * About how much memory is taken by what agents say of themselves, in bytes, from above: their attributes, health and
 * component lists, and what workloads keep of these. Agents choose how long all that is, within wide limits for each.
 */
export class KeptBytes {
  readonly #counted = new Map<Instance | Workload, Counted>()
  /** The lists, and how many have each. */
  readonly #lists = new Map<object, { readonly bytes: number; on: number | null; holders: number }>()
  /** By open WebSocket: what is kept of its agents, and of the workloads and lists that they were the first to name. */
  readonly #shares = new Map<number, number>()
  #total = 0

  get total(): number {
    return this.#total
  }

  /** About how much of the total is there because of what was said on this WebSocket. */
  shareOf(connectionId: number): number {
    return this.#shares.get(connectionId) ?? 0
  }

  /**
   * By how many bytes more is kept at most once this report of an agent is: others may have its list already. `home` is
   * the workload that it names, which may get its attributes as labels.
   */
  growth(
    known: Instance | undefined,
    { attributes, health, components }: AgentReport,
    home: Workload | undefined,
  ): number {
    let bytes = 0
    if (attributes !== null) {
      bytes += attributesBytes(attributes) - attributesBytes(known?.attributes ?? null)
      // What it said before in this workload is among the labels already, or others do not say so.
      const said = home !== undefined && known?.workload === home ? known.attributes : null
      const isNew = ([key, value]: readonly [string, string]) =>
        isWorkloadLabel(key) && said?.get(key) !== value && home?.labels[key] !== value
      bytes += entriesBytes([...attributes].filter(isNew))
    }
    if (health !== null) bytes += healthBytes(health) - healthBytes(known?.health ?? null)
    if (components?.components != null)
      bytes += namesBytes(components.components) - namesBytes(known?.components?.components ?? [])
    return bytes
  }

  /** About how much room is made when this one is forgotten; a list that others have too stays. */
  bytesOf(one: Instance | Workload): number {
    const { bytes, list } = this.#counted.get(one) ?? NOTHING
    const held = list === null ? undefined : this.#lists.get(list)
    return bytes + (held?.holders === 1 ? held.bytes : 0)
  }

  /** An instance said something of itself. */
  countInstance(instance: Instance): void {
    const bytes = attributesBytes(instance.attributes) + healthBytes(instance.health)
    this.#count(instance, { bytes, list: instance.components, on: socketOf(instance) })
  }

  /** An instance talks on another connection now, whose share has room for it or not. */
  moved(instance: Instance): void {
    const before = this.#counted.get(instance)
    if (before !== undefined) this.#count(instance, { ...before, on: socketOf(instance) })
  }

  /** A connection has ended: it has no share any more, and what was said on it stays counted in the total. */
  connectionEnded(connectionId: number): void {
    this.#shares.delete(connectionId)
  }

  /** A workload is new, or has other labels or components. */
  countWorkload(workload: Workload): void {
    const bytes = entriesBytes(Object.entries(workload.labels))
    this.#count(workload, { bytes, list: workload.availableComponents, on: this.#sponsorOf(workload) })
  }

  /**
   * An agent has said that it is of this workload, which is on the share of its socket then, also after its goodbye: an
   * agent may name one workload after the other. It stays on the share of another one that is open.
   */
  named(workload: Workload, by: Instance): void {
    const before = this.#counted.get(workload) ?? NOTHING
    const on = this.#sponsorOf(workload) ?? socketOf(by)
    if (on !== before.on) this.#count(workload, { ...before, on })
  }

  /** The WebSockets whose shares take more bytes than this. */
  sharesAbove(bytes: number): number[] {
    return [...this.#shares].flatMap(([on, held]) => (held > bytes ? [on] : []))
  }

  /** The open WebSocket on whose share a workload is. */
  shareWith(workload: Workload): number | null {
    return this.#sponsorOf(workload)
  }

  /** A workload leaves the share that it is on, and stays counted in the total. */
  leaveShare(workload: Workload): void {
    const before = this.#counted.get(workload)
    if (before !== undefined) this.#count(workload, { ...before, on: null })
  }

  /** A workload goes to the share of another WebSocket on which one of its instances is live, if there is room on it. */
  giveElsewhere(workload: Workload, most: number): void {
    const before = this.#counted.get(workload)
    if (before === undefined) return
    for (const instance of workload.instances) {
      const on = socketOf(instance)
      if (on === null || on === before.on) continue
      if (this.shareOf(on) + this.bytesOf(workload) <= most) this.#count(workload, { ...before, on })
      return
    }
  }

  #sponsorOf(workload: Workload): number | null {
    const on = this.#counted.get(workload)?.on ?? null
    return on !== null && this.#shares.has(on) ? on : null
  }

  forget(one: Instance | Workload): void {
    this.#count(one, NOTHING)
    this.#counted.delete(one)
  }

  #count(one: Instance | Workload, now: Counted): void {
    const before = this.#counted.get(one) ?? NOTHING
    this.#counted.set(one, now)
    this.#take(before.on, before.bytes)
    this.#add(now.on, now.bytes)
    if (now.list === before.list) {
      this.#takeAlong(before, now)
      return
    }
    if (now.list !== null) this.#hold(now.list, now.on)
    if (before.list !== null) this.#release(before.list)
  }

  /** A list that nobody else has goes to the share on which its holder is now. */
  #takeAlong(before: Counted, now: Counted): void {
    const held = now.list === null ? undefined : this.#lists.get(now.list)
    if (before.on === now.on || held === undefined || held.holders > 1) return
    this.#take(held.on, held.bytes)
    held.on = now.on
    this.#add(held.on, held.bytes)
  }

  #add(on: number | null, bytes: number): void {
    this.#total += bytes
    if (on !== null) this.#shares.set(on, this.shareOf(on) + bytes)
  }

  /** Only what is counted anew opens a share, if it takes no byte: that of a connection which has ended does not come back. */
  #take(on: number | null, bytes: number): void {
    this.#total -= bytes
    if (on !== null && this.#shares.has(on)) this.#shares.set(on, this.shareOf(on) - bytes)
  }

  #hold(list: ComponentList | AvailableComponents, on: number | null): void {
    const held = this.#lists.get(list)
    if (held !== undefined) {
      held.holders++
      return
    }
    const bytes = listBytes(list)
    this.#lists.set(list, { bytes, on, holders: 1 })
    this.#add(on, bytes)
  }

  #release(list: object): void {
    const held = this.#lists.get(list)!
    held.holders--
    if (held.holders > 0) return
    this.#lists.delete(list)
    this.#take(held.on, held.bytes)
  }
}
