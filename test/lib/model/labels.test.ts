import { describe, expect, it } from 'vitest'
import { clusterOf, environmentOf, trustedAmong } from '../../../lib/model/labels.ts'

describe('where a workload runs', () => {
  it.each([
    ['what operators set, whatever its name', { environment: 'prod' }, { env: 'dev' }, 'prod'],
    ['what the agents name', {}, { 'deployment.environment.name': 'dev' }, 'dev'],
    ['nothing of blanks', { env: ' ' }, { env: '', environment: ' dev ' }, 'dev'],
    ['nothing', {}, { region: 'eu' }, ''],
  ])('is %s', (_, trusted, own, wanted) => {
    expect(environmentOf(trusted as Record<string, string>, own as Record<string, string>)).toBe(wanted)
  })

  it('is in the cluster that operators set, else in the one that the agents name', () => {
    expect(clusterOf({ cluster: 'eu-1' }, { 'k8s.cluster.name': 'us-1' })).toBe('eu-1')
    expect(clusterOf({}, { 'k8s.cluster.name': 'us-1' })).toBe('us-1')
    expect(clusterOf({}, Object.create({ cluster: 'inherited' }) as Record<string, string>)).toBe('')
  })

  it('is read from labels as they are shown', () => {
    expect(trustedAmong({ 'muster/env': 'prod', 'muster/selector.env': 'x', env: 'dev' })).toEqual({
      env: 'prod',
      'selector.env': 'x',
    })
  })
})
