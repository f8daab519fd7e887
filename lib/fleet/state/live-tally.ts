import type { AvailableComponents, ComponentList } from '../../model/components.ts'
import { canReport, isCapable } from '../decide/abilities.ts'
import { runningHash } from '../decide/running-hash.ts'
import { isHealthAwaited } from '../decide/status.ts'
import { isWorkloadLabel } from '../decide/workload-identity.ts'
import { CommonComponents } from './common-components.ts'
import type { Instance, RemoteConfigReport } from './model.ts'
import { type VersionMix, VersionTally } from './version-tally.ts'

/** What one live instance adds to the tally, as it was when it was last counted. */
interface Share {
  version: string
  isCollector: boolean
  isCapable: boolean
  /** It can be given a config and reports what became of it, and its description is not waited for. */
  isExpected: boolean
  isUnhealthy: boolean
  isHealthAwaited: boolean
  attributes: ReadonlyMap<string, string> | null
  components: ComponentList | null
  report: RemoteConfigReport | null
  /** Hash of the normal form of its effective config; '' when none. */
  reportedHash: string
}

/** How many instances have which value of one label. Nearly always all have the same value, or each its own. */
interface LabelValues {
  value: string
  count: number
  others: Map<string, number> | null
}

/** Expected instances by the status that they report of one config. */
type Reporters = Record<RemoteConfigReport['status'], Set<Instance>>

/**
 * The live instances of a workload and what they have in common, updated as they come, change and go: a workload may
 * have thousands, of which some leave and return all the time, and counting all anew each time would take too long.
 */
export class LiveTally {
  readonly #shares = new Map<Instance, Share>()
  readonly #versions = new VersionTally()
  readonly #labels = new Map<string, LabelValues>()
  readonly #reportedHashes = new Map<string, number>()
  readonly #components = new CommonComponents()
  /** By the hash of the remote config that they report on. */
  readonly #reporters = new Map<string, Reporters>()
  readonly #unhealthy = new Set<Instance>()
  readonly #healthAwaited = new Set<Instance>()
  #described = 0
  #collectors = 0
  #capable = 0
  #expected = 0
  #applying = 0
  /** The newest report of all; undefined when it has to be looked for again. */
  #newest: RemoteConfigReport | null | undefined = null

  /** How many live instances there are. */
  get count(): number {
    return this.#shares.size
  }

  has(instance: Instance): boolean {
    return instance.tally === this
  }

  /** How many of them have described themselves. */
  get describedCount(): number {
    return this.#described
  }

  /** The instances that do not report healthy; those that start or stop are among them. */
  get unhealthy(): ReadonlySet<Instance> {
    return this.#unhealthy
  }

  /** Whether one of them came back a moment ago and has yet to say how healthy it is. */
  isHealthAwaited(nowMs: number): boolean {
    for (const instance of this.#healthAwaited) if (isHealthAwaited(instance, nowMs)) return true
    return false
  }

  get hasCollector(): boolean {
    return this.#collectors > 0
  }

  get hasCapable(): boolean {
    return this.#capable > 0
  }

  /** How many instances report that they are applying a config. */
  get applyingCount(): number {
    return this.#applying
  }

  /** The instances themselves, in no particular order. */
  instances(): IterableIterator<Instance> {
    return this.#shares.keys()
  }

  /** Count an instance that is live, or count it anew after it changed. */
  put(instance: Instance): void {
    const before = this.#shares.get(instance) ?? null
    const after: Share = {
      version: instance.version,
      isCollector: instance.type === 'collector',
      isCapable: isCapable(instance),
      isExpected: isCapable(instance) && canReport(instance) && instance.undescribedSinceMs === null,
      isUnhealthy: instance.unhealthySinceMs !== null,
      isHealthAwaited: instance.healthAwaitedSinceMs !== null,
      attributes: instance.attributes,
      components: instance.components,
      report: instance.report,
      reportedHash: instance.reportedConfigHash,
    }
    this.#shares.set(instance, after)
    instance.tally = this
    this.#move(instance, before, after)
  }

  /** Stop counting an instance that is not live here any more; one that was not counted changes nothing. */
  remove(instance: Instance): void {
    const before = this.#shares.get(instance)
    if (before === undefined) return
    this.#shares.delete(instance)
    if (instance.tally === this) instance.tally = null
    this.#move(instance, before, null)
  }

  #move(instance: Instance, before: Share | null, after: Share | null): void {
    this.#described += isDescribed(after) - isDescribed(before)
    this.#collectors += Number(after?.isCollector ?? false) - Number(before?.isCollector ?? false)
    this.#capable += Number(after?.isCapable ?? false) - Number(before?.isCapable ?? false)
    this.#expected += Number(after?.isExpected ?? false) - Number(before?.isExpected ?? false)
    this.#applying += isApplying(after) - isApplying(before)
    if (after?.isUnhealthy === true) this.#unhealthy.add(instance)
    else this.#unhealthy.delete(instance)
    if (after?.isHealthAwaited === true) this.#healthAwaited.add(instance)
    else this.#healthAwaited.delete(instance)
    this.#versions.move(before?.version ?? '', after?.version ?? '')
    this.#components.move(before?.components ?? null, after?.components ?? null)
    moveText(this.#reportedHashes, before?.reportedHash ?? '', after?.reportedHash ?? '')
    if (before?.attributes !== after?.attributes) {
      if (before !== null) this.#moveLabels(before.attributes, -1)
      if (after !== null) this.#moveLabels(after.attributes, 1)
    }
    if (before?.report !== after?.report || before?.isExpected !== after?.isExpected)
      this.#moveReport(instance, before, after)
  }

  #moveLabels(attributes: Share['attributes'], by: 1 | -1): void {
    if (attributes === null) return
    for (const [key, value] of attributes) {
      if (!isWorkloadLabel(key)) continue
      const values = this.#labels.get(key)
      if (values === undefined) this.#labels.set(key, { value, count: 1, others: null })
      else if (values.value === value) values.count += by
      else {
        values.others ??= new Map()
        addTo(values.others, value, by)
      }
      if (by < 0 && values?.count === 0) this.#promote(key, values)
    }
  }

