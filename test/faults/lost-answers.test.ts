import { once } from 'node:events'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { configHash } from '../../lib/model/config-hash.ts'
import type { HubFrame } from '../../lib/wire/hub.ts'
import { eventually } from '../support/eventually.ts'
import { readFrame } from '../support/frames.ts'
import { KillableFleet } from './support/killable-fleet.ts'
import { runnableConfig } from './support/supervised-agents.ts'

// The answer to a commit is lost with its connection: the change stands, but the service does not know. The caller is
// answered that the database was away; yet pages must show what is stored soon, and not only after the next restart.

const AGENTS = 3
let fleet: KillableFleet
/** The frames that a browser was sent. */
const frames: HubFrame[] = []
let browser: WebSocket

beforeAll(async () => {
  fleet = await KillableFleet.start(AGENTS, {
    MIN_AGENT_VERSION: '99.0.0',
    WORKLOAD_DISCONNECT_GRACE_SECONDS: '2',
  })
  const { api, url } = fleet.service
  const { body } = await api.call('POST', '/api/auth/login', {
    email: 'admin@example.com',
    password: 'correct horse battery',
  })
  browser = new WebSocket(`${url.replace('http', 'ws')}/ws?token=${body.token}`)
  browser.on('message', (data: Buffer) => void frames.push(readFrame(data)))
  await once(browser, 'open')
})
afterAll(async () => {
  browser?.terminate()
  await fleet?.end()
})

const record = async () => (await fleet.call('GET')).body

/** Make a change and lose the answer to its commit. */
async function losing(name: string, change: () => Promise<{ status: number }>): Promise<void> {
  frames.length = 0
  fleet.loseAnswer(name)
  expect((await change()).status).toBe(503)
}

/** Wait until the API shows what is stored, and browsers are told to fetch again. */
async function untilShown(what: string, isShown: () => Promise<boolean>): Promise<void> {
  await eventually(what, isShown)
  await eventually('browsers are told to fetch', async () => frames.some(({ type }) => type === 'resync'))
}

test('a request is counted, and its approval is', async () => {
  await losing('approval.request', () => fleet.request(runnableConfig('asked for')))
  await untilShown('it waits', async () => (await record()).waiting_approval_count === 1)
  const { body } = await fleet.call('GET', '/config/approvals')
  await losing('approval.approve', () => fleet.approve(body[0].id))
  await untilShown('it waits no more', async () => (await record()).waiting_approval_count === 0)
})

test('an alert that fired is counted, and one that was resolved is not', async () => {
  frames.length = 0
  fleet.loseAnswer('alerts.look')
  await untilShown('it is open', async () => (await record()).open_alert_count === 1)
  const [alert] = await fleet.service.api.get('/api/alerts')
  await losing('alert.resolve', () => fleet.service.api.call('POST', `/api/alerts/${alert.id}/resolve`))
  await untilShown('none is open', async () => (await record()).open_alert_count === 0)
})

test('what operators set on a workload is what is shown', async () => {
  await losing('known-good.mark', () => fleet.post(`/configs/${fleet.firstHash}/known-good`, {}))
  await untilShown(
    'it is pinned',
    async () => (await fleet.call('GET', '/configs')).body[0].is_last_known_good,
  )
  await losing('revision.label', () =>
    fleet.post(`/configs/${fleet.firstHash}/label`, { label: 'the good one' }),
  )
  await untilShown(
    'it has its label',
    async () => (await fleet.call('GET', '/configs')).body[0].label === 'the good one',
  )
  await losing('workload.trusted-labels', () =>
    fleet.call('PUT', '/trusted-labels', { labels: { 'selector.team': 'checkout' } }),
  )
  await untilShown(
    'it has its labels',
    async () => (await record()).labels['muster/selector.team'] === 'checkout',
  )
})

test('a rollout that was aborted goes no further', async () => {
  const yaml = runnableConfig('aborted')
  const stages = [{ count: 1, dwell_seconds: 3_600 }, { percentage: 100 }]
  expect((await fleet.push(await fleet.approved(yaml), stages)).status).toBe(202)
  const rollout = async () => (await fleet.call('GET', '/config/canary')).body[0]
  const { id } = await rollout()
  await losing('rollout.abort', () => fleet.post(`/config/canary/${id}/abort`))
  await eventually('it is aborted', async () => (await record()).current_config_push.phase === 'aborted')
  expect((await rollout()).status).toBe('aborted')
  expect((await fleet.post(`/config/canary/${id}/abort`)).body).toMatchObject({ code: 'rollout_ended' })
})

test('a workload that was deleted while it lives comes again as a new one', async () => {
  await losing('workload.delete', () => fleet.call('DELETE'))
  await eventually('it is there without its config', async () => {
    const [workload] = await fleet.service.api.get('/api/workloads')
    return workload?.connected_instance_count === AGENTS && workload.active_config_hash === undefined
  })
  fleet.follow((await fleet.service.api.get('/api/workloads'))[0].id)
  const yaml = runnableConfig('to the new one')
  expect((await fleet.push(await fleet.approved(yaml))).status).toBe(202)
  await fleet.untilSettled(configHash(yaml))
})

test('a workload that was archived is out of the list, and one that was deleted is gone', async () => {
  fleet.agents.end()
  await eventually('it is disconnected', async () => (await record()).status === 'disconnected')
  const listed = async (query = '') => (await fleet.service.api.get(`/api/workloads${query}`)).length
  await losing('workload.archive', () => fleet.post('/archive'))
  await untilShown('it is archived', async () => (await listed()) === 0)
  expect(await listed('?include_archived=true')).toBe(1)
  await losing('workload.delete', () => fleet.call('DELETE'))
  await untilShown('it is gone', async () => (await listed('?include_archived=true')) === 0)
  expect(frames).toContainEqual(expect.objectContaining({ type: 'workload_removed' }))
})
