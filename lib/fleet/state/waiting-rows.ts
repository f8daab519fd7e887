import type { AgentHome, UnhealthySince } from '../../store/agents.ts'
import type { ForgottenTarget, TargetOfPush } from '../../store/push-targets.ts'
import type { Quarantine } from '../../store/quarantines.ts'
import type { ReportedConfig } from '../../store/reported-configs.ts'
import type { WorkloadEvent } from '../../store/workload-events.ts'
import type { FollowedPush, Workload } from './model.ts'

/** Past this many waiting events the oldest is dropped for each new one, and counted as lost. */
export const EVENTS_MAX = 100_000
/** The length of all reported configs that wait, in UTF-16 units; past this none is taken until some are stored. */
export const CONFIG_BYTES_MAX = 67_108_864

/** Rows that are written together. */
export interface Batch {
  workloads: Workload[]
  seen: Workload[]
  homes: AgentHome[]
  unhealthy: UnhealthySince[]
  events: WorkloadEvent[]
  targets: TargetOfPush[]
  forgotten: ForgottenTarget[]
  pushes: FollowedPush[]
  quarantines: Quarantine[]
  configs: ReportedConfig[]
}

const EMPTY: Batch = {
  workloads: [],
  seen: [],
  homes: [],
  unhealthy: [],
  events: [],
  targets: [],
  forgotten: [],
  pushes: [],
  quarantines: [],
  configs: [],
}

const keyOfQuarantine = ({ workloadId, hash, instanceUid }: Quarantine) =>
  `${workloadId}/${hash}/${instanceUid}`

