import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { configHash } from '../../lib/model/config-hash.ts'
import { eventually } from '../support/eventually.ts'
import { approveConfig, configOf, type FaultFleet, startFaultFleet, untilAllOpen } from './support/fleet.ts'

const AGENTS = 30
const GRACE_SECONDS = 8
const HOUR_S = 3_600
const DAY_S = 86_400
/** Debian's package `faketime`: moves the wall clock of one process and leaves its monotonic clock alone. */
const LIBRARY = '/usr/lib'
const library = existsSync(LIBRARY)
  ? readdirSync(LIBRARY)
      .map((name) => join(LIBRARY, name, 'faketime', 'libfaketimeMT.so.1'))
      .find((path) => existsSync(path))
  : undefined

describe.skipIf(library === undefined)('a wall clock that jumps', () => {
  let folder: string
  let fleet: FaultFleet
  const seconds = (offset: number) => `${offset < 0 ? '-' : '+'}${Math.abs(offset)}s`
  const jumpTo = (offset: number) => writeFileSync(join(folder, 'offset'), seconds(offset))

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'muster-clock-'))
    jumpTo(0)
    fleet = await startFaultFleet({
      agents: AGENTS,
      env: {
        LD_PRELOAD: library!,
        FAKETIME_TIMESTAMP_FILE: join(folder, 'offset'),
        FAKETIME_NO_CACHE: '1',
        DONT_FAKE_MONOTONIC: '1',
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
        WORKLOAD_DISCONNECT_GRACE_SECONDS: String(GRACE_SECONDS),
      },
    })
    fleet.load.beats({ intervalMs: 500 })
  })
  afterAll(async () => {
    await fleet?.end()
    rmSync(folder, { recursive: true })
  })

  /** How many seconds the service's wall clock is ahead of this process's; negative when it is behind. */
  async function readOffset(): Promise<number> {
    const { checked_at } = await fleet.service.api.get('/api/audit/verify')
    return (Date.parse(checked_at) - Date.now()) / 1_000
  }
  const status = async () => {
    const [workload] = await fleet.rows<{ status: string }>('select status from workloads')
    return workload!.status
  }

  test.each([
    ['an hour forward', HOUR_S],
    ['back again', 0],
    ['an hour back', -HOUR_S],
    ['23 hours forward', 22 * HOUR_S],
    ['a day back', -DAY_S],
    ['two days forward', DAY_S],
  ])('%s: agents, sessions, graces and the order of pushes hold', async (_, offset) => {
    const { load, service } = fleet
    load.resetStats()
    // All agents are away when the clock jumps: a grace that was counted on the wall clock would end now, or a day
    // late.
    load.cut({ from: 0, count: AGENTS })
    await eventually('they are gone', async () => load.stats().open === 0, { everyMs: 5 })
    jumpTo(offset)
    await untilAllOpen(fleet, AGENTS)
    // A session ends a day after it began by the wall clock: only the jump to a day ahead ends it.
    if (offset === DAY_S) await service.api.login()
    expect(Math.abs((await readOffset()) - offset)).toBeLessThan(60)
    expect(await status()).toBe('connected')
    const disconnected = `select count(*)::int as n from workloads where disconnected_at is not null`
    expect((await fleet.rows<{ n: number }>(disconnected))[0]!.n).toBe(0)

    const yaml = configOf(`pushed at ${offset}`)
    await service.api.post(await approveConfig(fleet, yaml), { comment: 'go' }, 202)
    await eventually('everybody runs it', async () => load.running()[configHash(yaml)] === AGENTS)
    await eventually('it is applied', async () => {
      const [newest] = await service.api.get(`/api/workloads/${fleet.workloadId}/configs`)
      return newest.config_hash === configHash(yaml) && newest.status === 'applied'
    })
    const [record] = await service.api.get('/api/workloads')
    expect(record).toMatchObject({ active_config_hash: configHash(yaml), connected_instance_count: AGENTS })
    expect(load.stats()).toMatchObject({ open: AGENTS, errors: 0, offersMost: 1 })
    expect(service.process().hasEnded()).toBe(false)
    expect(await service.api.get('/api/audit/verify')).toMatchObject({ valid: true })
  })

  test('a grace ends on time though the clock was put back a day meanwhile', async () => {
    const { load } = fleet
    load.end()
    await eventually('they are gone', async () => load.stats().open === 0, { everyMs: 5 })
    const startedAt = performance.now()
    jumpTo(-DAY_S)
    await eventually('it is disconnected', async () => (await status()) === 'disconnected', { everyMs: 50 })
    const tookS = (performance.now() - startedAt) / 1_000
    expect(tookS).toBeGreaterThan(GRACE_SECONDS - 1.5)
    expect(tookS).toBeLessThan(GRACE_SECONDS + 10)
  })
})
