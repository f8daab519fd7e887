/** Every permission the service checks, with the groups that hold it. */
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

export type Permission = (typeof PERMISSIONS)[number]

/**
 * What takes a person who is signed in, at every endpoint that asks for it: no token may, and no service account ever.
 */
export const IN_PERSON: readonly Permission[] = ['config:approve', 'config:break_glass']

export const ROLES = ['viewer', 'editor', 'administrator'] as const
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

/** What the members of these groups may do together, sorted. Unknown groups grant nothing. */
export function permissionsOf(groups: readonly string[]): Permission[] {
  const granted = new Set<Permission>()
  for (const group of groups) {
    for (const permission of MATRIX[group as Role] ?? []) granted.add(permission)
  }
  return [...granted].sort()
}
