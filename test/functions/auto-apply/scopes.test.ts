import { afterAll, beforeAll, expect, it } from 'vitest'
import type { AutoApplyTarget } from '../../../lib/wire/auto-apply.ts'
import { AutoApplyScene } from '../../support/auto-apply-scene.ts'
import { type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { makeScopedGroup, member } from '../../support/scopes.ts'

// One version applies by itself to newcomers of two teams, each within a scope of its own.

const database = await useTestDatabase()
let scene: AutoApplyScene
let admin: SignedIn
let [shop, bank, nobody]: SignedIn[] = []

beforeAll(async () => {
  scene = await AutoApplyScene.open(database)
  await scene.carry(1)
  await scene.apply(1)
  admin = await signIn(scene.ctx)
  for (const env of ['shop', 'bank', 'none'])
    await makeScopedGroup(scene.ctx, admin, `${env}-editors`, { key: 'muster/env', values: [env] })
  shop = await member(scene.ctx, 'shop-editors')
  bank = await member(scene.ctx, 'bank-editors')
  nobody = await member(scene.ctx, 'none-editors')
  for (const [host, env] of [
    ['vm-4', 'shop'],
    ['vm-5', 'bank'],
    ['vm-6', 'bank'],
  ] as const) {
    scene.connect(host)
    await scene.ctx.advance(300)
    await scene.label(host, { env })
    for (let n = 0; n < 3; n++) await scene.work(1_000)
  }
})
afterAll(() => scene.ctx.close())

const read = async (as: SignedIn | undefined, query: string) => {
  const answer = await scene.on('GET', `/targets${query}`, undefined, as)
  expect(answer.status, answer.text).toBe(200)
  return {
    ids: (answer.json as AutoApplyTarget[]).map(({ workload_id: id }) => id),
    outside: answer.headers['Muster-Outside-Scope'],
    next: answer.headers['Link'],
    text: answer.text,
  }
}
const idOf = (host: string) => scene.agent(host).workloadId

it('shows each the workloads of its own that were pushed to, and counts the others', async () => {
  expect(await read(shop, '?limit=50')).toMatchObject({ ids: [idOf('vm-4')], outside: '2' })
  const own = await read(bank, '?limit=50')
  expect([own.ids.toSorted(), own.outside]).toEqual([[idOf('vm-5'), idOf('vm-6')].toSorted(), '1'])
  expect(own.text).not.toContain('vm-4')
  expect(await read(nobody, '?limit=50')).toMatchObject({ ids: [], outside: '3' })
  expect((await read(shop, '')).ids).toEqual([idOf('vm-4')])
  const all = await read(admin, '?limit=50')
  expect([all.ids.length, all.outside]).toEqual([3, undefined])
})

it('goes on from page to page, and counts each that lies outside once', async () => {
  const [ids, counts]: [string[], number[]] = [[], []]
  let query: string | undefined = '?limit=1'
  while (query !== undefined) {
    const page = await read(bank, query)
    ids.push(...page.ids)
    counts.push(Number(page.outside))
    query = /<[^?]+(\?[^>]+)>/.exec(page.next ?? '')?.[1]
    expect(counts.length).toBeLessThan(5)
  }
  expect(ids.toSorted()).toEqual([idOf('vm-5'), idOf('vm-6')].toSorted())
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(1)
})
