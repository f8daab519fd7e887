import { expect, it } from 'vitest'
import { DatabaseUnavailable } from '../../lib/store/db.ts'
import { loadFunctions } from '../../runtime/loader.ts'
import { FUNCTIONS } from '../../runtime/manifest.generated.ts'
import { startSchedules } from '../../runtime/scheduler.ts'
import { fakeClock, recordingLog } from '../support/fakes.ts'

it('as many schedules as the service has wait on one signal, and Node does not take that for a leak', async () => {
  const { schedules } = loadFunctions(FUNCTIONS)
  const warnings: string[] = []
  const note = ({ message }: Error) => void warnings.push(message)
  process.on('warning', note)
  const waiting = { ...schedules[0]!, definition: { ...schedules[0]!.definition, intervalMs: () => 60_000 } }
  const ctx = { random: { bytes: () => Buffer.alloc(1) } }
  const running = startSchedules(
    schedules.map(() => waiting),
    ctx as never,
  )
  // Node tells of warnings in a later turn.
  await new Promise((resolve) => setImmediate(resolve))
  await running.stop()
  process.off('warning', note)
  expect(warnings).toEqual([])
})

/** What a schedule says whose runs end as these do, a second after each other. */
async function sayOf(ends: readonly (Error | null)[]) {
  const [clock, log] = [fakeClock(), recordingLog()]
  let runs = 0
  let allRan = () => {}
  const done = new Promise<void>((resolve) => {
    allRan = resolve
  })
  const definition = {
    intervalMs: () => 0,
    jitterMs: 0,
    async run() {
      clock.advance(1_000)
      const end = ends[runs++]
      // One more than those that are looked at: the end of the one before it is written by then.
      if (runs > ends.length) allRan()
      else if (end != null) throw end
    },
  }
  const ctx = { random: { bytes: () => Buffer.alloc(1) }, clock, log }
  const running = startSchedules([{ id: 'campaigns/engine', definition } as never], ctx as never)
  await done
  await running.stop()
  return log.lines.map(({ level, message, fields }) => ({ level, message, ...(fields as object) }))
}
const many = (count: number, end: Error) => Array.from({ length: count }, () => end)

it('a schedule says once that the database is away, without a stack, and once that it is back', async () => {
  const away = new DatabaseUnavailable('connection refused')
  expect(await sayOf([...many(500, away), null, null])).toEqual([
    {
      level: 'warn',
      message: 'schedule waits for the database',
      function: 'campaigns/engine',
      cause: 'connection refused',
    },
    {
      level: 'info',
      message: 'schedule runs again after failures',
      function: 'campaigns/engine',
      count: 500,
      silent_ms: 500_000,
    },
  ])
})

it('a schedule says of any other error at once, and again each minute, how often it came', async () => {
  const [away, wrong] = [new DatabaseUnavailable('connection refused'), new Error('wrong')]
  const said = (await sayOf([away, ...many(119, wrong), null, wrong, null])) as { count?: number }[]
  expect(said.map((line) => ({ ...line, cause: undefined, silent_ms: undefined }))).toMatchObject([
    { level: 'warn' },
    { level: 'error', err: wrong, count: 2 },
    { level: 'error', err: wrong, count: 62 },
    { level: 'info', count: 120 },
    { level: 'error', err: wrong, count: 1 },
    { level: 'info', count: 1 },
  ])
})
