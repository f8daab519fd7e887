import type { Connection } from '../../lib/store/connection.ts'
import { type Database, DatabaseUnavailable, type Db } from '../../lib/store/db.ts'
import type { Dice, Mortal, VirtualTime } from './virtual-time.ts'

/** A service that uses the database, and may die while it does. */
export interface Client extends Mortal {
  onDeath: (() => void)[]
}

/**
 * The real PostgreSQL, slowed down to virtual time and made to fail on demand: statements take a while, the
 * database goes away, a commit's answer gets lost. One session serves all, so transactions come one by one.
 */
export class SimDatabase {
  readonly #connection: Connection
  readonly #time: VirtualTime
  readonly #dice: Dice
  /** Whoever uses the session now. */
  #turn: { client: Client } | null = null
  readonly #queue: { client: Client; start: () => void }[] = []
  /** Real statements under way: the simulation waits for them before it moves on. */
  busy = 0
  isAway = false
  /** The chance that a commit goes through and its answer gets lost. */
  lostCommitChance = 0
  commits = 0

  constructor(connection: Connection, time: VirtualTime, dice: Dice) {
    this.#connection = connection
    this.#time = time
    this.#dice = dice
  }

  openFor(client: Client): Database {
    return {
      query: (text, params) =>
        this.#alone(client, () => this.#real(() => this.#connection.query(text, params))),
      execute: (text, params) =>
        this.#alone(client, () => this.#real(() => this.#connection.execute(text, params))),
      transaction: (work) => this.#transaction(client, work),
    }
  }

  async #real<T>(work: () => Promise<T>): Promise<T> {
    this.busy++
    try {
      return await work()
    } finally {
      this.busy--
    }
  }

  /** Resolves after a while of virtual time; never for the dead, with a fault while the database is away. */
  #pass(client: Client): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#time.after(
        this.#dice.between(0.2, 4),
        () => (this.isAway ? reject(new DatabaseUnavailable('database is away')) : resolve()),
        client,
      )
    })
  }

  async #alone<T>(client: Client, work: () => Promise<T>): Promise<T> {
    const give = await this.#take(client)
    try {
      await this.#pass(client)
      return await work()
    } finally {
      give()
    }
  }

  /** Wait for the session; resolves with how to give it back, which counts once. */
  #take(client: Client): Promise<() => void> {
    return new Promise((resolve) => {
      const start = () => {
        const turn = { client }
        this.#turn = turn
        resolve(() => this.#give(turn))
      }
      if (this.#turn !== null) this.#queue.push({ client, start })
      else start()
    })
  }

  #give(turn: { client: Client }): void {
    if (this.#turn !== turn) return
    this.#turn = null
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      if (next.client.isDead) continue
      next.start()
      return
    }
  }

  async #transaction<T>(client: Client, work: (tx: Db) => Promise<T>): Promise<T> {
    const give = await this.#take(client)
    let isOver = false
    const rollBack = async () => {
      if (isOver) return
      isOver = true
      await this.#real(() => this.#connection.execute('ROLLBACK'))
    }
    client.onDeath.push(() => void rollBack())
    try {
      await this.#pass(client)
      await this.#real(() => this.#connection.execute('BEGIN'))
      const run = async <R>(act: () => Promise<R>): Promise<R> => {
        await this.#pass(client)
        return this.#real(act)
      }
      const value = await work({
        query: (text, params) => run(() => this.#connection.query(text, params)),
        execute: (text, params) => run(() => this.#connection.execute(text, params)),
      })
      await this.#pass(client)
      isOver = true
      await this.#real(() => this.#connection.execute('COMMIT'))
      this.commits++
      give()
      const isAnswerLost = this.#dice.chance(this.lostCommitChance)
      await this.#pass(client)
      if (isAnswerLost) throw new DatabaseUnavailable('connection lost at commit')
      return value
    } catch (error) {
      await rollBack()
      throw error
    } finally {
      give()
    }
  }

  /** A client died: its transaction is rolled back by the server, its turn goes to the next. */
  async bury(client: Client): Promise<void> {
    client.isDead = true
    for (const act of client.onDeath) act()
    client.onDeath = []
    if (this.#turn?.client === client) this.#give(this.#turn)
  }
}
