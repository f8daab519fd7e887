import { describe, expect, it } from 'vitest'
import { resolveValues, type ValueSources } from '../../../lib/fleet-configs/values.ts'
import type { StoredVariable } from '../../../lib/store/fleet-configs.ts'

const variable = (name: string, label: string | null = null): StoredVariable => ({
  name,
  label,
  type: 'string',
  isRequired: false,
  pattern: null,
  fallback: null,
  description: '',
})
const SOURCES: ValueSources = {
  own: {},
  table: { label: 'muster/site', rows: { paris: { region: 'eu', zone: 'p1' } } },
  workload: {
    type: 'collector',
    version: '0.149.0',
    labels: { region: 'reported' },
    trustedLabels: { site: 'paris', region: 'trusted' },
    fingerprintKeys: {},
    acceptsRemoteConfig: true,
    availableComponents: null,
  },
  withReported: true,
}
const VARIABLES = [variable('region', 'muster/region')]
const resolve = (more: Partial<ValueSources>, variables = VARIABLES) =>
  resolveValues(variables, { ...SOURCES, ...more })

describe('the value of a variable', () => {
  it('is the workload’s own, else that of its row in the table, else that of its label, else missing', () => {
    expect(resolve({ own: { region: 'own' } })).toEqual({ region: 'own' })
    expect(resolve({})).toEqual({ region: 'eu' })
    expect(resolve({ table: null })).toEqual({ region: 'trusted' })
    expect(resolve({ table: null }, [variable('region')])).toEqual({})
  })

  it('is never what agents report where nobody approves what comes of it', () => {
    const reported = [variable('region', 'region')]
    expect(resolve({ table: null }, reported)).toEqual({ region: 'reported' })
    expect(resolve({ table: null, withReported: false }, reported)).toEqual({})
  })

  it('is not found in what every object has', () => {
    const variables = ['constructor', '__proto__', 'toString'].map((name) => variable(name))
    expect(resolve({}, variables)).toEqual({})
    const workload = { ...SOURCES.workload, trustedLabels: { site: 'constructor' } }
    expect(resolve({ workload }, [variable('name')])).toEqual({})
  })
})
