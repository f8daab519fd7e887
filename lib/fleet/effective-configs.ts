import { createHash } from 'node:crypto'
import type { ReportedEffectiveConfig } from '../opamp/report.ts'
import type { FleetDeps, NormalForm } from './deps.ts'
import type { Instance } from './model.ts'
import type { WriteBehind } from './write-behind.ts'

/** Normal forms kept by raw hash: a fleet of one config has as many raw texts as it has instances. */
const CACHE_MAX = 20_000
/** Texts being parsed or waiting to be; past this a report is left for the next time it comes. */
const UNDER_WAY_MAX = 1_000

/** Turns reported effective configs into normal forms, each distinct raw text once. */
export class EffectiveConfigs {
  readonly #deps: FleetDeps
  readonly #writer: WriteBehind
  readonly #known = new Map<string, NormalForm | null>()
  readonly #underWay = new Map<string, Set<Instance>>()
  /** Called when an instance's normal form became known. */
  resolved: (instance: Instance) => void = () => {}

  constructor(deps: FleetDeps, writer: WriteBehind) {
    this.#deps = deps
    this.#writer = writer
  }

  /** Take the effective config of a report. An empty one is no report: the former stays. */
  take(instance: Instance, reported: ReportedEffectiveConfig): void {
    const names = [...reported.files.keys()].sort()
    const raw = names.map((name) => Buffer.from(reported.files.get(name)!.body).toString('utf8')).join('\n')
    if (raw.trim() === '') return
    const text = blotOut(raw, instance.uid)
    const rawHash = createHash('sha256').update(text).digest('hex')
    if (rawHash === instance.rawEffectiveHash) return
    instance.rawEffectiveHash = rawHash
    const known = this.#known.get(rawHash)
    if (known !== undefined) {
      this.#settle(instance, known)
      return
    }
    const waiting = this.#underWay.get(rawHash)
    if (waiting !== undefined) {
      waiting.add(instance)
      return
    }
    if (this.#underWay.size >= UNDER_WAY_MAX) {
      instance.rawEffectiveHash = ''
      return
    }
    this.#underWay.set(rawHash, new Set([instance]))
    this.#deps.normalise(text).then(
      (form) => this.#finish(rawHash, form),
      () => this.#finish(rawHash, null),
    )
  }

  #finish(rawHash: string, form: NormalForm | null): void {
    const waiting = this.#underWay.get(rawHash) ?? new Set()
    this.#underWay.delete(rawHash)
    if (this.#known.size >= CACHE_MAX) this.#known.delete(this.#known.keys().next().value!)
    this.#known.set(rawHash, form === null ? null : { ...form, text: '' })
    if (form !== null) this.#writer.reportedConfig({ hash: form.hash, body: form.text })
    for (const instance of waiting) if (instance.rawEffectiveHash === rawHash) this.#settle(instance, form)
  }

  #settle(instance: Instance, form: NormalForm | null): void {
    instance.reportedConfigHash = form?.hash ?? ''
    instance.runsPipelines = form?.runsPipelines ?? false
    this.resolved(instance)
  }
}

const LOCAL_OPAMP = /((?:ws|http)s?:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):)\d+(\/v1\/opamp)/g
const PARENT_PROCESS = /(\bppid: )\d+/g
const NO_UID = '00000000-0000-0000-0000-000000000000'

/**
 * Take out what a supervisor writes into each instance's copy (its uid, its process, its own port), so that
 * a fleet of one config is parsed once and not once an instance.
 */
function blotOut(text: string, uid: string): string {
  const dashed = `${uid.slice(0, 8)}-${uid.slice(8, 12)}-${uid.slice(12, 16)}-${uid.slice(16, 20)}-${uid.slice(20)}`
  return text
    .replaceAll(dashed, NO_UID)
    .replaceAll(uid, NO_UID)
    .replace(LOCAL_OPAMP, '$10$2')
    .replace(PARENT_PROCESS, '$10')
}
