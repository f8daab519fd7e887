import { createHash } from 'node:crypto'
import { EFFECTIVE_BYTES_MAX } from '../../model/effective-bytes.ts'
import { type OwnAttributes, ownAttributesIn } from '../../model/own-attributes.ts'
import { unreadForMs } from '../../model/unread.ts'
import type { ReportedEffectiveConfig } from '../../opamp/report.ts'
import { tellAgent } from '../../opamp/tell-agent.ts'
import type { FleetDeps, NormalForm } from '../state/deps.ts'
import type { Instance } from '../state/model.ts'
import type { WriteBehind } from '../state/write-behind.ts'

/** Normal forms kept by raw hash: a fleet of one config has as many raw texts as it has instances. */
export const FORMS_MAX = 20_000
/** How many texts wait or are being read, and their length in UTF-16 units; past this they are asked for later. */
export const UNDER_WAY_MAX = 1_000
export const UNDER_WAY_BYTES_MAX = 67_108_864
/** Texts that are read at the same time; the others wait in the queue here, where their size is counted. */
const READ_AT_ONCE = 4
/** How long to wait where the reader is busy. */
const RETRY_MS = 1_000
/** Texts that nobody could read in time which are remembered. */
export const GIVEN_UP_MAX = 1_000
/** Instances that are asked again each second, once there is room. */
const ASKED_AT_ONCE = 50

/** The fields of an agent that this module reads and writes. */
export type RunsConfig = Pick<
  Instance,
  | 'attributes'
  | 'uid'
  | 'uidOnWire'
  | 'connection'
  | 'rawEffectiveHash'
  | 'reportedConfigHash'
  | 'runsPipelines'
  | 'runsProfiles'
>

/** What this module works with; a front, too, reads effective configs, of agents that are no `Instance`. */
export interface EffectiveParts<Agent extends RunsConfig> {
  deps: Pick<FleetDeps, 'normalise' | 'timers'>
  writer: Pick<WriteBehind, 'reportedConfig' | 'hasRoomForConfigs'>
  tell(outcome: { kind: 'effective-config-read'; instance: Agent }): void
}

/** A normal form that a front stores, and the hash of its raw text. With an empty `hash` the text is no config. */
export interface EffectiveForm extends Omit<NormalForm, 'text'> {
  rawHash: string
}

interface GivenUp<Agent> {
  times: number
  isLeftAlone: boolean
  instances: Set<Agent>
}

interface Text<Agent> {
  rawHash: string
  text: string
  own: OwnAttributes
  instances: Set<Agent>
}

/**
 * Turns reported effective configs into normal forms, each distinct raw text once. A text for which there is no room is
 * not read, and its instance is asked for it again later.
 */
export class EffectiveConfigs<Agent extends RunsConfig = Instance> {
  readonly #parts: EffectiveParts<Agent>
  readonly #known = new Map<string, NormalForm | null>()
  /** Texts that nobody could read in time, by raw hash: how often in a row, and who has reported them since. */
  readonly #givenUp = new Map<string, GivenUp<Agent>>()
  /** By raw hash, in the order in which they came. */
  readonly #underWay = new Map<string, Text<Agent>>()
  readonly #queue: Text<Agent>[] = []
  #underWayBytes = 0
  #reading = 0
  #isPaused = false
  /** Live instances that are to be asked again, because there was no room for their effective config. */
  readonly #owed = new Set<Agent>()

  constructor(parts: EffectiveParts<Agent>) {
    this.#parts = parts
  }

  /** How much is kept, for the metrics. */
  get load(): { forms: number; givenUp: number; underWay: number; underWayBytes: number; owed: number } {
    return {
      forms: this.#known.size,
      givenUp: this.#givenUp.size,
      underWay: this.#underWay.size,
      underWayBytes: this.#underWayBytes,
      owed: this.#owed.size,
    }
  }

