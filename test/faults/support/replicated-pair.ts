import { afterAll, beforeAll, expect } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { Loads } from './loads.ts'
import { type ReplicatedPostgres, startReplicatedPostgres } from './replicated-postgres.ts'
import { type OneOfSeveral, type Several, startSeveral } from './several.ts'

/** Two processes with agents at each, over a PostgreSQL with a replica; there from the first test on. */
export interface ReplicatedPair {
  readonly postgres: ReplicatedPostgres
  readonly several: Several
  readonly loads: Loads
}

/** What a test can do to the way between the processes and the primary. */
interface Way {
  dsn: string
  close(): Promise<void>
}

/**
 * A pair for the tests of this file, started before them and stopped after them. `agents`: at each process. `openWay`: what
 * stands between the processes and the primary, by the address of that.
 */
export function useReplicatedPair(
  agents: number,
  how: Parameters<typeof startReplicatedPostgres>[0] = {},
  openWay: ((primaryDsn: string) => Promise<Way>) | null = null,
): ReplicatedPair {
  const opened: { postgres?: ReplicatedPostgres; way?: Way; several?: Several; loads?: Loads } = {}
  beforeAll(async () => {
    const postgres = await startReplicatedPostgres(how)
    opened.postgres = postgres
    if (openWay !== null) opened.way = await openWay(postgres.primaryDsn())
    const dsn = opened.way === undefined ? postgres.dsn : throughWay(postgres, opened.way)
    opened.several = await startSeveral(2, {
      dsn: { ofProcess: () => dsn, ofTest: () => postgres.primaryDsn() },
    })
    opened.loads = await Loads.connect(opened.several, agents)
    opened.loads.beat(1_000)
  })
  afterAll(async () => {
    opened.loads?.end()
    await opened.several?.end()
    await opened.way?.close()
    await opened.postgres?.stop()
  })
  return {
    get postgres() {
      return opened.postgres!
    },
    get several() {
      return opened.several!
    },
    get loads() {
      return opened.loads!
    },
  }
}

const throughWay = (postgres: ReplicatedPostgres, way: Way) =>
  postgres.dsn.replace(new URL(postgres.primaryDsn()).host, new URL(way.dsn).host)

/** Wait until a change through this process is stored; answers with how long that took, in ms. */
export async function untilStored({ api }: OneOfSeveral, theme: string): Promise<number> {
  const fromMs = performance.now()
  await eventually(
    'a change is stored',
    async () => {
      const { status } = await api.call('PUT', '/api/me/preferences', { theme, language: 'en' })
      expect([200, 204, 503]).toContain(status)
      return status < 300
    },
    { everyMs: 50 },
  )
  return performance.now() - fromMs
}
