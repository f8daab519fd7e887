const OWN_NAMES = new Set(['auto-apply', 'auto-rollback', 'muster', 'system'])

/** Whether a name is one by which muster tells of what it did itself; nobody else may be called so. */
export const isOwnName = (name: string): boolean => OWN_NAMES.has(name.trim().toLowerCase())
