import type { Connection } from '../../../lib/store/connection.ts'
import { keepOnOneCore } from '../../support/one-core.ts'
import { openTestConnection } from '../../support/postgres.ts'

/** One session of the real PostgreSQL that the simulation uses. */
export interface RealSession {
  connection: Connection
  pid: number
}

/** A statement that a process of the simulation waits for. */
interface Call {
  order: number
  session: RealSession
  /** Sends it to PostgreSQL; null once it is sent. */
  send: (() => void) | null
  /** Gives the answer to the caller; null until PostgreSQL has answered. */
  deliver: (() => void) | null
  /** Backend pids of the sessions that hold the locks it waits for; it cannot go on before one of them does. */
  blockers: readonly number[]
  /** It waited for a lock at some time. How soon it is answered after the lock is free depends on real time. */
  hasWaited: boolean
}

const LOOK_AFTER_MS = 3
const SESSIONS = 32

/**
 * The real sessions under the simulated database. Virtual time stands still while statements run; only a statement that
 * waits for a lock of another session stays open while time goes on. A statement is sent when each before it is answered
 * or waits for a lock, and answers are given in the order in which the statements were asked: which of two gets a lock
 * first, and so the course of a seed, never depends on real time.
 */
export class RealSessions {
  readonly #dsn: string
  readonly #watcher: Connection
  readonly #calls = new Set<Call>()
  readonly #idle: RealSession[] = []
  /** Sessions that are not used again in this world; the next world gets them back. */
  readonly #retired: RealSession[] = []
  #order = 0
  /** How many cancellations are under way, besides the statements. */
  #underWay = 0
  #wake: () => void = () => {}
  /** Called when sessions wait for each other in a circle: PostgreSQL ends one of them. */
  onDeadlock: (statement: string) => void = () => {}
  /** Whether more than one session is in use, so that one could wait for another. */
  mayBlock: () => boolean = () => true

  constructor(dsn: string, watcher: Connection) {
    this.#dsn = dsn
    this.#watcher = watcher
  }

