import { afterEach, beforeEach, expect, it } from 'vitest'
import type { PlannedAutoApply } from '../../../lib/wire/auto-apply.ts'
import { AutoApplyScene } from '../../support/auto-apply-scene.ts'
import { signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
let scene: AutoApplyScene
beforeEach(async () => {
  scene = await AutoApplyScene.open(database)
})
afterEach(() => scene.ctx.close())

/** In production it takes two, elsewhere one. */
async function askTwoInProduction(): Promise<void> {
  const [one, two] = [1, 2].map((approvals) => ({ approvals, author_counts: false }))
  const policy = { production: two, other: one, unlabelled: one }
  expect((await scene.call('PUT /api/approval-policy', policy, await signIn(scene.ctx))).status).toBe(200)
}

it('a plan for newcomers, and the request made of it, say by which rule they are approved, and why', async () => {
  await askTwoInProduction()
  await scene.carry(1)
  const rule = { approvals: 1, author_counts: false }
  const planned = await scene.plan(1)
  expect(planned.approval_rule).toMatchObject(rule)
  expect(planned.approval_rule!.because.map(({ why }) => why)).toEqual(['unlabelled'])
  expect((await scene.request(1)).json).toMatchObject({ approval_rule: planned.approval_rule })
  expect((await scene.state()).request).toMatchObject({ approval_rule: planned.approval_rule })
  // Only those who may request configs are told.
  const viewer = await signIn(scene.ctx, { groups: ['viewer'] })
  const seen = (await scene.on('GET', '', undefined, viewer)).json as { request: object }
  expect(seen.request).not.toHaveProperty('approval_rule')
  await scene.approve(planned.plan_hash)
  expect((await scene.state()).in_force).not.toHaveProperty('approval_rule')
})

it('one that reaches production is approved by the rule for that, with how many of it there are', async () => {
  await askTwoInProduction()
  await scene.carry(1)
  await scene.label('vm-1', { environment: 'production' })
  const { json } = await scene.on('POST', '/plan', { number: 1 })
  expect((json as PlannedAutoApply).approval_rule).toMatchObject({
    approvals: 2,
    because: [{ why: 'production', count: 1 }],
  })
})
