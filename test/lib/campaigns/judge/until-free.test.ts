import { expect, it } from 'vitest'
import { JudgeBusy } from '../../../../lib/campaigns/judge/judge.ts'
import { untilFree } from '../../../../lib/campaigns/judge/until-free.ts'

/** Ask what always throws this, after so many milliseconds of a clock that nothing else moves; how often it was asked. */
async function asked(error: Error, tookMs: number): Promise<[number, unknown]> {
  let nowMs = 0
  let count = 0
  const clock = { monotonicMs: () => nowMs }
  const answer = await untilFree(clock, async () => {
    count++
    nowMs += tookMs
    throw error
  })
  return [count, answer]
}

it('gives up after about ten seconds, however few times it could ask in them', async () => {
  expect(await asked(new JudgeBusy(), 5_000)).toEqual([2, null])
})

it('asks no more where the workers took too long over the text', async () => {
  expect(await asked(new JudgeBusy({ gaveUp: true }), 0)).toEqual([1, null])
})

it('throws what is no matter of being busy', async () => {
  await expect(asked(new TypeError('no'), 0)).rejects.toThrow(TypeError)
})