  /** Open the sessions that a world may need, in the same order for each world; broken ones are replaced. */
  async open(count = SESSIONS): Promise<void> {
    for (const session of this.#retired.splice(0)) this.give(session)
    this.#idle.sort((a, b) => b.pid - a.pid)
    while (this.#idle.length < count) this.#idle.push(await this.#connect())
  }

  async #connect(): Promise<RealSession> {
    const connection = await openTestConnection(this.#dsn, 'muster-sim')
    // PostgreSQL is to use one plan for all parameters: otherwise the plan would depend on how often a statement has
    // run.
    const [row] = await connection.query<{ pid: number }>(
      `select pg_backend_pid() as pid, set_config('deadlock_timeout', '20ms', false),
         set_config('plan_cache_mode', 'force_generic_plan', false),
         set_config('idle_in_transaction_session_timeout', '0', false)`,
    )
    await keepOnOneCore(row!.pid)
    return { connection, pid: row!.pid }
  }

  /** Take an unused session: the one that was used last, which has planned most of the statements already. */
  take(): RealSession {
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop())
      if (!idle.connection.isBroken) return idle
    throw new Error('the simulation has no session left: something keeps them')
  }

  /** Give a session back for others to use. It must hold no locks. */
  give(session: RealSession): void {
    if (!session.connection.isBroken) this.#idle.push(session)
  }

  /**
   * Put a session away until the next world: a process tells its own former session from others by the pid, so it must
   * not be reused.
   */
  retire(session: RealSession): void {
    this.#retired.push(session)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#idle, ...this.#retired].map(({ connection }) => connection.close()))
  }

  /** Run work on a real session. The promise resolves while `settle` runs. */
  run<T>(session: RealSession, work: (connection: Connection) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const send = () => {
        call.send = null
        work(session.connection).then(
          (value) => this.#answer(call, () => resolve(value)),
          (error) => {
            if (codeOf(error) === '40P01') this.onDeadlock(String((error as Error).message))
            this.#answer(call, () => reject(error))
          },
        )
      }
      const call: Call = {
        order: this.#order++,
        session,
        send,
        deliver: null,
        blockers: [],
        hasWaited: false,
      }
      this.#calls.add(call)
      this.#wake()
    })
  }

  #answer(call: Call, deliver: () => void): void {
    call.deliver = deliver
    // The locks of this session may be free now: look again at the statements that waited for them.
    for (const other of this.#calls) if (other.blockers.includes(call.session.pid)) other.blockers = []
    this.#wake()
  }

  /** Read what is stored without being a process of the world. The promise resolves while `settle` runs. */
  look<Row extends object>(text: string, params: readonly unknown[] = []): Promise<Row[]> {
    return this.run({ connection: this.#watcher, pid: 0 }, (connection) =>
      connection.query<Row>(text, params),
    )
  }

  /** Roll back what a session has open, as the server does when its client is gone. */
  async end(session: RealSession): Promise<void> {
    const isStuck = [...this.#calls].some((call) => call.session === session && waitsForLock(call))
    if (isStuck) await this.#cancel(session)
    const rollBack = () => this.run(session, (connection) => connection.execute('ROLLBACK'))
    // A cancellation may come late and hit the rollback instead.
    await rollBack().catch(rollBack)
  }

  async #cancel(session: RealSession): Promise<void> {
    this.#underWay++
    await this.#watcher.query('select pg_cancel_backend($1)', [session.pid])
    this.#underWay--
    for (const call of this.#calls) call.blockers = []
    this.#wake()
  }

  /**
   * Resolves when every statement is answered or waits for a lock, and so is every statement that followed from an
   * answer.
   */
  async settle(): Promise<void> {
    for (;;) {
      await allTurns()
      if (this.#calls.size === 0 && this.#underWay === 0) return
      const open = [...this.#calls].filter(isUnderWay)
      if (open.length > 0 || this.#underWay > 0) {
        if (!(await this.#isAnsweredSoon()) && this.mayBlock()) await this.#findBlocked(open)
        continue
      }
      const unsent = [...this.#calls].find(({ send }) => send !== null)
      if (unsent !== undefined) {
        unsent.send!()
        continue
      }
      const answered = [...this.#calls].filter((call) => call.deliver !== null)
      if (answered.length === 0) return
      const next = answered.reduce((a, b) => (isEarlier(a, b) ? a : b))
      this.#calls.delete(next)
      next.deliver!()
    }
  }

  #isAnsweredSoon(): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), LOOK_AFTER_MS)
      this.#wake = () => {
        clearTimeout(timer)
        resolve(true)
      }
    })
  }

  async #findBlocked(open: readonly Call[]): Promise<void> {
    const pids = [...this.#calls]
      .filter(({ send, deliver }) => send === null && deliver === null)
      .map(({ session }) => session.pid)
    const rows = await this.#watcher.query<{ pid: number; by: number[] }>(
      'select pid, pg_blocking_pids(pid) as by from unnest($1::int[]) as pid',
      [pids],
    )
    const blockers = new Map(rows.map(({ pid, by }) => [pid, by]))
    for (const call of open)
      if (call.deliver === null && isWaiting(call.session.pid, blockers))
        Object.assign(call, { blockers: blockers.get(call.session.pid)!, hasWaited: true })
  }
}

/** Resolves when nothing waits for a turn of the event loop any more, as work that goes in turns does. */
async function allTurns(): Promise<void> {
  do await new Promise((resolve) => setImmediate(resolve))
  while (process.getActiveResourcesInfo().includes('Immediate'))
}

const waitsForLock = ({ blockers }: Call) => blockers.length > 0

/** Whether PostgreSQL works at it: it is sent, not answered, and waits for no lock. */
const isUnderWay = (call: Call) => call.send === null && call.deliver === null && !waitsForLock(call)

/**
 * Which of two answers is given first: those that waited for a lock come last, since what freed the lock for them came
 * before, whether or not its own answer arrived before theirs.
 */
const isEarlier = (a: Call, b: Call) => (a.hasWaited === b.hasWaited ? a.order < b.order : b.hasWaited)

/** Whether this session waits for another one, and not in a circle that PostgreSQL is about to break. */
function isWaiting(pid: number, blockers: ReadonlyMap<number, readonly number[]>): boolean {
  const first = blockers.get(pid) ?? []
  if (first.length === 0) return false
  const seen = new Set<number>()
  const next = [...first]
  for (let other = next.pop(); other !== undefined; other = next.pop()) {
    if (other === pid) return false
    if (seen.has(other)) continue
    seen.add(other)
    next.push(...(blockers.get(other) ?? []))
  }
  return true
}

function codeOf(error: unknown): string {
  const { cause } = error as { cause?: { code?: string } }
  return cause?.code ?? (error as { code?: string }).code ?? ''
}
