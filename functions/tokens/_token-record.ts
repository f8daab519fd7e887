import { pattern, string } from 'superstruct'
import type { RevokeOutcome, TokenOutcome } from '../../lib/identity/token-administration.ts'
import { UUID } from '../../lib/ids.ts'
import { readTime } from '../../lib/model/times.ts'
import type { ApiToken } from '../../lib/store/api-tokens.ts'
import type { ApiTokenRecord, ApiTokenRequest } from '../../lib/wire/identity.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { created, noContent, problem, problemOf, type Reply } from '../../runtime/reply.ts'

/** The id of a token in a path. */
export const TokenId = pattern(string(), UUID)

/** A token as the wire shows it. */
export function toTokenRecord(token: ApiToken): ApiTokenRecord {
  return {
    id: token.id,
    name: token.name,
    permissions: token.permissions,
    created_at: token.createdAt.toISOString(),
    expires_at: token.expiresAt.toISOString(),
    ...(token.lastUsedAt ? { last_used_at: token.lastUsedAt.toISOString() } : {}),
    ...(token.isLogin ? { is_login: true } : {}),
    ...(token.madeBy === null ? {} : { made_by: token.madeBy }),
  }
}

/** A token that is asked for, as the body holds it. */
export const readTokenRequest = ({ name, permissions, expires_at: at }: Required<ApiTokenRequest>) => ({
  name,
  permissions,
  expiresAt: readTime(at) ?? new Date(Number.NaN),
})

/** What a token can be refused for. */
export const TOKEN_ERRORS = [
  'expiry-invalid',
  'expiry-past',
  'expiry-too-far',
  'permission-not-held',
  'permission-unknown',
  'token-name-invalid',
  'too-many-tokens',
  'user-not-found',
] as const

/** The reply to a token that was asked for. */
export function answerToken(outcome: TokenOutcome): Reply {
  if (outcome.ok) {
    const reply = created({ ...toTokenRecord(outcome.token), token: outcome.secret })
    return { ...reply, headers: { ...reply.headers, 'Cache-Control': 'no-store' } }
  }
  if (outcome.code === 'audit-unavailable') return auditUnavailable(outcome)
  return problemOf(outcome)
}

/** The reply to a token that was to be taken away. */
export function answerRevocation(outcome: RevokeOutcome): Reply {
  if (outcome.ok) return noContent()
  return outcome.code === 'audit-unavailable' ? auditUnavailable(outcome) : problem(outcome.code)
}
