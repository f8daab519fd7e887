import { createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { findFreePort } from '../../../runtime/quickstart/ports.ts'
import { eventually } from '../../support/eventually.ts'
import { listChildren } from '../support/processes.ts'
import { type Service, startService } from '../support/service.ts'
import {
  type Collector,
  makeConfig,
  startPod,
  startSupervised,
  startUnsupervised,
  takesTraces,
} from './collectors.ts'

interface Workload {
  id: string
  display_name: string
  type: string
  status: string
  version: string
  fingerprint_source: string
  fingerprint_keys: Record<string, string>
  accepts_remote_config: boolean
  active_config_hash?: string
  available_components?: { components: Record<string, string[]> }
}

interface Instance {
  instance_uid: string
  pod_name?: string
  healthy: boolean
  effective_config_hash?: string
}

interface Revision {
  config_hash: string
  status: string
  pushed_by: string
}

let service: Service
const collectors: Collector[] = []

/** Note a collector, so that it is stopped after the test however that ends. */
async function keep(starting: Promise<Collector>): Promise<Collector> {
  const collector = await starting
  collectors.push(collector)
  return collector
}

const said = () =>
  [service.output().slice(-4_000), ...collectors.map(({ process }) => process.output().slice(-3_000))].join(
    '\n=====\n',
  )

function findWorkload(what: string, fits: (workload: Workload) => boolean): Promise<Workload> {
  return eventually(
    what,
    async () => ((await service.api.get('/api/workloads')) as Workload[]).find((workload) => fits(workload)),
    { explain: said },
  )
}

const instancesOf = (id: string): Promise<Instance[]> => service.api.get(`/api/workloads/${id}/instances`)
const revisionsOf = (id: string): Promise<Revision[]> => service.api.get(`/api/workloads/${id}/configs`)
const workloadOf = (id: string): Promise<Workload> => service.api.get(`/api/workloads/${id}`)

/** Wait until every one of `count` instances has applied a config and is healthy. */
function allRun(id: string, hash: string, count: number): Promise<Instance[]> {
  return eventually(
    `${count} instances run ${hash}`,
    async () => {
      const instances = await instancesOf(id)
      const inLine = instances.filter((one) => one.healthy && one.effective_config_hash === hash)
      return inLine.length === count && instances.length === count ? instances : null
    },
    { explain: said },
  )
}

function revisionIs(id: string, hash: string, status: string): Promise<Revision> {
  return eventually(
    `revision ${hash} is ${status}`,
    async () => (await revisionsOf(id)).find((one) => one.config_hash === hash && one.status === status),
    { explain: said },
  )
}

describe.skipIf(!inject('hasCollector'))('a real collector', () => {
  beforeAll(async () => {
    service = await startService()
  })

  afterAll(async () => {
    await Promise.all(collectors.map((collector) => collector.stop()))
    await service?.stop()
  })

  describe('under the real supervisor', () => {
    let port: number
    let collector: Collector
    let workload: Workload
    let goodHash: string

    test('appears with its components and without a config of ours', async () => {
      port = await findFreePort('127.0.0.1')
      collector = await keep(startSupervised(service, port))
      workload = await findWorkload(
        'the supervised collector is listed with its components',
        (one) => one.accepts_remote_config && one.available_components !== undefined,
      )
      expect(workload).toMatchObject({ display_name: 'otelcol-e2e', type: 'collector', version: '0.149.0' })
      expect(workload.fingerprint_source).toBe('host')
      expect(workload.active_config_hash).toBeUndefined()
      const { components } = workload.available_components ?? { components: {} }
      expect(components['receivers']).toEqual(['otlp'])
      expect(components['processors']).toEqual(['batch', 'memory_limiter'])
      expect(components['exporters']).toEqual(['debug'])
      expect(components['extensions']).toEqual(['opamp'])
      expect(await instancesOf(workload.id)).toHaveLength(1)
      expect(await revisionsOf(workload.id)).toEqual([])
    })

    test('runs what an approved push sends it, and says so', async () => {
      goodHash = await service.api.pushConfig(workload.id, makeConfig({ batchTimeout: '2s' }))
      await revisionIs(workload.id, goodHash, 'applied')
      await allRun(workload.id, goodHash, 1)
      expect(await collector.mergedConfig()).toContain('timeout: 2s')
      expect(await takesTraces(port)).toBe(true)
      const now = await workloadOf(workload.id)
      expect(now).toMatchObject({ status: 'connected', active_config_hash: goodHash })
    })

    test('gets the last good config back after one that it cannot run', async () => {
      const blocker = createServer()
      await new Promise<void>((resolve) => blocker.listen(0, '127.0.0.1', resolve))
      const address = blocker.address()
      const taken = typeof address === 'object' && address !== null ? address.port : 0
      try {
        const endpoint = `127.0.0.1:${taken}`
        const badHash = await service.api.pushConfig(
          workload.id,
          makeConfig({ batchTimeout: '3s', endpoint }),
        )
        await revisionIs(workload.id, badHash, 'failed')
        const rollback = await eventually(
          'the rollback is applied',
          async () =>
            (await revisionsOf(workload.id)).find(
              (one) => one.pushed_by === 'auto-rollback' && one.status === 'applied',
            ),
          { explain: said },
        )
        expect(rollback.config_hash).toBe(goodHash)
        await allRun(workload.id, goodHash, 1)
        expect(await collector.mergedConfig()).toContain('timeout: 2s')
        expect(await takesTraces(port)).toBe(true)
        expect((await workloadOf(workload.id)).active_config_hash).toBe(goodHash)
        expect(await revisionsOf(workload.id)).toHaveLength(3)
      } finally {
        await new Promise((resolve) => blocker.close(resolve))
      }
    })

    test.each(['SIGTERM', 'SIGKILL'] as const)(
      'is offered nothing when the service comes back after %s',
      async (signal) => {
        const [before] = await listChildren(collector.process.pid)
        const revisions = await revisionsOf(workload.id)
        const uid = (await instancesOf(workload.id))[0]?.instance_uid
        await service.restart(signal)
        await allRun(workload.id, goodHash, 1)
        // A config that was offered anew would restart the collector at once; look ten times to give it time to.
        for (let poll = 0; poll < 10; poll++) {
          await new Promise((resolve) => setTimeout(resolve, 300))
          expect(await listChildren(collector.process.pid)).toEqual([before])
        }
        expect(await revisionsOf(workload.id)).toEqual(revisions)
        expect((await instancesOf(workload.id))[0]?.instance_uid).toBe(uid)
      },
    )

    test('is the same instance with the same config after its own restart', async () => {
      const uid = (await instancesOf(workload.id))[0]?.instance_uid
      await collector.restart()
      const [instance] = await eventually(
        'it is back',
        async () => {
          const instances = await instancesOf(workload.id)
          return instances.length === 1 && instances[0]?.healthy === true && (await takesTraces(port))
            ? instances
            : null
        },
        { explain: said },
      )
      expect(instance).toMatchObject({ instance_uid: uid, effective_config_hash: goodHash })
      expect(await revisionsOf(workload.id)).toHaveLength(3)
    })
  })

  describe('in the pods of one Deployment', () => {
    let hash: string
    let workload: Workload

    test('is one workload with two instances, and who joins later is brought in line', async () => {
      await keep(startPod(service, 'otel-gateway-1', await findFreePort('127.0.0.1')))
      workload = await findWorkload(
        'the Deployment is listed',
        (one) => one.fingerprint_source === 'k8s' && one.available_components !== undefined,
      )
      expect(workload.fingerprint_keys).toEqual({
        cluster: 'prod-eu',
        namespace: 'observability',
        kind: 'deployment',
        name: 'otel-gateway',
      })
      hash = await service.api.pushConfig(workload.id, makeConfig({ batchTimeout: '4s' }))
      await revisionIs(workload.id, hash, 'applied')
      const port = await findFreePort('127.0.0.1')
      const late = await keep(startPod(service, 'otel-gateway-2', port))
      const instances = await allRun(workload.id, hash, 2)
      expect(instances.map((one) => one.pod_name).sort()).toEqual(['otel-gateway-1', 'otel-gateway-2'])
      expect(await late.mergedConfig()).toContain('timeout: 4s')
      expect(await takesTraces(port)).toBe(true)
      expect(await revisionsOf(workload.id)).toHaveLength(1)
    })
  })

  describe.each(['ws', 'http'] as const)('with its extension alone, over %s', (transport) => {
    test('is listed, healthy and read only', async () => {
      const collector = await keep(startUnsupervised(service, transport, await findFreePort('127.0.0.1')))
      const workload = await findWorkload(
        'it is listed',
        (one) => one.display_name === `edge-${transport}` && one.available_components !== undefined,
      )
      expect(workload).toMatchObject({ type: 'collector', accepts_remote_config: false, status: 'connected' })
      await eventually('it is healthy', async () => (await instancesOf(workload.id))[0]?.healthy, {
        explain: said,
      })
      const draft = makeConfig({ batchTimeout: '9s' })
      const refused = await service.api.call('POST', `/api/workloads/${workload.id}/config/approvals`, {
        draft_yaml: draft,
        comment: 'try',
      })
      expect(refused.status).toBe(409)
      expect(refused.body.code).toBe('remote_config_unsupported')
      await collector.stop()
    })
  })
})
