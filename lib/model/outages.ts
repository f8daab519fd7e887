import type { Outage } from '../wire/outages.ts'
import type { WorkloadRecord } from '../wire/workloads.ts'
import { clusterOf, environmentOf } from './workload-states.ts'

/** Workloads lost within the same minutes that are told as one: a failure that they share would hide all others. */
export const OUTAGE_MIN = 10

const MINUTE_MS = 60_000
/** Minutes between two losses of one outage, and from the first to the last: what goes on for hours is not one. */
const GAP_MINUTES = 2
const SPAN_MINUTES = 5
/** A second peak is an outage of its own where it is so large a part of the first, and more than twice what is between. */
const PEAK_SHARE = 0.1
const VALLEY_SHARE = 0.5
/** Environments that are told with their numbers. */
const ENVIRONMENTS_MAX = 5

/** The minute in which something was lost; null where the time is none. */
export function minuteOf(iso: string | undefined): number | null {
  const minute = Math.floor(Date.parse(iso ?? '') / MINUTE_MS)
  return Number.isNaN(minute) ? null : minute
}

/** What is told of each workload that was lost. */
export interface Lost {
  since: string
  environment: string
  cluster: string
}

/** Since when and where a workload has no instance any more, be it told yet or not; null where it has one. */
export function lostOf(
  workload: Pick<WorkloadRecord, 'trouble' | 'labels' | 'fingerprint_keys'>,
): Lost | null {
  const { kind, since } = workload.trouble ?? {}
  if (since === undefined || (kind !== 'disconnected' && kind !== 'leaving')) return null
  return { since, environment: environmentOf(workload), cluster: clusterOf(workload) }
}

/** Those that were lost in a minute, or with others merged in some, in numbers. */
export class LossCount {
  #count = 0
  /** When the first was lost of the minute in which most were: one that had gone before dates nothing. */
  #since = ''
  #most = 0
  #cluster: string | null = null
  readonly #environments = new Map<string, number>()

  get count(): number {
    return this.#count
  }

  add({ since, environment, cluster }: Lost): void {
    this.#join(1, cluster)
    this.#most = this.#count
    if (this.#since === '' || since < this.#since) this.#since = since
    this.#environments.set(environment, (this.#environments.get(environment) ?? 0) + 1)
  }

  /** Add those of another minute, a later one. */
  merge(other: LossCount): void {
    this.#join(other.#count, other.#cluster ?? '')
    if (other.#most > this.#most) {
      this.#most = other.#most
      this.#since = other.#since
    }
    for (const [name, count] of other.#environments)
      this.#environments.set(name, (this.#environments.get(name) ?? 0) + count)
  }

  /** Whether nothing was lost where others were: in other environments all, or in another cluster all. */
  isElsewhere(other: LossCount): boolean {
    const [a, b] = [this.#cluster ?? '', other.#cluster ?? '']
    if (a !== '' && b !== '' && a !== b) return true
    return ![...this.#environments.keys()].some((name) => other.#environments.has(name))
  }

  #join(count: number, cluster: string): void {
    this.#count += count
    if (this.#cluster === null) this.#cluster = cluster
    else if (this.#cluster !== cluster) this.#cluster = ''
  }

  toOutage(): Outage {
    const environments = [...this.#environments]
      .sort(([a, many], [b, more]) => more - many || (a < b ? -1 : 1))
      .slice(0, ENVIRONMENTS_MAX)
      .map(([name, count]) => ({ name, count }))
    return { count: this.#count, since: this.#since, environments, cluster: this.#cluster ?? '' }
  }
}

/** What was lost in one minute. */
interface LostInMinute {
  losses: LossCount
}

/** Minutes in which something was lost, those together that may be of one outage. */
function runsOfMinutes(minutes: Iterable<number>): number[][] {
  const runs: number[][] = []
  for (const minute of [...minutes].sort((a, b) => a - b)) {
    const run = runs.at(-1)
    if (run && minute - run.at(-1)! <= GAP_MINUTES && minute - run[0]! < SPAN_MINUTES) run.push(minute)
    else runs.push([minute])
  }
  return runs
}

/**
 * Cut a run where another outage begins: after the lowest minute between two peaks, and where many are lost in one place
 * after many in another.
 */
function cutRun(run: readonly number[], lossesOf: (minute: number) => LossCount): number[][] {
  const parts: number[][] = []
  let part: number[] = []
  let [peak, lowest, lowestAt] = [0, 0, 0]
  let losses = new LossCount()
  const begin = (minutes: number[]) => {
    part = minutes
    parts.push(part)
    losses = new LossCount()
    for (const minute of part) losses.merge(lossesOf(minute))
    peak = Math.max(0, ...part.map((minute) => lossesOf(minute).count))
    lowest = peak
    lowestAt = part.length
  }
  begin([])
  for (const minute of run) {
    const now = lossesOf(minute)
    const isGap = part.length > 0 && minute - part.at(-1)! > 1
    if (isGap && lowest > 0) [lowest, lowestAt] = [0, part.length]
    const isPeak =
      now.count >= OUTAGE_MIN &&
      Math.min(now.count, peak) >= Math.max(OUTAGE_MIN, PEAK_SHARE * Math.max(now.count, peak))
    if (isPeak && lowest < VALLEY_SHARE * Math.min(now.count, peak)) begin([...part.splice(lowestAt), minute])
    else if (isPeak && losses.isElsewhere(now)) begin([minute])
    else {
      part.push(minute)
      losses.merge(now)
      if (now.count >= peak) [peak, lowest, lowestAt] = [now.count, now.count, part.length]
      else if (now.count < lowest) [lowest, lowestAt] = [now.count, part.length]
    }
  }
  return parts
}

/** What was lost within the same minutes, as one. */
export interface LostTogether<M> {
  minute: number
  /** What they have in common, where they are many. */
  outage: Outage | null
  of: M[]
}

/** Tell outages apart in what was lost by the minute: the only place that says what is one outage. */
export function* groupLosses<M extends LostInMinute>(
  byMinute: ReadonlyMap<number, M>,
): Generator<LostTogether<M>> {
  for (const run of runsOfMinutes(byMinute.keys()))
    for (const part of cutRun(run, (minute) => byMinute.get(minute)!.losses)) {
      const of = part.map((minute) => byMinute.get(minute)!)
      const losses = new LossCount()
      for (const one of of) losses.merge(one.losses)
      yield { minute: part[0]!, outage: losses.count < OUTAGE_MIN ? null : losses.toOutage(), of }
    }
}

/** Workloads, or what is about them, that were lost together. */
export interface FoundOutage<T> {
  /** The first minute in which one was lost. */
  minute: number
  outage: Outage
  members: T[]
}

/** Those that were lost within the same minutes, where they are many; `lostOf` is null for what was not lost. */
export function findOutages<T>(items: Iterable<T>, lostOf: (item: T) => Lost | null): FoundOutage<T>[] {
  const byMinute = new Map<number, LostInMinute & { members: T[] }>()
  for (const item of items) {
    const lost = lostOf(item)
    const minute = minuteOf(lost?.since)
    if (lost === null || minute === null) continue
    const known = byMinute.get(minute) ?? { members: [], losses: new LossCount() }
    known.members.push(item)
    known.losses.add(lost)
    byMinute.set(minute, known)
  }
  return [...groupLosses(byMinute)].flatMap(({ minute, outage, of }) =>
    outage === null ? [] : { minute, outage, members: of.flatMap(({ members }) => members) },
  )
}
