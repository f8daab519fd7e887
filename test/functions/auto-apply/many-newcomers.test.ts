import { afterEach, beforeEach, expect, it } from 'vitest'
import { AutoApplyScene, hashOn } from '../../support/auto-apply-scene.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
let scene: AutoApplyScene
beforeEach(async () => {
  scene = await AutoApplyScene.open(database)
})
afterEach(() => scene.ctx.close())

it('brings the version to all of 300 newcomers that come at once, 50 in a second', async () => {
  await scene.carry(1)
  await scene.apply(1)
  const newcomers = Array.from({ length: 300 }, (_, n) => scene.connect(`vm-${n + 10}`))
  const signal = new AbortController().signal
  const served = new Set<(typeof newcomers)[number]>()
  for (let halfSeconds = 0; halfSeconds < 20; halfSeconds++) {
    await scene.ctx.autoApply.work(signal)
    await scene.ctx.advance(500)
    for (const agent of newcomers) {
      if (served.has(agent) || agent.offered().length === 0) continue
      agent.apply()
      served.add(agent)
    }
  }
  expect(served.size).toBe(300)
}, 120_000)

it('keeps no newcomer of one fleet config waiting for the many of another, nor for those on its older version', async () => {
  await scene.carry(1)
  await scene.apply(1)
  const hosts = scene.configId
  const databases = { match_expressions: [{ key: 'identity/host.name', operator: 'In', values: ['db-*'] }] }
  scene.connect('db-1')
  await scene.ctx.advance(1_000)
  const { json } = await scene.call('POST /api/fleet-configs', { name: 'Databases', selector: databases })
  scene.configId = (json as { id: string }).id
  await scene.write(1)
  await scene.carry(1)
  await scene.apply(1)
  const many = Array.from({ length: 250 }, (_, n) => `vm-${n + 10}`)
  const served = new Set<string>()
  const halfSeconds = async (times: number) => {
    for (let n = 0; n < times; n++) {
      await scene.work(200)
      for (const host of scene.agents.keys()) {
        if (served.has(host) || scene.runs(host) === undefined) continue
        scene.agent(host).apply()
        served.add(host)
      }
    }
  }
  for (const host of many) scene.connect(host)
  await scene.ctx.advance(300)
  scene.connect('db-2')
  await halfSeconds(4)
  expect(scene.runs('db-2')).toBe(hashOn(1, 'db-2'))
  expect(scene.runs(many.at(-1)!)).toBeUndefined()
  await halfSeconds(12)
  expect(many.every((host) => scene.runs(host) !== undefined)).toBe(true)

  scene.configId = hosts
  await scene.write(2)
  const only = { match_expressions: [{ key: 'identity/host.name', operator: 'In', values: ['vm-1'] }] }
  await scene.carry(2, { scope: { selector: only } })
  await scene.apply(2)
  await scene.ctx.advance(300)
  scene.connect('db-3')
  await halfSeconds(4)
  expect(scene.runs('db-3')).toBe(hashOn(1, 'db-3'))
  expect(many.filter((host) => scene.runs(host) === hashOn(1, host)).length).toBeGreaterThan(50)
}, 120_000)

it('reaches newcomers though another workload went to another fleet config, came back, and was given an older version', async () => {
  await scene.carry(1)
  await scene.write(2)
  await scene.carry(2)
  await scene.apply(2)
  const pass = async (seconds: number) => {
    for (let n = 0; n < seconds; n++) {
      await scene.work(1_000)
      await scene.applyAll()
    }
  }
  scene.connect('vm-4')
  await pass(5)
  expect(scene.runs('vm-4')).toBe(hashOn(2, 'vm-4'))
  const other = await scene.call('POST /api/fleet-configs', {
    name: 'Other',
    selector: { match_labels: { 'muster/team': 'other' } },
    priority: 100,
  })
  expect(other.status).toBe(201)
  await scene.label('vm-4', { team: 'other' })
  await scene.work(20_000)
  await scene.work(20_000)
  await scene.ctx.fleetConfigs.storeMemberships()
  await scene.label('vm-4', {})
  await scene.work(1_000)
  await scene.ctx.fleetConfigs.storeMemberships()
  const only = { match_expressions: [{ key: 'identity/host.name', operator: 'In', values: ['vm-4'] }] }
  await scene.campaign(1, { scope: { selector: only } })
  await pass(10)
  expect(scene.runs('vm-4')).toBe(hashOn(1, 'vm-4'))
  scene.connect('vm-5')
  await pass(20)
  expect(scene.runs('vm-5')).toBe(hashOn(2, 'vm-5'))
  expect(await scene.leftOut()).toMatchObject({ 'vm-4': 'pushed_before' })
}, 60_000)
