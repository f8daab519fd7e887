import { describe, expect, it } from 'vitest'
import { type Grant, grantsOf, isHeldOn, type RoleGrant, type Scope } from '../../../lib/model/scopes.ts'
import { approversToKeep, isSoleApprover, scopesWithTwo } from '../../../lib/model/sole-approver.ts'

const within = (...values: string[]): Scope => ({ key: 'muster/env', values })
const ADMIN: RoleGrant[] = [{ role: 'administrator', scope: null }]
const EDITOR: RoleGrant[] = [{ role: 'editor', scope: null }]
const editorIn = (...scopes: Scope[]): RoleGrant[] => scopes.map((scope) => ({ role: 'editor', scope }))

const approvers = (people: RoleGrant[][], { hadTwo = false, hadTwoWithin = [] as Scope[][] } = {}) => ({
  ...{ people: people.map(grantsOf), hadTwo, hadTwoWithin },
})
/** A change of one workload in this environment. */
const on =
  (env: string) =>
  (grants: readonly Grant[]): boolean =>
    isHeldOn(grants, 'config:approve', { env })

describe('whoever is alone', () => {
  it('approves what he asked for, wherever it is', () => {
    expect(isSoleApprover(approvers([ADMIN]), on('prod'))).toBe(true)
  })

  it('is not alone where a second person may approve now, and still is elsewhere', () => {
    const who = approvers([ADMIN, editorIn(within('staging'))])
    expect(isSoleApprover(who, on('staging'))).toBe(false)
    expect(isSoleApprover(who, on('prod'))).toBe(true)
  })

  it('is never alone again where a second person could approve once', () => {
    const who = approvers([ADMIN], { hadTwoWithin: [[within('staging')]] })
    expect(isSoleApprover(who, on('staging'))).toBe(false)
    expect(isSoleApprover(who, on('prod'))).toBe(true)
    expect(isSoleApprover(approvers([ADMIN], { hadTwo: true }), on('prod'))).toBe(false)
  })

  it('is alone with a change that reaches beyond where the second person may approve', () => {
    const who = approvers([ADMIN, editorIn(within('staging'))])
    const both = (grants: readonly Grant[]) => on('staging')(grants) && on('prod')(grants)
    expect(isSoleApprover(who, both)).toBe(true)
  })
})

describe('what is remembered for ever', () => {
  it('is nothing of one person', () => {
    expect(approversToKeep([ADMIN])).toEqual({ two: false, within: [] })
  })

  it('is that two may approve everywhere, whatever role lets them', () => {
    expect(approversToKeep([ADMIN, EDITOR])).toEqual({ two: true, within: [] })
  })

  it('is where each further one may, the same place written in one way', () => {
    const one = editorIn(within('b', 'a'), within('a', 'c'))
    const other = editorIn(within('c'), within('b', 'a'))
    const scope = { key: 'muster/env', values: ['a', 'b', 'c'] }
    expect(approversToKeep([ADMIN, one, other])).toEqual({ two: false, within: [[scope], [scope]] })
  })
})

it('says where two may approve or could once, in one list', () => {
  const who = approvers([ADMIN, editorIn(within('staging'))], { hadTwoWithin: [[within('dev')]] })
  expect(scopesWithTwo(who)).toEqual([{ key: 'muster/env', values: ['dev', 'staging'] }])
})
