import type { Rights } from '../../lib/identity/explain-rights.ts'
import type { Scope } from '../../lib/model/scopes.ts'
import { underscored } from '../../lib/model/underscored.ts'
import type { RightsRecord } from '../../lib/wire/rights.ts'

const toScope = ({ key, values }: Scope) => ({ key, values: [...values] })

/** What somebody may do, as the wire shows it. */
export const toRightsRecord = ({ id, name, kind, groups, rights, tokens }: Rights): RightsRecord => ({
  id,
  name,
  kind,
  groups: groups.map(({ name: group, role, scope }) => ({
    name: group,
    role,
    ...(scope === null ? {} : { scope: toScope(scope) }),
  })),
  rights: rights.map(({ permission, groups: givers, scopes, isWithheld }) => ({
    permission,
    groups: [...givers],
    ...(scopes === null ? {} : { scopes: scopes.map(toScope) }),
    ...(isWithheld ? { withheld: 'needs_person' as const } : {}),
  })),
  tokens: tokens.map(({ token, idle, rights: may, withheld }) => ({
    id: token.id,
    name: token.name,
    expires_at: token.expiresAt.toISOString(),
    ...(idle === null ? {} : { idle: underscored(idle) }),
    rights: [...may],
    withheld: withheld.map(({ permission, why }) => ({ permission, why: underscored(why) })),
  })),
})
