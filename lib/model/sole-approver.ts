import { type Grant, grantsOf, type RoleGrant, type Scope, scopesOf } from './scopes.ts'
import { compareText } from './text-order.ts'

/** Who may approve something now, and where two people ever could at once. */
export interface Approvers {
  /** What each of them may do, and where. */
  people: readonly (readonly Grant[])[]
  /** Two people could approve everywhere. */
  hadTwo: boolean
  /** Somebody else could approve within these scopes, for each who could nowhere else. */
  hadTwoWithin: readonly (readonly Scope[])[]
}

/** Lists of scopes that are kept. With more the exception for the only approver ends everywhere. */
export const SCOPE_LISTS_MAX = 1_000

const within = (scopes: readonly Scope[]): Grant[] =>
  scopes.map((scope) => ({ permissions: ['config:approve'], scope }))

/**
 * Whether one person only may approve a change, so that the approval of its author counts. `touches` says whether
 * somebody with these rights may approve any part of it: else a change that reaches one workload more would need nobody
 * else for those where a second person may approve. Once two could, it never is so again.
 */
export function isSoleApprover(
  { people, hadTwo, hadTwoWithin }: Approvers,
  touches: (grants: readonly Grant[]) => boolean,
): boolean {
  if (hadTwo || people.filter(touches).length > 1) return false
  return !hadTwoWithin.some((scopes) => touches(within(scopes)))
}

/** What has to be remembered for ever of who may approve now. */
export function approversToKeep(people: readonly (readonly RoleGrant[])[]): {
  two: boolean
  within: Scope[][]
} {
  const places = people.map((roles) => scopesOf(grantsOf(roles), 'config:approve'))
  const everywhere = places.filter((scopes) => scopes === null).length
  // An administrator may approve everywhere, and there always is one: whoever may within a scope is a second person.
  const lists = everywhere === 0 ? [] : places.flatMap((scopes) => (scopes === null ? [] : [tidy(scopes)]))
  return { two: everywhere > 1, within: lists.filter((scopes) => scopes.length > 0) }
}

/** Where two people may approve, or could once, though they cannot everywhere. */
export function scopesWithTwo({ people, hadTwoWithin }: Approvers): { key: string; values: string[] }[] {
  const now = people.flatMap((grants) => scopesOf(grants, 'config:approve') ?? [])
  return tidy([...now, ...hadTwoWithin.flat()])
}

/** One scope for each key, so that the same place is written in one way only. */
function tidy(scopes: readonly Scope[]): { key: string; values: string[] }[] {
  const keys = [...new Set(scopes.map(({ key }) => key))].sort(compareText)
  return keys.map((key) => {
    const values = scopes.filter((scope) => scope.key === key).flatMap((scope) => scope.values)
    return { key, values: [...new Set(values)].sort(compareText) }
  })
}
