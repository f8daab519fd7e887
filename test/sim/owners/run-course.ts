import { Dice } from '../time/dice.ts'
import { findFaultsAtRest, settledMs, Watch } from './promises.ts'
import { SimFleet } from './sim-fleet.ts'
import type { SimProcess } from './sim-process.ts'

/** A while in which no owner changes where nothing else does; less than that after which who was tried is tried again. */
const STILL_MS = 30_000
/** A killed owner is missed for so long at most, a stopped one for a second. */
const KILLED_MS = 3_000
const STOPPED_MS = 1_000
const PLACES_MAX = 5
const SETTLED_MS = 12_000
/** For so long whoever was tried is not tried again. */
const TRIED_FOR_MS = 600_000

/** What a seed has come to: what was wrong, and what had happened until then. */
export interface Course {
  faults: string[]
  story: string[]
}

class CourseRun {
  readonly #dice: Dice
  readonly #fleet = new SimFleet()
  readonly #watch = new Watch(this.#fleet)
  readonly #places: number
  readonly #isSound: boolean
  readonly #story: string[] = []
  readonly #faults: string[] = []

  constructor(seed: number) {
    this.#dice = new Dice(seed)
    this.#places = 1 + this.#dice.int(PLACES_MAX)
    this.#isSound = this.#dice.chance(0.4)
    if (this.#dice.chance(0.3)) this.#setClocks()
  }

  /** Some clocks are a minute off, or a little more than is allowed. */
  #setClocks(): void {
    for (let place = 0; place < this.#places; place++) {
      const aheadMs = this.#dice.pick([0, 0, 60_000, -60_000, 2_500])
      this.#fleet.aheadMs.set(place, aheadMs)
      if (aheadMs !== 0) this.#tell(`the clock of place ${place} is ${aheadMs} ms ahead`)
    }
  }

  async run(): Promise<Course> {
    await this.#begin()
    const rounds = 1 + this.#dice.int(2)
    for (let round = 0; round < rounds; round++) {
      await this.#trouble()
      await this.#rest()
    }
    if (this.#isSound && this.#fleet.events.some(({ kind }) => kind === 'left'))
      this.#faults.push('an owner left, though all reach each other')
    const owners = this.#fleet.events.map(
      ({ kind, id, atMs, cause = '' }) => `${atMs}: ${id} ${kind} ${cause}`,
    )
    return { faults: [...this.#faults, ...this.#watch.faults], story: [...this.#story, ...owners] }
  }

  #tell(what: string): void {
    this.#story.push(`${this.#fleet.time.nowMs}: ${what}`)
  }

  #pass(ms: number): Promise<void> {
    return this.#fleet.pass(ms, this.#watch.look)
  }

  #start(place: number): void {
    const process = this.#fleet.start(place)
    process.loading = { ms: this.#dice.between(30, 800), fails: false }
    this.#tell(`${process.id} starts`)
  }

  async #begin(): Promise<void> {
    if (!this.#isSound && this.#dice.chance(0.5)) this.#spoil()
    const gapMs = this.#dice.pick([0, 200, 3_000, 30_000])
    for (let place = 0; place < this.#places; place++) {
      this.#start(place)
      await this.#pass(this.#dice.between(gapMs / 2, gapMs))
    }
    await this.#pass(this.#dice.pick([0, 5_000, 40_000]))
  }

