import { expect, it } from 'vitest'
import { runCourse } from './run-course.ts'

const SEEDS = Number(process.env['SIM_OWNERS_SEEDS'] ?? 100)
const FIRST = Number(process.env['SIM_FIRST'] ?? 1)

it('keeps its promises about who owns, whatever happens to processes and the ways between them', {
  timeout: 60_000 + SEEDS * 10_000,
}, async () => {
  const failed: string[] = []
  for (let seed = FIRST; seed < FIRST + SEEDS; seed++) {
    const { faults, story } = await runCourse(seed)
    if (faults.length > 0) failed.push(`seed ${seed}\n  ${faults.join('\n  ')}\n    ${story.join('\n    ')}`)
  }
  expect(failed.slice(0, 3).join('\n')).toBe('')
})
