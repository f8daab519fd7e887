import { expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { configHash } from '../../lib/model/config-hash.ts'
import type { ApprovalRecord } from '../../lib/wire/approvals.ts'
import type { HubFrame } from '../../lib/wire/hub.ts'
import type { LiveInstance } from '../../lib/wire/instances.ts'
import type { RevisionRecord } from '../../lib/wire/revisions.ts'
import type { WorkloadRecord } from '../../lib/wire/workloads.ts'
import { DEFAULT_CONFIG, startSimulatedAgent } from '../../runtime/quickstart/simulated-agent.ts'
import { eventually } from '../support/eventually.ts'
import { readFrame } from '../support/frames.ts'
import { useTestDatabase } from '../support/postgres.ts'
import { useTestService } from '../support/service.ts'

const database = await useTestDatabase()

it('an approved draft reaches a collector, browsers watch it, and one that fails is rolled back', async () => {
  const running = await useTestService(database)
  const [editor, approver] = [await running.token({ groups: ['editor'] }), await running.token()]
  const frames: HubFrame[] = []
  const socket = new WebSocket(`${running.url.replace('http', 'ws')}/ws`, {
    headers: { authorization: `Bearer ${editor}` },
  })
  socket.on('message', (data: Buffer) => void frames.push(readFrame(data)))
  await new Promise((resolve) => void socket.once('open', resolve))
  const agent = startSimulatedAgent({
    url: `ws://${running.opampUrl}`,
    reconnectMs: 50,
    identifying: { 'service.name': 'otelcol', 'service.version': '0.149.0' },
    nonIdentifying: { 'host.name': 'vm-1' },
    behaviour: { kind: 'apply', delayMs: 5 },
  })
  const read = async <T>(path: string) => (await running.call('GET', path, { as: editor })).json as T
  const [workload] = await eventually('it is there', async () => {
    const list = await read<WorkloadRecord[]>('/api/workloads')
    return list[0]?.connected_instance_count === 1 && list[0].accepts_remote_config && list
  })
  const base = `/api/workloads/${workload!.id}`

  const push = async (draft: string) => {
    const as = (token: string, path: string, body: object) => running.call('POST', path, { as: token, body })
    const asked = await as(editor, `${base}/config/approvals`, { draft_yaml: draft, comment: 'please' })
    expect(asked.status).toBe(201)
    const one = `${base}/config/approvals/${(asked.json as ApprovalRecord).id}`
    expect(await as(approver, `${one}/approve`, { comment: 'fine' })).toMatchObject({ status: 200 })
    expect(await as(editor, `${one}/push`, { comment: 'go' })).toMatchObject({ status: 202 })
  }
  const newest = (fits: (revision: RevisionRecord) => boolean) =>
    eventually('the newest revision fits', async () => {
      const revisions = await read<RevisionRecord[]>(`${base}/configs`)
      return revisions[0] !== undefined && fits(revisions[0]) && revisions
    })

  await push(DEFAULT_CONFIG)
  await newest((revision) => revision.status === 'applied')
  const good = configHash(DEFAULT_CONFIG)
  expect(await read<LiveInstance[]>(`${base}/instances`)).toMatchObject([
    { effective_config_hash: good, assigned_config_hash: good, remote_config_status: { status: 'applied' } },
  ])

  // The service does not know the environment variables of a host, so its checks pass this config; the collector finds
  // none and fails.
  const bad = DEFAULT_CONFIG.replace('exporters: [debug]', "exporters: [debug, '${env:SECOND_EXPORTER}']")
  expect(bad).not.toBe(DEFAULT_CONFIG)
  await push(bad)
  const [rollback, failed] = await newest(
    (revision) => revision.pushed_by === 'auto-rollback' && revision.status === 'applied',
  )
  expect(rollback).toMatchObject({ config_hash: good, failed_config_hash: configHash(bad), is_current: true })
  expect(failed).toMatchObject({ status: 'failed', failed_count: 1 })
  expect(failed!.error_groups).toHaveLength(1)
  const told = await eventually('browsers are told of the rollback', () =>
    frames.find((frame) => frame.type === 'auto_rollback_applied'),
  )
  expect(told).toMatchObject({
    from_hash: configHash(bad),
    to_hash: good,
    target_kind: 'previous',
    push_id: rollback!.push_id,
  })
  for (const type of ['workload_update', 'approval_update', 'push_update', 'workload_config_status'])
    expect(frames.map((frame) => frame.type)).toContain(type)
  expect(JSON.stringify(frames)).not.toContain('receivers:')

  await agent.stop()
  socket.close()
})