  /** Take the effective config of a report. An empty one is ignored: the former stays. */
  take(instance: Agent, reported: ReportedEffectiveConfig): void {
    let bytes = 0
    for (const { body } of reported.files.values()) bytes += body.byteLength
    if (bytes > EFFECTIVE_BYTES_MAX) {
      instance.rawEffectiveHash = ''
      this.#owed.delete(instance)
      this.#keep(instance, null)
      return
    }
    const names = [...reported.files.keys()].sort()
    const raw = names.map((name) => Buffer.from(reported.files.get(name)!.body).toString('utf8')).join('\n')
    if (raw.trim() === '') return
    const text = blotOut(raw, instance.uid)
    const own = ownAttributesIn(text, instance.attributes)
    const rawHash = createHash('sha256').update(text).update(JSON.stringify(own)).digest('hex')
    this.#owed.delete(instance)
    if (rawHash === instance.rawEffectiveHash) return
    instance.rawEffectiveHash = rawHash
    const known = this.#known.get(rawHash)
    if (known !== undefined) {
      this.#keep(instance, known)
      return
    }
    const givenUp = this.#givenUp.get(rawHash)
    if (givenUp?.isLeftAlone) {
      givenUp.instances.add(instance)
      this.#keep(instance, null)
      return
    }
    const waiting = this.#underWay.get(rawHash)
    if (waiting !== undefined) waiting.instances.add(instance)
    else if (this.#hasRoomFor(text)) this.#enqueue({ rawHash, text, own, instances: new Set([instance]) })
    else this.#askLater(instance)
  }

  /** Take what a front has read, and stores: the normal form of this agent's effective config. */
  takeForm(instance: Agent, { rawHash, ...form }: EffectiveForm): void {
    if (rawHash === instance.rawEffectiveHash) return
    this.#owed.delete(instance)
    instance.rawEffectiveHash = rawHash
    this.#keep(instance, { ...form, text: '' })
  }

  /** Each second: ask some of the instances again for whose effective config there was no room, once there is. */
  tick(): void {
    let asked = 0
    for (const instance of this.#owed) {
      // An instance that comes back is asked for its full state anyhow.
      if (instance.connection === null) this.#owed.delete(instance)
      else if (instance.connection.transport === 'ws' && asked < ASKED_AT_ONCE && this.takeOwed(instance)) {
        asked++
        const outcome = tellAgent(instance.connection, instance.uidOnWire, { reportFullState: true })
        if (outcome === 'dropped') this.#owed.add(instance)
      }
    }
  }

  /** True, once, when there is room now for an effective config that had none: ask the instance for its full state. */
  takeOwed(instance: Agent): boolean {
    if (this.#owed.size === 0 || !this.#owed.has(instance)) return false
    const isCrowded =
      this.#underWay.size > UNDER_WAY_MAX / 2 ||
      this.#underWayBytes > UNDER_WAY_BYTES_MAX / 2 ||
      !this.#parts.writer.hasRoomForConfigs
    return !isCrowded && this.#owed.delete(instance)
  }

  /** This agent is gone from here: it is asked for nothing again, also not once what is being read of it was read. */
  left(instance: Agent): void {
    this.#owed.delete(instance)
    instance.rawEffectiveHash = ''
  }

  /** Whether this instance was to be asked again; it is not any more. */
  forgetOwed(instance: Agent): boolean {
    return this.#owed.delete(instance)
  }

  /**
   * The texts of these normal forms are not stored any more: when one is reported again, also by one of these agents that
   * ran it last, it is stored again.
   */
  forget(hashes: readonly string[], agents: Iterable<Agent> = []): void {
    const gone = new Set(hashes)
    for (const [rawHash, form] of this.#known)
      if (form !== null && gone.has(form.hash)) this.#known.delete(rawHash)
    for (const agent of agents)
      if (gone.has(agent.reportedConfigHash) && !this.#underWay.has(agent.rawEffectiveHash))
        agent.rawEffectiveHash = ''
  }

  /** The text of what this instance runs is missing: ask it for that again, unless what it runs by now is being read. */
  askAgain(instance: Agent): void {
    if (!this.#underWay.has(instance.rawEffectiveHash)) this.#askLater(instance)
  }

  /** Forget every normal form: each text that is reported from now on is read and stored anew. */
  forgetAll(): void {
    this.#known.clear()
  }

  #hasRoomFor(text: string): boolean {
    return (
      this.#underWay.size < UNDER_WAY_MAX &&
      this.#underWayBytes + text.length <= UNDER_WAY_BYTES_MAX &&
      this.#parts.writer.hasRoomForConfigs
    )
  }

  #askLater(instance: Agent): void {
    instance.rawEffectiveHash = ''
    if (instance.connection !== null) this.#owed.add(instance)
  }

  #enqueue(entry: Text<Agent>): void {
    this.#underWay.set(entry.rawHash, entry)
    this.#underWayBytes += entry.text.length
    this.#queue.push(entry)
    this.#readNext()
  }

  #readNext(): void {
    while (!this.#isPaused && this.#reading < READ_AT_ONCE) {
      const entry = this.#queue.shift()
      if (entry === undefined) return
      this.#reading++
      this.#parts.deps.normalise(entry.text, entry.own).then(
        (form) => this.#finish(entry, form),
        () => this.#finish(entry, 'given-up'),
      )
    }
  }

