import { expect } from 'vitest'
import { configHash } from '../../../lib/model/config-hash.ts'
import { Load } from '../../bench/load/load.ts'
import { eventually } from '../../support/eventually.ts'
import type { Several } from './several.ts'

/** So many agents of one workload at each of several processes. They never come back once they are cut off. */
export class Loads {
  readonly all: Load[] = []
  readonly #several: Several
  readonly #each: number

  private constructor(several: Several, each: number) {
    this.#several = several
    this.#each = each
  }

  static async connect(several: Several, each: number): Promise<Loads> {
    const loads = new Loads(several, each)
    for (const [index, { opampPort }] of several.all.entries()) {
      const load = new Load({
        host: '127.0.0.1',
        port: opampPort,
        agents: each,
        workloads: 1,
        first: index * each,
      })
      loads.all.push(load)
      await load.connect()
    }
    return loads
  }

  get agents(): number {
    return this.#several.all.length * this.#each
  }

  beat(intervalMs: number): void {
    for (const load of this.all) load.beats({ intervalMs })
  }

  /** Wait until every agent is stored; answers with the workload of all of them. */
  storedWorkload(): Promise<string> {
    return eventually('every agent is stored', async () => {
      const [found] = await this.#several.rows<{ n: number; id: string }>(
        'select count(*)::int as n, min(workload_id) as id from agent_workloads',
      )
      return found!.n === this.agents && found!.id
    })
  }

  async everybodyRuns(yaml: string): Promise<void> {
    const hash = configHash(yaml)
    const running = () => this.all.reduce((sum, load) => sum + (load.running()[hash] ?? 0), 0)
    await eventually(`everybody runs ${hash.slice(0, 8)}`, async () => running() === this.agents)
  }

  /** Wait until the only push is stored as applied by every agent; none may have failed. */
  async storedAsApplied(): Promise<void> {
    await eventually('the end of the push is stored', async () => {
      const [push] = await this.#several.rows<{ status: string; applied: number; failed: number }>(
        `select p.status, count(*) filter (where t.state = 'applied')::int as applied,
           count(*) filter (where t.state = 'failed')::int as failed
         from pushes p join push_targets t using (push_id) group by p.status`,
      )
      expect(push!.failed).toBe(0)
      return push!.status === 'applied' && push!.applied === this.agents
    })
  }

  /** Every agent has the connection that it had from the start. */
  expectNobodyCut(): void {
    for (const load of this.all) {
      const { open, errors } = load.stats()
      expect({ open, errors }).toEqual({ open: this.#each, errors: 0 })
    }
  }

  end(): void {
    for (const load of this.all) load.end()
  }
}
