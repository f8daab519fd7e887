import { expect, it } from 'vitest'
import { runCourse } from './run-course.ts'

const SEEDS = Number(process.env.SIM_SEEDS ?? 100)

it('keeps its promises about who owns, whatever happens to processes and the ways between them', {
  timeout: 600_000,
}, async () => {
  const failed: string[] = []
  for (let seed = 1; seed <= SEEDS; seed++) {
    const { faults, story } = await runCourse(seed)
    if (faults.length > 0) failed.push(`seed ${seed}\n  ${faults.join('\n  ')}\n    ${story.join('\n    ')}`)
  }
  expect(failed.slice(0, 3).join('\n')).toBe('')
})
