import type { Connection } from '../../../lib/store/connection.ts'
import {
  beginStatement,
  CommitInDoubt,
  type Database,
  DatabaseUnavailable,
  type Db,
} from '../../../lib/store/db.ts'
import type { Dice } from '../time/dice.ts'
import type { Mortal, VirtualTime } from '../time/virtual-time.ts'
import { ControlSession, LockAnswers, type Purpose } from './control-session.ts'
import { MemberAnswers } from './member-answers.ts'
import type { RealSession, RealSessions } from './real-sessions.ts'

/** A process that uses the database, and may die while it does. */
export interface Client extends Mortal {
  /** The name of its sessions. */
  application: string
  leases: Set<Lease>
  controls: Set<ControlSession>
  /** What it renews itself with as a member gets stuck before this time. */
  renewsAtMs: number
  /** Callers that wait until one of the process's few sessions is free. */
  waiters: (() => void)[]
}

/** A process that is alive and has no sessions yet. */
export const newClient = (application = 'muster'): Client => ({
  application,
  isDead: false,
  pausedUntilMs: 0,
  renewsAtMs: 0,
  leases: new Set(),
  controls: new Set(),
  waiters: [],
})

/** Is told what processes do with the database. */
export interface DatabaseObserver {
  becameActive(client: Client): void
  /** A statement of this process was answered, with rows or with how many it changed. */
  answered(statement: string, value: unknown, client: Client): void
  wrote(client: Client, statement: string): void
  /** A statement is about to delete a workload. */
  deletes(workloadId: string): void
  /**
   * A transaction that began at `beganMs` and holds new pushes is about to be committed: `read` reads inside it. Null
   * where nobody asks.
   */
  pushes:
    | ((
        client: Client,
        beganMs: number,
        read: <Row extends object>(text: string) => Promise<Row[]>,
      ) => Promise<void>)
    | null
  /** The same of one that adds members to a rollout. */
  stages: DatabaseObserver['pushes']
}

/** A session while one statement or transaction of a process uses it. */
interface Lease {
  client: Client
  real: RealSession
  /** The server has ended the session: its transaction is rolled back, and every further statement fails. */
  isCut: boolean
  /** The first statement of its transaction that changed rows; '' when none has. */
  written: string
  beganMs: number
  hasPushes: boolean
  hasMembers: boolean
}

const SESSIONS_PER_PROCESS = 3
const CUT_WITHIN = 8
/** The latest that a server commits after the process has lost the session. */
const LATE_MS = 6_000
const PUSHES = /^\s*insert into pushes\b/i
const MEMBERS = /^\s*insert into rollout_members\b/i
const CHANGES =
  /^\s*(insert|update|delete)\b|^\s*with\b[\s\S]*\b(insert\s+into|delete\s+from|update\s+\w+\s+(\w+\s+)?set)\b/i

/**
 * The real PostgreSQL, made to take virtual time and to fail on demand: statements take a while, sessions break, the
 * database goes away, the answer to a commit gets lost. Transactions overlap as they do in the real service.
 */
export class SimDatabase {
  readonly #sessions: RealSessions
  readonly #time: VirtualTime
  readonly #dice: Dice
  readonly #lateDice: Dice
  /** Sessions that their processes have lost as they sent COMMIT, and at which the server is still. */
  readonly #committing = new Set<Lease>()
  readonly #leases = new Set<Lease>()
  readonly #controls = new Set<ControlSession>()
  readonly lockAnswers = new LockAnswers()
  readonly memberAnswers = new MemberAnswers()
  /** How many sessions the server is ending at this moment. */
  #ending = 0
  /** For each session that is to end, after how many more statements. */
  readonly #cutAfter: number[] = []
  isAway = false
  /** The chance that a commit goes through and its answer gets lost, or that it never arrives. */
  lostCommitChance = 0
  /** The chance that a process loses its session as it sends COMMIT, and the server commits up to some seconds later. */
  lateCommitChance = 0
  /** The chance that a statement is refused as unavailable, as for a time-out. */
  refusalChance = 0
  observer: DatabaseObserver = {
    becameActive() {},
    answered() {},
    wrote() {},
    deletes() {},
    pushes: null,
    stages: null,
  }

  constructor(sessions: RealSessions, time: VirtualTime, dice: Dice) {
    this.#sessions = sessions
    this.#time = time
    this.#dice = dice
    this.#lateDice = dice.fork('late commits')
    sessions.mayBlock = () =>
      this.#leases.size + this.#committing.size + this.#ending + this.#lockSessions > 1
  }