  /** No instance has the label's main value any more: make another one the main value. */
  #promote(key: string, values: LabelValues): void {
    const [next] = values.others ?? []
    if (next === undefined) {
      this.#labels.delete(key)
      return
    }
    ;[values.value, values.count] = next
    values.others!.delete(values.value)
  }

  #moveReport(instance: Instance, before: Share | null, after: Share | null): void {
    if (before?.report != null) {
      if (before.isExpected) this.#moveReporter(instance, before.report, false)
      if (this.#newest === before.report) this.#newest = undefined
    }
    if (after?.report == null) return
    if (after.isExpected) this.#moveReporter(instance, after.report, true)
    if (this.#newest === null || (this.#newest !== undefined && after.report.at > this.#newest.at))
      this.#newest = after.report
  }

  #moveReporter(instance: Instance, { hash, status }: RemoteConfigReport, isThere: boolean): void {
    const reporters = this.#reporters.get(hash) ?? {
      failed: new Set<Instance>(),
      applying: new Set<Instance>(),
      applied: new Set<Instance>(),
    }
    if (isThere) reporters[status].add(instance)
    else reporters[status].delete(instance)
    const { failed, applying, applied } = reporters
    if (failed.size + applying.size + applied.size === 0) this.#reporters.delete(hash)
    else this.#reporters.set(hash, reporters)
  }

  /** The lowest comparable version, else the first in the order of strings; '' when none reports one. */
  lowestVersion(): string {
    return this.#versions.lowest()
  }

  /** The versions and how many instances report each, where they differ; null where all that report one agree. */
  versionMix(): VersionMix | null {
    return this.#versions.mix()
  }

  /** The hash of the effective config's normal form, where all that report one agree; else ''. */
  commonReportedHash(): string {
    const [common = ''] = this.#reportedHashes.size === 1 ? this.#reportedHashes.keys() : []
    return common
  }

  /** The hash that most instances report, with their number; of equally frequent ones the first in text order. */
  mostReported(): { hash: string; instanceCount: number } | null {
    let found: { hash: string; instanceCount: number } | null = null
    for (const [hash, instanceCount] of this.#reportedHashes) {
      const isMore = found === null || instanceCount > found.instanceCount
      if (isMore || (instanceCount === found!.instanceCount && hash < found!.hash))
        found = { hash, instanceCount }
    }
    return found
  }

  #anyDescription(): Share['attributes'] {
    for (const { attributes } of this.#shares.values()) if (attributes !== null) return attributes
    return null
  }

  /** The labels on which all instances with a description agree, sorted by key. */
  commonLabels(): Record<string, string> {
    const keys: string[] = []
    // A label that all have is in any one description.
    for (const key of this.#anyDescription()?.keys() ?? [])
      if (this.#labels.get(key)?.count === this.#described) keys.push(key)
    return Object.fromEntries(keys.sort().map((key) => [key, this.#labels.get(key)!.value]))
  }

  /** The components in every reported list, with a new hash where the lists differ; null when no list is reported. */
  commonComponents(): AvailableComponents | null {
    return this.#components.value()
  }

  /** The worst report of expected instances on a config: failed, applying, or applied by all of them; else null. */
  worstReport(hash: string): RemoteConfigReport | null {
    const reporters = this.#reporters.get(hash)
    if (reporters === undefined) return null
    const { failed, applying, applied } = reporters
    const isAll = applied.size === this.#expected
    const [worst] = failed.size > 0 ? failed : applying.size > 0 ? applying : isAll ? applied : []
    return worst === undefined ? null : this.#shares.get(worst)!.report
  }

  /** How many of the expected instances report that they have applied a config. */
  appliedCount(hash: string): number {
    return this.#reporters.get(hash)?.applied.size ?? 0
  }

  /**
   * How many of the expected instances run a config by what they say: beside those that report it applied, those that
   * have it still while they apply another one, or after they failed that.
   */
  runningCount(hash: string): number {
    let count = this.appliedCount(hash)
    for (const { failed, applying } of this.#reporters.values())
      for (const instance of [...failed, ...applying]) count += Number(runningHash(instance) === hash)
    return count
  }

  /** The newest report of any config. */
  newestReport(): RemoteConfigReport | null {
    if (this.#newest !== undefined) return this.#newest
    let newest: RemoteConfigReport | null = null
    for (const { report } of this.#shares.values())
      if (report !== null && (newest === null || report.at > newest.at)) newest = report
    this.#newest = newest
    return newest
  }
}

const isDescribed = (share: Share | null): number => Number(share !== null && share.attributes !== null)
const isApplying = (share: Share | null): number => Number(share?.report?.status === 'applying')

/** One instance reports another text than before; '' means none and is not counted. */
function moveText(counts: Map<string, number>, before: string, after: string): void {
  if (before === after) return
  if (before !== '') addTo(counts, before, -1)
  if (after !== '') addTo(counts, after, 1)
}

function addTo<Key>(counts: Map<Key, number>, key: Key, by: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + by
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}