  #finish(entry: Text<Agent>, form: NormalForm | null | 'busy' | 'given-up'): void {
    this.#reading--
    if (form === 'busy') {
      this.#queue.unshift(entry)
      this.#pause()
      return
    }
    const { rawHash, text, instances } = entry
    this.#underWay.delete(rawHash)
    this.#underWayBytes -= text.length
    if (form === 'given-up') {
      this.#leaveAlone(rawHash, instances)
      this.#readNext()
      return
    }
    this.#givenUp.delete(rawHash)
    const isKept = form === null || this.#parts.writer.reportedConfig({ hash: form.hash, body: form.text })
    if (isKept) {
      if (this.#known.size >= FORMS_MAX) this.#known.delete(this.#known.keys().next().value!)
      this.#known.set(rawHash, form === null ? null : { ...form, text: '' })
    }
    for (const instance of instances) {
      if (instance.rawEffectiveHash !== rawHash) continue
      this.#keep(instance, form)
      // There was no room to keep the text for the database: the instance is asked for it again.
      if (!isKept) this.#askLater(instance)
    }
    this.#readNext()
  }

  /**
   * Nobody could read this text in time, which says nothing of it: the machine may have been slow. For a while it is left
   * alone, whoever reports it; then its instances are asked for it again.
   */
  #leaveAlone(rawHash: string, instances: Set<Agent>): void {
    const times = (this.#givenUp.get(rawHash)?.times ?? 0) + 1
    const entry = { times, isLeftAlone: true, instances }
    this.#givenUp.delete(rawHash)
    if (this.#givenUp.size >= GIVEN_UP_MAX) this.#givenUp.delete(this.#givenUp.keys().next().value!)
    this.#givenUp.set(rawHash, entry)
    const own = () => [...entry.instances].filter((instance) => instance.rawEffectiveHash === rawHash)
    for (const instance of own()) this.#keep(instance, null)
    this.#parts.deps.timers.after(unreadForMs(times), () => {
      entry.isLeftAlone = false
      for (const instance of own()) this.#askLater(instance)
      entry.instances.clear()
    })
  }

  #pause(): void {
    if (this.#isPaused) return
    this.#isPaused = true
    this.#parts.deps.timers.after(RETRY_MS, () => {
      this.#isPaused = false
      this.#readNext()
    })
  }

  #keep(instance: Agent, form: NormalForm | null): void {
    instance.reportedConfigHash = form?.hash ?? ''
    instance.runsPipelines = form?.runsPipelines ?? false
    instance.runsProfiles = form?.runsProfiles ?? false
    this.#parts.tell({ kind: 'effective-config-read', instance })
  }
}

const LOCAL_OPAMP = /((?:ws|http)s?:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):)\d+(\/v1\/opamp)/g
const PARENT_PROCESS = /(\bppid: )\d+/g
const NO_UID = '00000000-0000-0000-0000-000000000000'

/**
 * Replace what a supervisor writes into each instance's copy (uid, process id, its own port), so that a config that
 * many instances run is parsed once and not once for each of them.
 */
function blotOut(text: string, uid: string): string {
  const dashed = `${uid.slice(0, 8)}-${uid.slice(8, 12)}-${uid.slice(12, 16)}-${uid.slice(16, 20)}-${uid.slice(20)}`
  return text
    .replaceAll(dashed, NO_UID)
    .replaceAll(uid, NO_UID)
    .replace(LOCAL_OPAMP, '$10$2')
    .replace(PARENT_PROCESS, '$10')
}
