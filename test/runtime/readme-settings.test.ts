import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { settingNames } from '../support/settings.ts'

const README = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
const named = [...new Set(README.match(/(?<![\w{.-])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?!\w)/g))].sort()

/** Variables that the README is about and the service does not read. */
const OF_OTHERS = [
  // Of the commands by which the service is set up.
  ...['ADMIN_DSN', 'DB_HOST', 'DB_PASSWORD'],
  // Of the example for Kubernetes.
  ...['K8S_NAMESPACE', 'K8S_POD_NAME'],
  // Of the client.
  ...['MUSTER_CA_FILE', 'MUSTER_TOKEN', 'MUSTER_URL'],
  // Of Node.
  'NODE_EXTRA_CA_CERTS',
  // Of the simulation.
  ...['SIM_FIRST', 'SIM_LINKED_SEEDS', 'SIM_OWNERS_SEEDS', 'SIM_SEEDS', 'SIM_TROUBLES'],
]

describe('the README', () => {
  it('names every variable that the settings are read from', () => {
    expect(settingNames()).toContain('OIDC_CLIENT_SECRET_FILE')
    expect(settingNames().filter((name) => !named.includes(name))).toEqual([])
  })

  it('names no other variable but those of others', () => {
    const known = new Set(settingNames())
    expect(named.filter((name) => !known.has(name))).toEqual(OF_OTHERS)
  })
})
