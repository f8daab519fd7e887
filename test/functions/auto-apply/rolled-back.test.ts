import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { configHash } from '../../../lib/model/config-hash.ts'
import { storeSetting } from '../../../lib/store/settings.ts'
import type { AutoApplyTarget } from '../../../lib/wire/auto-apply.ts'
import { AutoApplyScene, hashOn, versionText } from '../../support/auto-apply-scene.ts'
import { invoke, makeApiToken } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

const database = await useTestDatabase()
let scene: AutoApplyScene

beforeEach(async () => {
  scene = await AutoApplyScene.open(database)
})
afterEach(() => scene.ctx.close())

const keptOf = async (id: string) => (await scene.readCampaign(id)).by_itself

describe('a version that is rolled back after it applied by itself', () => {
  it('stays in force, and on its hosts, when the campaign of a version with the same text and other values is rolled back', async () => {
    const id = await scene.carry(1)
    const table = { label: 'muster/site', rows: { paris: { site: 'corrected' } } }
    await scene.write(2, { content: versionText(1), table })
    for (const host of ['vm-1', 'vm-2', 'vm-3']) await scene.label(host, { site: 'paris' })
    await scene.carry(2)
    await scene.apply(2)
    // A host that came later: version 2 by itself, and it never ran version 1.
    scene.connect('vm-4')
    await scene.ctx.advance(300)
    for (let n = 0; n < 3; n++) await scene.work(500)
    await scene.applyAll(['vm-4'])
    await scene.work(1_000)
    const byItself = (await scene.readCampaign(id)).by_itself
    expect((await scene.call(`POST /api/campaigns/${id}/roll-back`, { comment: 'no' })).status).toBe(200)
    const marked = (await scene.call(`GET /api/fleet-configs/${scene.configId}/versions/2`)).json
    expect({ marked, byItself, inForce: (await scene.state()).in_force?.number }).toMatchObject({
      marked: { rolled_back: false },
      byItself: undefined,
      inForce: 2,
    })
  })

  it('is marked by what would be pushed: other words about it, other comments and another layout make no other version', async () => {
    const id = await scene.carry(1)
    const site = { name: 'site', label: 'identity/host.name', pattern: '[a-z0-9-]+' }
    const content = versionText(1)
    const unused = { name: 'unused', default: 'x' }
    // The same again: described, commented, laid out in another way, or with a variable that the text has not.
    await scene.write(2, { variables: [{ ...site, description: 'Where it stands.' }], content })
    await scene.write(3, { content: `# The same again.\n${content}` })
    await scene.write(4, { content: content.replace(/: \[(.*)\]$/m, ':   [ $1 ] # laid out') })
    await scene.write(5, { content, variables: [unused, site] })
    // Something else: a place that is no text, a pattern, another default, another text.
    await scene.write(6, { content: `${content}\n`.replace(/\$\{muster:site\}/, `\${muster:site}x`) })
    await scene.write(7, { content, variables: [{ ...site, pattern: '[a-z]+' }] })
    await scene.write(8, { content, variables: [{ ...site, default: 'elsewhere' }] })
    await scene.write(9, { content, table: { label: 'muster/site', rows: { paris: { site: 'x' } } } })
    expect((await scene.call(`POST /api/campaigns/${id}/roll-back`, { comment: 'no' })).status).toBe(200)
    const { json } = await scene.call(`GET /api/fleet-configs/${scene.configId}/versions?limit=20`)
    const marked = (json as { number: number; rolled_back: boolean }[]).filter((one) => one.rolled_back)
    expect(marked.map(({ number }) => number).sort()).toEqual([1, 2, 3, 4, 5])
    const refused = await scene.on('POST', '/plan', { number: 3 })
    expect(refused).toMatchObject({ status: 409, json: { code: 'auto_apply_rolled_back' } })
  })

  it('names the newcomers that got it and for whom there is no way back, until they run something else', async () => {
    const id = await scene.carry(1)
    expect(await keptOf(id)).toBeUndefined()
    await scene.apply(1)
    scene.connect('vm-4')
    await scene.ctx.advance(300)
    for (let n = 0; n < 3; n++) await scene.work(500)
    await scene.applyAll(['vm-4'])
    await scene.work(1_000)
    const kept = {
      count: 1,
      without_base: 1,
      workloads: [
        {
          workload_id: scene.agent('vm-4').workloadId,
          workload_name: 'edge',
          workload_place: 'vm-4',
          is_newcomer: true,
          has_base: false,
        },
      ],
    }
    // Before the roll-back it is said whom that does not reach.
    expect(await keptOf(id)).toEqual(kept)
    expect((await scene.call(`POST /api/campaigns/${id}/roll-back`, { comment: 'no' })).status).toBe(200)
    for (let n = 0; n < 3; n++) await scene.work(1_000)
    expect(await scene.readCampaign(id)).toMatchObject({
      status: 'rolled_back',
      by_itself: { ...kept, workloads: [{ ...kept.workloads[0], state: 'no_way_back' }] },
      by_itself_counts: { no_way_back: 1 },
    })
    expect(scene.runs('vm-4')).toBe(hashOn(1, 'vm-4'))
    await scene.write(2)
    await scene.carry(2)
    expect(scene.runs('vm-4')).toBe(hashOn(2, 'vm-4'))
    expect(await keptOf(id)).toBeUndefined()
  })

  it('names whom it brought on from an older version, and nobody whom the campaign itself changed', async () => {
    await scene.carry(1)
    await scene.write(2)
    const id = await scene.carry(2, { scope: { workload_ids: [scene.agent('vm-1').workloadId] } })
    await scene.apply(2)
    for (let n = 0; n < 3; n++) await scene.work(16_000)
    await scene.applyAll()
    await scene.work(1_000)
    const { count, workloads } = (await keptOf(id))!
    expect(count).toBe(2)
    expect(workloads.map(({ workload_place }) => workload_place).sort()).toEqual(['vm-2', 'vm-3'])
    expect(workloads).toMatchObject([
      { is_newcomer: false, has_base: true },
      { is_newcomer: false, has_base: true },
    ])
  })

  /** All three run version 1; version 2 came to vm-1 by a campaign, and to the others by itself. Answers the campaign. */
  async function bringBoth(): Promise<string> {
    await scene.carry(1)
    await scene.write(2)
    const id = await scene.carry(2, {
      scope: { workload_ids: [scene.agent('vm-1').workloadId] },
      catch_up_seconds: 3_600,
    })
    await scene.apply(2)
    for (let n = 0; n < 3; n++) await scene.work(16_000)
    return id
  }

  const rollBack = async (id: string) =>
    expect((await scene.call(`POST /api/campaigns/${id}/roll-back`, { comment: 'no' })).status).toBe(200)

  const takenBack = async (id: string) => {
    const rows = (await scene.on('GET', `/targets?rolled_back_by=${id}`)).json as AutoApplyTarget[]
    return rows.sort((a, b) => (a.workload_place! < b.workload_place! ? -1 : 1))
  }

  it('is taken back by no token where what came by itself would stay, once two have to approve what one did', async () => {
    const id = await bringBoth()
    await scene.applyAll()
    await scene.work(1_000)
    // Of the campaign's own workload nothing is left to take back.
    await database.pool.execute(`update campaign_targets set state = 'moved_on' where campaign_id = $1`, [id])
    const two = { approvals: 2, authorCounts: false, validHours: null }
    const policy = { production: two, other: two, unlabelled: two }
    const updated = { updatedAt: scene.ctx.clock.now(), updatedBy: '' }
    await storeSetting(database.pool, 'approval_policy', {
      value: JSON.stringify({ policy, pending: null }),
      ...updated,
    })
    const { token } = await makeApiToken(scene.ctx, scene.editor, ['workload:push_config'])
    const back = (as: string) =>
      invoke(scene.ctx, `POST /api/campaigns/${id}/roll-back`, { as, body: { comment: 'no' } })
    const name = scene.ctx.fleet.workload(scene.agent('vm-2').workloadId)!.displayName
    expect(await back(token)).toMatchObject({
      status: 409,
      json: { code: 'campaign_approved_for_less', workload: name },
    })
    await database.pool.execute(`delete from settings where name = 'approval_policy'`)
    expect((await back(token)).status).toBe(200)
  })

  it('gives whom it was brought to by itself what they ran before, too, and ends once they have ended', async () => {
    const id = await bringBoth()
    await scene.applyAll(['vm-2'])
    await scene.work(1_000)
    // The push to vm-3 is still open: it ends, and is taken back then.
    expect((await scene.targets()).map(({ state }) => state).sort()).toEqual(['applied', 'started'])
    await rollBack(id)
    await scene.work(1_000)
    await scene.applyAll(['vm-1'])
    await scene.work(1_000)
    expect(scene.runs('vm-2')).toBe(hashOn(1, 'vm-2'))
    expect(await scene.readCampaign(id)).toMatchObject({ status: 'rolling_back' })
    await scene.applyAll(['vm-2', 'vm-3'])
    for (let n = 0; n < 3; n++) {
      await scene.work(3_000)
      await scene.applyAll(['vm-3'])
    }
    await scene.work(1_000)
    expect(scene.runs('vm-3')).toBe(hashOn(1, 'vm-3'))
    const after = await scene.readCampaign(id)
    expect(after).toMatchObject({ status: 'rolled_back', by_itself_counts: { rolled_back: 2 } })
    expect(after.by_itself).toBeUndefined()
    const rows = await takenBack(id)
    expect(rows).toMatchObject([
      { workload_place: 'vm-2', state: 'rolled_back', rolled_back_by: id },
      { workload_place: 'vm-3', state: 'rolled_back', rolled_back_by: id },
    ])
    const audited = await database.pool.query<{ config_hash: string; detail: string; workload: string }>(
      `select config_hash, detail, resource_id as workload from audit_events where action = 'campaign.roll_back'
       and email = $1`,
      [scene.editor.email],
    )
    for (const { rollback_push_id, workload_id, base_hash } of rows)
      expect(audited).toContainEqual({
        workload: workload_id,
        config_hash: base_hash,
        detail: JSON.stringify({ campaign_id: id, push_id: rollback_push_id }),
      })
    // Whoever was taken back gets no later version by itself.
    await scene.write(3)
    expect((await scene.plan(3)).plan.left_out).toEqual({ campaign_rolled_back: 3 })
  })

  it('names who is away for too long and who refuses what he had, each with its cause', async () => {
    const id = await bringBoth()
    await scene.applyAll()
    await scene.work(1_000)
    scene.agent('vm-3').goodbye()
    await scene.ctx.advance(1_000)
    await rollBack(id)
    await scene.work(1_000)
    scene.agent('vm-2').fail('bind: address already in use')
    await scene.applyAll(['vm-1'])
    for (let n = 0; n < 3; n++) await scene.work(2_000)
    expect(await scene.readCampaign(id)).toMatchObject({ status: 'rolling_back' })
    expect(await takenBack(id)).toMatchObject([{ state: 'rollback_failed' }, { state: 'applied' }])
    await scene.ctx.advance(3_600_000)
    for (let n = 0; n < 3; n++) await scene.work(3_000)
    expect(await takenBack(id)).toMatchObject([
      { state: 'rollback_failed', cause: 'port_in_use', rollback_push_id: expect.any(String) },
      { state: 'rollback_failed', cause: 'offline' },
    ])
    const after = await scene.readCampaign(id)
    expect(after).toMatchObject({ status: 'rolled_back', by_itself_counts: { rollback_failed: 2 } })
    expect(after.by_itself?.workloads).toContainEqual(
      expect.objectContaining({ workload_place: 'vm-3', state: 'rollback_failed', cause: 'offline' }),
    )
  })

  /** Let a roll-back go on to its end, and each host apply what it is offered. */
  const carryBack = async (id: string) => {
    await rollBack(id)
    for (let n = 0; n < 4; n++) {
      await scene.work(2_000)
      await scene.applyAll()
    }
    await scene.work(1_000)
    expect(await scene.readCampaign(id)).toMatchObject({ status: 'rolled_back' })
  }
  const ran = (number: number) => ['vm-1', 'vm-2', 'vm-3'].map((host) => hashOn(number, host))
  const run = () => ['vm-1', 'vm-2', 'vm-3'].map((host) => scene.runs(host))

  it('gives them what ran before an older campaign that was taken back while they ran the version', async () => {
    await scene.carry(1)
    await scene.write(2)
    const older = await scene.carry(2)
    await scene.write(3)
    const newer = await scene.carry(3, { scope: { workload_ids: [scene.agent('vm-1').workloadId] } })
    await scene.apply(3)
    for (let n = 0; n < 3; n++) await scene.work(16_000)
    await scene.applyAll()
    await scene.work(1_000)
    expect(run()).toEqual(ran(3))
    await carryBack(older)
    expect(run()).toEqual(ran(3))
    await carryBack(newer)
    expect(run()).toEqual(ran(1))
  })

  it('is gone past by the roll-back of a newer campaign where it was taken back while that was there', async () => {
    const older = await bringBoth()
    await scene.applyAll()
    await scene.work(1_000)
    expect(run()).toEqual(ran(2))
    await scene.write(3)
    const newer = await scene.carry(3)
    await carryBack(older)
    expect(await takenBack(older)).toMatchObject([{ state: 'moved_on' }, { state: 'moved_on' }])
    await carryBack(newer)
    expect(run()).toEqual(ran(1))
  })

  it('leaves alone whoever runs something else by then', async () => {
    const id = await bringBoth()
    await scene.applyAll()
    await scene.work(1_000)
    await pushConfig(scene.ctx.fleet, scene.agent('vm-2').workloadId, configYaml(9))
    await scene.applyAll()
    await scene.work(1_000)
    await rollBack(id)
    for (let n = 0; n < 3; n++) {
      await scene.work(2_000)
      await scene.applyAll()
    }
    await scene.work(1_000)
    expect(await scene.readCampaign(id)).toMatchObject({ status: 'rolled_back' })
    expect(await takenBack(id)).toMatchObject([{ state: 'moved_on' }, { state: 'rolled_back' }])
    expect(scene.runs('vm-2')).toBe(configHash(configYaml(9)))
  })

  it('is not counted where somebody else brought the same again, and stays there', async () => {
    const id = await bringBoth()
    await scene.applyAll()
    await scene.work(1_000)
    for (const yaml of [configYaml(9), configYaml(2).replace('127.0.0.1', 'vm-2')]) {
      await pushConfig(scene.ctx.fleet, scene.agent('vm-2').workloadId, yaml)
      await scene.applyAll()
      await scene.work(1_000)
    }
    expect(scene.runs('vm-2')).toBe(hashOn(2, 'vm-2'))
    expect(await keptOf(id)).toMatchObject({ count: 1, workloads: [{ workload_place: 'vm-3' }] })
    await rollBack(id)
    for (let n = 0; n < 3; n++) {
      await scene.work(2_000)
      await scene.applyAll()
    }
    await scene.work(1_000)
    expect(await takenBack(id)).toMatchObject([{ state: 'moved_on' }, { state: 'rolled_back' }])
    expect(scene.runs('vm-2')).toBe(hashOn(2, 'vm-2'))
    expect((await scene.readCampaign(id)).by_itself).toBeUndefined()
  })

  it('is taken back only within the scopes that the campaign is cut to', async () => {
    const id = await bringBoth()
    await scene.applyAll()
    await scene.work(1_000)
    await scene.label('vm-3', { env: 'staging' })
    await database.pool.execute(
      `update campaigns set scope = scope || '{"cut_to": [{"key": "muster/env", "values": ["staging"]}]}' where id = $1`,
      [id],
    )
    expect(await keptOf(id)).toMatchObject({ count: 2, in_cut: { count: 1, without_base: 0 } })
    await rollBack(id)
    for (let n = 0; n < 3; n++) {
      await scene.work(2_000)
      await scene.applyAll()
    }
    await scene.work(1_000)
    expect(scene.runs('vm-2')).toBe(hashOn(2, 'vm-2'))
    expect(scene.runs('vm-3')).toBe(hashOn(1, 'vm-3'))
    expect(await scene.readCampaign(id)).toMatchObject({
      status: 'rolled_back',
      by_itself: { count: 1, without_base: 0, workloads: [{ workload_place: 'vm-2' }] },
    })
  })

  it('is taken back by the roll-back that is about where it is by now, where an older one had left it alone as it had left its scopes', async () => {
    await scene.carry(1)
    await scene.write(2)
    const to = (host: string) => scene.carry(2, { scope: { workload_ids: [scene.agent(host).workloadId] } })
    const [older, newer] = [await to('vm-1'), await to('vm-2')]
    await scene.apply(2)
    const settle = async () => {
      for (let n = 0; n < 3; n++) {
        await scene.work(16_000)
        await scene.applyAll()
      }
      await scene.work(1_000)
    }
    await settle()
    await scene.label('vm-3', { env: 'staging' })
    await cut(older)
    await rollBack(older)
    await scene.label('vm-3', { env: 'live' })
    await settle()
    expect(await scene.readCampaign(older)).toMatchObject({ status: 'rolled_back' })
    expect(await takenBack(older)).toEqual([])
    expect(scene.runs('vm-3')).toBe(hashOn(2, 'vm-3'))
    await rollBack(newer)
    await settle()
    expect(await takenBack(newer)).toMatchObject([{ workload_place: 'vm-3', state: 'rolled_back' }])
    expect(scene.runs('vm-3')).toBe(hashOn(1, 'vm-3'))
  })

  const STAGING = [{ key: 'muster/env', values: ['staging'] }]
  /** Let a campaign be one of somebody who may push in staging only. */
  const cut = (id: string) =>
    database.pool.execute(
      `update campaigns set scope = scope || jsonb_build_object('cut_to', $2::jsonb) where id = $1`,
      [id, JSON.stringify(STAGING)],
    )
  const come = async (host: string, labels: Record<string, string> | null) => {
    scene.connect(host)
    await scene.ctx.advance(300)
    if (labels !== null) await scene.label(host, labels)
    for (let n = 0; n < 3; n++) await scene.work(500)
    await scene.applyAll([host])
    await scene.work(16_000)
  }

  it('stops applying by itself within the scopes of a roll-back that is cut to them, and nowhere else', async () => {
    const id = await scene.carry(1)
    await scene.apply(1)
    await scene.label('vm-3', { env: 'staging' })
    await cut(id)
    await rollBack(id)
    for (let n = 0; n < 3; n++) {
      await scene.work(2_000)
      await scene.applyAll()
    }
    // Whoever may push in staging only neither ends nor changes what others approved for elsewhere.
    expect((await scene.state()).in_force).toMatchObject({ status: 'active', number: 1 })
    await come('vm-4', { env: 'live' })
    expect(scene.runs('vm-4')).toBe(hashOn(1, 'vm-4'))
  })

  it('reaches no newcomer of those scopes, whoever asks for it again', async () => {
    const id = await scene.carry(1, { scope: { workload_ids: [scene.agent('vm-1').workloadId] } })
    await scene.carry(1, { scope: { workload_ids: [scene.agent('vm-2').workloadId] } })
    await cut(id)
    await rollBack(id)
    await scene.work(2_000)
    await scene.apply(1)
    scene.connect('vm-5')
    await scene.label('vm-5', { env: 'staging' })
    await scene.ctx.advance(300)
    for (let n = 0; n < 3; n++) await scene.work(16_000)
    expect(scene.agent('vm-5').offered()).toEqual([])
    expect(await scene.leftOut()).toMatchObject({ 'vm-5': 'campaign_rolled_back' })
  })

  it('ends where nothing of what it reaches lies outside of those scopes', async () => {
    const id = await scene.carry(1)
    await scene.label('vm-3', { env: 'staging' })
    const selector = { match_expressions: [{ key: 'muster/env', operator: 'In', values: ['staging'] }] }
    await scene.apply(1, { selector })
    await cut(id)
    await rollBack(id)
    expect((await scene.state()).in_force).toBeUndefined()
  })
})
