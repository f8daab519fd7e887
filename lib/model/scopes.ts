import { TRUSTED_PREFIX } from './labels.ts'
import { type Permission, permissionsOf, ROLES, type Role } from './permissions.ts'

/**
 * The workloads whose trusted label `key` (with its prefix) has one of these values. One without the label is outside.
 */
export interface Scope {
  readonly key: string
  readonly values: readonly string[]
}

/** A role that a group gives: everywhere, or within a scope. */
export interface RoleGrant {
  role: string
  scope: Scope | null
}

/** Rights that hold together: everywhere, or within a scope. */
export interface Grant {
  permissions: readonly Permission[]
  scope: Scope | null
}

/** The trusted labels of a workload, without the prefix; null where there is no such workload. */
export type PlaceLabels = Readonly<Record<string, string>> | null

/** Rights that are about no workload: whoever holds one holds it everywhere. */
export const UNSCOPABLE: readonly Permission[] = ['audit:view', 'settings:manage', 'users:manage']

/** Whether all rights of a role can be bound to a scope, so that a group can have this role within one. */
export const isScopable = (role: Role): boolean =>
  permissionsOf([role]).length > 0 && !permissionsOf([role]).some((one) => UNSCOPABLE.includes(one))

/** The roles that a group can give within a scope. */
export const SCOPABLE_ROLES: readonly Role[] = ROLES.filter(isScopable)

/** What roles give, each where its group says. */
export const grantsOf = (roles: readonly RoleGrant[]): Grant[] =>
  roles.map(({ role, scope }) => ({
    permissions: permissionsOf([role]).filter((one) => scope === null || !UNSCOPABLE.includes(one)),
    scope,
  }))

/** The same, but nothing other than these rights. */
export const cutGrants = (grants: readonly Grant[], isKept: (permission: Permission) => boolean): Grant[] =>
  grants.map(({ permissions, scope }) => ({ permissions: permissions.filter(isKept), scope }))

/** Whether a workload with these labels lies within a scope. */
export function isInScope({ key, values }: Scope, labels: PlaceLabels): boolean {
  const name = key.slice(TRUSTED_PREFIX.length)
  if (labels === null || !key.startsWith(TRUSTED_PREFIX) || !Object.hasOwn(labels, name)) return false
  const value = labels[name]!
  return value !== '' && values.includes(value)
}

/**
 * How much of a text that is written for many workloads somebody may read:
 * - `whole`: all of it, where a right on configs holds on everything that it can reach.
 * - `own`: where it is in use on a workload on which the right holds. Whoever may read what a workload runs may read the
 *   text that this comes from, and what it is with that workload's values. What is about other workloads, such as
 *   their rows in a table of values, is not shown.
 * - `none`: anywhere else.
 *
 * To change the text, or whom it is for, takes the whole.
 */
export type ReadablePart = 'whole' | 'own' | 'none'

/** The part of a text that may be read, by whether the right holds on all that it reaches, and on a workload that it is in use on. */
export const readablePart = (holdsOnAll: boolean, holdsOnOne: boolean): ReadablePart =>
  holdsOnAll ? 'whole' : holdsOnOne ? 'own' : 'none'

const collect = (grants: readonly Grant[], isMeant: (grant: Grant) => boolean): Set<Permission> =>
  new Set(grants.filter(isMeant).flatMap(({ permissions }) => permissions))

/** What somebody may do about a workload with these trusted labels. */
export const rightsOn = (grants: readonly Grant[], labels: PlaceLabels): Set<Permission> =>
  collect(grants, ({ scope }) => scope === null || isInScope(scope, labels))

/** Whether somebody has a right on a workload with these trusted labels. */
export const isHeldOn = (grants: readonly Grant[], permission: Permission, labels: PlaceLabels): boolean =>
  grants.some(
    ({ permissions, scope }) =>
      permissions.includes(permission) && (scope === null || isInScope(scope, labels)),
  )

/** What somebody may do everywhere. */
export const rightsEverywhere = (grants: readonly Grant[]): Set<Permission> =>
  collect(grants, ({ scope }) => scope === null)

/** What somebody may do somewhere, be it within a scope only. */
export const rightsSomewhere = (grants: readonly Grant[]): Set<Permission> => collect(grants, () => true)

/** The scopes within which somebody has a right; null where it is held everywhere, empty where nowhere. */
export function scopesOf(grants: readonly Grant[], permission: Permission): readonly Scope[] | null {
  const given = grants.filter(({ permissions }) => permissions.includes(permission))
  return given.some(({ scope }) => scope === null) ? null : given.flatMap(({ scope }) => scope ?? [])
}
