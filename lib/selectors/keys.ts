import { TRUSTED_PREFIX } from '../model/labels.ts'

/** The prefix of keys that look at the identity of a workload, which stays the same for its life. */
export const IDENTITY_PREFIX = 'identity/'

/** What an identity may be made of; see the workload's `fingerprint_keys`. */
export const IDENTITY_KEYS = ['host.name', 'service.name', 'cluster', 'namespace', 'kind', 'name'] as const

/**
 * Who says what a key stands for: operators and their label rules (`trusted`), agents once and for all (`identity`), or
 * agents as they please (`reported`). All agents share one secret, so an identity, too, is only what an agent claims.
 */
export type KeyClass = 'trusted' | 'identity' | 'reported'

/** A key without its prefix, and its class. */
export interface ClassifiedKey {
  class: KeyClass
  name: string
}

/** The class of a key by its prefix. */
export function classifyKey(key: string): ClassifiedKey {
  if (key.startsWith(TRUSTED_PREFIX)) return { class: 'trusted', name: key.slice(TRUSTED_PREFIX.length) }
  if (key.startsWith(IDENTITY_PREFIX)) return { class: 'identity', name: key.slice(IDENTITY_PREFIX.length) }
  return { class: 'reported', name: key }
}
