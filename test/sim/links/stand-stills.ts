import type { Client } from '../database/sim-database.ts'
import type { VirtualTime } from '../time/virtual-time.ts'

/** How long a process stands still: longer than it takes others to replace an owner. */
const STILL_MS = 30_000
/** How long the fleet has until the next process stands still. */
const BETWEEN_MS = 40_000

/** What the owner stores at each step of a push, of its stages and of a roll-back. */
const STEPS = {
  'a push is planned': /^\s*insert into pushes\b/i,
  'offers are stored': /^\s*with assigned as[\s\S]*insert into push_targets\b/i,
  'what agents did is stored': /^\s*insert into push_targets\b[\s\S]*for key share of p/i,
  'a push fails': /^\s*update pushes set status = 'failed'/i,
  'a stage gets its members': /^\s*insert into rollout_members\b/i,
  'a rollout goes on': /^\s*update rollouts set status = \$2/i,
  'members are led to a push or back': /^\s*update workloads set rollout_push_id\b/i,
} as const

/** What the owner stores as it carries the waves of a campaign. */
const WAVE_STEPS = {
  'targets are started': /^\s*update campaign_targets t set state = 'started'/i,
  'targets have ended': /^\s*update campaign_targets t set state = e\.state/i,
} as const

const ALL_STEPS = { ...STEPS, ...WAVE_STEPS }
type Step = keyof typeof ALL_STEPS
/** Who stands still, and when: before the commit of what the step stores, or after it, before its answer is read. */
const WHO = ['the owner before the commit', 'the owner after it', 'a front after it'] as const
/** One occasion on which a process stands still. */
export type Occasion = `${Step}: ${(typeof WHO)[number]}`

const occasionsOf = (steps: object): readonly Occasion[] =>
  (Object.keys(steps) as Step[]).flatMap((step) => WHO.map((who): Occasion => `${step}: ${who}`))

/** The occasions at the steps of pushes, which every world has, and at those of waves. */
export const OCCASIONS = occasionsOf(STEPS)
export const WAVE_OCCASIONS = occasionsOf(WAVE_STEPS)

/** What stand-stills use of their world. */
export interface StandStillsParts {
  time: VirtualTime
  /** No process stands still from then on. */
  untilMs: number
  /** Let the process of this client, the owner, stand still, or a front; false where there is none. */
  standStill(who: 'owner' | 'front', client: Client, forMs: number): boolean
}

/** Lets a process stand still for half a minute on each of these occasions, once it comes. */
export class StandStills {
  readonly #parts: StandStillsParts
  readonly #wanted: Set<Occasion>
  readonly #stood: Occasion[] = []
  /** The steps that are stored in transactions which are not committed yet. */
  readonly #begun = new Map<Client, Set<Step>>()
  #notBeforeMs = 0

  constructor(parts: StandStillsParts, wanted: readonly Occasion[]) {
    this.#parts = parts
    this.#wanted = new Set(wanted)
  }

  /** The occasions on which one stood still. */
  get stood(): readonly Occasion[] {
    return this.#stood
  }

  /** A statement of this process was executed; the process has not heard of that yet. */
  executed(client: Client, statement: string): void {
    for (const step of Object.keys(ALL_STEPS) as Step[]) {
      if (!ALL_STEPS[step].test(statement)) continue
      this.#begun.set(client, (this.#begun.get(client) ?? new Set()).add(step))
      this.#takeOccasion(`${step}: the owner before the commit`, client)
    }
  }

  /** What this process has stored was committed; it has not heard of that yet. */
  committed(client: Client): void {
    for (const step of this.#begun.get(client) ?? []) {
      this.#takeOccasion(`${step}: the owner after it`, client)
      this.#takeOccasion(`${step}: a front after it`, client)
    }
    this.#begun.delete(client)
  }

  #takeOccasion(occasion: Occasion, client: Client): void {
    const { time, untilMs, standStill } = this.#parts
    if (time.nowMs < this.#notBeforeMs || time.nowMs > untilMs || !this.#wanted.has(occasion)) return
    if (!standStill(occasion.includes('owner') ? 'owner' : 'front', client, STILL_MS)) return
    this.#wanted.delete(occasion)
    this.#notBeforeMs = time.nowMs + BETWEEN_MS
    this.#stood.push(occasion)
  }
}
