import { afterEach, beforeEach, expect, it } from 'vitest'
import { AutoApplyScene } from '../../support/auto-apply-scene.ts'
import { signIn } from '../../support/invoke.ts'
import { openTestConnection, useTestDatabase } from '../../support/postgres.ts'
import { checkAutoApply } from './auto-apply.ts'

const database = await useTestDatabase()
const ENVIRONMENT = { name: 'Environment', selector: { match_labels: { 'identity/host.name': 'vm-9' } } }
let scene: AutoApplyScene

beforeEach(async () => {
  await database.pool.execute('delete from label_rules')
  await database.pool.execute('delete from reviews')
  scene = await AutoApplyScene.open(database)
  // The check passes over versions with a variable that has no value by itself.
  await scene.write(2, { variables: [{ name: 'site', default: 'eu' }] })
  await scene.carry(2)
  await scene.apply(2)
})
afterEach(() => scene.ctx.close())

/** What is found of the workloads that a version did not come to. */
async function found(): Promise<string[]> {
  const watcher = await openTestConnection(database.dsn)
  const problems: string[] = []
  await checkAutoApply({ fleet: scene.ctx.fleet, ctx: scene.ctx }, watcher, (problem) =>
    problems.push(problem),
  ).finally(() => watcher.close())
  return problems
}

it('a version has come to a newcomer', async () => {
  const { workloadId } = scene.connect('vm-9')
  await scene.ctx.advance(60_000)
  expect(await found()).toEqual([expect.stringContaining(`${workloadId} is new and aap_`)])
  await scene.work()
  expect(await found()).toEqual([])
})

it('one that does not reach production leaves alone who keeps it after a change of label rules', async () => {
  const admin = await signIn(scene.ctx)
  const labelled = (environment: string) => ({
    ...ENVIRONMENT,
    labels: { environment },
    confirm_lowering: true,
  })
  const made = await scene.call('POST /api/label-rules', labelled('production'), admin)
  const { id } = made.json as { id: string }
  const lowered = await scene.call(`PUT /api/label-rules/${id}`, labelled('staging'), admin)
  expect(lowered).toMatchObject({ status: 200 })
  scene.connect('vm-9')
  await scene.ctx.advance(60_000)
  await scene.work()
  expect(await scene.leftOut()).toMatchObject({ 'vm-9': 'became_production' })
  expect(await found()).toEqual([])
})
