import { type Refusal, refuse } from '../model/refusal.ts'

/** Why somebody may not leave to people what an owner keeps in Git. */
export type ReleaseRefusal = Refusal<'managed-elsewhere' | 'not-managed' | 'not-its-pipeline'>

/**
 * Why this actor may not let go of an entry in the owner's name; null where it may. Everybody can read the owner's name:
 * only the account that speaks for it, or who may overrule it, lets go.
 */
export function refuseRelease(
  managed: { owner: string; appliedById: string | null } | null,
  { owner, actor, mayOverrule }: { owner: string; actor: { userId: string }; mayOverrule: boolean },
): ReleaseRefusal | null {
  if (managed === null) return refuse('not-managed')
  if (managed.owner !== owner) return refuse('managed-elsewhere', { owner: managed.owner })
  return mayOverrule || managed.appliedById === actor.userId ? null : refuse('not-its-pipeline')
}
