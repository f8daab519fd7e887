import { describe, expect, it } from 'vitest'
import {
  type Grant,
  grantsOf,
  isHeldOn,
  isInScope,
  isScopable,
  rightsEverywhere,
  rightsOn,
  rightsSomewhere,
  scopesOf,
} from '../../../lib/model/scopes.ts'

const STAGING = { key: 'muster/env', values: ['dev', 'staging'] }
/** Somebody who changes what is in staging and reads configs everywhere. */
const GRANTS: Grant[] = [
  { permissions: ['config:read_content'], scope: null },
  { permissions: ['workload:push_config', 'config:approve'], scope: STAGING },
]

describe('a scope', () => {
  it('holds the workloads whose trusted label has one of its values', () => {
    expect(isInScope(STAGING, { env: 'dev' })).toBe(true)
    expect(isInScope(STAGING, { env: 'prod' })).toBe(false)
    expect(isInScope(STAGING, { stage: 'dev' })).toBe(false)
  })

  it('leaves out a workload without the label, with an empty one, and one that is not there', () => {
    const some = { key: 'muster/env', values: ['', 'dev'] }
    expect(isInScope(some, {})).toBe(false)
    expect(isInScope(some, { env: '' })).toBe(false)
    expect(isInScope(some, null)).toBe(false)
  })

  it('is not met by what every object inherits, nor by a label that agents report', () => {
    expect(isInScope({ key: 'muster/constructor', values: [String(Object)] }, {})).toBe(false)
    expect(isInScope({ key: 'env', values: ['dev'] }, { env: 'dev' })).toBe(false)
  })
})

describe('a right within a scope', () => {
  it('is held on the workloads of the scope, and one without a scope on every workload', () => {
    expect(isHeldOn(GRANTS, 'workload:push_config', { env: 'staging' })).toBe(true)
    expect(isHeldOn(GRANTS, 'workload:push_config', { env: 'prod' })).toBe(false)
    expect(isHeldOn(GRANTS, 'workload:push_config', null)).toBe(false)
    expect(isHeldOn(GRANTS, 'config:read_content', null)).toBe(true)
  })

  it('is among the rights on those workloads, and not among those everywhere', () => {
    expect(rightsOn(GRANTS, { env: 'dev' }).has('config:approve')).toBe(true)
    expect(rightsOn(GRANTS, { env: 'prod' }).has('config:approve')).toBe(false)
    expect(rightsEverywhere(GRANTS).has('config:approve')).toBe(false)
    expect(rightsSomewhere(GRANTS).has('config:approve')).toBe(true)
  })

  it('is told with its scopes: null where it is held everywhere, none where it is not held', () => {
    expect(scopesOf(GRANTS, 'config:approve')).toEqual([STAGING])
    expect(scopesOf(GRANTS, 'config:read_content')).toBeNull()
    expect(scopesOf(GRANTS, 'users:manage')).toEqual([])
  })
})

describe('a right that is about no workload', () => {
  it('is not given within a scope, so that a role which holds one cannot be bound to a scope', () => {
    expect(isScopable('administrator')).toBe(false)
    expect(isScopable('editor')).toBe(true)
    const within = grantsOf([{ role: 'administrator', scope: STAGING }])
    expect(rightsSomewhere(within).has('users:manage')).toBe(false)
    expect(rightsOn(within, { env: 'dev' }).has('workload:push_config')).toBe(true)
  })
})
