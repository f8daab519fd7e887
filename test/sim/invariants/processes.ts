import type { Client } from '../database/sim-database.ts'
import type { Report } from './finding.ts'

/** Once a process has become the active one, no other process commits a change. */
export class ProcessPromises {
  readonly #report: Report
  readonly #nameOf: (client: Client) => string
  #active: Client | null = null

  constructor(report: Report, nameOf: (client: Client) => string) {
    this.#report = report
    this.#nameOf = nameOf
  }

  /** A process raised the epoch. */
  becameActive(client: Client): void {
    this.#active = client
  }

  /** A change of this process was committed. */
  wrote(client: Client, statement: string): void {
    if (this.#active === null || this.#active === client) return
    const [line = ''] = statement.trim().split('\n')
    this.#report(`${this.#nameOf(client)} wrote although ${this.#nameOf(this.#active)} is active: ${line}`)
  }
}