  /** Some are not reached by others from now on, and perhaps do not reach them either; or all is well again. */
  #closeTo(): void {
    const { dice, fleet, places } = { dice: this.#dice, fleet: this.#fleet, places: this.#places }
    const isHealing = dice.chance(0.3)
    const bad = isHealing ? 0 : 1 + dice.int(places)
    const spoiled = Array.from({ length: bad }, () => dice.int(places))
    for (let place = 0; place < places; place++) {
      const isBad = spoiled.includes(place)
      fleet.waysTo(place, places, !isBad)
      fleet.way(place, place, !(isBad && dice.chance(0.2)))
    }
    this.#tell(
      isHealing ? 'all reach each other' : `others do not reach places ${[...new Set(spoiled)].join(', ')}`,
    )
  }

  #spoil(): void {
    if (this.#dice.chance(0.2)) this.#scatter()
    else this.#closeTo()
  }

  /** Any ways are closed, but for those to one place or none. */
  #scatter(): void {
    const { dice, fleet, places } = { dice: this.#dice, fleet: this.#fleet, places: this.#places }
    const sound = dice.int(places + 1)
    const closed = dice.between(0, 1)
    for (let from = 0; from < places; from++)
      for (let to = 0; to < places; to++)
        fleet.way(from, to, to === sound || (from === to && dice.chance(0.9)) || !dice.chance(closed))
    this.#tell(`ways are closed at random, those to place ${sound} are open`)
  }

  async #trouble(): Promise<void> {
    for (let count = this.#dice.int(4); count >= 0; count--) {
      if (!this.#isSound && this.#dice.chance(0.4)) this.#spoil()
      else if (this.#dice.chance(0.25)) await this.#disturb()
      else await this.#replace()
      await this.#pass(this.#dice.pick([300, 4_000, 15_000, 40_000]))
    }
  }

  /** Something passes by itself: a process stands still, the database is away, or one cannot become the owner. */
  async #disturb(): Promise<void> {
    const { dice, fleet } = { dice: this.#dice, fleet: this.#fleet }
    const [process] = fleet.processes.length === 0 ? [] : [dice.pick(fleet.processes)]
    const ms = dice.pick([1_000, 5_000, 15_000, 40_000])
    const what = dice.pick(['stands still', 'cannot load', 'database away'] as const)
    if (process === undefined) return
    const { loading } = process
    // One that fails may do so at once, or hang for long before.
    const triedMs = what === 'cannot load' ? dice.pick([loading.ms, 9_000, 20_000]) : 0
    const trying = triedMs === 0 ? '' : `, each time after ${triedMs} ms,`
    this.#tell(`${what === 'database away' ? '' : process.id} ${what}${trying} for ${ms} ms`)
    if (what === 'stands still') fleet.standStill(process, ms)
    else if (what === 'database away') fleet.rows.isAway = true
    else process.loading = { ms: triedMs, fails: true }
    await this.#pass(ms)
    fleet.rows.isAway = false
    process.loading = loading
    // Who waits to try again waits for as long, and who loads fails yet.
    await this.#pass(SETTLED_MS + triedMs)
  }

  /** A process ends in one way or another, and perhaps another one starts in its place, before or after. */
  async #replace(): Promise<void> {
    const { dice, fleet } = { dice: this.#dice, fleet: this.#fleet }
    const { processes } = fleet
    if (processes.length === 0) return this.#start(dice.int(this.#places))
    const chosen = fleet.owner !== null && dice.chance(0.6) ? fleet.owner : dice.pick(processes)
    const isSurge = dice.chance(0.3)
    if (isSurge) {
      this.#start(chosen.place)
      await this.#pass(dice.between(2_000, 12_000))
    }
    await this.#end(chosen)
    if (isSurge || dice.chance(0.3)) return
    await this.#pass(dice.pick([0, 2_000, 20_000]))
    this.#start(chosen.place)
  }

  async #end(process: SimProcess): Promise<void> {
    const { dice, fleet } = { dice: this.#dice, fleet: this.#fleet }
    if (process.isDead) return
    const how = dice.pick(['kill', 'stop', 'vanish'] as const)
    this.#tell(`${process.id}: ${how}`)
    const wasFollowed = fleet.owner === process && process.followers.some((one) => this.#isSettled(one))
    if (how === 'stop') await this.#stop(process)
    else fleet[how](process)
    if (wasFollowed && this.#isSound && how !== 'vanish')
      await this.#expectOwner(how === 'kill' ? KILLED_MS : STOPPED_MS)
  }

  /** To a process that has just begun the silence of others means nothing. */
  #isSettled({ startedMs }: SimProcess): boolean {
    return this.#fleet.time.nowMs - startedMs > SETTLED_MS
  }

  async #stop(process: SimProcess): Promise<void> {
    const stopped = process.stop()
    while (!process.isDead) await this.#pass(50)
    await stopped
  }

  /** A change of owner as all have it takes no longer than this. */
  async #expectOwner(withinMs: number): Promise<void> {
    const sinceMs = this.#fleet.time.nowMs
    // What it loads is not what is promised.
    const loadMs = 800
    while (this.#fleet.owner === null && this.#fleet.time.nowMs - sinceMs < 60_000) await this.#pass(100)
    const tookMs = this.#fleet.time.nowMs - sinceMs
    if (tookMs > withinMs + loadMs)
      this.#faults.push(`nobody owned for ${Math.round(tookMs)} ms after an owner that others followed`)
  }

  async #rest(): Promise<void> {
    const wasAnyTried = this.#fleet.events.some(({ kind }) => kind === 'left')
    await this.#pass(settledMs(this.#places))
    // Whoever was tried before the last change is tried again later.
    if (findFaultsAtRest(this.#fleet).length > 0 && wasAnyTried) {
      this.#tell('rests for longer')
      await this.#pass(TRIED_FOR_MS)
    }
    const before = this.#fleet.events.length
    const faults = findFaultsAtRest(this.#fleet)
    await this.#pass(STILL_MS)
    const changed = this.#fleet.events.slice(before)
    if (changed.length > 0) faults.push(`the owner changes, though nothing else does (${changed.length})`)
    for (const fault of new Set([...faults, ...findFaultsAtRest(this.#fleet)]))
      this.#faults.push(`${this.#fleet.time.nowMs}: ${fault}`)
  }
}

/** Run what the seed says, and say what was wrong. */
export const runCourse = (seed: number): Promise<Course> => new CourseRun(seed).run()
