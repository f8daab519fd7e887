import { type CommitFollowers, READ } from '../audit/commit-followers.ts'
import type { AuditedDatabase } from '../audit/database.ts'
import type { Clock } from '../clock.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { type FreezeOver, openFreeze } from '../fleet/pushes/find-obstacle.ts'
import type { Workload } from '../fleet/state/model.ts'
import { toSelectable, widthOf } from '../selectors/selector.ts'
import type { Db } from '../store/db.ts'
import {
  listFleetConfigs,
  listMembers,
  removeMembers,
  type StoredFleetConfig,
  storeMembers,
} from '../store/fleet-configs.ts'
import { type Freeze, findFreeze } from '../store/freeze.ts'
import { listHolds, type StoredHold } from '../store/holds.ts'
import {
  listKeptByFleet,
  listManagedFleetConfigs,
  type ManagedFleetConfig,
} from '../store/managed-fleet-configs.ts'
import { eachInTurns, inTurns } from '../turns.ts'
import type { Selector } from '../wire/selectors.ts'
import { type ConfigCounts, type KeptCounts, NO_COUNTS } from './counts.ts'
import {
  type Candidate,
  findSelecting,
  judgeMembership,
  type Membership,
  type OpenCandidate,
  openCandidates,
} from './membership.ts'

/** What the fleet configs are worked out from. */
export interface FleetConfigsParts {
  db: AuditedDatabase
  clock: Clock
  fleet: Fleet
  followers: CommitFollowers
}

/** Fleet configs that there can be: every workload is compared with all of them. */
export const FLEET_CONFIGS_MAX = 500
/** Conditions and globs that all fleet configs together can have. */
export const FLEET_CONFIGS_WIDTH_MAX = 2_000
/** Workloads that are looked at before others get their turn. */
const CHUNK = 200

const NOWHERE = (): Membership => ({ configId: null, rivals: [] })

/** What of a workload decides which selectors of fleet configs select it, and whose these are. */
interface Selected extends Pick<Workload, 'fingerprintKeys' | 'trustedLabels'> {
  selecting: readonly OpenCandidate[]
}

/**
 * Which workload is under which fleet config, which ones campaigns leave alone, and where changes are frozen. Held in
 * memory; whoever changes the tables calls `load`.
 */
export class FleetConfigs {
  readonly #parts: FleetConfigsParts
  #configs: readonly StoredFleetConfig[] = []
  #candidates: readonly OpenCandidate[] = []
  /** By workload, as long as its labels and the selectors and priorities are what they were. */
  #selected = new WeakMap<Workload, Selected>()
  #managed = new Map<string, ManagedFleetConfig>()
  #members = new Map<string, string>()
  /** The workloads that Git keeps by a fleet config. */
  #kept: ReadonlySet<string> = new Set()
  #holds = new Map<string, StoredHold>()
  #freeze: Freeze | null = null
  #freezeOver: FreezeOver = openFreeze(null)
  #work: Promise<unknown> = Promise.resolve()

  constructor(parts: FleetConfigsParts) {
    this.#parts = parts
    parts.followers.follow(() => this.load().then(() => READ))
  }

