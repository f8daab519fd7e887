import { VirtualTime } from '../time/virtual-time.ts'
import { SimProcess } from './sim-process.ts'
import { SimRows } from './sim-rows.ts'

/** A link over which nothing comes ends after so long. */
const SILENT_MS = 5_000
/** More turns than anything that is asked at one moment takes until it is answered. */
const TURNS = 20

/** Something that the promises are about. */
export interface Event {
  kind: 'owns' | 'left'
  id: string
  atMs: number
  cause?: string
}

/** Processes at places, of which some do not reach others, with one lock and one database. */
export class SimFleet {
  readonly time = new VirtualTime()
  readonly rows = new SimRows(this.time, (id) => this.#endSessions(id))
  readonly events: Event[] = []
  /** Those that live, the one that started first at first. */
  processes: SimProcess[] = []
  /** Who holds the lock; it may have vanished. */
  holder: SimProcess | null = null
  /** `${from} ${to}` of places that do not reach each other. */
  readonly #closed = new Set<string>()
  readonly #started = new Map<number, number>()
  /** Of places whose clock is off: by how much. */
  readonly aheadMs = new Map<number, number>()

  /** Start a process at a place: A1, and after it A2. Its clock is ahead of the database's by as much as that of its place. */
  start(place: number): SimProcess {
    const count = (this.#started.get(place) ?? 0) + 1
    this.#started.set(place, count)
    const id = `${String.fromCharCode(65 + place)}${count}`
    const process = new SimProcess(this, id, place, this.aheadMs.get(place) ?? 0)
    this.processes.push(process)
    process.start()
    return process
  }

  find(id: string): SimProcess | null {
    return this.processes.find((process) => process.id === id) ?? null
  }

  get owner(): SimProcess | null {
    return this.processes.find((process) => process.epoch !== null && process === this.holder) ?? null
  }

  reaches(from: SimProcess, to: SimProcess): boolean {
    return this.#isOpen(from.place, to.place) && to.pausedUntilMs <= this.time.nowMs
  }

  #isOpen(from: number, to: number): boolean {
    return !this.#closed.has(`${from} ${to}`)
  }

  /** Open or close the way from one place to another one. */
  way(from: number, to: number, isOpen: boolean): void {
    if (isOpen) this.#closed.delete(`${from} ${to}`)
    else this.#closed.add(`${from} ${to}`)
    this.time.after(SILENT_MS, () => this.#cutClosed())
  }

  /** Open or close the ways to a place from all others. */
  waysTo(to: number, places: number, isOpen: boolean): void {
    for (let from = 0; from < places; from++) if (from !== to) this.way(from, to, isOpen)
  }

  get isWhole(): boolean {
    return this.#closed.size === 0
  }

  #cutClosed(): void {
    for (const process of this.processes)
      if (process.link !== null && !this.#isOpen(process.place, process.link.to.place)) process.unlink()
  }

  cutLinksTo(owner: SimProcess): void {
    for (const process of this.processes) if (process.link?.to === owner) process.unlink()
  }

  note(kind: Event['kind'], { id }: SimProcess, cause?: string): void {
    this.events.push({ kind, id, atMs: this.time.nowMs, ...(cause === undefined ? {} : { cause }) })
  }

  take(process: SimProcess): boolean {
    if (this.holder !== null) return false
    this.holder = process
    return true
  }

  release(process: SimProcess): void {
    if (this.holder !== process) return
    this.holder = null
  }

  #endSessions(id: string): number {
    if (this.holder?.id !== id) return 0
    this.release(this.holder)
    return 1
  }

  /** It is gone, and its lock with it. */
  gone(process: SimProcess): void {
    process.isDead = true
    this.processes = this.processes.filter((other) => other !== process)
    this.cutLinksTo(process)
    this.release(process)
  }

  kill(process: SimProcess): void {
    this.gone(process)
  }

  /** Its host is gone: nobody is told. */
  vanish(process: SimProcess): void {
    process.isDead = true
    this.processes = this.processes.filter((other) => other !== process)
    this.time.after(SILENT_MS, () => this.cutLinksTo(process))
  }

  /** It stands still for a while. */
  standStill(process: SimProcess, ms: number): void {
    process.pausedUntilMs = this.time.nowMs + ms
    this.time.after(SILENT_MS, () => {
      if (process.pausedUntilMs > this.time.nowMs) this.cutLinksTo(process)
    })
  }

  /** Let time pass, and call `look` after each thing that happens. */
  async pass(ms: number, look: () => void = () => undefined): Promise<void> {
    const untilMs = this.time.nowMs + ms
    while (this.time.step(untilMs)) {
      for (let turn = 0; turn < TURNS; turn++) await null
      look()
    }
  }
}
