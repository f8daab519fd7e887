import { expect, it } from 'vitest'
import { type CampaignJudge, JudgeBusy, type Judgement } from '../../../../lib/campaigns/judge/judge.ts'
import { ChangeGroups } from '../../../../lib/campaigns/plan/groups.ts'

/** Groups over these kept texts; `answer` compares two texts. `asked` has the pairs that were compared. */
function groupsOver(texts: Record<string, string>, answer: (before: string, after: string) => string | null) {
  const asked: string[] = []
  let isBusy = false
  const judge = { textOf: async (hash: string) => texts[hash] ?? null } as unknown as CampaignJudge
  const configs = {
    changeKey: async (before: string, after: string) => {
      asked.push(`${before} → ${after}`)
      return isBusy ? { ok: false, code: 'server-busy' } : { ok: true, key: answer(before, after) }
    },
  } as unknown as ConstructorParameters<typeof ChangeGroups>[1]['configs']
  const groups = new ChangeGroups(judge, { configs })
  const keyOf = (baseHash: string | null, after: string | null) =>
    groups.keyOf({
      baseHash,
      result: after === null ? null : { hash: `hash of ${after}`, text: after, values: {} },
    } as Judgement)
  return { keyOf, asked, setBusy: (next: boolean) => (isBusy = next) }
}

it('workloads that change in the same way are one group, whatever they run', async () => {
  const { keyOf } = groupsOver({ a: 'A', b: 'B' }, (_, after) => after.slice(-1))
  expect(await keyOf('a', 'A!')).toBe('!')
  expect(await keyOf('b', 'B!')).toBe('!')
  expect(await keyOf('b', 'B?')).toBe('?')
})

it('a workload without a base gains all lines of its result', async () => {
  const { keyOf, asked } = groupsOver({}, () => 'all new')
  expect(await keyOf(null, 'A')).toBe('all new')
  expect(asked).toEqual([' → A'])
})

it('equal pairs are compared once', async () => {
  const { keyOf, asked } = groupsOver({ a: 'A', b: 'B' }, () => 'k')
  for (const base of ['a', 'a', 'b', 'a']) await keyOf(base, 'C')
  expect(asked).toEqual(['A → C', 'B → C'])
})

it('configs that cannot be compared are a group for each pair, and for no other', async () => {
  const gone = groupsOver({}, () => 'k')
  const tooLong = groupsOver({ a: 'A', b: 'B' }, () => null)
  for (const { keyOf } of [gone, tooLong]) {
    const [one, same, otherBase, otherResult] = [
      await keyOf('a', 'C'),
      await keyOf('a', 'C'),
      await keyOf('b', 'C'),
      await keyOf('a', 'D'),
    ]
    expect(same).toBe(one)
    expect(new Set([one, otherBase, otherResult]).size).toBe(3)
    for (const key of [one, otherBase, otherResult]) expect(key).toMatch(/^[0-9a-f]{32}$/)
  }
  expect(gone.asked).toEqual([])
})

it('what gets no result is in no group', async () => {
  expect(await groupsOver({ a: 'A' }, () => 'k').keyOf('a', null)).toBeNull()
})

it('nothing is kept of a comparison that found the workers busy', async () => {
  const { keyOf, setBusy } = groupsOver({ a: 'A' }, () => 'k')
  setBusy(true)
  await expect(keyOf('a', 'C')).rejects.toThrow(JudgeBusy)
  setBusy(false)
  expect(await keyOf('a', 'C')).toBe('k')
})