/** Rows of targets by push and uid. There may be 100,000 of one push: a text for each as its key would be garbage. */
class ByTarget<T> {
  readonly #byPush = new Map<string, Map<string, T>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  has(pushId: string, uid: string): boolean {
    return this.#byPush.get(pushId)?.has(uid) === true
  }

  set(pushId: string, uid: string, row: T): void {
    const ofPush = this.#byPush.get(pushId) ?? new Map<string, T>()
    if (ofPush.size === 0) this.#byPush.set(pushId, ofPush)
    if (!ofPush.has(uid)) this.#size++
    ofPush.set(uid, row)
  }

  delete(pushId: string, uid: string): void {
    const ofPush = this.#byPush.get(pushId)
    if (ofPush?.delete(uid) !== true) return
    this.#size--
    if (ofPush.size === 0) this.#byPush.delete(pushId)
  }

  of(pushId: string): T[] {
    return [...(this.#byPush.get(pushId)?.values() ?? [])]
  }

  /** All rows, which are taken out. */
  takeAll(): T[] {
    const all: T[] = []
    for (const ofPush of this.#byPush.values()) for (const row of ofPush.values()) all.push(row)
    this.#byPush.clear()
    this.#size = 0
    return all
  }
}

/** What waits to be written. All but events and texts is one entry for each row: the fleet's size bounds it. */
export class WaitingRows {
  readonly workloads = new Set<Workload>()
  readonly seen = new Set<Workload>()
  readonly homes = new Map<string, AgentHome>()
  /** By uid. */
  readonly unhealthy = new Map<string, UnhealthySince>()
  #events: WorkloadEvent[] = []
  readonly #targets = new ByTarget<TargetOfPush>()
  readonly #forgotten = new ByTarget<ForgottenTarget>()
  readonly pushes = new Set<FollowedPush>()
  readonly #quarantines = new Map<string, Quarantine>()
  readonly #configs = new Map<string, ReportedConfig>()
  /** Length of the configs that wait. */
  #configBytes = 0
  /** Length of the configs that are being written. */
  #configBytesBeingWritten = 0
  /** Events that were dropped because too many waited. */
  lostEvents = 0

  /** How many rows wait, events and times at which workloads were seen apart. */
  get count(): number {
    const { workloads, homes, unhealthy, pushes } = this
    const parts = [
      workloads,
      homes,
      unhealthy,
      this.#targets,
      this.#forgotten,
      pushes,
      this.#quarantines,
      this.#configs,
    ]
    return parts.reduce((sum, part) => sum + part.size, 0)
  }

  get eventCount(): number {
    return this.#events.length
  }

  addEvent(event: WorkloadEvent): void {
    if (this.#events.length >= EVENTS_MAX) {
      this.#events.shift()
      this.lostEvents++
    }
    this.#events.push(event)
  }

  addTarget(entry: TargetOfPush): void {
    const { pushId, target } = entry
    this.#forgotten.delete(pushId, target.instanceUid)
    this.#targets.set(pushId, target.instanceUid, entry)
  }

  /** The row of a target is to be removed. */
  addForgotten(gone: ForgottenTarget): void {
    this.#targets.delete(gone.pushId, gone.instanceUid)
    this.#forgotten.set(gone.pushId, gone.instanceUid, gone)
  }

  /** The waiting rows of one push's targets. */
  targetsOf(pushId: string): TargetOfPush[] {
    return this.#targets.of(pushId)
  }

  addQuarantine(quarantine: Quarantine): void {
    this.#quarantines.set(keyOfQuarantine(quarantine), quarantine)
  }

  /** False while too much text of reported configs waits. */
  get hasRoomForConfigs(): boolean {
    return this.#configBytes + this.#configBytesBeingWritten < CONFIG_BYTES_MAX
  }

  /** Add the text of a reported config; false when there is no room for it. */
  addConfig(config: ReportedConfig): boolean {
    if (this.#configs.has(config.hash)) return true
    if (!this.hasRoomForConfigs) return false
    this.#configs.set(config.hash, config)
    this.#configBytes += config.body.length
    return true
  }

  /** The texts that were taken out are written, or were put back. */
  configsWritten(): void {
    this.#configBytesBeingWritten = 0
  }

  /** Drop the waiting record, events and homes of a deleted workload; the statements for the rest skip what is gone. */
  forget(workload: Workload): void {
    this.workloads.delete(workload)
    this.seen.delete(workload)
    this.#events = this.#events.filter((event) => event.workloadId !== workload.id)
    for (const [uid, home] of this.homes) if (home.workloadId === workload.id) this.homes.delete(uid)
  }

  /** Take everything out to be written, but only `withSeen` the workloads that were just seen; null for nothing. */
  take(withSeen: boolean): Batch | null {
    const batch: Batch = {
      workloads: [...this.workloads],
      seen: withSeen ? [...this.seen].filter((workload) => !this.workloads.has(workload)) : [],
      homes: [...this.homes.values()],
      unhealthy: [...this.unhealthy.values()],
      events: this.#events,
      targets: this.#targets.takeAll(),
      forgotten: this.#forgotten.takeAll(),
      pushes: [...this.pushes],
      quarantines: [...this.#quarantines.values()],
      configs: [...this.#configs.values()],
    }
    if (Object.values(batch).every((part) => part.length === 0)) return null
    this.workloads.clear()
    if (withSeen) this.seen.clear()
    this.homes.clear()
    this.unhealthy.clear()
    this.#events = []
    this.pushes.clear()
    this.#quarantines.clear()
    this.#configs.clear()
    this.#configBytesBeingWritten = this.#configBytes
    this.#configBytes = 0
    return batch
  }

  /**
   * Put a batch back that was not stored: events before newer ones; homes, times, removals and quarantines yield to what
   * came since.
   */
  putBack(batch: Batch): void {
    for (const workload of batch.workloads) if (!workload.isDeleted) this.workloads.add(workload)
    for (const workload of batch.seen) if (!workload.isDeleted) this.seen.add(workload)
    for (const home of batch.homes)
      if (!this.homes.has(home.instanceUid)) this.homes.set(home.instanceUid, home)
    for (const noted of batch.unhealthy)
      if (!this.unhealthy.has(noted.instanceUid)) this.unhealthy.set(noted.instanceUid, noted)
    this.#events = batch.events.concat(this.#events)
    const overflow = this.#events.length - EVENTS_MAX
    if (overflow > 0) {
      this.#events.splice(0, overflow)
      this.lostEvents += overflow
    }
    for (const entry of batch.targets) {
      const { pushId, target } = entry
      // The joiner may have been forgotten since, and may have come back as a target of its own.
      if (!this.#targets.has(pushId, target.instanceUid) && !this.#forgotten.has(pushId, target.instanceUid))
        this.#targets.set(pushId, target.instanceUid, entry)
    }
    for (const gone of batch.forgotten) {
      // The joiner may have come back since.
      if (!this.#targets.has(gone.pushId, gone.instanceUid))
        this.#forgotten.set(gone.pushId, gone.instanceUid, gone)
    }
    for (const followed of batch.pushes) this.pushes.add(followed)
    // One that came since is in the name of a later push, which lifts what is in the earlier one's.
    for (const quarantine of batch.quarantines)
      if (!this.#quarantines.has(keyOfQuarantine(quarantine))) this.addQuarantine(quarantine)
    for (const config of batch.configs) {
      if (!this.#configs.has(config.hash)) this.#configBytes += config.body.length
      this.#configs.set(config.hash, config)
    }
  }
}

/** Split a batch in two; null when it holds a single row. Workloads come first, as other rows refer to them. */
export function splitBatch(batch: Batch): [Batch, Batch] | null {
  const keys = (Object.keys(batch) as (keyof Batch)[]).filter((key) => batch[key].length > 0)
  if (keys.length > 1) {
    const [first, ...rest] = keys
    const left = { ...EMPTY, [first!]: batch[first!] }
    const right = { ...EMPTY, ...Object.fromEntries(rest.map((key) => [key, batch[key]])) }
    return [left, right]
  }
  const key = keys[0]
  if (key === undefined || batch[key].length < 2) return null
  const middle = Math.floor(batch[key].length / 2)
  return [
    { ...EMPTY, [key]: batch[key].slice(0, middle) },
    { ...EMPTY, [key]: batch[key].slice(middle) },
  ]
}
