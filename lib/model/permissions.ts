/** Every permission that the service checks; `MATRIX` says which roles hold it. */
export const PERMISSIONS = [
  'alert:resolve',
  'audit:view',
  'config:approve',
  'config:break_glass',
  'config:create',
  'config:read_content',
  'config:request',
  'reports:export',
  'settings:manage',
  'users:manage',
  'workload:archive',
  'workload:delete',
  'workload:push_config',
  'workload:validate_config',
] as const

/** The name of a permission. */
export type Permission = (typeof PERMISSIONS)[number]

/**
 * Permissions that only a person who is signed in can use, at every endpoint that asks for them: no token and no
 * service account ever can.
 */
export const IN_PERSON: readonly Permission[] = ['config:approve', 'config:break_glass']

/** Permissions of which some endpoints take only a person who is signed in, and others a token too. */
export const IN_PERSON_IN_PART: readonly Permission[] = ['settings:manage', 'users:manage']

/** The roles that a group can give its members. */
export const ROLES = ['viewer', 'editor', 'administrator'] as const
/** The name of a role. */
export type Role = (typeof ROLES)[number]

const EDITOR: readonly Permission[] = [
  'alert:resolve',
  'config:approve',
  'config:break_glass',
  'config:create',
  'config:read_content',
  'config:request',
  'reports:export',
  'workload:archive',
  'workload:push_config',
  'workload:validate_config',
]

const MATRIX: Record<Role, readonly Permission[]> = {
  viewer: [],
  editor: EDITOR,
  administrator: PERMISSIONS,
}

/** The roles that hold a permission. */
export const rolesWith = (permission: Permission): Role[] =>
  ROLES.filter((role) => MATRIX[role].includes(permission))

/** The permissions that these roles give together, sorted. Unknown names grant nothing. */
export function permissionsOf(groups: readonly string[]): Permission[] {
  const granted = new Set<Permission>()
  for (const group of groups) {
    for (const permission of MATRIX[group as Role] ?? []) granted.add(permission)
  }
  return [...granted].sort()
}
