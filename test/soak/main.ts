import { readdir } from 'node:fs/promises'
import { memoryKib, pause } from '../bench/machine.ts'
import { type BenchService, startBenchService, startDatabase } from '../bench/service.ts'
import { DAY_SECONDS, startFastClock } from './clock.ts'
import { startSoakFleet } from './fleet.ts'
import { startPeople } from './people.ts'
import { judgeSamples, type Sample, toTable } from './samples.ts'

const MINUTES = Number(process.env['SOAK_MINUTES'] ?? 60)
const SAMPLE_MS = 4_000
const GRACE_SECONDS = 2
/**
 * For this long everything grows: the workload of a pod that is gone is disconnected after the grace, archived a day
 * later and removed another day later.
 */
const WARM_UP_SECONDS = GRACE_SECONDS + 2 * DAY_SECONDS + 35

/** The service's own metrics of memory and queues, by name. */
async function readMetrics(service: BenchService): Promise<Record<string, number>> {
  const text = await service.scrape()
  const sample: Record<string, number> = {}
  for (const [, what, value] of text.matchAll(/^muster_kept\{what="(\w+)"\} (\S+)$/gm))
    sample[`kept ${what}`] = Number(value)
  for (const [, what, value] of text.matchAll(
    /^muster_(\w+_(?:waiting|queued_bytes|jobs_queued))(?:\{[^}]*\})? (\S+)$/gm,
  ))
    sample[`waiting ${what}`] = Number(value) + (sample[`waiting ${what}`] ?? 0)
  sample['memory heap'] = Number(/^muster_heap_used_bytes (\S+)$/m.exec(text)?.[1])
  return sample
}

/** The rows and bytes of every table, with its indexes, by name. */
async function readTables({ db }: BenchService): Promise<Record<string, number>> {
  const { rows } = await db.query<{ name: string }>(
    `select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  )
  const sample: Record<string, number> = {}
  for (const { name } of rows) {
    const { rows: read } = await db.query(
      `select count(*)::int as rows, pg_total_relation_size('${name}')::bigint as bytes from ${name}`,
    )
    sample[`rows ${name}`] = read[0].rows
    sample[`bytes ${name}`] = Number(read[0].bytes)
  }
  return sample
}

async function takeSample(service: BenchService): Promise<Sample> {
  const pid = service.pid()
  return {
    ...(await readMetrics(service)),
    ...(await readTables(service)),
    'memory resident and swapped': (await memoryKib(pid)) * 1_024,
    descriptors: (await readdir(`/proc/${pid}/fd`)).length,
  }
}

/** PostgreSQL has to clean up more often than by default, as days are short here. */
async function shortenVacuum({ db }: BenchService): Promise<void> {
  await db.query(`alter system set autovacuum_naptime = '2s'`)
  await db.query(`alter system set autovacuum_vacuum_scale_factor = 0.05`)
  await db.query('select pg_reload_conf()')
}

async function soak(): Promise<boolean> {
  const startedAt = performance.now()
  const seconds = () => (performance.now() - startedAt) / 1_000
  if (MINUTES * 60 < 2 * WARM_UP_SECONDS)
    throw new Error(`SOAK_MINUTES must be ${Math.ceil((2 * WARM_UP_SECONDS) / 60)} at least`)
  const clock = startFastClock()
  const database = await startDatabase()
  const env = {
    ...clock.env,
    WORKLOAD_RETENTION_DAYS: '1',
    WORKLOAD_ARCHIVE_DAYS: '1',
    WORKLOAD_EVENT_RETENTION_DAYS: '1',
    ALERT_RETENTION_DAYS: '1',
    WORKLOAD_JANITOR_INTERVAL_SECONDS: '2',
    WORKLOAD_DISCONNECT_GRACE_SECONDS: String(GRACE_SECONDS),
    MIN_AGENT_VERSION: '0.140.0',
  }
  const service = await startBenchService({ database, name: 'soak', nodeArguments: [], env })
  await shortenVacuum(service)
  const fleet = startSoakFleet(service.opampPort)
  const people = startPeople(service)
  const samples: Sample[] = []
  try {
    while (seconds() < MINUTES * 60) {
      await pause(SAMPLE_MS)
      if (seconds() < WARM_UP_SECONDS) continue
      samples.push(await takeSample(service))
      if (samples.length % 15 === 1)
        console.error(
          `${Math.round(seconds())} s  ${JSON.stringify({ ...fleet.counts(), ...people.counts() })}`,
        )
    }
    const lines = judgeSamples(samples)
    console.log(toTable(lines))
    const did = { ...fleet.counts(), ...people.counts() }
    console.log(`\n${samples.length} samples; ${JSON.stringify(did)}`)
    const grew = lines.filter(({ isFlat }) => !isFlat)
    // A soak in which too little happened shows nothing.
    const isIdle =
      did.pushes < MINUTES ||
      did.born < 60 * MINUTES ||
      did.frames < 60 * MINUTES ||
      did.held < 6 * MINUTES ||
      did.stable < 20
    console.log(grew.length === 0 ? 'nothing grew' : `grew: ${grew.map(({ name }) => name).join(', ')}`)
    if (isIdle) console.log('too little happened')
    return grew.length === 0 && !isIdle
  } finally {
    people.stop()
    await fleet.stop()
    await service.end()
    await database.end()
    clock.stop()
  }
}

process.exitCode = (await soak()) ? 0 : 1
