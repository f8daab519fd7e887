import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { configHash } from '../../lib/model/config-hash.ts'
import { createDatabase } from '../e2e/support/service.ts'
import { eventually } from '../support/eventually.ts'
import { approveConfig, configOf, type FaultFleet, startFaultFleet, untilAllOpen } from './support/fleet.ts'

const AGENTS = 100
const SIZE_MIB = 24
/** Only root can mount a small disk. */
const canMount = userInfo().uid === 0 && process.platform === 'linux'

describe.skipIf(!canMount)('a database whose disk is full', () => {
  let disk: string
  let dsn: string
  let fleet: FaultFleet

  beforeAll(async () => {
    disk = mkdtempSync(join(tmpdir(), 'muster-small-disk-'))
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE_MIB}m`, 'tmpfs', disk])
    dsn = await createDatabase()
    await moveTo(dsn, disk)
    fleet = await startFaultFleet({
      agents: AGENTS,
      env: { DB_DSN: dsn },
      dsn,
    })
  })
  afterAll(async () => {
    await fleet?.end()
    if (disk === undefined) return
    if (fleet !== undefined) await removeFrom(dsn)
    execFileSync('umount', ['-l', disk])
    rmSync(disk, { recursive: true })
  })

  const count = async (from: string) =>
    (await fleet.rows<{ n: number }>(`select count(*)::int as n from ${from}`))[0]!.n
  const ballast = () => join(disk, 'ballast')

  /** Fill what is left of the disk. */
  function fillDisk(): void {
    try {
      writeFileSync(ballast(), Buffer.alloc(SIZE_MIB * 1_048_576))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    }
  }

  test('keeps serving agents and readers, refuses a push clearly, and stores what waited once there is room', async () => {
    const { load, service } = fleet
    await eventually('the arrivals are stored', async () => (await count('workload_events')) === AGENTS)
    const path = await approveConfig(fleet, configOf('while the disk is full'))
    load.beats({ intervalMs: 200 })
    fillDisk()

    // Rows for which existing pages have room are still stored: go on until one does not fit.
    let cuts = 0
    await eventually('a batch could not be stored', async () => {
      load.cut({ from: (cuts * 20) % AGENTS, count: 20 })
      cuts++
      await eventually('they have gone', async () => load.stats().open < AGENTS, { everyMs: 5 })
      await untilAllOpen(fleet, AGENTS)
      return service.output().includes('what agents report waits for the database')
    })
    load.resetStats()

    expect(service.output()).toContain('No space left on device')
    const refused = await service.api.call('POST', path, { comment: 'go' })
    expect(refused.status).toBe(503)
    expect(refused.body).toMatchObject({ error: expect.any(String) })
    expect(await count('pushes')).toBe(0)
    expect(await count('push_targets')).toBe(0)
    expect(await count(`approvals where status = 'pushed'`)).toBe(0)
    const [workload] = await service.api.get('/api/workloads')
    expect(workload.connected_instance_count).toBe(AGENTS)
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
    expect(load.stats().open).toBe(AGENTS)
    expect(load.stats().errors).toBe(0)
    expect(load.running()).toEqual({ '': AGENTS })

    rmSync(ballast())
    await eventually('every event is stored', async () => {
      const stored = await fleet.rows<{ event_type: string; n: number }>(
        'select event_type, count(*)::int as n from workload_events group by event_type',
      )
      const counts = Object.fromEntries(stored.map(({ event_type, n }) => [event_type, n]))
      return counts['connected'] === AGENTS + cuts * 20 && counts['disconnected'] === cuts * 20
    })
    expect(service.output().includes('was dropped')).toBe(false)

    const yaml = configOf('once there is room')
    await service.api.post(await approveConfig(fleet, yaml), { comment: 'go' }, 202)
    await eventually('everybody runs it', async () => load.running()[configHash(yaml)] === AGENTS)
    load.stopBeats()
  })
})

async function administer(dsn: string, work: (client: pg.Client, database: string) => Promise<void>) {
  const url = new URL(dsn)
  const database = url.pathname.slice(1)
  url.pathname = '/postgres'
  const client = new pg.Client(url.toString())
  await client.connect()
  await work(client, database)
  await client.end()
}

/** Put a database onto a disk of its own. */
const moveTo = (dsn: string, disk: string) =>
  administer(dsn, async (client, database) => {
    const [row] = (
      await client.query<{ folder: string }>(`select current_setting('data_directory') as folder`)
    ).rows
    const { uid, gid } = statSync(row!.folder)
    const folder = join(disk, 'tablespace')
    mkdirSync(folder)
    chownSync(folder, uid, gid)
    chmodSync(disk, 0o755)
    await client.query(`create tablespace small_disk location '${folder}'`)
    await client.query(`alter database ${database} set tablespace small_disk`)
  })

const removeFrom = (dsn: string) =>
  administer(dsn, async (client, database) => {
    await client.query(`drop database ${database} with (force)`)
    await client.query('drop tablespace small_disk')
  })
