import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { AutoApply } from '../../../lib/auto-apply/auto-apply.ts'
import { ENDED_KEPT } from '../../../lib/campaigns/decisions.ts'
import { configHash } from '../../../lib/model/config-hash.ts'
import type { AutoApplyRecord, AutoApplyState } from '../../../lib/wire/auto-apply.ts'
import type { FleetConfigVersion, FleetConfigWorkload } from '../../../lib/wire/fleet-configs.ts'
import type { ReviewRecord } from '../../../lib/wire/reviews.ts'
import { AutoApplyScene, hashOn, versionText } from '../../support/auto-apply-scene.ts'
import { invoke, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { productionYaml } from '../../support/push-config.ts'

const database = await useTestDatabase()
let scene: AutoApplyScene

/** A second person accepts that a workload is called production no more. */
async function acceptLowered(): Promise<void> {
  const second = await signIn(scene.ctx)
  const { json } = await scene.call('GET /api/reviews', undefined, second)
  const labels = (json as ReviewRecord[]).find(({ reason }) => reason?.startsWith('production → '))
  const accepted = { comment: 'it moved', accepted: true }
  expect((await scene.call(`POST /api/reviews/${labels?.id}`, accepted, second)).status).toBe(200)
}

beforeEach(async () => {
  scene = await AutoApplyScene.open(database)
})
afterEach(() => scene.ctx.close())

/** Connect a host that is new, and give auto-apply time for its first report and the push. */
async function newcomer(host: string, more: object = {}): Promise<void> {
  scene.connect(host, more)
  await scene.ctx.advance(300)
  for (let n = 0; n < 3; n++) await scene.work(500)
}

describe('a version for newcomers', () => {
  it('is off by default: a newcomer gets nothing', async () => {
    await scene.carry(1)
    await newcomer('vm-4')
    expect(scene.agent('vm-4').offered()).toEqual([])
    expect(await scene.state()).toEqual({ left_out: {} })
  })

  it('is given to whoever is first seen after it was approved, within five seconds, once', async () => {
    await scene.carry(1)
    await scene.apply(1)
    await newcomer('vm-4')
    expect(scene.agent('vm-4').offered()).toEqual([hashOn(1, 'vm-4')])
    await scene.applyAll(['vm-4'])
    for (let n = 0; n < 3; n++) await scene.work(16_000)
    expect(scene.agent('vm-4').offered()).toEqual([hashOn(1, 'vm-4')])
    expect(await scene.targets()).toMatchObject([
      { workload_id: scene.agent('vm-4').workloadId, is_newcomer: true, state: 'applied' },
    ])
    expect((await scene.state()).in_force).toMatchObject({
      status: 'active',
      number: 1,
      counts: { applied: 1 },
      requested_by: scene.editor.email,
      approvals: [{ by: scene.approver.email, comment: 'yes' }],
    })
  })

  it('says of one whose config could not be read in time that this is so, tries it ever more rarely, and gives it once it can be read', async () => {
    await scene.carry(1)
    await scene.apply(1)
    const slow = vi
      .spyOn(scene.ctx.configs, 'render')
      .mockImplementation(async () => ({ ok: false, code: 'server-busy', gaveUp: true }))
    await newcomer('vm-4')
    expect((await scene.leftOut())['vm-4']).toBe('unreadable')
    for (let n = 0; n < 40; n++) await scene.work(16_000)
    expect((await scene.leftOut())['vm-4']).toBe('unreadable')
    // At once, and after one, two and four minutes.
    expect(slow.mock.calls).toHaveLength(4)
    slow.mockRestore()
    for (let n = 0; n < 30; n++) await scene.work(16_000)
    expect(scene.agent('vm-4').offered()).toContain(hashOn(1, 'vm-4'))
  })

  it('begins anew to try a config that could not be read in time once all were read since', async () => {
    await scene.carry(1)
    await scene.apply(1)
    const { configs } = scene.ctx
    const readNothing = () =>
      vi.spyOn(configs, 'render').mockImplementation(async () => ({
        ok: false,
        code: 'server-busy',
        gaveUp: true,
      }))
    const slow = readNothing()
    await newcomer('vm-4')
    for (let n = 0; n < 40; n++) await scene.work(16_000)
    slow.mockRestore()
    for (let n = 0; n < 30; n++) await scene.work(16_000)
    expect(scene.agent('vm-4').offered()).toContain(hashOn(1, 'vm-4'))
    await scene.applyAll(['vm-4'])
    const again = readNothing()
    await newcomer('vm-5')
    for (let n = 0; n < 40; n++) await scene.work(16_000)
    // At once, and after one, two and four minutes.
    expect(again.mock.calls).toHaveLength(4)
    again.mockRestore()
  })

  it('writes one record for each push, in the name of whoever asked for it', async () => {
    const [{ seq } = { seq: 0 }] = await database.pool.query<{ seq: number }>(
      'select coalesce(max(seq), 0)::int as seq from audit_events',
    )
    await scene.carry(1)
    await scene.apply(1)
    await newcomer('vm-4')
    const rows = await database.pool.query<{ action: string; actor: string; detail: string }>(
      `select action, email as actor, detail from audit_events where action like 'auto_apply.%' and seq > $1 order by seq`,
      [seq],
    )
    expect(rows.map(({ action }) => action)).toEqual([
      ...['auto_apply.request', 'auto_apply.approve', 'auto_apply.push'],
    ])
    const [target] = await scene.targets()
    expect(rows[2]!.actor).toBe(scene.editor.email)
    expect(JSON.parse(rows[2]!.detail)).toMatchObject({ push_id: target!.push_id, number: 1 })
  })

  it('leaves alone who was there before and was never pushed to', async () => {
    await scene.carry(1, { scope: { workload_ids: [scene.agent('vm-1').workloadId] } })
    await scene.apply(1)
    await scene.work(16_000)
    expect(scene.agent('vm-2').offered()).toEqual([])
    expect(await scene.leftOut()).toEqual({ 'vm-2': 'not_newcomer', 'vm-3': 'not_newcomer' })
    expect((await scene.state()).left_out).toEqual({ not_newcomer: 2 })
  })

  it('reaches those on older versions, but while a campaign of the fleet config is open only newcomers', async () => {
    await scene.carry(1)
    await scene.write(2)
    await scene.carry(2, { scope: { workload_ids: [scene.agent('vm-1').workloadId] } })
    await scene.write(3)
    const open = await scene.campaign(3, {
      scope: { workload_ids: [scene.agent('vm-1').workloadId] },
      windows: [{ days: [0], from: '00:00', to: '00:01' }],
    })
    await scene.apply(2)
    await newcomer('vm-4')
    expect(scene.runs('vm-2')).toBe(hashOn(1, 'vm-2'))
    expect(scene.runs('vm-4')).toBe(hashOn(2, 'vm-4'))
    expect(await scene.leftOut()).toMatchObject({ 'vm-2': 'campaign_open', 'vm-3': 'campaign_open' })
    await scene.call(`POST /api/campaigns/${open}/abort`, { comment: 'no' })
    for (let n = 0; n < 3; n++) await scene.work(16_000)
    expect(scene.runs('vm-2')).toBe(hashOn(2, 'vm-2'))
    expect(scene.runs('vm-3')).toBe(hashOn(2, 'vm-3'))
  })

  it('is not given to whom an operator excluded, whom a campaign left failed, or who runs a newer version', async () => {
    await scene.carry(1)
    await scene.write(2)
    const id = await scene.campaign(2, { scope: { exclude_ids: [scene.agent('vm-3').workloadId] } })
    for (let n = 0; n < 3; n++) await scene.work(300)
    scene.agent('vm-1').apply()
    scene.agent('vm-2').fail('no such thing')
    await scene.ctx.advance(1_000)
    scene.agent('vm-2').apply()
    for (let n = 0; n < 5; n++) await scene.work(1_000)
    expect(await scene.readCampaign(id)).toMatchObject({ status: 'done', counts: { applied: 1, failed: 1 } })
    await scene.write(3)
    await scene.carry(3, { scope: { workload_ids: [scene.agent('vm-1').workloadId] } })
    await scene.apply(2)
    for (let n = 0; n < 3; n++) await scene.work(16_000)
    expect(await scene.leftOut()).toEqual({
      'vm-1': 'newer_version',
      'vm-2': 'campaign_failed',
      'vm-3': 'campaign_excluded',
    })
    expect(await scene.targets()).toEqual([])
  })

  it('waits for who is held, frozen, or has no value for a variable, and names the variable', async () => {
    await scene.letAuthorsCountUnlabelled()
    await scene.write(2, { variables: [{ name: 'site' }] })
    for (const host of ['vm-1', 'vm-2', 'vm-3'])
      await scene.call(`PUT /api/workloads/${scene.agent(host).workloadId}/variables`, {
        values: { site: host },
      })
    await scene.carry(2)
    await scene.apply(2)
    await newcomer('vm-4')
    expect(await scene.leftOut()).toEqual({ 'vm-4': 'variable_missing site' })
    const { workloadId } = scene.agent('vm-4')
    await scene.call(`POST /api/workloads/${workloadId}/hold`, { reason: 'mine' })
    await scene.call(`PUT /api/workloads/${workloadId}/variables`, { values: { site: 'vm-4' } })
    for (let n = 0; n < 3; n++) await scene.work(16_000)
    expect(await scene.leftOut()).toEqual({ 'vm-4': 'held' })
    await scene.call(`POST /api/workloads/${workloadId}/release`, {})
    const admin = await signIn(scene.ctx)
    const until = new Date(scene.ctx.clock.now().getTime() + 3_600_000).toISOString()
    expect((await scene.call('PUT /api/freeze', { reason: 'sale', until }, admin)).status).toBe(200)
    for (let n = 0; n < 3; n++) await scene.work(16_000)
    expect(await scene.leftOut()).toEqual({ 'vm-4': 'frozen' })
    expect(scene.agent('vm-4').offered()).toEqual([])
    await scene.call('DELETE /api/freeze', undefined, admin)
    for (let n = 0; n < 3; n++) await scene.work(16_000)
    expect(scene.runs('vm-4')).toBe(hashOn(2, 'vm-4'))
  })

  it('gives a fleet config that Git keeps no other selector or priority', async () => {
    const admin = await signIn(scene.ctx)
    await scene.carry(1)
    const selector = { match_labels: { 'identity/host.name': 'vm-*' } }
    const variables = [{ name: 'site', label: 'identity/host.name', pattern: '[a-z0-9-]+' }]
    const wish = { owner: 'platform', name: 'Hosts', selector, content: versionText(1), variables }
    const sent = await scene.call('POST /api/fleet-configs/desired', wish, admin)
    expect(sent).toMatchObject({ status: 200, json: { fleet_config_id: scene.configId } })
    const wanted = { selector: { match_labels: { 'identity/host.name': 'vm-1' } }, priority: 9 }
    expect(await scene.request(1, wanted)).toMatchObject({
      status: 409,
      json: { code: 'fleet_config_managed' },
    })
  })

  describe('into production, with a value that nobody approved with it', () => {
    const content = (n: number) => productionYaml(n).replace('127.0.0.1', `\${muster:site}`)
    const evil = (n: number) => configHash(content(n).replace(`\${muster:site}`, 'evil.example'))
    const set = (host: string, values: object) =>
      scene.call(`PUT /api/workloads/${scene.agent(host).workloadId}/variables`, { values })

    it('does not go to a newcomer, which a campaign then reaches', async () => {
      await scene.write(2, { content: content(2), variables: [{ name: 'site', required: true }] })
      for (const host of ['vm-1', 'vm-2', 'vm-3']) {
        await scene.label(host, { env: 'production' })
        await set(host, { site: 'collector.internal' })
      }
      await scene.carry(2)
      await scene.apply(2)
      await newcomer('vm-4', { attributes: { 'deployment.environment.name': 'production' } })
      expect(await scene.leftOut()).toEqual({ 'vm-4': 'variable_missing site' })
      expect((await set('vm-4', { site: 'evil.example' })).status).toBe(200)
      for (let n = 0; n < 3; n++) await scene.work(16_000)
      expect(await scene.leftOut()).toEqual({ 'vm-4': 'variables_changed' })
      expect(scene.agent('vm-4').offered()).toEqual([])
      await set('vm-4', { site: 'collector.internal' })
      await scene.carry(2, { scope: { workload_ids: [scene.agent('vm-4').workloadId] } })
      expect(scene.agent('vm-4').offered()).toHaveLength(1)
    })

    it.each([
      ['of whoever approved it', true, { 'vm-4': 'variables_changed' }],
      ['of somebody else', false, {}],
    ])('goes by a label of another account %s', async (_, isSamePerson, leftOut) => {
      const rows = { here: { site: 'collector.internal' }, there: { site: 'evil.example' } }
      const table = { label: 'muster/place', rows }
      const variables = [{ name: 'site', required: true }]
      await scene.write(2, { content: content(2), variables, table })
      for (const host of ['vm-1', 'vm-2', 'vm-3'])
        await scene.label(host, { env: 'production', place: 'here' })
      await scene.carry(2)
      await scene.apply(2)
      await newcomer('vm-4', { attributes: { 'deployment.environment.name': 'production' } })
      expect(await scene.leftOut()).toEqual({ 'vm-4': 'variable_missing site' })
      const other = await signIn(scene.ctx)
      if (isSamePerson)
        await database.pool.execute(
          'insert into provider_names (user_id, name) select $1, email_key from users where id = $2',
          [other.userId, scene.approver.userId],
        )
      const path = `PUT /api/workloads/${scene.agent('vm-4').workloadId}/trusted-labels`
      expect((await scene.call(path, { labels: { place: 'there' } }, other)).status).toBe(200)
      for (let n = 0; n < 3; n++) await scene.work(16_000)
      expect(await scene.leftOut()).toEqual(leftOut)
      expect(scene.agent('vm-4').offered()).toHaveLength(isSamePerson ? 0 : 1)
    })

    it('does not go to who waited for the version, nor does what is left when a value is taken away', async () => {
      const variables = [{ name: 'site', default: 'collector.internal' }]
      await scene.write(2, { content: content(2), variables })
      for (const host of ['vm-1', 'vm-2', 'vm-3']) await scene.label(host, { env: 'production' })
      await set('vm-3', { site: 'own.internal' })
      await scene.carry(2)
      await scene.write(3, { content: content(3), variables })
      await scene.carry(3, { scope: { workload_ids: [scene.agent('vm-1').workloadId] } })
      const path = (host: string) => `/api/workloads/${scene.agent(host).workloadId}`
      for (const host of ['vm-2', 'vm-3']) await scene.call(`POST ${path(host)}/hold`, { reason: 'repair' })
      await scene.apply(3)
      await scene.ctx.advance(1)
      await set('vm-2', { site: 'evil.example' })
      await set('vm-3', {})
      for (const host of ['vm-2', 'vm-3']) await scene.call(`POST ${path(host)}/release`, {})
      for (let n = 0; n < 3; n++) await scene.work(16_000)
      expect(await scene.leftOut()).toEqual({ 'vm-2': 'variables_changed', 'vm-3': 'variables_changed' })
      expect(scene.agent('vm-2').offered()).not.toContain(evil(3))
    })
  })

  it('is not pushed again to who was taken back from it', async () => {
    await scene.carry(1)
    await scene.write(2)
    await scene.carry(2, { scope: { workload_ids: [scene.agent('vm-1').workloadId] } })
    await scene.apply(2)
    for (let n = 0; n < 3; n++) await scene.work(16_000)
    await scene.applyAll()
    await scene.work(1_000)
    expect(scene.runs('vm-2')).toBe(hashOn(2, 'vm-2'))
    const { workloadId } = scene.agent('vm-2')
    const back = await scene.call(`POST /api/workloads/${workloadId}/configs/${hashOn(1, 'vm-2')}/rollback`)
    expect(back.status, JSON.stringify(back.json)).toBeLessThan(300)
    await scene.applyAll()
    await scene.call(`POST /api/workloads/${workloadId}/release`, {})
    for (let n = 0; n < 3; n++) await scene.work(16_000)
    expect(scene.runs('vm-2')).toBe(hashOn(1, 'vm-2'))
    expect(await scene.leftOut()).toEqual({ 'vm-2': 'pushed_before' })
  })

  it('goes to no production that it was not approved for', async () => {
    await scene.carry(1)
    await scene.apply(1)
    await newcomer('vm-4', { attributes: { 'deployment.environment.name': 'production' } })
    expect(scene.agent('vm-4').offered()).toEqual([])
    expect(await scene.leftOut()).toEqual({ 'vm-4': 'became_production' })
  })

  it('goes no further into one that became production between two stages', async () => {
    await scene.carry(1)
    await scene.apply(1)
    const pods = Array.from({ length: 30 }, (_, n) => scene.connect('vm-4', { pod: `pod-${n}` }))
    await scene.ctx.advance(300)
    for (let n = 0; n < 3; n++) await scene.work(500)
    const reached = () => pods.filter((pod) => pod.offered().length > 0)
    expect(reached()).toHaveLength(3)
    for (const pod of reached()) pod.apply()
    await scene.label('vm-4', { env: 'production' })
    for (let n = 0; n < 3; n++) await scene.work(20_000)
    expect(reached()).toHaveLength(3)
    await scene.label('vm-4', {})
    for (let n = 0; n < 2; n++) await scene.work(5_000)
    // What one person alone says of it counts once a second one has looked at that.
    expect(reached()).toHaveLength(3)
    await acceptLowered()
    for (let n = 0; n < 2; n++) await scene.work(5_000)
    expect(reached()).toHaveLength(30)
  })

  it('goes to nobody whom one person alone labelled out of production, until another has accepted that', async () => {
    await scene.carry(1)
    await scene.write(2)
    await scene.carry(2, { scope: { workload_ids: [scene.agent('vm-2').workloadId] } })
    const path = `/api/workloads/${scene.agent('vm-1').workloadId}`
    expect((await scene.call(`POST ${path}/hold`, { reason: 'wait' })).status).toBeLessThan(300)
    await scene.apply(2)
    await scene.label('vm-1', { env: 'production' })
    await scene.label('vm-1', { env: 'dev' })
    expect((await scene.call(`POST ${path}/release`)).status).toBeLessThan(300)
    for (let n = 0; n < 3; n++) await scene.work(16_000)
    expect(scene.runs('vm-1')).toBe(hashOn(1, 'vm-1'))
    expect(await scene.leftOut()).toMatchObject({ 'vm-1': 'became_production' })
    expect((await scene.plan(2)).plan).toMatchObject({ production_count: 1, reaches_production: true })
    await acceptLowered()
    for (let n = 0; n < 3; n++) await scene.work(16_000)
    expect(scene.runs('vm-1')).toBe(hashOn(2, 'vm-1'))
    expect((await scene.plan(2)).plan).toMatchObject({ production_count: 0, reaches_production: false })
  })

  it('says that it pushed to production where one person alone labelled a workload out of it', async () => {
    await scene.carry(1)
    await scene.write(2, { content: productionYaml(2).replace('127.0.0.1', `\${muster:site}`) })
    await scene.label('vm-2', { env: 'production' })
    await scene.carry(2, { scope: { workload_ids: [scene.agent('vm-2').workloadId] } })
    const path = `/api/workloads/${scene.agent('vm-1').workloadId}`
    expect((await scene.call(`POST ${path}/hold`, { reason: 'wait' })).status).toBeLessThan(300)
    await scene.apply(2)
    await scene.label('vm-1', { env: 'production' })
    await scene.label('vm-1', { env: 'dev' })
    expect((await scene.call(`POST ${path}/release`)).status).toBeLessThan(300)
    for (let n = 0; n < 3; n++) await scene.work(16_000)
    expect(scene.runs('vm-1')).toBe(configHash(productionYaml(2).replace('127.0.0.1', 'vm-1')))
    const told = (await scene.targets()).map(({ workload_place, is_production }) => [
      workload_place,
      is_production,
    ])
    expect(new Map(told as [string, boolean][])).toEqual(
      new Map([
        ['vm-1', true],
        ['vm-3', false],
      ]),
    )
  })

  it('takes from no agent what fills a variable in production', async () => {
    const content = productionYaml(2).replace('127.0.0.1', `\${muster:site}`)
    await scene.write(2, { content, variables: [{ name: 'site', label: 'site', pattern: '[a-z0-9-]+' }] })
    for (const host of ['vm-1', 'vm-2', 'vm-3']) {
      const { workloadId } = scene.agent(host)
      await scene.label(host, { env: 'production' })
      await scene.call(`PUT /api/workloads/${workloadId}/variables`, { values: { site: host } })
    }
    await scene.carry(2)
    await scene.apply(2)
    await newcomer('vm-4', { attributes: { site: 'vm-4' } })
    await newcomer('vm-5', { attributes: { site: 'vm-5', env: 'prod' } })
    expect(scene.runs('vm-4')).toBe(configHash(productionYaml(2).replace('127.0.0.1', 'vm-4')))
    expect(await scene.leftOut()).toEqual({ 'vm-5': 'variable_missing site' })
  })

  it('takes from no agent what fills a variable where one person alone labelled out of production', async () => {
    const content = productionYaml(2).replace('127.0.0.1', `\${muster:site}`)
    await scene.write(2, { content, variables: [{ name: 'site', label: 'site', pattern: '[a-z0-9-]+' }] })
    for (const host of ['vm-1', 'vm-2', 'vm-3']) {
      await scene.label(host, { env: 'production' })
      const path = `/api/workloads/${scene.agent(host).workloadId}/variables`
      await scene.call(`PUT ${path}`, { values: { site: host } })
    }
    await scene.carry(2)
    await scene.apply(2)
    const { workloadId } = scene.connect('vm-4', { attributes: { site: 'anywhere' } })
    await scene.ctx.advance(300)
    expect((await scene.call(`POST /api/workloads/${workloadId}/hold`, { reason: 'wait' })).status).toBe(200)
    await scene.label('vm-4', { env: 'production' })
    await scene.label('vm-4', { env: 'dev' })
    expect((await scene.call(`POST /api/workloads/${workloadId}/release`)).status).toBeLessThan(300)
    for (let n = 0; n < 3; n++) await scene.work(5_000)
    expect(scene.agent('vm-4').offered()).toEqual([])
    expect(await scene.leftOut()).toEqual({ 'vm-4': 'variable_missing site' })
  })

  it('goes to no more than fifty in a second', async () => {
    await scene.carry(1)
    await scene.apply(1)
    for (let n = 0; n < 120; n++) scene.connect(`vm-new-${n}`)
    await scene.ctx.advance(300)
    const counts: number[] = []
    for (let n = 0; n < 12; n++) {
      await scene.work(200)
      counts.push((await scene.targets()).length)
    }
    expect(counts.at(-1)).toBe(120)
    // A step takes half a second, so two steps in a row may start fifty pushes at most.
    for (const [n, count] of counts.entries()) expect(count - (counts[n - 2] ?? 0)).toBeLessThanOrEqual(50)
  })
})

describe('a request', () => {
  it('needs a campaign of the version that is done', async () => {
    expect((await scene.plan(1)).plan.campaign_ids).toEqual([])
    expect(await scene.request(1)).toMatchObject({ status: 409, json: { code: 'auto_apply_needs_campaign' } })
    const id = await scene.carry(1)
    expect((await scene.plan(1)).plan.campaign_ids).toEqual([id])
    expect((await scene.request(1)).status).toBe(201)
  })

  it('that reaches production needs a campaign that was done there', async () => {
    await scene.carry(1)
    const selector = { match_labels: { 'muster/env': 'production' } }
    expect((await scene.plan(1, { selector })).plan).toMatchObject({
      reaches_production: true,
      campaign_ids: [],
    })
    expect(await scene.request(1, { selector })).toMatchObject({
      status: 409,
      json: { code: 'auto_apply_needs_campaign' },
    })
  })

  it('says whom it reaches at once, who comes and who goes, and why others are left out', async () => {
    await scene.carry(1)
    await scene.write(2)
    await scene.carry(2, { scope: { workload_ids: [scene.agent('vm-1').workloadId] } })
    scene.connect('db-1')
    await scene.ctx.advance(300)
    const values = ['vm-1', 'vm-2', 'db-1']
    const selector = { match_expressions: [{ key: 'identity/host.name', operator: 'In', values }] }
    expect((await scene.plan(2, { selector })).plan).toMatchObject({
      under_count: 3,
      current_count: 1,
      reached_count: 1,
      arriving_count: 1,
      leaving_count: 1,
      left_out: { not_newcomer: 1 },
      reached: ['edge'],
    })
  })

  it('is approved by somebody else than who asked or wrote the version, and by nobody without the right', async () => {
    await scene.carry(1)
    const asked = await scene.request(1)
    const { plan_hash } = asked.json as { plan_hash: string }
    expect(await scene.approve(plan_hash, scene.editor)).toMatchObject({
      status: 409,
      json: { code: 'approval_needs_another', reason: 'author' },
    })
    const viewer = await signIn(scene.ctx, { groups: ['viewer'] })
    expect((await scene.approve(plan_hash, viewer)).status).toBe(403)
    expect(await scene.approve('another')).toMatchObject({ json: { code: 'auto_apply_plan_changed' } })
    await newcomer('vm-4')
    expect(scene.agent('vm-4').offered()).toEqual([])
    expect((await scene.approve(plan_hash)).status).toBe(200)
    // What people wrote to each other is for those who may request changes.
    const commentsFor = async (as: SignedIn) =>
      ((await scene.on('GET', '', undefined, as)).json as AutoApplyState).in_force?.approvals.map(
        ({ comment }) => comment,
      )
    expect(await commentsFor(scene.editor)).toEqual(['yes'])
    expect(await commentsFor(viewer)).toEqual([''])
  })

  it('can be rejected with a comment and withdrawn, and another one can follow', async () => {
    await scene.carry(1)
    await scene.request(1)
    expect(await scene.request(1)).toMatchObject({ json: { code: 'auto_apply_requested_already' } })
    expect(await scene.on('POST', '/reject', {}, scene.approver)).toMatchObject({
      json: { code: 'comment_required' },
    })
    expect(await scene.on('POST', '/reject', { comment: 'no' }, scene.approver)).toMatchObject({
      status: 200,
      json: { status: 'rejected', close_comment: 'no' },
    })
    await scene.request(1)
    expect(await scene.on('POST', '/withdraw', {})).toMatchObject({ json: { status: 'withdrawn' } })
    expect(await scene.on('POST', '/withdraw', {})).toMatchObject({ json: { code: 'auto_apply_not_found' } })
  })

  it('is kept when it was withdrawn while it is one of the last twenty of whoever asked, so that nobody fills the disk by asking', async () => {
    await scene.carry(1)
    const end = async (how: string, by = scene.editor): Promise<string> => {
      const { id } = (await scene.request(1)).json as AutoApplyRecord
      await scene.ctx.advance(1_000)
      expect((await scene.on('POST', `/${how}`, { comment: 'no' }, by)).status).toBe(200)
      return id
    }
    const rejected = await end('reject', scene.approver)
    const approved = await end('withdraw')
    const ran = await end('withdraw')
    const set = (id: string, words: string) =>
      database.pool.execute(`update auto_applies set ${words} where id = $1`, [id])
    const byAnother = [{ by: '', byId: scene.approver.userId, at: '2026-01-01T00:00:00Z', comment: '' }]
    await set(approved, `approvals = '${JSON.stringify(byAnother)}'`)
    await set(ran, `status = 'ended', active_since = requested_at`)
    const oldest = await end('withdraw')
    const expired = await end('withdraw')
    await set(expired, `status = 'expired', closed_by = null`)
    await database.pool.execute(
      `insert into auto_applies select made.* from auto_applies c, generate_series(1, $2::int) n,
         jsonb_populate_record(c, jsonb_build_object('id', c.id || n, 'ended_at', c.ended_at + n * interval '1 ms')) made
       where c.id = $1`,
      [expired, ENDED_KEPT - 2],
    )
    const kept = async () => {
      const rows = await database.pool.query<{ id: string }>('select id from auto_applies')
      return [rejected, approved, ran, oldest, expired].map((id) => rows.some((row) => row.id === id))
    }
    await end('withdraw')
    expect(await kept()).toEqual([true, true, true, true, true])
    await end('withdraw')
    expect(await kept()).toEqual([true, true, true, false, true])
    await end('withdraw')
    expect(await kept()).toEqual([true, true, true, false, false])
  })

  it('ends when nobody decides about it', async () => {
    await scene.carry(1)
    await scene.request(1)
    await database.pool.execute(`update auto_applies set updated_at = updated_at - interval '15 days'`)
    await new AutoApply(scene.ctx.autoApply.parts).work(new AbortController().signal)
    expect((await scene.state()).request).toBeUndefined()
  })

  it('is the only way to another selector or priority while a version applies by itself', async () => {
    await scene.carry(1)
    await scene.apply(1)
    const path = `PUT /api/fleet-configs/${scene.configId}`
    const selector = { match_expressions: [{ key: 'identity/host.name', operator: 'In', values: ['vm-1'] }] }
    const before = (await scene.call(`GET /api/fleet-configs/${scene.configId}`)).json as object
    expect(await scene.call(path, { ...before, selector })).toMatchObject({
      status: 409,
      json: { code: 'auto_apply_in_force' },
    })
    expect(await scene.call(path, { ...before, name: 'Hosts two' })).toMatchObject({ status: 200 })
    await scene.apply(1, { selector, priority: 7 })
    expect(await scene.call(`GET /api/fleet-configs/${scene.configId}`)).toMatchObject({
      json: { selector, priority: 7, workload_count: 1 },
    })
  })

  it('is refused when its version was rolled back, and what is in force ends with the roll-back', async () => {
    const id = await scene.carry(1)
    await scene.apply(1)
    expect((await scene.call(`POST /api/campaigns/${id}/roll-back`, { comment: 'no' })).status).toBe(200)
    expect((await scene.state()).in_force).toBeUndefined()
    await newcomer('vm-4')
    expect(scene.agent('vm-4').offered()).toEqual([])
    expect(await scene.on('POST', '/plan', { number: 1 })).toMatchObject({
      status: 409,
      json: { code: 'auto_apply_rolled_back' },
    })
    // A version with another number that says the same counts as the version that was rolled back.
    await scene.write(2, { content: versionText(1) })
    expect(await scene.on('POST', '/plan', { number: 2 })).toMatchObject({
      json: { code: 'auto_apply_rolled_back' },
    })
    // One whose values were corrected is another version, which a campaign has to try out first.
    const table = { label: 'muster/site', rows: { paris: { site: 'corrected' } } }
    await scene.write(3, { content: versionText(1), table })
    expect(await scene.call(`GET /api/fleet-configs/${scene.configId}/versions/3`)).toMatchObject({
      json: { rolled_back: false },
    })
    expect((await scene.on('POST', '/plan', { number: 3 })).status).toBe(200)
  })

  it.each(['plan', 'approve', 'reject', 'withdraw', 'pause', 'continue', 'turn-off', ''])(
    'to %s is refused for a fleet config that is not there',
    async (step) => {
      const path = `POST /api/fleet-configs/019a0000-0000-7000-8000-000000000000/auto-apply${step && `/${step}`}`
      const body = { number: 1, comment: 'x', plan_hash: 'x' }
      expect(await invoke(scene.ctx, path, { as: scene.approver.token, body })).toMatchObject({
        status: 404,
        json: { code: 'fleet_config_not_found' },
      })
    },
  )
})

describe('a fleet config', () => {
  const read = async <T>(path: string) =>
    (await scene.call(`GET /api/fleet-configs/${scene.configId}${path}`)).json as T
  const runs = async () =>
    (await read<FleetConfigWorkload[]>('/workloads')).map(({ place, version }) => [place, version])

  it('says which version each host runs, though every host has values of its own in the text', async () => {
    expect((await runs()).map(([, version]) => version)).toEqual([undefined, undefined, undefined])
    await scene.carry(1)
    await scene.apply(1)
    await newcomer('vm-4')
    expect((await runs()).sort()).toEqual(['vm-1', 'vm-2', 'vm-3', 'vm-4'].map((host) => [host, 1]))
  })

  it('marks the versions whose text was taken back', async () => {
    const marks = async () =>
      (await read<FleetConfigVersion[]>('/versions')).map(({ number, rolled_back }) => [number, rolled_back])
    const id = await scene.carry(1)
    await scene.write(2)
    expect(await marks()).toEqual([
      [2, false],
      [1, false],
    ])
    await scene.call(`POST /api/campaigns/${id}/roll-back`, { comment: 'no' })
    await scene.write(3, { content: versionText(1) })
    expect(await marks()).toEqual([
      [3, true],
      [2, false],
      [1, true],
    ])
    expect(await read('/versions/1')).toMatchObject({ rolled_back: true })
  })
})

describe('what is in force', () => {
  beforeEach(async () => {
    await scene.carry(1)
    await scene.apply(1)
  })

  it('can be paused and continued, and turned off', async () => {
    await scene.on('POST', '/pause', {})
    await newcomer('vm-4')
    expect(scene.agent('vm-4').offered()).toEqual([])
    expect(await scene.on('POST', '/continue', {})).toMatchObject({ json: { status: 'active' } })
    for (let n = 0; n < 3; n++) await scene.work(500)
    expect(scene.runs('vm-4')).toBe(hashOn(1, 'vm-4'))
    expect(await scene.on('POST', '/turn-off', { comment: 'enough' })).toMatchObject({
      json: { status: 'ended', end_cause: 'turned_off' },
    })
    await newcomer('vm-5')
    expect(scene.agent('vm-5').offered()).toEqual([])
  })

  it('stops after three failures in a row, says of what, and goes on when somebody says why', async () => {
    for (const n of [4, 5, 6]) {
      await newcomer(`vm-${n}`)
      scene.agent(`vm-${n}`).fail('no such processor')
      await scene.ctx.advance(1_000)
      await scene.work(1_000)
    }
    await scene.work(1_000)
    const { in_force: held } = await scene.state()
    expect(held).toMatchObject({
      status: 'held',
      hold: { gate: 'failed_in_a_row', value: 3, limit: 3 },
      counts: { failed: 3 },
    })
    await newcomer('vm-7')
    expect(scene.agent('vm-7').offered()).toEqual([])
    expect(await scene.on('POST', '/continue', {})).toMatchObject({ json: { code: 'comment_required' } })
    await scene.on('POST', '/continue', { comment: 'mended' })
    for (let n = 0; n < 3; n++) await scene.work(500)
    expect(scene.runs('vm-7')).toBe(hashOn(1, 'vm-7'))
    expect((await scene.state()).in_force!.status).toBe('active')
  })

  it('stops over ten failures in an hour, however many go well between them', async () => {
    for (let n = 0; n < 24; n++) {
      await newcomer(`vm-new-${n}`)
      if (n % 2 === 0) scene.agent(`vm-new-${n}`).fail('no such processor')
      else scene.agent(`vm-new-${n}`).apply()
      await scene.ctx.advance(500)
      await scene.work(500)
      if ((await scene.state()).in_force!.status === 'held') break
    }
    expect((await scene.state()).in_force).toMatchObject({
      status: 'held',
      hold: { gate: 'failed_in_an_hour', value: 11, limit: 10 },
    })
  })

  it('stops when whoever approved it may not any more', async () => {
    await database.pool.execute('delete from user_groups where user_id = $1', [scene.approver.userId])
    await scene.work(6_000)
    const hold = { gate: 'approver_gone', value: 1, approvers: [scene.approver.email] }
    expect((await scene.state()).in_force).toMatchObject({ status: 'held', hold })
    await newcomer('vm-4')
    expect(scene.agent('vm-4').offered()).toEqual([])
    expect(await scene.on('POST', '/continue', { comment: 'please' })).toMatchObject({
      status: 409,
      json: { code: 'auto_apply_lapsed', reason: 'approver_gone' },
    })
  })

  it('ends with its fleet config, and what it did is kept', async () => {
    await newcomer('vm-4')
    for (const { workloadId } of scene.agents.values())
      await database.pool.execute('delete from workloads where id = $1', [workloadId])
    await scene.ctx.close()
    const rows = await database.pool.query('select workload_name from auto_apply_targets')
    expect(rows).toEqual([{ workload_name: 'edge' }])
  })

  it('is told to browsers in counts, never in lists', async () => {
    await newcomer('vm-4')
    const frames = scene.ctx.frames.filter((frame) => frame.type === 'auto_apply_update')
    expect(frames.at(-1)).toMatchObject({
      auto_apply: { fleet_config_id: scene.configId, status: 'active', number: 1, counts: { started: 1 } },
    })
    expect(JSON.stringify(frames)).not.toContain(scene.agent('vm-4').workloadId)
  })
})

it('stops after three newcomers in a row that said APPLIED and FAILED of it since', async () => {
  await scene.carry(1)
  await scene.apply(1)
  const hosts = Array.from({ length: 8 }, (_, n) => `vm-n${n}`)
  for (const host of hosts) {
    const agent = scene.connect(host)
    await scene.work(3_000)
    if (agent.offered().length === 0) continue
    agent.apply()
    await scene.work(3_000)
    agent.fail('dies of it')
    await scene.work(6_000)
  }
  expect(hosts.filter((host) => scene.agent(host).offered().length > 0)).toHaveLength(3)
  expect((await scene.state()).in_force).toMatchObject({ status: 'held' })
})