  openFor(client: Client): Database {
    const alone = <T>(text: string, work: (connection: Connection) => Promise<T>) =>
      this.#borrow(client, async (lease) => {
        const value = await this.#say(lease, text, work)
        if (lease.written !== '') this.observer.wrote(client, text)
        return value
      })
    return {
      query: (text, params) => alone(text, (connection) => connection.query(text, params)),
      execute: (text, params) => alone(text, (connection) => connection.execute(text, params)),
      transaction: (name, work) =>
        this.#borrow(client, (lease) => this.#run(lease, beginStatement(name, 'transaction'), work)),
      snapshot: (name, work) =>
        this.#borrow(client, (lease) => this.#run(lease, beginStatement(name, 'snapshot'), work)),
    }
  }

  /** How many sessions may wait for a lock, or hold one, outside transactions. */
  get #lockSessions(): number {
    let count = 0
    for (const { purpose } of this.#controls) count += Number(purpose === 'lock')
    return count
  }

  /** A session of its own, for the process lock, or for what a member says of itself. */
  async openControl(client: Client, purpose: Purpose = 'lock'): Promise<Connection> {
    await this.pass(client)
    const session = new ControlSession(this.#sessions.take(), {
      sessions: this.#sessions,
      client,
      database: this,
      purpose,
    })
    client.controls.add(session)
    this.#controls.add(session)
    return session
  }

  /**
   * The way between a process and the database: resolves after some virtual time, rejects while the database is away,
   * and never settles for a dead process.
   */
  pass(client: Client): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#time.after(
        this.#dice.between(0.2, 4),
        () => (this.isAway ? reject(new DatabaseUnavailable('database is away')) : resolve()),
        client,
      )
    })
  }

  /** Resolves once what this process renews itself with gets through. */
  async untilRenews(client: Client): Promise<void> {
    const waitMs = client.renewsAtMs - this.#time.nowMs
    if (waitMs > 0) await new Promise<void>((resolve) => void this.#time.after(waitMs, resolve, client))
  }

  /** Send one statement over a lease and answer it. */
  async #say<T>(lease: Lease, text: string, work: (connection: Connection) => Promise<T>): Promise<T> {
    await this.pass(lease.client)
    if (this.#isCutNow()) void this.#cut(lease)
    refuseCut(lease)
    if (this.refusalChance > 0 && this.#dice.chance(this.refusalChance))
      throw new DatabaseUnavailable('database unavailable during query: canceling statement due to time-out')
    const value = await this.#real(lease, work)
    this.observer.answered(text, value, lease.client)
    if (lease.written === '' && CHANGES.test(text)) lease.written = text
    if (PUSHES.test(text)) lease.hasPushes = true
    if (MEMBERS.test(text)) lease.hasMembers = true
    return value
  }

  async #real<T>(lease: Lease, work: (connection: Connection) => Promise<T>): Promise<T> {
    try {
      return await this.#sessions.run(lease.real, work)
    } finally {
      // A process that stands still gets the answer when it goes on; a dead one never does.
      if (lease.client.isDead || lease.client.pausedUntilMs > this.#time.nowMs)
        await this.pass(lease.client).catch(() => {})
      refuseCut(lease)
    }
  }

  async #borrow<T>(client: Client, use: (lease: Lease) => Promise<T>): Promise<T> {
    while (client.leases.size >= SESSIONS_PER_PROCESS)
      await new Promise<void>((resolve) => client.waiters.push(resolve))
    const lease: Lease = {
      client,
      real: this.#sessions.take(),
      isCut: false,
      written: '',
      beganMs: 0,
      hasPushes: false,
      hasMembers: false,
    }
    client.leases.add(lease)
    this.#leases.add(lease)
    try {
      return await use(lease)
    } finally {
      this.#leases.delete(lease)
      client.leases.delete(lease)
      if (!lease.isCut) this.#sessions.give(lease.real)
      client.waiters.shift()?.()
    }
  }

  async #run<T>(lease: Lease, begin: string, work: (tx: Db) => Promise<T>): Promise<T> {
    await this.pass(lease.client)
    refuseCut(lease)
    await this.#real(lease, (connection) => connection.execute(begin))
    lease.beganMs = this.#time.nowMs
    let value: T
    try {
      value = await work({
        query: (text, params) => this.#say(lease, text, (connection) => connection.query(text, params)),
        execute: (text, params) => {
          if (/^\s*delete from workloads\b/i.test(text)) this.observer.deletes(String(params?.[0]))
          return this.#say(lease, text, (connection) => connection.execute(text, params))
        },
      })
    } catch (error) {
      await this.#rollBack(lease)
      throw error
    }
    await this.#commit(lease)
    return value
  }

  async #rollBack(lease: Lease): Promise<void> {
    if (lease.isCut) return
    await this.#real(lease, (connection) => connection.execute('ROLLBACK')).catch(() => {})
  }

  async #commit(lease: Lease): Promise<void> {
    const { client } = lease
    if (this.lateCommitChance > 0 && this.#lateDice.chance(this.lateCommitChance)) {
      await this.pass(client)
      refuseCut(lease)
      this.#commitLate(lease)
      throw new CommitInDoubt('connection lost at commit')
    }
    const isLost = this.lostCommitChance > 0 && this.#dice.chance(this.lostCommitChance)
    let isCommitted = false
    try {
      await this.pass(client)
      refuseCut(lease)
      // Either the COMMIT is lost before it reaches the server (here), or its answer is lost after the commit (below).
      if (isLost && this.#dice.chance(0.3)) throw new DatabaseUnavailable('connection lost before commit')
      await this.#observe(lease, (text) => this.#real(lease, (connection) => connection.query(text)))
      await this.#real(lease, (connection) => connection.execute('COMMIT'))
      isCommitted = true
      if (lease.written !== '') this.observer.wrote(client, lease.written)
      await this.pass(client)
      if (isLost) throw new DatabaseUnavailable('connection lost at commit')
    } catch (error) {
      if (!isCommitted) await this.#rollBack(lease)
      if (!(error instanceof DatabaseUnavailable)) throw error
      throw new CommitInDoubt(error.message)
    }
  }

  /** Let the observer look into a transaction that is about to be committed. */
  async #observe(
    { client, beganMs, hasPushes, hasMembers }: Lease,
    read: <Row extends object>(text: string) => Promise<Row[]>,
  ): Promise<void> {
    if (hasPushes) await this.observer.pushes?.(client, beganMs, read)
    if (hasMembers) await this.observer.stages?.(client, beganMs, read)
  }

  /** The process has this session no more. Its transaction keeps its locks, and is committed if nobody ends it before. */
  #commitLate(lease: Lease): void {
    lease.isCut = true
    this.#leases.delete(lease)
    this.#committing.add(lease)
    this.#time.after(this.#lateDice.between(5, LATE_MS), async () => {
      if (!this.#committing.has(lease)) return
      const run = <T>(work: (connection: Connection) => Promise<T>) => this.#sessions.run(lease.real, work)
      await this.#observe(lease, (text) => run((connection) => connection.query(text)))
      if (!this.#committing.has(lease)) return
      await run((connection) => connection.execute('COMMIT'))
      // Who ended it meanwhile gives the session back.
      if (!this.#committing.delete(lease)) return
      this.#sessions.give(lease.real)
      if (lease.written !== '') this.observer.wrote(lease.client, lease.written)
    })
  }

  /** End a session as the server does when its client is gone: what it had open is rolled back. */
  async #cut(lease: Lease): Promise<void> {
    const isCommitting = this.#committing.delete(lease)
    if (lease.isCut && !isCommitting) return
    lease.isCut = true
    this.#leases.delete(lease)
    this.#ending++
    await this.#sessions.end(lease.real)
    this.#ending--
    this.#sessions.give(lease.real)
  }

  /** Every session ends at once. */
  cutAll(): void {
    for (const lease of [...this.#leases, ...this.#committing]) void this.#cut(lease)
    for (const control of this.#controls) control.cut()
  }

  /**
   * Let the server end the session that sends one of the next statements, chosen at random: at any one moment few
   * sessions are in use.
   */
  cutOne(): void {
    this.#cutAfter.push(this.#dice.int(CUT_WITHIN))
  }

  /** Whether the session that sends this statement is to end at it. */
  #isCutNow(): boolean {
    if (this.#cutAfter.length === 0) return false
    this.#cutAfter[0]!--
    if (this.#cutAfter[0]! >= 0) return false
    this.#cutAfter.shift()
    return true
  }

  /** End all sessions of a process, because it died or its network to the server is gone for good. */
  cutClient(client: Client): void {
    for (const lease of client.leases) void this.#cut(lease)
    for (const control of client.controls) control.cut()
  }

  bury(client: Client): void {
    client.isDead = true
    this.cutClient(client)
  }

  /** The database's own clock. */
  now(): Date {
    return this.#time.databaseNow()
  }

  /** The process whose control session this is; null where none is. */
  clientOf(pid: number): Client | null {
    for (const control of this.#controls) if (control.pid === pid) return control.client
    return null
  }

  /** End the sessions of the processes of this name; returns how many there were. */
  endSessions(application: string): number {
    const clients = new Set<Client>()
    for (const { client } of [...this.#controls, ...this.#leases, ...this.#committing])
      if (client.application === application) clients.add(client)
    let ended = 0
    for (const client of clients) {
      ended += client.leases.size + client.controls.size
      this.cutClient(client)
      for (const lease of this.#committing) if (lease.client === client) void this.#cut(lease)
    }
    return ended
  }

  forget(control: ControlSession): void {
    this.#controls.delete(control)
  }
}

function refuseCut(lease: Lease): void {
  if (lease.isCut) throw new DatabaseUnavailable('database connection is closed')
}