  /** Read what is stored. Loads run one after the other, so that the last to begin is what stays. */
  load(db: Db = this.#parts.db): Promise<void> {
    const loaded = this.#after(async () => {
      this.#take(await listFleetConfigs(db))
      this.#managed = new Map((await listManagedFleetConfigs(db)).map((one) => [one.fleetConfigId, one]))
      this.#members = await listMembers(db)
      this.#kept = new Set(await listKeptByFleet(db))
      this.#holds = new Map((await listHolds(db)).map((hold) => [hold.workloadId, hold]))
      this.#freeze = await findFreeze(db)
      this.#freezeOver = openFreeze(this.#freeze)
    })
    loaded.catch(() => this.#parts.followers.note())
    return loaded
  }

  #take(configs: readonly StoredFleetConfig[]): void {
    this.#configs = configs
    const told = (all: readonly Candidate[]) =>
      JSON.stringify(all.map(({ id, selector, priority, createdAt }) => [id, selector, priority, createdAt]))
    if (told(configs) === told(this.#candidates)) return
    this.#candidates = openCandidates(configs)
    this.#selected = new WeakMap()
  }

  /** All fleet configs, the oldest first. */
  get configs(): readonly StoredFleetConfig[] {
    return this.#configs
  }

  config(id: string): StoredFleetConfig | null {
    return this.#configs.find((one) => one.id === id) ?? null
  }

  /**
   * Whether all fleet configs together would ask too much of each workload with this selector (`id` is null for a new
   * one). One that asks no more than it did is never too wide.
   */
  isTooWide(id: string | null, selector: Selector): boolean {
    const before = id === null ? null : this.config(id)
    const [width, former] = [widthOf(selector), before === null ? 0 : widthOf(before.selector)]
    const all = this.#configs.reduce((sum, one) => sum + widthOf(one.selector), 0)
    return width > former && all - former + width > FLEET_CONFIGS_WIDTH_MAX
  }

  /** Who keeps a fleet config in Git; null for nobody. */
  managedOf(id: string): ManagedFleetConfig | null {
    return this.#managed.get(id) ?? null
  }

  /** Under which fleet config a workload is as its labels stand now. */
  membershipOf(workload: Workload): Membership {
    if (workload.archivedAt !== null) return NOWHERE()
    return this.#judge(workload, this.#selectingOf(workload))
  }

  #judge({ id }: Workload, selecting: readonly Candidate[]): Membership {
    const ownerInGit = (one: Candidate) => this.#ownerInGit(one)
    return judgeMembership(selecting, this.writtenMembershipOf(id), this.#kept.has(id) ? ownerInGit : null)
  }

  #ownerInGit({ id, owner }: Pick<Candidate, 'id' | 'owner'>): string | null {
    return owner ?? this.managedOf(id)?.owner ?? null
  }

  /** Under which fleet config a workload would be, were these all that there are. */
  membershipAmong(workload: Workload, candidates: readonly OpenCandidate[]): Membership {
    if (workload.archivedAt !== null) return NOWHERE()
    return this.#judge(workload, findSelecting(toSelectable(workload), candidates))
  }

  /** The fleet configs that select a workload. Selectors look at identity and trusted labels. */
  #selectingOf(workload: Workload): readonly OpenCandidate[] {
    const { trustedLabels, fingerprintKeys } = workload
    const known = this.#selected.get(workload)
    if (known?.trustedLabels === trustedLabels && known.fingerprintKeys === fingerprintKeys)
      return known.selecting
    const selecting = findSelecting(toSelectable(workload), this.#candidates)
    this.#selected.set(workload, { trustedLabels, fingerprintKeys, selecting })
    return selecting
  }

  /** Under which fleet config a workload is by the stored memberships; null for none. */
  writtenMembershipOf(workloadId: string): string | null {
    return this.#members.get(workloadId) ?? null
  }

  /** The hold of a workload; null when it has none. */
  holdOf(workloadId: string): StoredHold | null {
    return this.#holds.get(workloadId) ?? null
  }

  /** Take over a hold that the transaction of a caller has stored. */
  noteHold(hold: StoredHold): void {
    this.#holds.set(hold.workloadId, hold)
  }

  /** The freeze that is in force; null when there is none, or it is over. */
  get freeze(): Freeze | null {
    const freeze = this.#freeze
    return freeze !== null && freeze.until > this.#parts.clock.now() ? freeze : null
  }

  /** The freeze that a workload is under now; null when it may be changed. */
  freezeOf(workload: Workload): Freeze | null {
    return this.#freezeOver(workload, this.#parts.clock.now())
  }

  /** Why campaigns leave a workload alone now; null when they do not. */
  reservationOf(workload: Workload): 'frozen' | 'held' | null {
    if (this.freezeOf(workload) !== null) return 'frozen'
    return this.#holds.has(workload.id) ? 'held' : null
  }

  /** Who holds or froze a workload, and why; null where nobody does. */
  whoReserves(workload: Workload): { by: string; reason: string } | null {
    const freeze = this.freezeOf(workload)
    if (freeze !== null) return { by: freeze.setBy, reason: freeze.reason }
    const hold = this.holdOf(workload.id)
    return hold === null ? null : { by: hold.heldBy, reason: hold.reason }
  }

  /** Look at every workload of the fleet. */
  #each(look: (workload: Workload) => void): Promise<void> {
    const { clock, fleet } = this.#parts
    return eachInTurns(fleet.state.workloads.values(), { size: CHUNK, clock }, look)
  }

  /** The workloads under a fleet config, in no order. */
  async under(configId: string): Promise<Workload[]> {
    const found: Workload[] = []
    await this.#each((workload) => {
      if (this.membershipOf(workload).configId === configId) found.push(workload)
    })
    return found
  }

  /** How many workloads are under each fleet config that selects any. */
  async counts(): Promise<Map<string, ConfigCounts>> {
    const counts = new Map<string, ConfigCounts & { keptBy: Map<string, KeptCounts> }>()
    const countsOf = (id: string) => {
      const known = counts.get(id) ?? { ...NO_COUNTS, keptBy: new Map<string, KeptCounts>() }
      counts.set(id, known)
      return known
    }
    await this.#each((workload) => {
      const { configId, rivals } = this.membershipOf(workload)
      if (configId === null) return
      const own = countsOf(configId)
      own.under++
      if (rivals.length > 0) own.conflicts++
      if (this.#holds.has(workload.id)) own.held++
      const owner = this.#kept.has(workload.id) ? this.#ownerInGit({ id: configId }) : null
      for (const other of this.#selectingOf(workload)) {
        if (other.id === configId) continue
        const { keptBy } = countsOf(other.id)
        const { all, inGit } = keptBy.get(configId) ?? { all: 0, inGit: 0 }
        const isByGit = owner !== null && owner !== this.#ownerInGit(other)
        keptBy.set(configId, { all: all + 1, inGit: inGit + Number(isByGit) })
      }
    })
    return counts
  }

  /**
   * The fleet configs with workloads that others select with the same priority: the names of these others, and how many
   * workloads.
   */
  async conflicts(): Promise<{ id: string; name: string; rivals: string[]; count: number }[]> {
    // One alone has no rivals: the fleet need not be looked through.
    if (this.#configs.length < 2) return []
    const found = new Map<string, { rivals: Set<string>; count: number }>()
    await this.#each((workload) => {
      const { configId, rivals } = this.membershipOf(workload)
      if (configId === null || rivals.length === 0) return
      const known = found.get(configId) ?? { rivals: new Set(), count: 0 }
      for (const rival of rivals) known.rivals.add(this.config(rival)?.name ?? rival)
      found.set(configId, { rivals: known.rivals, count: known.count + 1 })
    })
    return [...found].map(([id, { rivals, count }]) => {
      return { id, name: this.config(id)?.name ?? id, rivals: [...rivals], count }
    })
  }

  /** Store which workload is under which fleet config now: on a later tie a workload stays where it was. */
  storeMemberships(): Promise<void> {
    return this.#after(async () => {
      // Looked at in turns first, so that what each piece is under is known when it is stored.
      await this.#each((workload) => this.membershipOf(workload))
      for await (const piece of inTurns(this.#parts.fleet.state.workloads.values(), CHUNK))
        await this.#storeSome(piece)
    })
  }

  /** Do the same for these workloads only. */
  storeMembershipsOf(workloads: readonly Workload[]): Promise<void> {
    return this.#after(() => this.#storeSome(workloads))
  }

  async #storeSome(workloads: readonly Workload[]): Promise<void> {
    const moved: { workloadId: string; fleetConfigId: string }[] = []
    const left: string[] = []
    for (const workload of workloads) {
      const { configId } = this.membershipOf(workload)
      const former = this.#members.get(workload.id)
      if (configId === null && former !== undefined) left.push(workload.id)
      if (configId !== null && configId !== former)
        moved.push({ workloadId: workload.id, fleetConfigId: configId })
    }
    if (moved.length === 0 && left.length === 0) return
    const { db, clock } = this.#parts
    const stored = await db.change('fleet-config.members', null, async (tx) => {
      if (left.length > 0) await removeMembers(tx, left)
      return { ok: true, ids: moved.length > 0 ? await storeMembers(tx, moved, clock.now()) : [] }
    })
    if (!stored.ok) return
    for (const id of left) this.#members.delete(id)
    // What was deleted meanwhile has no row.
    const written = new Set(stored.ids)
    for (const { workloadId, fleetConfigId } of moved)
      if (written.has(workloadId)) this.#members.set(workloadId, fleetConfigId)
  }

  #after<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#work.then(work, work)
    this.#work = done.catch(() => {})
    return done
  }
}
