import { expect, it } from 'vitest'
import { loadFunctions } from '../../runtime/loader.ts'
import { FUNCTIONS } from '../../runtime/manifest.generated.ts'
import { startSchedules } from '../../runtime/scheduler.ts'

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
