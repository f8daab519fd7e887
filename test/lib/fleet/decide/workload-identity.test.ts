import { describe, expect, it } from 'vitest'
import {
  classifyAgent,
  identifyWorkload,
  isExcludedFromConfigs,
} from '../../../../lib/fleet/decide/workload-identity.ts'

const UID = '000102030405060708090a0b0c0d0e0f'
const idOf = (attributes: Record<string, string>) =>
  identifyWorkload(new Map(Object.entries(attributes)), UID)
const k8s = (kind: string, more: Record<string, string> = {}) =>
  idOf({ 'k8s.namespace.name': 'obs', [`k8s.${kind}.name`]: 'otel', ...more })
const NONE = { capabilities: 0, reportsComponents: false, runsPipelines: false }

describe('the workload of an agent', () => {
  it.each([
    ['an unknown cluster', k8s('deployment').id, '40f7b3e36ad8297bf4889739'],
    ['a deployment', k8s('deployment', { 'k8s.cluster.name': 'prod' }).id, 'ad19f853d7210269da22f3bf'],
    ['a daemonset', k8s('daemonset', { 'k8s.cluster.name': 'prod' }).id, 'ea4b8c4b49c7812c7515fff0'],
    ['a statefulset', k8s('statefulset', { 'k8s.cluster.name': 'prod' }).id, 'b3e9e99dc9e568121bc6333b'],
    ['a job', k8s('job', { 'k8s.cluster.name': 'prod' }).id, 'f8b57d2364b0ceed660b0be3'],
    ['a cronjob', k8s('cronjob', { 'k8s.cluster.name': 'prod' }).id, '29a95a309225e736982caf69'],
    [
      'a service on a host',
      idOf({ 'service.name': 'payment-api', 'host.name': 'vm-42' }).id,
      'acc7449b7fac19517aaf92de',
    ],
    ['a host alone', idOf({ 'host.name': 'vm-42' }).id, 'dd8349d12fc0f1c18481bfc6'],
    ['a uid', idOf({}).id, 'e6ca4a4e85f9f11104524e5a'],
  ])('has the known id for %s', (_, found, wanted) => {
    expect(found).toBe(wanted)
  })

  it('is the same for two pods of one deployment', () => {
    expect(k8s('deployment', { 'k8s.pod.name': 'otel-a' }).id).toBe(
      k8s('deployment', { 'k8s.pod.name': 'otel-b' }).id,
    )
  })

  it('is the CronJob for each of its runs, though a run carries the name of its Job as well', () => {
    const run = (job: string) =>
      idOf({ 'k8s.namespace.name': 'obs', 'k8s.cronjob.name': 'otel', 'k8s.job.name': job })
    expect(run('otel-1').id).toBe(run('otel-2').id)
    expect(run('otel-1').keys).toMatchObject({ kind: 'cronjob', name: 'otel' })
  })

  it('keeps an empty service name among the keys of a host', () => {
    expect(idOf({ 'host.name': 'vm-42' })).toMatchObject({
      source: 'host',
      keys: { 'service.name': '', 'host.name': 'vm-42' },
    })
  })
})

describe('the type of an agent', () => {
  const typeOf = (attributes: Record<string, string>, evidence = NONE) =>
    classifyAgent(new Map(Object.entries(attributes)), evidence)

  it.each([
    [{ 'service.name': 'io.opentelemetry.collector' }, 'collector'],
    [{ 'service.name': 'otelcol-contrib' }, 'collector'],
    [{ 'otelcol.version': '0.149.0', 'telemetry.sdk.language': 'go' }, 'collector'],
    [{ 'service.name': 'otelcol-trap', 'telemetry.sdk.language': 'java' }, 'sdk'],
    [{ 'service.name': 'my-otelcol-thing' }, 'sdk'],
  ])('of %j is %s', (attributes, wanted) => {
    expect(typeOf(attributes as Record<string, string>)).toBe(wanted)
  })

  it('is a collector under any name once it reports components, runs pipelines or acts as a supervisor', () => {
    const gateway = { 'service.name': 'gateway-eu' }
    expect(typeOf(gateway)).toBe('sdk')
    expect(typeOf(gateway, { ...NONE, reportsComponents: true })).toBe('collector')
    expect(typeOf(gateway, { ...NONE, runsPipelines: true })).toBe('collector')
    expect(typeOf(gateway, { ...NONE, capabilities: 0x1807 })).toBe('collector')
  })

  it('is never pushed to when it is the operator bridge or an SDK', () => {
    const isExcluded = (attributes: Record<string, string>) =>
      isExcludedFromConfigs(new Map(Object.entries(attributes)))
    expect(isExcluded({ 'service.name': 'io.opentelemetry.operator-opamp-bridge' })).toBe(true)
    expect(isExcluded({ 'service.name': 'shop', 'telemetry.sdk.language': 'java' })).toBe(true)
    expect(isExcluded({ 'service.name': 'shop', 'telemetry.distro.name': 'elastic' })).toBe(true)
    expect(isExcluded({ 'service.name': 'shop' })).toBe(false)
  })
})
